package iterm

import (
	"strings"
	"unicode/utf8"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// maxCells is the widest row that is believed.
const maxCells = 10000

// toEnd is the end of a span that takes a row whole.
const toEnd = maxCells

// rowOf makes a row of the cells of a line from column from up to, not
// including, column to. A character two cells wide belongs to its first cell.
func rowOf(line *api.LineContents, from, to int) terminal.Row {
	return terminal.Row{
		Text: textOf(line, from, to),
		Soft: line.GetContinuation() == api.LineContents_CONTINUATION_SOFT_EOL,
	}
}

func textOf(line *api.LineContents, from, to int) string {
	if from <= 0 && to >= maxCells && simple(line) {
		return line.GetText()
	}
	b := cellReader{rest: line.GetText(), from: from, to: to}
	for _, run := range line.GetCodePointsPerCell() {
		repeats := int32(1)
		if run.Repeats != nil {
			repeats = run.GetRepeats()
		}
		for range min(repeats, maxCells) {
			if !b.cell(int(run.GetNumCodePoints())) {
				return b.out.String()
			}
		}
	}
	for b.rest != "" && b.cell(1) { // text that no run speaks of: a cell for each character
	}
	return b.out.String()
}

// simple reports whether a line is its text as it stands: printable ASCII, one
// character to a cell.
func simple(line *api.LineContents) bool {
	text := line.GetText()
	if len(text) > maxCells {
		return false
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	cells := int64(0)
	for _, run := range line.GetCodePointsPerCell() {
		if run.GetNumCodePoints() != 1 {
			return false
		}
		cells += int64(run.GetRepeats())
	}
	return cells == int64(len(text)) || len(line.GetCodePointsPerCell()) == 0
}

// cellReader cuts a line's text into cells and gathers those of a span.
type cellReader struct {
	rest     string
	debt     int // UTF-16 units of the last character that are still to be paid for
	column   int
	from, to int
	wide     bool // the last cell may go on in the next
	blanks   int  // never-written cells not yet known to be inside the row
	out      strings.Builder
}

// cell takes the next cell, which holds n UTF-16 units: the protocol counts
// code units although it names code points. It is false when the row is over.
func (b *cellReader) cell(n int) bool {
	if b.column >= b.to || b.column >= maxCells {
		return false
	}
	in := b.column >= b.from
	b.column++
	text := b.take(n)
	switch {
	case text == "" && b.wide: // the right half of the character before
		b.wide = false
	case text == "" || text == "\x00" || text == "\t":
		// Never written, a picture, or what a tab has skipped.
		b.wide = false
		if in {
			b.blanks++
		}
	default:
		b.wide = !ascii(text)
		if in {
			for ; b.blanks > 0; b.blanks-- {
				b.out.WriteByte(' ')
			}
			b.out.WriteString(printable(text))
		}
	}
	return true
}

// take cuts n UTF-16 units off the text. Half of a surrogate pair takes the
// whole character; the other half is then owed.
func (b *cellReader) take(n int) string {
	size := 0
	for n > 0 {
		if b.debt > 0 {
			b.debt--
			n--
			continue
		}
		r, width := utf8.DecodeRuneInString(b.rest[size:])
		if width == 0 {
			break
		}
		size += width
		n--
		if r > 0xFFFF {
			b.debt++
		}
	}
	text := b.rest[:size]
	b.rest = b.rest[size:]
	return text
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// printable replaces what cannot stand in a cell.
func printable(s string) string {
	if ascii(s) && strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }
