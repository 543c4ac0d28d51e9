package host

import (
	"time"

	"termpilot/terminal"
)

const (
	// withheldPause and withheldTries bound how long an answer waits for its
	// program to read single characters: it asks first and sets the mode then.
	withheldPause = 10 * time.Millisecond
	withheldTries = 200
	// builtinTries is how long a shell that is in front itself must go on to read
	// characters before it counts as a builtin that waits, and not as the line
	// editor after a command whose end was not read yet. A loaded machine takes
	// its time; with no command said to run, there is no such doubt.
	builtinTries = 50
	hookTries    = 4
	maxWithheld  = 4 << 10
)

// reply types the emulator's answers to queries into the program that asked. A
// program that waits for one has switched the terminal from whole lines to
// characters; one that has not, such as cat with a hostile file, would leave
// the answer to be typed at the next prompt. So while the terminal hands over
// lines, answers are withheld, and dropped when the command ends first. mu is held.
func (s *session) reply(answers []byte) {
	if len(answers) == 0 && len(s.withheld) == 0 {
		return
	}
	if len(s.withheld) == 0 {
		s.tries = 0 // also when the timer of answers that were dropped still runs
	}
	s.withheld = append(s.withheld, answers...)
	if !s.readsKeys() {
		if len(s.withheld) > maxWithheld || s.atPrompt() {
			s.withheld = nil
		}
		if len(s.withheld) > 0 && s.waiting == nil {
			s.waiting = time.AfterFunc(withheldPause, s.replyLater)
		}
		return
	}
	s.input.reply(s.withheld)
	s.withheld = nil
}

func (s *session) replyLater() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = nil
	if s.over || len(s.withheld) == 0 {
		return
	}
	s.tries++
	f, err := s.device.flags()
	switch {
	case err != nil || s.tries > withheldTries:
		s.withheld = nil
	case s.readsKeys() || !f.canonical && s.tries >= s.doubt():
		s.input.reply(s.withheld)
		s.withheld = nil
	default:
		s.waiting = time.AfterFunc(withheldPause, s.replyLater)
	}
}

// doubt is after how many tries a shell that reads characters counts as a
// builtin or a hook that waits. mu is held.
func (s *session) doubt() int {
	switch {
	case s.marks.machine.Last().State == terminal.Running:
		return builtinTries
	case s.marks.machine.Guarded():
		return hookTries
	}
	return withheldTries + 1 // never: nothing tells when a command of such a shell ends
}

// readsKeys reports whether the program that is in front reads characters now.
// A shell that is in front although no prompt is known to stand may be at its
// line editor already, and its word of it is yet to be read. mu is held.
func (s *session) readsKeys() bool {
	f, err := s.device.flags()
	if err != nil || f.canonical {
		return false
	}
	front, err := s.device.foreground()
	return err == nil && (front != s.pid || !s.shell || s.atPrompt())
}

// atPrompt reports whether the shell's line editor is known to read. mu is held.
func (s *session) atPrompt() bool {
	state := s.marks.machine.Last().State
	return state == terminal.Editing || state == terminal.Continuation
}
