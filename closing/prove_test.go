package closing

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

func TestATerminalThatDidNotAnswerIsNotCalledEmpty(t *testing.T) { // CLOSE-34
	w := newWorld(t)
	w.gaps = true
	for _, name := range []string{"", "ns1"} {
		if items, err := w.closer().Inspect(t.Context(), "", name); !errors.Is(err, fault.BackendUnavailable) {
			t.Errorf("inspected %q: got %+v %v", name, items, err)
		}
	}
	if res := do(t, w, Request{Operation: CleanAll}); res.Status != UnknownStatus || res.Code != codeBackend || res.Hint == "" {
		t.Errorf("nothing seen: got %+v", res)
	}
	w.add("s1", "t1", "w1")
	if _, err := w.closer().Close(t.Context(), Request{Operation: CloseSession, Name: "ns1"}); !errors.Is(err, fault.BackendUnavailable) || len(w.effects()) != 0 {
		t.Errorf("a nickname, which the other may have too: got %v", err)
	}
	if res := do(t, w, Request{Operation: CleanAll}); res.Status != Partial || res.Code != codeBackend || len(res.Closed) != 1 {
		t.Errorf("one seen: got %+v", res)
	}
	w.add("s2", "t1", "w1")
	if res := do(t, w, Request{Operation: CloseSession, SessionID: "s2"}); res.Status != Closed {
		t.Errorf("an exact id: got %+v", res)
	}
}

func TestATerminalThatIsGoneProvesNothingByItself(t *testing.T) { // CLOSE-27, CLOSE-28
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			down func(w *world, s *session)
			want Status
			code string
		}{
			{"its shell has ended", func(*world, *session) {}, Closed, ""},
			{"its shell lives", func(w *world, s *session) { w.strays = slices.Clone(s.procs) }, UnknownStatus, codeUnverified},
			{"its shell cannot be looked up", func(w *world, _ *session) { w.unread = syscall.EMFILE }, UnknownStatus, codeUnverified},
		} {
			w := newWorld(t)
			s := w.add("s1", "t1", "w1")
			w.before = func(string) {
				w.down = true
				c.down(w, s)
			}
			if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"}); res.Status != c.want || res.Code != c.code {
				t.Errorf("%s: got %+v", c.name, res)
			}
		}
	})
}

func TestAllThatLivesOnIsNamed(t *testing.T) { // CLOSE-29
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.add("s1", "t1", "w1")
		shell := s.procs[0]
		away := w.detach(s, "daemon")
		w.before = func(effect string) {
			if effect == "close s1" { // its shell does not mind, and starts another one as it is hung up on
				late := shell
				late.PID, late.PPID, late.Name = shell.PID+50, shell.PID, "late"
				w.strays = []process.Entry{shell, away, late}
			}
		}
		res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
		var names []string
		for _, p := range res.Closed[0].Survivors {
			names = append(names, p.Name)
		}
		if !slices.Equal(names, []string{"bash", "daemon", "late"}) {
			t.Errorf("got %v in %+v", names, res)
		}
	})
}

func TestADaemonIsKnownByTheSessionThatItWasStartedIn(t *testing.T) { // CLOSE-12, CLOSE-29
	w := newWorld(t)
	s, other := w.add("s1", "t1", "w1"), w.add("s2", "t1", "w1")
	daemon := func(name string) process.Entry {
		pid := 2<<24 + len(w.strays)
		return process.Entry{Process: process.Process{PID: pid, PPID: 1, PGID: pid, SID: pid, Name: name, Start: born, State: process.Running}}
	}
	w.strays = append(w.strays, daemon("ours"))
	w.strays = append(w.strays, daemon("theirs"))
	w.strays = append(w.strays, daemon("nobodys"))
	w.started = map[int]string{s.shell: "1", other.shell: "2", w.strays[0].PID: "1", w.strays[1].PID: "2"}
	res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
	if res.Status != Closed || len(res.Closed[0].Survivors) != 1 || res.Closed[0].Survivors[0].Name != "ours" || len(res.Closed[0].Detached) != 1 {
		t.Errorf("got %+v", res)
	}
	for _, effect := range w.effects() {
		if strings.HasPrefix(effect, "signal") {
			t.Error(effect)
		}
	}
}

func TestAProgramThatMayNotBeSignalledIsSaidToBeSo(t *testing.T) { // CLOSE-24
	w := newWorld(t)
	e := w.start(w.add("s1", "t1", "w1"), "codex", true)
	w.files[e.PID] = []string{"/x/thread-writer-locks/" + chatID + ".lock"}
	w.denied = syscall.EPERM
	res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
	if res.Status != Refused || res.Code != codeExit || !strings.Contains(res.Reason, "may not be asked") || w.find("s1") == nil {
		t.Errorf("got %+v", res)
	}
}

func TestWhatAShellStartsForItsPromptIsWaitedFor(t *testing.T) { // CLOSE-23, CLOSE-25
	for _, c := range []struct {
		lasts time.Duration
		want  Status
	}{{time.Second, Closed}, {time.Hour, Partial}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			s := w.add("s1", "t1", "w1")
			w.start(s, "make", true)
			var since time.Time
			w.look = func() { // git runs as soon as make has ended
				switch ended := slices.ContainsFunc(w.done, func(effect string) bool { return strings.HasPrefix(effect, "signal") }); {
				case ended && since.IsZero():
					since = time.Now()
					w.start(s, "git", false)
					s.procs[1].PID += 7 // no number is given again so soon
				case ended && len(s.procs) > 1 && time.Since(since) > c.lasts:
					s.procs = s.procs[:1]
				}
			}
			if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: true}); res.Status != c.want || (w.find("s1") == nil) != (c.want == Closed) {
				t.Errorf("for %v: got %+v", c.lasts, res)
			}
		})
	}
}

// What a shell starts for its prompt is waited for in one session of a tab, while a
// person starts a program in another.
func TestTheLastLookAtATabIsOneOfAllItsSessions(t *testing.T) { // CLOSE-23, CLOSE-30
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first, second := w.add("s1", "t1", "w1"), w.add("s2", "t1", "w1")
		w.start(second, "make", true)
		var since time.Time
		w.look = func() {
			switch ended := slices.ContainsFunc(w.done, func(effect string) bool { return strings.HasPrefix(effect, "signal") }); {
			case ended && since.IsZero():
				since = time.Now()
				w.start(second, "git", false)
				second.procs[1].PID += 7 // no number is given again so soon
			case ended && len(second.procs) > 1 && time.Since(since) > time.Second:
				second.procs = second.procs[:1]
				w.start(first, "vim", true)
			}
		}
		if res := do(t, w, Request{Operation: CloseTab, ID: "t1", Force: true}); res.Status != Partial || res.Code != codeChanged || w.find("s1") == nil {
			t.Errorf("got %+v, done: %q", res, w.effects())
		}
	})
}

func TestWhatASessionOfATabThatStaysLeavesBehindIsNamed(t *testing.T) { // CLOSE-29
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s, other := w.add("s1", "t1", "w1"), w.add("s2", "t1", "w1")
		s.procs[0].Name = "claude"
		registered(t, w, t.TempDir(), s.procs[0], chatID, "idle")
		daemon := w.detach(s, "daemon")
		w.look = func() {
			if s := w.find("s1"); s != nil && len(s.procs) == 1 { // it ended with its program, and a person types elsewhere
				w.remove("s1")
				w.strays = []process.Entry{daemon}
				other.state = pilot.TypedText
			}
		}
		res := do(t, w, Request{Operation: CloseTab, ID: "t1"})
		if res.Status != Partial || len(res.Closed) != 1 || len(res.Closed[0].Survivors) != 1 || w.find("s2") == nil {
			t.Errorf("got %+v, done: %q", res, w.effects())
		}
	})
}

func TestAllOfATabIsHeldUntilItIsClosed(t *testing.T) { // CLOSE-33, CLOSE-30
	w := newWorld(t)
	w.add("s1", "t1", "w1")
	w.start(w.add("s2", "t1", "w1"), "make", true)
	n := 0
	w.before = func(effect string) {
		n++
		for _, id := range []terminal.ID{"s1", "s2"} {
			if !w.held[id] {
				t.Errorf("%s: %s is not held", effect, id)
			}
		}
	}
	if res := do(t, w, Request{Operation: CloseTab, ID: "t1", Force: true}); res.Status != Closed || n < 2 || len(w.held) != 0 {
		t.Errorf("got %+v after %d effects, held %v", res, n, w.held)
	}
}

func TestASessionThatCannotBeHeldSaysWhy(t *testing.T) { // CLOSE-33, CLOSE-35
	for code, want := range map[fault.Code]string{fault.Busy: codeBusy, fault.Storage: codeReceipt, fault.BackendUnavailable: codeBackend} {
		w := newWorld(t)
		w.add("s1", "t1", "w1")
		w.unheld = code
		if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"}); res.Status != Refused || res.Code != want || len(w.effects()) > 0 {
			t.Errorf("%s: got %+v", code, res)
		}
	}
}

func TestEveryCodeHasAHint(t *testing.T) { // CLOSE-35
	for _, code := range []string{
		codeBusy, codeWaiting, codeUnknown, codeSelf, codeChat, codeScope, codeChanged, codeExit, codeClose,
		codeUnverified, codeReceipt, codeTime, codeBackend, codeParent,
	} {
		if hints[code] == "" {
			t.Errorf("%s has none", code)
		}
	}
}
