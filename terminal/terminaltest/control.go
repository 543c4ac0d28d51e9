package terminaltest

import (
	"fmt"

	"termpilot/process"
	"termpilot/terminal"
)

// hang is when a call stops answering.
type hang uint8

const (
	hangNever hang = iota
	hangBefore
	hangAfter
)

// On says what a command does: text is the whole command, or one of several in
// a line, without blanks around it. run returns the status. Without a script the
// shells know true, false, :, echo, printf, pwd, cd, clear, seq, sleep, cat,
// read, exit, exec, NAME=value, (exit N), sh (nested, without marks), bash, zsh,
// fish (nested, with marks), unset PROMPT_COMMAND (marks end), and & behind a
// command; all else is 127.
func (f *Fake) On(text string, run func(p *Program) int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scripts[text] = run
}

// Prints is a script for [Fake.On]: output, then a status.
func Prints(output string, status int) func(*Program) int {
	return func(p *Program) int {
		p.Print(output)
		return status
	}
}

// Refuse makes the shells throw a line away with a message, as their parser or
// history expansion does: nothing runs.
func (f *Fake) Refuse(text, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused[text] = message
}

// Incomplete adds texts after which the shells ask for more lines, to those
// with an open quote, bracket, here-document, for or if. more must not call the Fake.
func (f *Fake) Incomplete(more func(text string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.more = more
}

// with runs change on a session that must exist.
func (f *Fake) with(id terminal.ID, change func(*session)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[id]
	if s == nil {
		panic(fmt.Sprintf("terminaltest: no session %q", id))
	}
	change(s)
}

// Type hands in text as a person at the keyboard does: it is not in Sent. When
// it returns, a shell that reads has taken it.
func (f *Fake) Type(id terminal.ID, text string) {
	f.with(id, func(s *session) { s.receive([]byte(text)) })
}

// TypeBefore is Type at the moment at which the next TypeAt is under way, before
// it looks.
func (f *Fake) TypeBefore(id terminal.ID, text string) {
	f.with(id, func(s *session) { f.before = func() { s.receive([]byte(text)) } })
}

// Print writes to a session's terminal from outside its programs, as a
// background job or another user's message does.
func (f *Fake) Print(id terminal.ID, text string) {
	f.with(id, func(s *session) { s.print(text) })
}

// Sent is what Send passed to the session, one entry a call.
func (f *Fake) Sent(id terminal.ID) (calls [][]byte) {
	f.with(id, func(s *session) {
		for _, c := range s.sent {
			calls = append(calls, append([]byte(nil), c...))
		}
	})
	return calls
}

// Calls is how often a method was called: "sessions", "open", "screen",
// "prompt", "send", "watch", "close", "exit", "broadcasts", "profiles", "focus",
// "resize", "rename", "close tab", "close window".
func (f *Fake) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// SetSize gives a session another size, as a person who drags its window does;
// its lines are wrapped anew.
func (f *Fake) SetSize(id terminal.ID, columns, rows int) {
	f.with(id, func(s *session) { s.resize(columns, rows) })
}

// ClearScrollback drops the history, as a person does with a key: rows are
// numbered anew.
func (f *Fake) ClearScrollback(id terminal.ID) {
	f.with(id, func(s *session) {
		s.grid.clearHistory()
		s.emit(terminal.Output, nil)
	})
}

// DropHead forgets the n oldest rows of the history, as if it were full.
func (f *Fake) DropHead(id terminal.ID, n int) { f.with(id, func(s *session) { s.grid.drop(n) }) }

// SetBroadcast says that typing into a session also types elsewhere.
func (f *Fake) SetBroadcast(id terminal.ID, on bool) {
	f.with(id, func(s *session) { s.broadcast = on })
}

// SetMarks changes what Session.Marks says, and whether programs may print marks.
func (f *Fake) SetMarks(id terminal.ID, m terminal.Marks) {
	f.with(id, func(s *session) { s.marks = m })
}

// SetCurrent gives a session the focus; "" takes it from all.
func (f *Fake) SetCurrent(id terminal.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = id
}

// Freeze keeps a session's line editor from taking in anything, or only what
// begins with from, as on a machine that is too busy. Thaw ends it.
func (f *Fake) Freeze(id terminal.ID, from string) {
	f.with(id, func(s *session) { s.freeze = &from })
}

// Thaw lets the line editor go on.
func (f *Fake) Thaw(id terminal.ID) {
	f.with(id, func(s *session) {
		s.freeze = nil
		s.edit()
		s.poke()
	})
}

// Resist makes a session refuse to close without force.
func (f *Fake) Resist(id terminal.ID, on bool) { f.with(id, func(s *session) { s.resists = on }) }

// PretendForeground makes the foreground process group another than the one
// that the marks speak of; 0 ends it.
func (f *Fake) PretendForeground(id terminal.ID, pgid int) {
	f.with(id, func(s *session) { s.pretendGroup = pgid })
}

// PretendFlags makes the terminal's flags other than they are; nil ends it.
func (f *Fake) PretendFlags(id terminal.ID, flags *process.TTY) {
	f.with(id, func(s *session) { s.pretendFlags = flags })
}

// End ends a session from outside, as the death of its shell does.
func (f *Fake) End(id terminal.ID, exit terminal.Exit) {
	f.with(id, func(s *session) { s.end(exit) })
}

// Disconnect makes the backend unreachable: subscriptions end with
// BackendUnavailable, calls fail with it. The sessions live on.
func (f *Fake) Disconnect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setDown(true)
}

// Reconnect makes the backend reachable again.
func (f *Fake) Reconnect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setDown(f.closed)
}

func (f *Fake) setDown(down bool) {
	f.down = down
	if !down {
		return
	}
	for _, s := range f.sessions {
		for q := range s.watchers {
			q.Fail(unavailable("watch", s.id))
		}
		s.watchers = map[*terminal.EventQueue]bool{}
	}
}

// Hang makes calls of a method (see [Fake.Calls]) stop without effect until their
// deadline.
func (f *Fake) Hang(method string) { f.setHang(method, hangBefore) }

// LoseAnswer makes calls of open, send and close have their effect, but give no
// answer until their deadline.
func (f *Fake) LoseAnswer(method string) { f.setHang(method, hangAfter) }

// Answer ends Hang, LoseAnswer and Fail for a method. Calls that hang go on hanging.
func (f *Fake) Answer(method string) {
	f.setHang(method, hangNever)
	f.Fail(method, nil)
}

func (f *Fake) setHang(method string, h hang) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hangs[method] = h
}

// Fail makes calls of a method fail with err, without effect.
func (f *Fake) Fail(method string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails[method] = err
}
