package reduce

import (
	"strings"

	"termpilot/lazy"
)

var fileReducers = []reducer{
	{names: "find, fd, fdfind, locate, grep, rg, ag, ls, tar, unzip, zipinfo, rsync, git ls-files", reduce: pathList},
	{names: "tree", reduce: treeList},
	{names: "ls", reduce: lsLong},
	{names: "ls", reduce: lsRecursive},
	{names: "du", reduce: duList},
}

// nameStatus is a line of git diff --name-status.
var nameStatus = lazy.Regexp(`^([MADRCTUX]\d*)\t(.*)$`)

// pathList draws a list of paths, one on each line, folder by folder. Lines
// that are no paths, like find's complaints, stay as they are.
func pathList(in *input) (draft, bool) {
	var d draft
	l := listing{unit: "files", room: in.tight(), rows: in.rows}
	var others []int
	deep := 0
	for i, line := range in.lines {
		path, label := line, ""
		if m := nameStatus().FindStringSubmatch(line); m != nil {
			path, label = m[2], " "+m[1]
		}
		if !isPath(path) {
			if line != "" {
				others = append(others, i)
			}
			continue
		}
		if strings.Contains(path, "/") {
			deep++
		}
		l.leaves = append(l.leaves, leaf{path: path, label: label, at: i})
	}
	if deep*2 < len(l.leaves) || len(l.leaves) < 20 || len(others)*10 > len(in.lines) {
		return d, false
	}
	const mostOthers = 8
	if len(in.lines) > defaultLines {
		d.note(0, in.count(len(l.leaves))+" paths")
	}
	l.room, l.rows = l.room-20, l.rows-1
	for n, i := range others {
		if n == mostOthers {
			d.note(i, "… "+itoa(len(others)-n)+" more lines that are no paths")
			break
		}
		l.room, l.rows = l.room-chars(shorten(in.lines[i]))-1, l.rows-1
	}
	l.room -= 60
	l.draw(&d)
	for _, i := range others[:min(mostOthers, len(others))] {
		d.keep(in, i)
	}
	return d, true
}

// isPath reports whether a line could be a path and nothing else.
func isPath(line string) bool {
	if line == "" || len(line) > 1024 || strings.HasPrefix(line, " ") || strings.Contains(line, ": ") || strings.Contains(line, "  ") {
		return false
	}
	return strings.Contains(line, "/") || !strings.Contains(line, " ")
}

// lsEntry is a line of ls -l: mode, links, owner, group, size, date, name.
var lsEntry = lazy.Regexp(`^([-dlcbpsD])[-rwxsStTlLx]{9}[.+@]? +\d+ +(\S+ +\S+) +(\d+,? *\d*|[\d.]+[KMGTP]?) +(\w{3} +\d+ +[\d:]+|\d{4}-\d\d-\d\d[ \d:.+-]*?|\d+ \w+ +[\d:]+) (\S.*)$`)

// lsLong draws a long listing with many entries: names with sizes, folders
// first. Modes, owners and dates go.
func lsLong(in *input) (draft, bool) {
	var d draft
	if len(in.lines) < 25 {
		return d, false
	}
	l := listing{unit: "entries", part: true, room: in.tight() * dense / 100, rows: in.rows}
	dir := ""
	for i, line := range in.lines {
		m := lsEntry().FindStringSubmatch(line)
		switch {
		case m != nil:
			name, label := m[5], " "+m[3]
			if m[1] == "d" {
				name, label = name+"/", ""
			}
			if name == "./" || name == "../" {
				continue
			}
			l.leaves = append(l.leaves, leaf{path: dir + name, label: label, at: i})
		case line == "", strings.HasPrefix(line, "total "):
		case strings.HasSuffix(line, ":"):
			dir = strings.TrimSuffix(strings.TrimSuffix(line, ":"), "/") + "/"
		default:
			return d, false
		}
	}
	if len(l.leaves) < len(in.lines)/2 {
		return d, false
	}
	d.note(0, in.count(len(l.leaves))+" entries (sizes; modes, owners and dates left out)")
	l.room, l.rows = l.room-60, l.rows-1
	l.draw(&d)
	return d, true
}

// lsRecursive draws ls -R.
func lsRecursive(in *input) (draft, bool) {
	var d draft
	l := listing{unit: "files", room: in.tight() - 20, rows: in.rows - 1}
	dir, dirs := "", 0
	begins := true
	for i, line := range in.lines {
		switch {
		case begins && strings.HasSuffix(line, ":"):
			dir = strings.TrimSuffix(strings.TrimSuffix(line, ":"), "/") + "/"
			dirs++
			begins = false
		case line == "":
			begins = true
		default:
			begins = false
			for _, name := range splitColumns(line) {
				l.leaves = append(l.leaves, leaf{path: dir + name, at: i})
			}
		}
	}
	if dirs < 2 || len(l.leaves) < 20 {
		return d, false
	}
	d.note(0, in.count(len(l.leaves))+" files in "+in.count(dirs)+" folders")
	l.draw(&d)
	return d, true
}

// splitColumns splits a line at two or more blanks, or a tab.
func splitColumns(line string) []string {
	var out []string
	for part := range strings.SplitSeq(strings.ReplaceAll(line, "\t", "  "), "  ") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// treeLine is a line of tree: the drawing, and the name.
var treeLine = lazy.Regexp(`^((?:[│|\x{a0} ]   |[│|][\x{a0} ]{2,3}|    )*)(?:├── |└── |[|` + "`" + `]-- )(.*)$`)

// treeList draws what tree draws as a list of folders.
func treeList(in *input) (draft, bool) {
	var d draft
	l := listing{unit: "files", room: in.tight() - 60, rows: in.rows - 1}
	var at []string // the folders above
	last := 0
	for i, line := range in.lines[1:] {
		m := treeLine().FindStringSubmatch(strings.ReplaceAll(line, "\u00a0", " "))
		if m == nil {
			break
		}
		depth := chars(m[1]) / 4
		if depth > len(at) || depth > mostDepth {
			return d, false
		}
		at = append(at[:depth], strings.TrimSuffix(m[2], "/"))
		l.leaves = append(l.leaves, leaf{path: strings.Join(at, "/"), at: i + 1})
		last = i + 1
	}
	// What has others below is a folder.
	var files []leaf
	for i, f := range l.leaves {
		if i+1 < len(l.leaves) && strings.HasPrefix(l.leaves[i+1].path, f.path+"/") {
			continue
		}
		files = append(files, f)
	}
	l.leaves = files
	if len(l.leaves) < 20 {
		return d, false
	}
	l.draw(&d)
	for i := last + 1; i < len(in.lines); i++ {
		if in.lines[i] != "" {
			d.keep(in, i)
			d.tells(maxWeight)
		}
	}
	return d, true
}

// duEntry is a line of du.
var duEntry = lazy.Regexp(`^([\d.]+[KMGTP]?)\s+(\S.*)$`)

// duList keeps the largest of many entries of du, and its last line, the total.
func duList(in *input) (draft, bool) {
	var d draft
	const most = 24
	if len(in.lines) <= defaultLines {
		return d, false
	}
	type one struct {
		at   int
		size float64
	}
	var all []one
	for i, line := range in.lines {
		m := duEntry().FindStringSubmatch(line)
		if m == nil {
			if line == "" || strings.HasPrefix(line, "du: ") {
				continue
			}
			return d, false
		}
		all = append(all, one{i, sizeOf(m[1])})
	}
	if len(all) == 0 {
		return d, false
	}
	limit := nthLargest(len(all), most, func(i int) float64 { return all[i].size })
	kept := 0
	for n, e := range all {
		if (e.size >= limit && kept < most) || n == len(all)-1 {
			d.keep(in, e.at)
			kept++
		}
	}
	d.note(len(in.lines)-1, "… "+in.count(len(all)-kept)+" smaller entries left out")
	return d, true
}
