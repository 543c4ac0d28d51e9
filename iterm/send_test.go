package iterm

import (
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
)

func TestSendRefusesWhatTheProtocolCannotCarry(t *testing.T) { // ITERM-50, ITERM-34
	w := newWorld(3)
	w.sessions[1].vars["tmuxRole"] = "gateway"
	s := newFakeServer(t, w)
	c := s.client(Options{})
	wantCode(t, c.Send(t.Context(), sid(1), []byte("a\xffb")), fault.InvalidArgument)
	sessions(t, c)
	wantCode(t, c.Send(t.Context(), sid(2), []byte("detach")), fault.NotAllowed)
	if n := len(s.sent()); n != 0 {
		t.Errorf("%d texts were sent", n)
	}
	cold := s.client(Options{}) // knows nothing of it yet
	wantCode(t, cold.Send(t.Context(), sid(2), []byte("detach")), fault.NotAllowed)
	if err := cold.Send(t.Context(), sid(3), nil); err != nil {
		t.Fatal(err)
	}
	s.count()
	s.notifyAll(variableChanged(guid(3), varTmuxRole, `"gateway"`)) // tmux -CC was started in it
	if _, err := cold.Profiles(t.Context()); err != nil {           // its answer is behind the notification
		t.Fatal(err)
	}
	wantCode(t, cold.Send(t.Context(), sid(3), []byte("x")), fault.NotAllowed)
	if n := len(s.sent()); n != 0 {
		t.Errorf("%d texts were sent", n)
	}
	const text = "\x00\x1b[A漢\r\n"
	if err := c.Send(t.Context(), sid(1), []byte(text)); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	last := s.requests[len(s.requests)-1].GetSendTextRequest()
	s.mu.Unlock()
	if last.GetText() != text || !last.GetSuppressBroadcast() || last.GetSession() != guid(1) {
		t.Errorf("got %v", last)
	}
}

func TestCursorKeysAreWhatTheHostTells(t *testing.T) { // ITERM-56, ITERM-34, ITERM-35
	w := newWorld(3)
	w.sessions[0].vars[varCursorKeys] = "application"
	w.sessions[1].vars[varCursorKeys] = "normal"
	c := newFakeServer(t, w).client(Options{})
	for i, want := range []bool{true, false, false} { // the third is iTerm2's: it tells nothing
		if got, err := c.ApplicationCursor(t.Context(), sid(i+1)); got != want || err != nil {
			t.Errorf("session %d: got %v, %v, want %v", i+1, got, err, want)
		}
	}
	for _, id := range []terminal.ID{"active", sid(9)} {
		_, err := c.ApplicationCursor(t.Context(), id)
		wantCode(t, err, fault.SessionNotFound)
	}
}
