package host

import (
	"slices"
	"strings"

	"termpilot/terminal"
)

// typeAt types text at a prompt if it still stands as its shell showed it:
// looking and typing are one step, between which nobody else types. It reports
// whether the text was accepted; otherwise nothing was typed.
func (h *server) typeAt(s *session, prompt, text string) bool {
	if text == "" || h.copied(s) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.untouched(prompt) || !s.shellReads() {
		return false
	}
	s.marks.places.Touch()
	return s.input.put([]byte(text))
}

// copied reports whether what a person types into a session is also typed into others.
func (h *server) copied(s *session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.broadcasts, func(domain []string) bool {
		return len(domain) > 1 && slices.Contains(domain, s.id)
	})
}

// untouched reports whether a prompt is the last one, stands on the session's
// secret, and nothing was typed or printed at it. mu is held.
func (s *session) untouched(prompt string) bool {
	m := &s.marks
	p := m.machine.Last()
	if s.over || m.lost || !m.machine.Guarded() || m.places.Touched() || p.State != terminal.Editing || p.ID == "" ||
		s.promptGUID(p.ID) != strings.ToUpper(prompt) {
		return false
	}
	at, ok := m.places.Locate(p.CommandStart)
	idle, _ := s.input.idle() // what was sent before the prompt was shown may be on its way
	return ok && idle && s.cursor() == at
}

// shellReads reports whether the session's own shell is in front, reads
// characters and takes pastes. mu is held.
func (s *session) shellReads() bool {
	if !s.shell || !s.term.Modes().BracketedPaste {
		return false
	}
	f, err := s.device.flags()
	if err != nil || f.canonical {
		return false
	}
	front, err := s.device.foreground()
	return err == nil && front == s.pid
}
