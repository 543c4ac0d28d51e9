package track

import (
	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// maxRest is the most bytes of an output's end that are kept: more than any row of text has.
const maxRest = 16 << 10

// tail is the row in which the last command ended, as far as its output goes.
// A shell that does not begin its prompt in a fresh row may paint it over: zsh
// without prompt_sp at once, and bash, which takes the prompt to begin its row,
// when it draws the line anew.
type tail struct {
	of   shellint.Prompt // whose command it was
	text string          // of the row before the end mark
	rest string          // what is to be told of it when it is painted over
}

// keepTail takes the row in which a command has just ended, unless zsh leaves it,
// and gives it up when the next one starts.
func (s *Places) keepTail(c shellint.Change, mark shellint.Mark) {
	switch {
	case c.Kind == terminal.Started:
		s.tail = tail{}
	case c.Kind == terminal.Ended && c.Prompt.OutputEnd == s.next:
		s.tail = tail{}
		if at := s.cursor(); at.Column > 0 && !mark.HasEOL {
			s.tail = s.tailAt(c.Prompt, at)
		}
	}
}

func (s *Places) tailAt(p shellint.Prompt, at terminal.Point) tail {
	from := max(at.Row-1, s.term.Dropped())
	rows := s.term.Rows(from, int(at.Row-from)+1)
	if len(rows) == 0 {
		return tail{}
	}
	cells := rows[len(rows)-1].Cells
	cells = cells[:min(at.Column, len(cells))]
	t := tail{of: p, text: vt.CellText(cells)}
	out := s.Output(p)
	start := out.Span.Start
	switch {
	case at.Column == 0:
	case !out.Known || out.Span.End != at || len(t.text) > maxRest:
		return tail{}
	case at.Row == start.Row:
		t.rest = vt.CellText(cells[min(start.Column, len(cells)):])
	case len(rows) == 2 && rows[0].Wrapped:
		t.rest = t.text
	default:
		t.rest = "\n" + t.text
	}
	return t
}

// watchTail finds out whether the row in which the last command ended was
// painted over. Then the output ends where the row begins, and the rest is kept.
func (s *Places) watchTail() {
	at, ok := s.Locate(s.tail.of.OutputEnd)
	if !ok { // the screen was erased
		s.tail = tail{}
		return
	}
	if columns, _ := s.term.Size(); columns != s.columns { // its line was wrapped anew
		s.tail = s.tailAt(s.tail.of, at)
		return
	}
	row := s.term.Rows(at.Row, 1)
	if len(row) == 1 && vt.CellText(row[0].Cells[:min(at.Column, len(row[0].Cells))]) == s.tail.text {
		return
	}
	was, handle := s.tail, s.tail.of.OutputEnd
	s.tail = tail{}
	if pin := s.term.PinBefore(s.pins[handle]); pin != 0 && len(was.rest)+len(s.rests[handle]) <= maxRest {
		s.term.Unpin(s.pins[handle])
		at.Column = 0
		s.pins[handle], s.first[handle], s.rests[handle] = pin, at, was.rest+s.rests[handle]
		s.tail = tail{of: was.of} // what is before may yet come into the prompt's row
	}
}

// Rest is the end of a command's output that was painted over since, and is no
// part of what Output tells: it belongs behind that, as joined lines.
func (s *Places) Rest(p shellint.Prompt) string {
	if p.State != terminal.Finished {
		return ""
	}
	return s.rests[p.OutputEnd]
}
