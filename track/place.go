package track

import (
	"strings"

	"termpilot/terminal"
	"termpilot/vt"
)

// locate returns where a handle's place is now. A place whose row left the top
// of the scrollback is told as a row that is not kept any more.
func (t *Tracker) locate(handle uint64) (place, bool) {
	pin, ok := t.pins[handle]
	if !ok {
		return place{}, false
	}
	if row, column, ok := t.term.Locate(pin); ok {
		return place{Point: terminal.Point{Row: row, Column: column}}, true
	}
	at := t.first[handle]
	switch t.term.Fate(pin) {
	case vt.Scrolled:
		return place{Point: terminal.Point{Row: max(0, min(at.Row, t.term.Dropped()-1))}}, true
	case vt.Erased:
		return at, at.moved
	}
	return place{}, false
}

func (t *Tracker) cursor() terminal.Point {
	c := t.term.Cursor()
	return terminal.Point{Row: c.Row, Column: c.Column}
}

func later(a, b terminal.Point) terminal.Point {
	if b.Row < a.Row || b.Row == a.Row && b.Column < a.Column {
		return a
	}
	return b
}

// mostText is how many rows of a command line are looked at.
const mostText = 2000

// textBetween is the text from a handle's place to the cursor: wrapped rows
// joined, others on lines of their own.
func (t *Tracker) textBetween(handle uint64, to vt.Cursor) string {
	from, ok := t.locate(handle)
	if !ok || to.Row < from.Row || to.Row == from.Row && to.Column <= from.Column {
		return ""
	}
	var b strings.Builder
	for i, r := range t.term.Rows(from.Row, int(min(to.Row-from.Row+1, mostText))) {
		cells := r.Cells
		last := from.Row+int64(i) == to.Row
		if last {
			cells = cells[:min(to.Column, len(cells))]
		}
		if i == 0 {
			cells = cells[min(from.Column, len(cells)):]
		}
		b.WriteString(textOf(cells))
		if !r.Wrapped && !last {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// rightOfCursor is the text from the cursor to the end of its line.
func (t *Tracker) rightOfCursor() string {
	at := t.cursor()
	var b strings.Builder
	for i, r := range t.term.Rows(at.Row, 8) {
		cells := r.Cells
		if i == 0 {
			cells = cells[min(at.Column, len(cells)):]
		}
		b.WriteString(textOf(cells))
		if !r.Wrapped {
			break
		}
	}
	return b.String()
}

// textOf is the text of cells; one that was never written is a blank.
func textOf(cells []vt.Cell) string {
	var b strings.Builder
	for _, c := range cells {
		switch {
		case c.Text != "":
			b.WriteString(c.Text)
		case c.Width != 0:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func blank(cells []vt.Cell) bool {
	for _, c := range cells {
		if c.Text != "" && c.Text != " " {
			return false
		}
	}
	return true
}
