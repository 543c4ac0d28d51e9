package reduce

import (
	"fmt"
	"strings"

	"termpilot/lazy"
)

// patched is a file in a patch.
type patched struct {
	name  string
	what  string // "", "new", "deleted", "binary", "from OLD"
	at    int    // its first line
	hunks []hunk
	n     [2]int // lines added and removed
}

// hunk is a hunk of a patch: lines [at+1, end) follow its head.
type hunk struct{ at, end int }

// patch is the text of git diff, git show or diff -u: what stands before the
// first file, and the files.
type patch struct {
	head  int // lines before
	files []patched
	end   int
}

var (
	diffGit  = lazy.Regexp(`^diff --(?:git "?a/(.*?)"? "?b/.*|cc (.*)|combined (.*))$`)
	hunkHead = lazy.Regexp(`^@@+ -\d+(?:,\d+)? .*\+(\d+)(?:,\d+)? @@+ ?(.*)$`)
	fromFile = lazy.Regexp(`^--- (?:a/)?(.*?)(?:\t.*)?$`)
	intoFile = lazy.Regexp(`^\+\+\+ (?:b/)?(.*?)(?:\t.*)?$`)
)

// readPatch reads a patch that begins at line from. It ends at a commit.
func readPatch(lines []string, from int) (p patch) {
	p.head = -1
	var f *patched
	var h *hunk
	i := from
	for ; i < len(lines); i++ {
		line := lines[i]
		if i > from && strings.HasPrefix(line, "commit ") && isCommit(line) {
			break
		}
		old := strings.HasPrefix(line, "--- ") && i+2 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ") && strings.HasPrefix(lines[i+2], "@@ ")
		switch {
		case strings.HasPrefix(line, "diff --") && diffGit().MatchString(line), old && (f == nil || h != nil):
			if p.head < 0 {
				p.head = i
			}
			p.files = append(p.files, patched{at: i})
			f, h = &p.files[len(p.files)-1], nil
			if m := diffGit().FindStringSubmatch(line); m != nil {
				f.name = m[1] + m[2] + m[3]
			} else {
				f.name = fromFile().FindStringSubmatch(line)[1]
			}
		case f == nil:
		case strings.HasPrefix(line, "@@") && hunkHead().MatchString(line):
			f.hunks = append(f.hunks, hunk{at: i, end: i + 1})
			h = &f.hunks[len(f.hunks)-1]
		case h != nil:
			h.end = i + 1
			switch {
			case strings.HasPrefix(line, "+"):
				f.n[0]++
			case strings.HasPrefix(line, "-"):
				f.n[1]++
			}
		default:
			f.about(line)
		}
	}
	p.end = i
	return p
}

// about takes a line between a file's first and its first hunk.
func (f *patched) about(line string) {
	switch {
	case strings.HasPrefix(line, "new file"):
		f.what = "new"
	case strings.HasPrefix(line, "deleted file"):
		f.what = "deleted"
	case strings.HasPrefix(line, "rename from "):
		f.what = "from " + line[len("rename from "):]
	case strings.HasPrefix(line, "rename to "):
		f.name = line[len("rename to "):]
	case strings.HasPrefix(line, "copy from "):
		f.what = "copy of " + line[len("copy from "):]
	case strings.HasPrefix(line, "Binary files"), strings.HasPrefix(line, "GIT binary"):
		f.what = strings.TrimSpace(f.what + " binary")
	case strings.HasPrefix(line, "new mode ") && f.what == "":
		f.what = line[len("new "):]
	case strings.HasPrefix(line, "+++ ") && f.what == "" && !strings.HasSuffix(line, "/dev/null"):
		f.name = intoFile().FindStringSubmatch(line)[1]
	}
}

// label says how much of a file changed.
func (f *patched) label() string {
	s := changes(f.n)
	if f.what != "" {
		s += " (" + f.what + ")"
	}
	return s
}

// changes spells lines added and removed.
func changes(n [2]int) string { return fmt.Sprintf(" +%d −%d", n[0], n[1]) }

func isCommit(line string) bool {
	hash, _, _ := strings.Cut(strings.TrimPrefix(line, "commit "), " ")
	return len(hash) >= 7 && strings.Trim(hash, "0123456789abcdef") == ""
}

// seenPatch reports whether a text begins as a patch does.
func seenPatch(in *input) bool {
	return strings.HasPrefix(in.lines[0], "diff --git ") ||
		len(in.lines) > 2 && strings.HasPrefix(in.lines[0], "--- ") && strings.HasPrefix(in.lines[1], "+++ ") && strings.HasPrefix(in.lines[2], "@@ ")
}

// gitPatch draws a patch: every file with how much of it changed, and as many
// of the changed lines as have room, of each file its share.
func gitPatch(in *input) (draft, bool) {
	var d draft
	p := readPatch(in.lines, 0)
	if len(p.files) == 0 || p.end < len(in.lines) {
		return d, false
	}
	if p.head > 0 && !isCommit(in.lines[0]) && p.head > 30 {
		return d, false // more than a patch
	}
	w := patchWriter{in: in, d: &d, room: in.tight(), rows: in.rows}
	w.before(0, p.head, 12)
	w.files(p.files)
	return d, true
}

// patchWriter draws patches while there is room.
type patchWriter struct {
	in   *input
	d    *draft
	room int
	rows int
	// For logs: the room that the lines of commits to come need, what more the
	// present one may take, and how many lines may be added to those.
	reserved, extra, spare int
}

func (w *patchWriter) keep(i int) {
	w.d.keep(w.in, i)
	w.room -= chars(shorten(w.in.lines[i])) + 1
	w.rows--
}

func (w *patchWriter) note(at int, text string) {
	w.d.note(at, text)
	w.room -= chars(text) + 1
	w.rows--
}

// before keeps what stands before the files: who made the commit, and why.
func (w *patchWriter) before(from, to, most int) {
	for i := from; i < to; i++ {
		if w.in.lines[i] == "" {
			continue
		}
		if most--; most < 0 {
			w.note(i, "… "+itoa(to-i)+" more lines of the message")
			return
		}
		w.keep(i)
	}
}

// files draws the files of a patch.
func (w *patchWriter) files(files []patched) {
	var all [2]int
	for _, f := range files {
		all[0], all[1] = all[0]+f.n[0], all[1]+f.n[1]
	}
	if len(files) > 1 {
		w.note(files[0].at, w.in.count(len(files))+" files"+changes(all))
		w.d.tells(maxWeight)
	}
	heads := 0
	for i := range files {
		heads += chars(files[i].name+files[i].label()) + 1
	}
	if heads > w.room/2 || len(files) > w.rows/2 {
		w.overview(files)
		return
	}
	room, rows := w.room-heads, w.rows-len(files)
	for i := range files {
		f := &files[i]
		w.d.note(f.at, f.name+f.label())
		w.d.tells(maxWeight)
		left := len(files) - i
		usedRoom, usedRows := w.hunks(f, room/left, rows/left)
		room, rows = room-usedRoom, rows-usedRows
	}
}

// overview lists the files without their lines.
func (w *patchWriter) overview(files []patched) {
	l := filesOf(files)
	l.room, l.rows = w.room, w.rows
	l.draw(w.d)
}

// filesOf is a listing of the files of a patch.
func filesOf(files []patched) listing {
	l := listing{unit: "files", sum: changes}
	for i := range files {
		l.leaves = append(l.leaves, leaf{path: files[i].name, label: files[i].label(), at: files[i].at, n: files[i].n})
	}
	return l
}

// hunks draws the changed lines of a file as far as room and rows go, and
// returns how much they took. What does not show is counted at its end, with the
// places where it stands.
func (w *patchWriter) hunks(f *patched, room, rows int) (usedRoom, usedRows int) {
	room, rows = room-30, rows-1 // the count of what does not show
	if len(f.hunks) > 2 {
		room -= mostPlaces * 6
	}
	left := f.n
	var rest []string // where hunks are that do not show in full
	for n, h := range f.hunks {
		share := max(2, (rows-usedRows)/(len(f.hunks)-n)) // lines of this hunk
		head := hunkName(w.in.lines[h.at])
		lines := h.changed(w.in.lines)
		shown, cost := 0, chars(head)+1
		for shown < min(len(lines), share) && usedRows+shown+2 <= rows {
			more := chars(shorten(w.in.lines[lines[shown]])) + 1
			if usedRoom+cost+more > room {
				break
			}
			shown, cost = shown+1, cost+more
		}
		if shown < len(lines) {
			rest = append(rest, hunkHead().FindStringSubmatch(w.in.lines[h.at])[1])
		}
		if shown == 0 {
			continue
		}
		w.d.note(h.at, head)
		for _, i := range lines[:shown] {
			w.d.keep(w.in, i)
			left[boolInt(w.in.lines[i][0] == '-')]--
		}
		usedRoom, usedRows = usedRoom+cost, usedRows+shown+1
	}
	if len(rest) > 0 {
		text := "…" + changes(left) + " more"
		if len(f.hunks) > 1 {
			text += fmt.Sprintf(" in %d hunks%s", len(rest), placesIn(rest))
		}
		w.d.note(f.hunks[len(f.hunks)-1].end-1, text)
		usedRoom, usedRows = usedRoom+chars(text)+1, usedRows+1
	}
	return usedRoom, usedRows
}

// changed are the lines of a hunk that were added or removed.
func (h hunk) changed(lines []string) (at []int) {
	for i := h.at + 1; i < h.end; i++ {
		if strings.HasPrefix(lines[i], "+") || strings.HasPrefix(lines[i], "-") {
			at = append(at, i)
		}
	}
	return at
}

// mostPlaces is how many places are named where there is more.
const mostPlaces = 16

// placesIn names the lines of hunks, of very many some from all over the file.
func placesIn(lines []string) string {
	most := min(len(lines), mostPlaces)
	text := ": @"
	if most < len(lines) {
		text = ", among them @"
	}
	for n := range most {
		if n > 0 {
			text += ", "
		}
		text += lines[n*len(lines)/most]
	}
	return text
}

// hunkName is the head of a hunk without its figures for the old file.
func hunkName(line string) string {
	m := hunkHead().FindStringSubmatch(line)
	if m == nil {
		return line
	}
	return strings.TrimSpace("@" + m[1] + " " + m[2])
}
