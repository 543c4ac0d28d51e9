package track

import (
	"strings"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// mostText is how many rows of a command line are looked at.
const mostText = 2000

// Line is the text from a prompt's end to the cursor: wrapped rows joined, others
// on lines of their own, without the prompts for further lines. What is more
// than 2,000 rows down is left out.
func (s *Places) Line(p shellint.Prompt) string {
	from, ok := s.Locate(p.CommandStart)
	to, spans := s.typedEnd(p, from), s.Further(p)
	if !ok || (terminal.Span{Start: from, End: to}).Empty() {
		return ""
	}
	var b strings.Builder
	for i, r := range s.term.Rows(from.Row, int(min(to.Row-from.Row+1, mostText))) {
		cells, row := r.Cells, from.Row+int64(i)
		if row == to.Row {
			cells = cells[:min(to.Column, len(cells))]
		}
		if cells = without(cells, row, spans); i == 0 {
			cells = cells[min(from.Column, len(cells)):]
		}
		b.WriteString(vt.CellText(cells))
		if !r.Wrapped && row != to.Row {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// typedEnd is the cursor, or the end of what was written since the prompt's end,
// at from, where older text stands to the right of it.
func (s *Places) typedEnd(p shellint.Prompt, from terminal.Point) terminal.Point {
	end := s.cursor()
	traced, ok := s.term.Traced(s.pins[p.CommandStart])
	if !ok || traced.Hidden || traced.Apart || from.Row >= traced.Flow {
		return end
	}
	last := from
	for _, v := range traced.Over {
		if to, ok := s.pinned(v.To); ok {
			last = later(last, to)
		}
	}
	if later(end, last) != end || s.filled(later(last, terminal.Point{Row: traced.Flow}), end) { // it goes on there
		return end
	}
	return last
}

// rightOfCursor is the text from the cursor to the end of its line.
func (s *Places) rightOfCursor() string {
	at := s.cursor()
	var b strings.Builder
	for i, r := range s.term.Rows(at.Row, 8) {
		cells := r.Cells
		if i == 0 {
			cells = cells[min(at.Column, len(cells)):]
		}
		b.WriteString(vt.CellText(cells))
		if !r.Wrapped {
			break
		}
	}
	return b.String()
}

// textEnd is the end of the text in the row above at, when at begins a row.
func (s *Places) textEnd(at terminal.Point) terminal.Point {
	if at.Column != 0 || at.Row <= s.term.Dropped() {
		return at
	}
	rows := s.term.Rows(at.Row-1, 1)
	if len(rows) != 1 {
		return at
	}
	n := len(rows[0].Cells)
	for n > 0 && blank(rows[0].Cells[n-1:n]) {
		n--
	}
	return terminal.Point{Row: at.Row - 1, Column: n}
}

func blank(cells []vt.Cell) bool {
	for _, c := range cells {
		if c.Text != "" && c.Text != " " {
			return false
		}
	}
	return true
}
