package reduce

import (
	"fmt"
	"strings"

	"termpilot/lazy"
)

var searchReducers = []reducer{
	{names: "grep, egrep, fgrep, zgrep, rg, ag, ack, git grep, ugrep", reduce: grepHits},
}

// hit is a line that a search found.
type hit struct {
	at     int
	number string
	text   string
}

// hitFile is a file with hits.
type hitFile struct {
	path string
	at   int
	hits []hit
	n    int // hits, counted by the program when it shows only counts
}

var (
	hitLine    = lazy.Regexp(`^((?:[A-Za-z]:)?[^:\x00]*?[^:\s]):(\d+):(?:(\d+):)?(.*)$`)
	bareHit    = lazy.Regexp(`^((?:[A-Za-z]:)?[^:\s][^:]*?):(.*)$`)
	nearLine   = lazy.Regexp(`^.*?-\d+-`)
	headingHit = lazy.Regexp(`^(\d+)[:-](?:(\d+):)?(.*)$`)
)

// grepHits draws hits file by file: how many each file has, and as many of the
// lines as have room, of each file its share.
func grepHits(in *input) (draft, bool) {
	var d draft
	files, others, ok := readHits(in)
	if !ok {
		return d, false
	}
	hits := 0
	for _, f := range files {
		hits += f.n
	}
	w := patchWriter{in: in, d: &d, room: in.tight() - 80, rows: in.rows - 2}
	d.note(0, fmt.Sprintf("%s hits in %s files", in.count(hits), in.count(len(files))))
	d.tells(maxWeight)
	whole, lines := 0, len(files)
	for _, f := range files {
		whole += chars(f.path) + 2
		for _, h := range f.hits {
			whole += len(h.number) + chars(shorten(h.text)) + 3
			lines++
		}
	}
	if whole <= w.room && lines <= w.rows {
		for _, f := range files {
			d.note(f.at, f.path)
			for _, h := range f.hits {
				d.show(h.at, 1, h.line())
			}
		}
		keepOthers(in, &d, others)
		return d, true
	}
	l := listing{unit: "files", sum: func(n [2]int) string { return fmt.Sprintf(", %d hits", n[0]) }, room: w.room * 3 / 5, rows: w.rows * 3 / 5}
	for _, f := range files {
		l.leaves = append(l.leaves, leaf{path: f.path, label: fmt.Sprintf(" %d", f.n), at: f.at, n: [2]int{f.n, 0}})
	}
	var list draft
	l.draw(&list)
	for _, line := range list.lines {
		w.room, w.rows = w.room-chars(line.text)-1, w.rows-1
		d.note(0, line.text) // hits do not show by being counted
		d.tells(maxWeight)
	}
	w.samples(files)
	keepOthers(in, &d, others)
	return d, true
}

func (h hit) line() string {
	text := strings.TrimSpace(h.text)
	if h.number == "" {
		return "  " + text
	}
	return h.number + ": " + text
}

// readHits sorts the lines of a search by file: path:line:text, path:text, or
// with a heading for each file. others are lines that are no hits.
func readHits(in *input) (files []hitFile, others []int, ok bool) {
	byPath := map[string]int{}
	add := func(path string, h hit) {
		n, have := byPath[path]
		if !have {
			n = len(files)
			byPath[path] = n
			files = append(files, hitFile{path: path, at: h.at})
		}
		files[n].hits = append(files[n].hits, h)
		files[n].n++
	}
	heading, bare, known := "", 0, 0
	for i, line := range in.lines {
		if m := headingHit().FindStringSubmatch(line); m != nil && heading != "" {
			if !strings.HasPrefix(line[len(m[1]):], "-") { // a line of context does not count
				add(heading, hit{i, strings.TrimSuffix(m[1]+":"+m[2], ":"), m[3]})
			}
			known++
			continue
		}
		if m := hitLine().FindStringSubmatch(line); m != nil {
			add(m[1], hit{i, strings.TrimSuffix(m[2]+":"+m[3], ":"), m[4]})
			known++
			continue
		}
		switch {
		case line == "", line == "--":
			heading = ""
		case nearLine().MatchString(line) && known > 0:
		case strings.HasPrefix(line, "grep: "), strings.HasPrefix(line, "rg: "), strings.HasPrefix(line, "Binary file "):
			others = append(others, i)
		case (i == 0 || in.lines[i-1] == "") && i+1 < len(in.lines) && headingHit().MatchString(in.lines[i+1]) && isPath(line):
			heading = line
		default:
			m := bareHit().FindStringSubmatch(line)
			if m == nil || !strings.ContainsAny(m[1], "./") || strings.Contains(m[1], "://") {
				others = append(others, i)
				continue
			}
			h := hit{at: i, text: m[2]}
			add(m[1], h)
			if n := atoi(m[2]); in.has("-c", "--count") && m[2] != "" {
				f := &files[byPath[m[1]]]
				f.n, f.hits = n, nil
			}
			bare++
			known++
		}
	}
	return files, others, known > 1 && len(others)*5 < known
}

// sampleRoom is about how many characters a hit takes.
const sampleRoom = 60

// samples draws hits that show as long as there is room: some of each file, or one
// of every so many files when not all of them can have one.
func (w *patchWriter) samples(files []hitFile) {
	most := min(len(files), w.rows, w.room/sampleRoom)
	seen := map[uint64]bool{}
	for n := range most {
		f := files[n*len(files)/most]
		room, rows := max(w.room/(most-n), 2*sampleRoom), min(3, max(1, w.rows/(most-n)))
		for _, h := range f.hits {
			text := f.path + ":" + h.line()
			cost, k := chars(shorten(text))+1, kind(h.text)
			if cost > min(room, w.room) || seen[k] {
				continue
			}
			if rows--; rows < 0 || w.rows < 1 {
				break
			}
			seen[k] = true
			w.d.lines = append(w.d.lines, drafted{text: text, at: h.at, of: 1})
			w.room, room, w.rows = w.room-cost, room-cost, w.rows-1
		}
	}
}

// keepOthers keeps the lines that are no hits: what could not be read.
func keepOthers(in *input, d *draft, others []int) {
	const most = 5
	for n, i := range others {
		if n == most {
			d.note(i, fmt.Sprintf("… %d more lines that are no hits", len(others)-n))
			return
		}
		d.keep(in, i)
	}
}
