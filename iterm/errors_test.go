package iterm

import (
	"errors"
	"testing"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

func TestAnErrorAnswerIsARefusalInOneLine(t *testing.T) { // ITERM-6
	s := newFakeServer(t, newWorld(1))
	reason := "no\x1b[31m\nreally"
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetSendTextRequest() == nil {
			return false
		}
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Error{Error: reason}})
		return true
	}
	c := s.client(Options{})
	err := c.Send(t.Context(), sid(1), []byte("x"))
	wantCode(t, err, fault.Refused)
	if got, want := err.Error(), "send "+guid(1)+": backend_refused: no[31m really"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	reason = ""
	wantCode(t, c.Send(t.Context(), sid(1), []byte("x")), fault.Refused)
}

func TestTheHostsOwnFaultsKeepTheirCodes(t *testing.T) { // ITERM-16
	for _, tc := range []struct {
		answer       string
		theirs       bool // from another terminal than the host
		code         fault.Code
		detail, hint string
	}{
		{
			answer: "shell_not_found: no such program: /bin/x (install it, or choose another (a shell))", code: fault.ShellNotFound,
			detail: "no such program: /bin/x", hint: "install it, or choose another (a shell)",
		},
		{
			answer: "invalid_argument: the working directory does not exist: /a (b): stat: no (give another)", code: fault.InvalidArgument,
			detail: "the working directory does not exist: /a (b): stat: no", hint: "give another",
		},
		{answer: "profile_not_found", code: fault.ProfileNotFound},
		{answer: "storage_failed (make room)", code: fault.Storage, hint: "make room"},
		{answer: "too_large: odd) (", code: fault.TooLarge, detail: "odd) ("},
		{answer: "too_large: odd)", code: fault.TooLarge, detail: "odd)"},
		{answer: "internal: \x1b]0;x\a\nlines", code: fault.Internal, detail: "]0;x lines"},
		{answer: "made_up: no (do)", code: fault.Refused, detail: "made_up: no (do)", hint: "update the terminal, or use another way"},
		{answer: "shell_not_found: no", theirs: true, code: fault.Refused, detail: "shell_not_found: no", hint: "update the terminal, or use another way"},
		{answer: "", code: fault.Refused, detail: "the terminal gave no reason", hint: "update the terminal, or use another way"},
	} {
		w := newWorld(1)
		w.host = !tc.theirs
		s := newFakeServer(t, w)
		s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetCreateTabRequest() == nil {
				return false
			}
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Error{Error: tc.answer}})
			return true
		}
		_, err := s.client(Options{}).Open(t.Context(), terminal.OpenSpec{})
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != tc.code || f.Detail != tc.detail || f.Hint != tc.hint || f.Op != "open" {
			t.Errorf("%q: got %#v (%v)", tc.answer, f, err)
		}
	}
}
