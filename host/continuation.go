package host

import (
	"termpilot/iterm/api"
	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

const (
	maxContinued     = 64  // prompts whose further prompts are known
	maxContinuations = 256 // further prompts of one command
)

// span is cells of one row that are not part of a command.
type span struct{ start, end point }

// continued are the prompts with which a shell asked for more lines of a
// command: they stand within the command's text and are no part of it.
type continued struct {
	prompt string
	spans  []span
}

// continuation follows the marks around a further prompt. mu is held.
func (s *session) continuation(mark shellint.Mark) {
	m := &s.marks
	switch {
	case mark.Kind == shellint.PromptStart && mark.Secondary:
		at := s.cursor()
		m.asking = &at
	case mark.Kind == shellint.PromptEnd && m.asking != nil:
		last, asked := m.machine.Last(), span{*m.asking, s.cursor()}
		m.asking = nil
		if asked.start.row != asked.end.row || last.State != terminal.Continuation && last.State != terminal.Editing {
			return
		}
		if n := len(m.continued); n == 0 || m.continued[n-1].prompt != last.ID {
			m.continued = append(m.continued[max(0, n-maxContinued+1):], continued{prompt: last.ID})
		}
		if c := &m.continued[len(m.continued)-1]; len(c.spans) < maxContinuations {
			c.spans = append(c.spans, asked)
		}
	case mark.Kind != shellint.PromptEnd:
		m.asking = nil
	}
}

// further are the spans within a prompt's command. mu is held.
func (s *session) further(prompt string) []span {
	for _, c := range s.marks.continued {
		if c.prompt == prompt {
			return c.spans
		}
	}
	return nil
}

// without leaves the spans out of a row that was read from its first cell on.
func without(cells []vt.Cell, row int64, spans []span) []vt.Cell {
	for _, s := range spans {
		if s.start.row == row && s.start.column <= len(cells) {
			end := min(max(s.end.column, s.start.column), len(cells))
			cells = append(append([]vt.Cell{}, cells[:s.start.column]...), cells[end:]...)
		}
	}
	return cells
}

// excluded tells the spans as GetPrompt does. mu is held.
func (s *session) excluded(prompt string) []*api.CoordRange {
	var list []*api.CoordRange
	for _, span := range s.further(prompt) {
		list = append(list, coordRange(span.start, span.end))
	}
	return list
}

// renumbered forgets the places that are known by the numbers of their rows,
// which have changed. mu is held.
func (s *session) renumbered() {
	s.selected, s.marks.continued = nil, nil
}
