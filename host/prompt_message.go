package host

import (
	"strings"

	"termpilot/iterm/api"
	"termpilot/shellint"
	"termpilot/terminal"
)

type point struct {
	row    int64
	column int
	moved  bool // of a handle whose row was erased: where its text would begin now
}

// promptMessage tells a prompt as GetPrompt does. The session's lock is held.
func (s *session) promptMessage(p shellint.Prompt) *api.GetPromptResponse {
	m := &api.GetPromptResponse{
		Status:            api.GetPromptResponse_OK.Enum(),
		UniquePromptId:    ptr(s.promptGUID(p.ID)),
		WorkingDirectory:  ptr(clean(p.Cwd)),
		ExcludedSubranges: s.excluded(p.ID),
	}
	start, ok := s.locate(p.Start)
	lineStart, known := s.locate(p.CommandStart)
	if ok && known {
		m.PromptRange = coordRange(start, lineStart)
	}
	cursor := s.cursor()
	switch p.State {
	case terminal.Running:
		m.PromptState = api.GetPromptResponse_RUNNING.Enum()
	case terminal.Finished:
		m.PromptState = api.GetPromptResponse_FINISHED.Enum()
		if p.Exit != nil {
			m.ExitStatus = ptr(uint32(*p.Exit))
		}
	default:
		m.PromptState = api.GetPromptResponse_EDITING.Enum()
		if known {
			m.CommandRange = coordRange(lineStart, later(lineStart, cursor))
			m.Command = ptr(clean(s.commandText(p)))
		}
		return m
	}
	m.Command = ptr(clean(p.Command))
	output, started := s.locate(p.OutputStart)
	if !started {
		return m
	}
	if known {
		m.CommandRange = coordRange(lineStart, later(lineStart, s.lineEndBefore(output)))
	}
	end := cursor
	if p.State == terminal.Finished {
		end = output
		if at, ok := s.outputEnd(p); ok {
			end = later(output, at)
		}
	}
	m.OutputRange = coordRange(output, end)
	return m
}

// commandText is the text from a prompt's end to the cursor: wrapped rows joined,
// others on lines of their own, without the prompts for further lines. Bounded:
// what is far above is left out.
func (s *session) commandText(p shellint.Prompt) string {
	from, ok := s.locate(p.CommandStart)
	to, spans := s.term.Cursor(), s.further(p.ID)
	if !ok || to.Row < from.row || to.Row == from.row && to.Column <= from.column {
		return ""
	}
	const most = 2000
	var b strings.Builder
	rows := s.term.Rows(from.row, int(min(to.Row-from.row+1, most)))
	for i, r := range rows {
		cells := r.Cells
		if from.row+int64(i) == to.Row {
			cells = cells[:min(to.Column, len(cells))]
		}
		if cells = without(cells, from.row+int64(i), spans); i == 0 {
			cells = cells[min(from.column, len(cells)):]
		}
		b.WriteString(textOf(cells))
		if !r.Wrapped && from.row+int64(i) != to.Row {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// lineEndBefore is the end of the text in the row above at, when at begins a row.
func (s *session) lineEndBefore(at point) point {
	if at.column != 0 || at.row <= s.term.Dropped() {
		return at
	}
	rows := s.term.Text(at.row-1, 1)
	if len(rows) != 1 {
		return at
	}
	cells := s.term.Rows(at.row-1, 1)[0].Cells
	n := len(cells)
	for n > 0 && (cells[n-1].Text == " " || cells[n-1].Text == "" && cells[n-1].Width != 0) {
		n--
	}
	return point{row: at.row - 1, column: n}
}

func (s *session) cursor() point {
	c := s.term.Cursor()
	return point{row: c.Row, column: c.Column}
}

func later(a, b point) point {
	if b.row < a.row || b.row == a.row && b.column < a.column {
		return a
	}
	return b
}

func coordRange(start, end point) *api.CoordRange {
	return &api.CoordRange{Start: coord(start), End: coord(end)}
}

func coord(p point) *api.Coord {
	return &api.Coord{X: ptr(int32(p.column)), Y: ptr(p.row)}
}
