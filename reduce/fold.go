package reduce

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// tidy splits text into lines without blanks at their ends, and blank lines
// at most one together.
func tidy(text string) []entry {
	list := linesOf(text)
	out := list[:0]
	for _, l := range list {
		l.text = strings.TrimRight(l.text, " \t")
		if l.text == "" && (len(out) == 0 || out[len(out)-1].text == "") {
			continue
		}
		out = append(out, l)
	}
	for len(out) > 0 && out[len(out)-1].text == "" {
		out = out[:len(out)-1]
	}
	return out
}

// fold makes one line of several: three or more that are equal, and progress
// lines that differ in their figures only, of which the last stays.
func (t *table) fold() {
	out := t.lines[:0]
	seam := t.seam
	for i := 0; i < len(t.lines); {
		if i == t.seam {
			seam = len(out)
		}
		end := len(t.lines)
		if i < t.seam {
			end = t.seam // lines were left out between: what stands on both sides is no run
		}
		n := equalRun(t.lines[i:end])
		progress := false
		if n < 3 {
			if m := progressRun(t.lines[i:end]); m >= 3 {
				n, progress = m, true
			}
		}
		if n >= 3 {
			if folded, ok := t.oneOf(i, n, progress); ok {
				out = append(out, folded)
				i += n
				continue
			}
		}
		out = append(out, t.lines[i])
		i++
	}
	if t.seam >= len(t.lines) {
		seam = len(out)
	}
	t.lines, t.seam = out, seam
}

// oneOf is the line for a run of n, unless it would not be shorter.
func (t *table) oneOf(i, n int, progress bool) (entry, bool) {
	last := t.lines[i+n-1]
	text := last.text + repeatMark + strconv.Itoa(n) + ")"
	size := n - 1
	for _, l := range t.lines[i : i+n] {
		size += len(l.text)
	}
	if len(text) >= size {
		return entry{}, false
	}
	e := entry{text: text, keep: true, more: n - 1}
	if progress {
		e.lost = n - 1
	}
	return e, true
}

// repeatMark stands before the count behind a line that stands for several.
const repeatMark = " (×"

// counted reports whether a line already ends in a count: it is not counted again.
func counted(line string) bool {
	i := strings.LastIndex(line, repeatMark)
	return i >= 0 && strings.HasSuffix(line, ")")
}

func equalRun(list []entry) int {
	first := list[0].text
	if first == "" || counted(first) {
		return 1
	}
	n := 1
	for n < len(list) && list[n].text == first {
		n++
	}
	return n
}

func progressRun(list []entry) int {
	if !isProgress(list[0].text) {
		return 1
	}
	want := shape(list[0].text)
	n := 1
	for n < len(list) && isProgress(list[n].text) && shape(list[n].text) == want {
		n++
	}
	return n
}

// isProgress reports whether a line tells how far something is.
func isProgress(line string) bool {
	i := strings.IndexByte(line, '%')
	return i > 0 && line[i-1] >= '0' && line[i-1] <= '9' && len(line) <= longLine && !counted(line)
}

// shape is a line without its figures, blanks and bars: what lines of one
// progress display have in common.
func shape(line string) string {
	var b strings.Builder
	last := rune(0)
	for _, r := range line {
		switch {
		case r >= '0' && r <= '9' || r == '.' || r == ',' || r == ':':
			r = '0'
		case strings.ContainsRune(" \t=#>-━─█▉▊▋▌▍▎▏░▒▓⣿◼■□▪▫╸╺|/\\", r):
			continue
		}
		if r == '0' && last == '0' {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

const (
	longLine  = 500 // bytes: a line up to this long stays whole
	longFirst = 300 // characters kept of the beginning of a longer one
	longLast  = 120 // and of its end
)

// shorten cuts the middle out of a long line and says how much.
func shorten(line string) string {
	if len(line) <= longLine {
		return line
	}
	return middleOut(line, longFirst, longLast)
}

// byteOf is the byte at which character n of s begins.
func byteOf(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}
