package track

import (
	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// line is how the row of the cursor looked.
type line struct {
	at   terminal.Point
	text string
}

func (s *Places) line() line {
	l := line{at: s.cursor()}
	for _, r := range s.term.Rows(l.at.Row, 1) {
		l.text = vt.CellText(r.Cells)
	}
	return l
}

// stands takes what the shell tells of a line of which nothing was known. shown
// is of a prompt that was not known either.
func (s *Places) stands(mark shellint.Mark, shown bool) {
	last := s.machine.Last()
	if last.AID != mark.AID || last.State != terminal.Editing {
		return
	}
	if _, placed := s.Locate(last.CommandStart); mark.Holds && !mark.Drawn && !placed {
		now := s.line()
		s.standing = &now
	}
	if !mark.Holds && !mark.Drawn {
		s.right = s.rightOfCursor() // all of it is the shell's own
	}
	if shown && (mark.Holds || mark.Mode) {
		s.Touch()
	}
}

// holds says whether a line of which the beginning is not known holds text: as
// long as it looks as it did when the shell said so.
func (s *Places) holds() terminal.Known {
	if s.standing != nil && *s.standing == s.line() {
		return terminal.Yes
	}
	return terminal.Unknown
}
