package track

import (
	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

const (
	maxFurther = 64  // prompts whose further prompts are known
	maxSpans   = 256 // further prompts of one command
)

// further are the prompts with which a shell asked for more lines of a command:
// they stand within the command's text and are no part of it.
type further struct {
	prompt string
	spans  []terminal.Span
}

// asked follows the marks around a further prompt.
func (s *Places) asked(mark shellint.Mark) {
	switch {
	case mark.Kind == shellint.PromptStart && mark.Secondary:
		at := s.cursor()
		s.asking = &at
	case mark.Kind == shellint.PromptEnd && s.asking != nil:
		last, span := s.machine.Last(), terminal.Span{Start: *s.asking, End: s.cursor()}
		s.asking = nil
		if span.Start.Row != span.End.Row || last.State != terminal.Continuation && last.State != terminal.Editing {
			return
		}
		if n := len(s.further); n == 0 || s.further[n-1].prompt != last.ID {
			s.further = append(s.further[max(0, n-maxFurther+1):], further{prompt: last.ID})
		}
		if f := &s.further[len(s.further)-1]; len(f.spans) < maxSpans {
			f.spans = append(f.spans, span)
		}
	case mark.Kind != shellint.PromptEnd:
		s.asking = nil
	}
}

// Further returns the cells within a prompt's command that the shell printed to
// ask for more lines of it. They are known until rows get other numbers.
func (s *Places) Further(p shellint.Prompt) []terminal.Span {
	if columns, _ := s.term.Size(); columns != s.columns {
		return nil
	}
	for _, f := range s.further {
		if f.prompt == p.ID {
			return f.spans
		}
	}
	return nil
}

// without leaves the spans out of a row that was read from its first cell on.
func without(cells []vt.Cell, row int64, spans []terminal.Span) []vt.Cell {
	for _, s := range spans {
		if s.Start.Row == row && s.Start.Column <= len(cells) {
			end := min(max(s.End.Column, s.Start.Column), len(cells))
			cells = append(append([]vt.Cell{}, cells[:s.Start.Column]...), cells[end:]...)
		}
	}
	return cells
}
