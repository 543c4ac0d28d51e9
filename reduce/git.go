package reduce

import (
	"strings"
)

var gitReducers = []reducer{
	{names: "git status", reduce: gitStatus},
	{names: "git diff, git show, git stash, git format-patch, diff, colordiff, svn diff, hg diff", reduce: gitPatch, seen: seenPatch},
	{names: "git log, git reflog, git show", reduce: gitLog},
	{names: "git log, git reflog, git rev-list, git cherry", reduce: gitOneline},
	{names: "git diff, git show, git merge, git pull, git commit", reduce: gitStat},
	{names: "git diff, git ls-files, git ls-tree, git show", reduce: pathList},
}

// gitStatus leaves the advice out of git status; files of one kind that follow
// one another go on one line.
func gitStatus(in *input) (draft, bool) {
	var d draft
	known := false
	var kind string
	var files []string
	at := 0
	flush := func() {
		if len(files) > 0 {
			d.show(at, len(files), kind+strings.Join(files, ", "))
			d.tells(maxWeight)
		}
		files = nil
	}
	for i, line := range in.lines {
		if what, file, ok := statusFile(line); ok {
			known = true
			if what != kind || len(files) == 8 {
				flush()
			}
			if len(files) == 0 {
				kind, at = what, i
			}
			files = append(files, file)
			continue
		}
		flush()
		kind = ""
		switch {
		case line == "", strings.HasPrefix(line, "  (") && strings.HasSuffix(line, ")"): // advice
		default:
			// "nothing to commit, working tree clean (use …)": advice, too
			if n := strings.Index(line, " (use "); n > 0 && strings.HasSuffix(line, ")") {
				d.note(i, line[:n])
				continue
			}
			d.keep(in, i)
			if i == 0 {
				d.tells(maxWeight)
			}
		}
	}
	flush()
	return d, known || len(in.lines) < 8
}

// statusFile splits a line of git status that names a file, in its long form
// (a tab, and for all but untracked ones what was done) or the short one.
func statusFile(line string) (what, file string, ok bool) {
	if rest, long := strings.CutPrefix(line, "\t"); long {
		if word, name, done := strings.Cut(rest, ":   "); done {
			return word + ": ", strings.TrimLeft(name, " "), true
		}
		if i := strings.Index(rest, ": "); i > 0 && strings.HasPrefix(rest[i+2:], " ") {
			return rest[:i+2], strings.TrimLeft(rest[i+2:], " "), true
		}
		return "", rest, true
	}
	if len(line) > 3 && line[2] == ' ' && strings.Contains(" MTADRCU?!", line[:1]) && strings.Contains(" MTADRCU?!", line[1:2]) && line[:2] != "  " {
		return line[:3], line[3:], true
	}
	return "", "", false
}
