package closing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

func do(t *testing.T, w *world, r Request) Result {
	t.Helper()
	res, err := w.closer().Close(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestASelectorMeansOneThing(t *testing.T) { // CLOSE-1, CLOSE-2, CLOSE-4
	w := newWorld(t)
	w.add("s1", "t1", "w1")
	w.add("s2", "t1", "w1").name = "Twin"
	w.add("s3", "t2", "w1").name = "twin"
	for _, c := range []struct {
		r    Request
		want fault.Code
	}{
		{Request{Operation: CloseSession}, fault.InvalidArgument},
		{Request{Operation: CloseSession, SessionID: "s1", Name: "ns1"}, fault.InvalidArgument},
		{Request{Operation: CloseSession, SessionID: "active"}, fault.InvalidArgument},
		{Request{Operation: CloseSession, Name: " ALL "}, fault.InvalidArgument},
		{Request{Operation: CloseSession, Name: "*"}, fault.InvalidArgument},
		{Request{Operation: CloseSession, SessionID: "s"}, fault.SessionNotFound},
		{Request{Operation: CloseSession, SessionID: "S1"}, fault.SessionNotFound},
		{Request{Operation: CloseSession, Name: "twin"}, fault.InvalidArgument},
		{Request{Operation: CloseSession, Name: "twi"}, fault.SessionNotFound},
		{Request{Operation: CloseSession, ID: "s1"}, fault.InvalidArgument},
		{Request{Operation: CloseTab, ID: "t"}, fault.TabNotFound},
		{Request{Operation: CloseWindow, ID: "t1"}, fault.WindowNotFound},
		{Request{Operation: CleanAll, SessionID: "s1"}, fault.InvalidArgument},
		{Request{Operation: "close_all", SessionID: "s1"}, fault.InvalidArgument},
	} {
		if _, err := w.closer().Close(t.Context(), c.r); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v, want %s", c.r, err, c.want)
		}
	}
	if _, err := w.closer().Close(t.Context(), Request{Operation: CloseSession, Name: "twin"}); !strings.Contains(fault.HintOf(err), "s2, s3") {
		t.Errorf("the hint does not name both: %q", fault.HintOf(err))
	}
	w.readOnly = true
	if _, err := w.closer().Close(t.Context(), Request{Operation: CloseSession, SessionID: "s1"}); !errors.Is(err, fault.NotAllowed) {
		t.Errorf("read-only: got %v", err)
	}
	if n := len(w.effects()); n != 0 {
		t.Errorf("%d effects", n)
	}
	w.readOnly = false
	if res := do(t, w, Request{Operation: CloseSession, Name: " NS1 "}); res.Status != Closed {
		t.Errorf("got %+v", res)
	}
}

func TestWhatHasEndedIsToldSo(t *testing.T) { // CLOSE-5
	w := newWorld(t)
	w.add("s1", "t1", "w1")
	w.ended = "s0"
	for name, err := range map[string]error{
		"close":   second(w.closer().Close(t.Context(), Request{Operation: CloseSession, SessionID: "s0"})),
		"inspect": second(w.closer().Inspect(t.Context(), "s0", "")),
	} {
		if !errors.Is(err, fault.SessionEnded) || !strings.Contains(fault.HintOf(err), "nothing is left to close") {
			t.Errorf("%s: got %v with the hint %q", name, err, fault.HintOf(err))
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestOnlyWhatIsIdleIsClosed(t *testing.T) { // CLOSE-10, CLOSE-11, CLOSE-20, CLOSE-27
	for _, c := range []struct {
		name  string
		set   func(w *world, s *session)
		state Activity
		code  string
	}{
		{"an empty prompt", func(*world, *session) {}, Idle, ""},
		{"a prompt helper", func(w *world, s *session) { w.start(s, "gitstatusd-linux-x86_64", false) }, Idle, ""},
		{"a helper's name in the foreground", func(w *world, s *session) { w.start(s, "starship", true) }, Busy, codeBusy},
		{"a program", func(w *world, s *session) { w.start(s, "make", true) }, Busy, codeBusy},
		{"a background job", func(w *world, s *session) { w.start(s, "make", false) }, Busy, codeBusy},
		{"a stopped job", func(w *world, s *session) { w.start(s, "vim", false); s.procs[1].State = "stopped" }, Busy, codeBusy},
		{"a program that reads", func(w *world, s *session) { w.start(s, "python3", true); s.state = pilot.WaitingInput }, Waiting, codeWaiting},
		{"typed text", func(_ *world, s *session) { s.state = pilot.TypedText }, Waiting, codeWaiting},
		{"a password", func(w *world, s *session) { w.start(s, "sudo", true); s.state = pilot.Password }, Waiting, codeWaiting},
		{"no marks", func(_ *world, s *session) { s.state = pilot.NoIntegration }, Unknown, codeUnknown},
		{"starting", func(_ *world, s *session) { s.state = pilot.Starting }, Unknown, codeUnknown},
		{"processes of another machine", func(_ *world, s *session) { s.remote = true }, Unknown, codeUnknown},
		{"a zombie", func(w *world, s *session) { w.start(s, "make", false); s.procs[1].State = "zombie" }, Idle, ""},
	} {
		w := newWorld(t)
		s := w.add("s1", "t1", "w1")
		c.set(w, s)
		items, err := w.closer().Inspect(t.Context(), "s1", "")
		if err != nil || len(items) != 1 || items[0].State != c.state || items[0].Code != c.code {
			t.Errorf("%s: inspected: %+v %v, want %s %q", c.name, items, err, c.state, c.code)
		}
		res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
		if c.code == "" {
			if res.Status != Closed || !slices.Equal(w.effects(), []string{"close s1"}) {
				t.Errorf("%s: got %s %v", c.name, res.Status, w.effects())
			}
			continue
		}
		if res.Status != Refused || res.Code != c.code || len(w.effects()) != 0 || res.RecoveryID != "" || len(res.Skipped) != 1 {
			t.Errorf("%s: got %+v %v, want refused with %s", c.name, res, w.effects(), c.code)
		}
		if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: true}); res.Status != Closed {
			t.Errorf("%s, forced: got %+v", c.name, res)
		}
	}
}

func TestForceEndsOnlyWhatIsOnTheTerminal(t *testing.T) { // CLOSE-12, CLOSE-25, CLOSE-26, CLOSE-29
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.add("s1", "t1", "w1")
		other := w.add("s2", "t2", "w1")
		elsewhere := w.start(other, "make", true)
		job := w.start(s, "sleep", false)
		front := w.start(s, "vim", true)
		gone := w.detach(s, "daemon")
		w.stubborn[job.PID] = true
		res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: true})
		if res.Status != Closed || res.Closed[0].Interruption != interrupted || res.Closed[0].Exit != unknown {
			t.Errorf("got %+v", res)
		}
		for _, effect := range w.effects() {
			for _, pid := range []int{gone.PID, elsewhere.PID, s.shell, other.shell} {
				if strings.Contains(effect, fmt.Sprintf(" %d ", pid)) {
					t.Errorf("%s: that is none of its business", effect)
				}
			}
			if strings.Contains(effect, "kill") {
				t.Errorf("%s", effect)
			}
		}
		want := []string{fmt.Sprintf("signal %d interrupt", front.PID), fmt.Sprintf("signal %d terminated", job.PID), "close s1"}
		if got := w.effects(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if d := res.Closed[0].Detached; len(d) != 1 || d[0].Name != "daemon" || d[0].State != "detached" {
			t.Errorf("detached: got %+v", d)
		}
	})
}

func TestATabIsClosedWholeOrNotAtAll(t *testing.T) { // CLOSE-3, CLOSE-20, CLOSE-30
	w := newWorld(t)
	w.add("s1", "t1", "w1")
	busy := w.add("s2", "t1", "w1")
	w.add("s3", "t2", "w1")
	w.start(busy, "make", true)
	res := do(t, w, Request{Operation: CloseTab, SessionID: "s1"})
	if res.Status != Refused || res.Code != codeBusy || len(res.Skipped) != 2 || len(w.effects()) != 0 {
		t.Errorf("with a busy neighbour: got %+v %v", res, w.effects())
	}
	res = do(t, w, Request{Operation: CloseTab, ID: "t1", Force: true})
	if res.Status != Closed || len(res.Closed) != 2 || w.find("s3") == nil || !slices.Contains(w.effects(), "close tab t1") {
		t.Errorf("forced: got %+v %v", res, w.effects())
	}
	w.add("s4", "t3", "w2")
	w.add("secret", "t3", "w2").hidden = true
	res = do(t, w, Request{Operation: CloseWindow, ID: "w2", Force: true})
	if res.Status != Refused || res.Code != codeScope || strings.Contains(fmt.Sprintf("%+v", res), "secret") || w.find("s4") == nil {
		t.Errorf("with a session that may not be touched: got %+v", res)
	}
	if _, err := w.closer().Close(t.Context(), Request{Operation: CloseSession, SessionID: "secret"}); !errors.Is(err, fault.NotAllowed) {
		t.Errorf("a hidden session: got %v", err)
	}
}

func TestWhatChangesBetweenTheLooksIsLeftAlone(t *testing.T) { // CLOSE-22, CLOSE-23, CLOSE-31, CLOSE-35
	for _, c := range []struct {
		name   string
		change func(w *world, s *session)
		force  bool
		code   string
	}{
		{"moved", func(_ *world, s *session) { s.tab = "t9" }, false, codeChanged},
		{"a program started", func(w *world, s *session) { w.start(s, "make", true) }, true, codeChanged},
		{"busy by now", func(_ *world, s *session) { s.state = pilot.BusyState }, false, codeBusy},
		{"gone by now", func(w *world, s *session) { w.remove(s.id) }, false, codeChanged},
		{"another shell", func(_ *world, s *session) { s.procs[0].Start = born.Add(1) }, false, codeChanged},
	} {
		w := newWorld(t)
		first, s := w.add("s0", "t0", "w0"), w.add("s1", "t1", "w1")
		_ = first
		w.before = func(effect string) {
			if effect == "close s0" {
				c.change(w, s)
			}
		}
		res := do(t, w, Request{Operation: CleanAll, Force: c.force})
		if res.Status != Partial || len(res.Closed) != 1 || len(res.Failed) != 1 || res.Failed[0].Code != c.code {
			t.Errorf("%s: got %+v", c.name, res)
		}
		if slices.Contains(w.effects(), "close s1") {
			t.Errorf("%s: it was closed", c.name)
		}
	}
	w := newWorld(t)
	w.add("s0", "t0", "w0")
	w.before = func(string) {
		if w.find("born") == nil {
			w.add("born", "t5", "w5")
		}
	}
	if res := do(t, w, Request{Operation: CleanAll}); res.Status != Closed || w.find("born") == nil {
		t.Errorf("a session born meanwhile: got %+v", res)
	}
	w = newWorld(t)
	w.add("s1", "t1", "w1")
	busy := w.add("s2", "t1", "w1")
	w.start(busy, "make", true)
	w.before = func(effect string) {
		if strings.HasPrefix(effect, "signal") && w.find("new") == nil {
			w.add("new", "t1", "w1")
		}
	}
	if res := do(t, w, Request{Operation: CloseTab, ID: "t1", Force: true}); res.Status != Partial || res.Code != codeChanged || len(res.Closed) != 0 || w.find("new") == nil || w.find("s1") == nil {
		t.Errorf("a newcomer in the tab: got %+v", res)
	}
	w = newWorld(t)
	w.add("s1", "t1", "w1")
	w.look = func() {
		if w.find("new") == nil {
			w.add("new", "t2", "w1")
		}
	}
	if res := do(t, w, Request{Operation: CloseWindow, ID: "w1"}); res.Status != Refused || res.Code != codeChanged || len(w.effects()) != 0 {
		t.Errorf("a newcomer in a window of one session: got %+v", res)
	}
}

func TestClosedIsSaidOnlyOnProof(t *testing.T) { // CLOSE-27, CLOSE-28
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name   string
			set    func(w *world)
			status Status
			code   string
		}{
			{"an error and gone", func(w *world) { w.hung["s1"] = fault.Deadline }, Closed, ""},
			{"no error and still there", func(w *world) { w.stays["s1"] = true }, UnknownStatus, codeUnverified},
			{"no answer and still there", func(w *world) { w.stays["s1"] = true; w.hung["s1"] = fault.Deadline }, UnknownStatus, codeUnverified},
			{"an answer that is not understood and still there", func(w *world) { w.stays["s1"] = true; w.hung["s1"] = fault.Protocol }, UnknownStatus, codeUnverified},
			{"the terminal refuses", func(w *world) { w.stays["s1"] = true; w.hung["s1"] = fault.Refused }, Refused, codeClose},
			{"the list does not answer", func(w *world) { w.before = func(string) { w.silent = true } }, UnknownStatus, codeUnverified},
		} {
			w := newWorld(t)
			w.add("s1", "t1", "w1")
			c.set(w)
			res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
			if res.Status != c.status || res.Code != c.code {
				t.Errorf("%s: got %s %q (%s), want %s %q", c.name, res.Status, res.Code, res.Reason, c.status, c.code)
			}
			if n := len(w.effects()); n != 1 {
				t.Errorf("%s: the close was tried %d times", c.name, n)
			}
			r, err := w.closer().Recoveries(res.RecoveryID)
			if err != nil || len(r) != 1 || r[0].Status != string(c.status) {
				t.Errorf("%s: the receipt: %+v %v", c.name, r, err)
			}
		}
	})
}

func TestNothingIsClosedWithoutAReceipt(t *testing.T) { // CLOSE-21, CLOSE-22, RECOVER-1, RECOVER-3
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", DryRun: true}); res.Status != DryRun || len(res.Closed) != 1 || res.Closed[0].Closure != pending {
		t.Errorf("dry run: got %+v", res)
	}
	if _, err := os.Lstat(w.dir); !os.IsNotExist(err) {
		t.Errorf("a dry run made the folder: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(w.dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), w.dir); err != nil {
		t.Fatal(err)
	}
	res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
	if res.Status != Refused || res.Code != codeReceipt || len(w.effects()) != 0 || w.find("s1") == nil {
		t.Errorf("with a link for a folder: got %+v %v", res, w.effects())
	}
	if err := os.Remove(w.dir); err != nil {
		t.Fatal(err)
	}
	w.add("s2", "t2", "w1")
	w.before = func(effect string) {
		list, err := w.closer().Recoveries("")
		if err != nil || len(list) == 0 || list[0].Status != executing {
			t.Errorf("%s: no receipt is on disk: %+v %v", effect, list, err)
		}
		if effect == "close s1" { // nothing more can be written down
			if err := os.RemoveAll(w.dir); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(w.dir, nil, 0o600); err != nil {
				t.Error(err)
			}
			w.before = nil
		}
	}
	res = do(t, w, Request{Operation: CleanAll})
	if res.Code != codeReceipt || slices.Contains(w.effects(), "close s2") || w.find("s2") == nil || len(res.Closed) != 1 || len(res.Failed) != 1 {
		t.Errorf("when the receipt cannot be kept up: got %+v %v", res, w.effects())
	}
	_ = s
}

func TestAReceiptHoldsWhatResumes(t *testing.T) { // RECOVER-2, RECOVER-4, RECOVER-5, RECOVER-6
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	plain := w.add("s2", "t2", "w1")
	_ = plain
	e := w.start(s, "codex", true)
	w.argv[e.PID] = []string{"/usr/bin/codex", "--prompt", "canary text"}
	const id = "0192f3a1-1111-7222-8333-444444444444"
	rollout := filepath.Join(t.TempDir(), "sessions", "2026", "01", "02", "rollout-2026-01-02T03-04-05-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(rollout), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rollout, []byte(`{"type":"event_msg","payload":{"type":"task_complete"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.files[e.PID] = []string{rollout}
	res := do(t, w, Request{Operation: CleanAll})
	if res.Status != Closed || len(res.Closed) != 2 || res.Closed[0].Exit != exited {
		t.Fatalf("got %+v", res)
	}
	data, err := os.ReadFile(res.RecoveryPath)
	if err != nil || strings.Contains(string(data), "canary") || !strings.Contains(string(data), id) {
		t.Errorf("the receipt: %v\n%s", err, data)
	}
	if info, err := os.Stat(res.RecoveryPath); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v", info.Mode(), err)
	}
	for name, text := range map[string]string{"rubbish.json": "x", "r" + strings.Repeat("a", 26) + ".json": "{}"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := w.closer().Recoveries("")
	if err != nil || len(list) != 1 || list[0].Status != string(Closed) || list[0].Began.IsZero() || list[0].Sessions[0].Closure != closed {
		t.Fatalf("got %+v %v", list, err)
	}
	for _, bad := range []string{"nope", "../x", strings.Repeat("r", 27), list[0].ID + "x"} {
		if _, err := w.closer().Recoveries(bad); !errors.Is(err, fault.RecoveryNotFound) && bad != "" {
			t.Errorf("%q: got %v", bad, err)
		}
	}
	again, err := w.closer().Reopen(t.Context(), list[0].ID, false)
	if err != nil || len(again.Reopened) != 2 || len(w.opened) != 2 || w.opened[0].Command != "codex resume --no-daemon "+id || w.opened[1].Command != "" || w.opened[1].Cwd != "/srv" {
		t.Errorf("got %+v %v %+v", again, err, w.opened)
	}
	if _, err := w.closer().Reopen(t.Context(), list[0].ID, false); !errors.Is(err, fault.Refused) || len(w.opened) != 2 {
		t.Errorf("a second time: got %v", err)
	}
	if _, err := w.closer().Reopen(t.Context(), list[0].ID, true); err != nil || len(w.opened) != 4 {
		t.Errorf("again: got %v", err)
	}
	if n, err := w.closer().Prune(1 << 60); err != nil || n != 0 {
		t.Errorf("prune of nothing: got %d %v", n, err)
	}
	if n, err := w.closer().Prune(1); err != nil || n != 1 {
		t.Errorf("prune: got %d %v", n, err)
	}
}

func TestTermpilotNeverClosesItself(t *testing.T) { // CLOSE-13
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	s.procs = append(s.procs, s.procs[0])
	s.procs[1].PID, s.procs[1].PPID, s.procs[1].Name = os.Getppid(), s.shell, "claude"
	res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: true})
	if res.Status != Refused || res.Code != codeSelf || len(w.effects()) != 0 {
		t.Errorf("got %+v %v", res, w.effects())
	}
	if res := do(t, w, Request{Operation: CleanAll, Force: true}); res.Status != Noop || res.Code != codeSelf {
		t.Errorf("clean all: got %+v", res)
	}
}

// A pane of tmux -CC tells nothing of its processes, and may be the one that
// termpilot runs in.
func TestAPaneOfWhicheverTmuxIsLeftAloneFromWithinTmux(t *testing.T) { // CLOSE-13
	for name, code := range map[string]string{"tmux: server": codeSelf, "sshd": ""} {
		w := newWorld(t)
		w.add("s1", "t1", "w1").remote = true
		w.strays = []process.Entry{{Process: process.Process{PID: os.Getppid(), Name: name, Start: born}}}
		if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: true}); res.Code != code || (w.find("s1") == nil) != (code == "") {
			t.Errorf("in %s: got %+v", name, res)
		}
	}
}

// Where a look at the machine misses a session's shell, or the terminal does not
// tell which it is, nothing tells that termpilot does not run in it.
func TestASessionWhoseShellIsNotSeenIsLeftAlone(t *testing.T) { // CLOSE-13
	for name, hide := range map[string]func(*session){
		"its shell is not seen":    func(s *session) { s.procs = nil },
		"its shell is not told":    func(s *session) { s.shell = 0 },
		"neither is seen nor told": func(s *session) { s.procs, s.shell = nil, 0 },
		"its number is another's":  func(s *session) { s.procs[0].Name, s.procs[0].TTY = "vim", 1 },
	} {
		w := newWorld(t)
		hide(w.add("s1", "t1", "w1"))
		for _, req := range []Request{
			{Operation: CloseSession, SessionID: "s1"},
			{Operation: CloseSession, SessionID: "s1", Force: true},
			{Operation: CloseTab, ID: "t1", Force: true},
			{Operation: CleanAll, Force: true},
		} {
			if res := do(t, w, req); len(res.Closed) > 0 || len(res.Skipped) != 1 || res.Skipped[0].Code != codeChanged {
				t.Errorf("%s: %s: %+v", name, req.Operation, res)
			}
		}
		if items, err := w.closer().Inspect(t.Context(), "s1", ""); err != nil || items[0].State != Unknown || items[0].Code != codeChanged {
			t.Errorf("%s: inspected %+v, %v", name, items, err)
		}
		if done := w.effects(); len(done) > 0 {
			t.Errorf("%s: done: %q", name, done)
		}
	}
}

// What is seen once the programs were ended counts as it does before.
func TestTheLastLookIsNoLessStrictThanTheOthers(t *testing.T) { // CLOSE-13, CLOSE-23
	for _, c := range []struct {
		name   string
		change func(w *world, s *session)
		force  bool
		code   string
	}{
		{"its shell is not seen", func(w *world, s *session) { w.unseen = map[int]bool{s.shell: true} }, true, codeChanged},
		{"termpilot itself is not seen", func(w *world, _ *session) { w.unseen = map[int]bool{os.Getpid(): true} }, true, codeChanged},
		{"another shell", func(_ *world, s *session) { s.procs[0].Start = born.Add(1) }, true, codeChanged},
		{"another shell by its number", func(_ *world, s *session) { s.shell += 50; s.procs[0].PID += 50 }, true, codeChanged},
		{"moved", func(_ *world, s *session) { s.tab = "t9" }, true, codeChanged},
		{"text at its prompt", func(_ *world, s *session) { s.state = pilot.TypedText }, false, codeWaiting},
		{"text at its prompt, forced", func(_ *world, s *session) { s.state = pilot.TypedText }, true, ""},
		{"nothing", func(*world, *session) {}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				s := w.add("s1", "t1", "w1")
				e := w.start(s, "codex", true)
				w.files[e.PID] = []string{"/x/thread-writer-locks/" + chatID + ".lock"}
				w.before = func(effect string) {
					if strings.HasPrefix(effect, "signal") {
						c.change(w, s)
					}
				}
				res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: c.force})
				want := map[bool]Status{true: Closed, false: Partial}[c.code == ""]
				if res.Status != want || res.Code != c.code || slices.Contains(w.effects(), "close s1") != (c.code == "") {
					t.Errorf("got %+v, done: %q", res, w.effects())
				}
			})
		})
	}
}

func TestACloseThatTakesTooLongSaysWhatWasNotTried(t *testing.T) { // CLOSE-32
	w := newWorld(t)
	w.add("s1", "t1", "w1")
	w.add("s2", "t2", "w1")
	c := New(Options{Pilot: w, Dir: w.dir, Machine: w, Budget: 1})
	res, err := c.Close(t.Context(), Request{Operation: CleanAll})
	if err != nil || len(res.Failed) != 2 || res.Failed[0].Code != codeTime || len(w.effects()) != 0 {
		t.Errorf("got %+v %v %v", res, err, w.effects())
	}
}

var _ terminal.GroupCloser = (*backend)(nil)

func TestAKillAtAnyStepLeavesATrueReceipt(t *testing.T) { // RECOVER-3, CLOSE-22
	for step := 0; ; step++ {
		w := newWorld(t)
		agent := w.add("s1", "t1", "w1")
		w.add("s2", "t2", "w1")
		busy := w.add("s3", "t3", "w1")
		w.start(busy, "make", true)
		e := w.start(agent, "codex", true)
		w.files[e.PID] = []string{"/x/thread-writer-locks/" + chatID + ".lock"}
		n := 0
		w.before = func(effect string) {
			if n == step {
				panic("killed before " + effect)
			}
			n++
		}
		killed := func() (killed bool) {
			defer func() { killed = recover() != nil }()
			_, _ = w.closer().Close(t.Context(), Request{Operation: CleanAll, Force: true})
			return false
		}()
		if !killed {
			if step < 4 {
				t.Errorf("there were %d steps", step)
			}
			return
		}
		list, err := w.closer().Recoveries("")
		if err != nil || len(list) != 1 || list[0].Status != executing {
			t.Fatalf("step %d: the receipt: %+v %v", step, list, err)
		}
		for _, item := range list[0].Sessions {
			if gone := w.find(item.SessionID) == nil; gone != (item.Closure == closed) {
				t.Errorf("step %d: %s: gone %v, and the receipt says %s", step, item.SessionID, gone, item.Closure)
			}
			if item.SessionID == "s1" && len(w.find("s1").procsOf("codex")) == 0 && item.Exit == notAttempted {
				t.Errorf("step %d: the agent was ended, and the receipt says %s", step, item.Exit)
			}
		}
		w.before = nil
		if res := do(t, w, Request{Operation: CleanAll, Force: true}); res.Status != Closed || len(w.sessions) != 0 {
			t.Errorf("step %d: again: got %+v", step, res)
		}
	}
}

// procsOf are the processes of a name; of a session that is gone there are none.
func (s *session) procsOf(name string) (pids []int) {
	if s == nil {
		return nil
	}
	for _, p := range s.procs {
		if p.Name == name {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
