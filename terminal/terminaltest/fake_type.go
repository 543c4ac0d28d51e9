package terminaltest

import (
	"context"
	"iter"

	"termpilot/fault"
	"termpilot/terminal"
)

// Follow implements terminal.Typer. It counts as "watch".
func (f *Fake) Follow(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	f.mu.Lock()
	s := f.sessions[id]
	fresh := s != nil && !f.o.NoTyper && s.latest != nil && s.takes(s.latest.id)
	f.mu.Unlock()
	if !fresh {
		return nil, &fault.Error{Op: "watch", Session: string(id), Code: fault.Unsupported, Hint: "look with Watch"}
	}
	return f.Watch(ctx, id)
}

// TypeAt implements terminal.Typer. It counts as "send", and is in Sent when
// the text was taken.
func (f *Fake) TypeAt(ctx context.Context, id terminal.ID, promptID string, text []byte) (bool, error) {
	if err := f.enter(ctx, "send", id); err != nil {
		return false, err
	}
	s, err := f.live("send", id)
	if err == nil && f.o.NoTyper {
		err = &fault.Error{Op: "send", Session: string(id), Code: fault.Unsupported, Hint: "type with Send"}
	}
	if f.before != nil {
		before := f.before
		f.before = nil
		before()
	}
	typed := err == nil && s.takes(promptID) && s.reads()
	if typed {
		s.sent = append(s.sent, append([]byte(nil), text...))
		s.receive(text)
	}
	f.mu.Unlock()
	return typed, f.leave(ctx, "send", id, err)
}

// takes reports whether a prompt stands as it was shown. The lock is held.
func (s *session) takes(promptID string) bool {
	if s.latest == nil || s.latest.id != promptID || s.exit != nil {
		return false
	}
	p := s.view(s.latest)
	return p.State == terminal.Editing && p.Marks == terminal.MarksNonce && s.marks == terminal.MarksNonce &&
		p.Typed == terminal.No && p.Touched == terminal.No && p.Paste == terminal.Yes && !s.broadcast && s.grid.cursor() == s.latest.line
}

// reads reports whether the session's own shell is at its line editor. The lock is held.
func (s *session) reads() bool {
	flags := s.flags
	if s.pretendFlags != nil {
		flags = *s.pretendFlags
	}
	return s.foreground == s.shell && s.pretendGroup == 0 && !flags.Canonical
}
