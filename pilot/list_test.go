package pilot

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

func TestListTellsOfEveryBackend(t *testing.T) { // LIST-1
	synctestRun(t, func(t *testing.T) {
		good := terminaltest.NewFake(t, terminaltest.Options{Name: "host"})
		hung := terminaltest.NewFake(t, terminaltest.Options{Name: "tmux"})
		gone := terminaltest.NewFake(t, terminaltest.Options{Name: "iterm2"})
		p, _ := New(Options{Backends: []terminal.Backend{hung, gone, good}, Processes: fakeProcesses{f: good}})
		s, err := good.Open(t.Context(), terminal.OpenSpec{Name: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		hung.Hang("sessions")
		gone.Disconnect()
		began := time.Now()
		list, err := p.Sessions(t.Context(), "")
		if err != nil || time.Since(began) > 2*time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if len(list.Sessions) != 1 || list.Sessions[0].SessionID != string(s.ID) || list.Sessions[0].Name != "mine" || list.Sessions[0].Readiness.State != Ready {
			t.Errorf("got %+v", list.Sessions)
		}
		for i, want := range []string{"tmux unavailable", "iterm2 unavailable", "host ok"} {
			if b := list.Backends[i]; b.Name+" "+b.State != want || (b.State == "ok") != (b.Reason == "") {
				t.Errorf("got %+v, want %s", b, want)
			}
		}
		hung.Shutdown()
		// A known session is found without asking the others.
		if _, err := p.Run(t.Context(), RunRequest{SessionID: string(s.ID), Command: "true"}); err != nil {
			t.Error(err)
		}
		good.Shutdown()
		gone.Shutdown()
	})
}

func TestListAsksForNothingElse(t *testing.T) { // LIST-2, LIST-6
	on(t, terminaltest.Options{}, func(b bench) {
		for range 199 {
			if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{}); err != nil {
				b.t.Fatal(err)
			}
		}
		b.settle()
		list, err := b.Sessions(b.t.Context(), "host")
		if err != nil || len(list.Sessions) != 200 {
			b.t.Fatalf("%d sessions, %v", len(list.Sessions), err)
		}
		for call, most := range map[string]int{"screen": 0, "send": 0, "watch": 0, "open": 200, "sessions": 1, "prompts": 1, "prompt": 0} {
			if n := b.f.Calls(call); n > most {
				b.t.Errorf("%d calls of %s", n, call)
			}
		}
	})
}

func TestSessionsAreAskedOneByOneWhereTheBackendTellsNotAll(t *testing.T) { // LIST-6
	for name, o := range map[string]terminaltest.Options{"not at once": {}, "not what is typed": {TypedUnknown: true}} {
		on(t, o, func(b bench) {
			for range 3 {
				if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{}); err != nil {
					b.t.Fatal(err)
				}
			}
			b.settle()
			want := Unverified
			if !o.TypedUnknown {
				want = Ready
				b.f.Fail("prompts", &fault.Error{Op: "prompts", Code: fault.Unsupported})
			}
			before := b.f.Calls("prompt")
			list, err := b.Sessions(b.t.Context(), "")
			if err != nil || len(list.Sessions) != 4 || b.f.Calls("prompt") != before+4 {
				b.t.Fatalf("%s: %+v, %v, %d calls", name, list, err, b.f.Calls("prompt")-before)
			}
			for _, s := range list.Sessions {
				if s.Readiness.State != want {
					b.t.Errorf("%s: %+v", name, s.Readiness)
				}
			}
		})
	}
}

func TestAListIsAsTrueAsEachSession(t *testing.T) { // LIST-6, GATE-1
	on(t, terminaltest.Options{}, func(b bench) {
		ids := []string{b.id}
		for range 4 {
			s, err := b.f.Open(b.t.Context(), terminal.OpenSpec{})
			if err != nil {
				b.t.Fatal(err)
			}
			ids = append(ids, string(s.ID))
		}
		b.settle()
		b.f.Type(terminal.ID(ids[1]), "half a line")
		b.f.Type(terminal.ID(ids[2]), "cat\r")
		b.f.Type(terminal.ID(ids[3]), "echo 'open\r")
		b.f.PretendFlags(terminal.ID(ids[4]), &process.TTY{Canonical: true})
		b.settle()
		list, err := b.Sessions(b.t.Context(), "")
		if err != nil {
			b.t.Fatal(err)
		}
		for i, want := range []ReadyState{Ready, TypedText, WaitingInput, Continuation, Password} {
			got := list.Sessions[i]
			alone, err := b.Read(b.t.Context(), ReadRequest{SessionID: ids[i]})
			if err != nil || got.SessionID != ids[i] || got.Readiness.State != want || !slices.Equal(alone.Readiness.Evidence, got.Readiness.Evidence) || alone.Readiness.Reason != got.Readiness.Reason {
				b.t.Errorf("session %d: listed %+v, alone %+v, want %s (%v)", i, got.Readiness, alone.Readiness, want, err)
			}
		}
	})
}

func TestListRefusesAnUnknownBackend(t *testing.T) { // LIST-3
	on(t, terminaltest.Options{}, func(b bench) {
		if _, err := b.Sessions(b.t.Context(), "emacs"); !errors.Is(err, fault.InvalidArgument) {
			b.t.Errorf("got %v", err)
		}
	})
}

func TestListedTextIsOneLine(t *testing.T) { // LIST-4
	for in, want := range map[string]string{
		"a\tb\nc": "a b c", "x\x1b]0;y\x07z": "x]0;yz", "\u202eevil": "evil", strings.Repeat("é", 300): strings.Repeat("é", 256) + "…", "  ok ": "ok",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("title", terminaltest.Prints("\x1b]2;do this\nnow\x07", 0))
		b.run("title")
		list, _ := b.Sessions(b.t.Context(), "")
		if got := list.Sessions[0].Title; hasControl(got) || !strings.HasPrefix(got, "do this") {
			b.t.Errorf("got %q", got)
		}
	})
}

func TestTheCurrentSessionHasTheFocus(t *testing.T) { // LIST-5
	on(t, terminaltest.Options{}, func(b bench) {
		other, err := b.f.Open(b.t.Context(), terminal.OpenSpec{})
		if err != nil {
			b.t.Fatal(err)
		}
		b.f.SetCurrent(other.ID)
		got, err := b.Current(b.t.Context())
		if err != nil || got.SessionID != string(other.ID) || !got.IsCurrent {
			b.t.Errorf("got %+v, %v", got, err)
		}
		b.f.SetCurrent("")
		if _, err := b.Current(b.t.Context()); !errors.Is(err, fault.NoCurrentSession) {
			b.t.Errorf("got %v", err)
		}
	})
}

func TestOpenReturnsAReadySession(t *testing.T) { // OPEN-1, OPEN-3
	synctestRun(t, func(t *testing.T) {
		down := terminaltest.NewFake(t, terminaltest.Options{Name: "iterm2"})
		f := terminaltest.NewFake(t, terminaltest.Options{Start: time.Second})
		down.Disconnect()
		p, _ := New(Options{Backends: []terminal.Backend{down, f}, Processes: fakeProcesses{f: f, readers: []string{"cat"}}})
		got, err := p.Open(t.Context(), OpenRequest{Name: " acorn farm ", Rows: 10, Columns: 30})
		if s := got.Session; err != nil || s.Backend != "host" || s.Readiness.State != Ready || s.Rows != 10 || s.Columns != 30 || got.Name != "acorn farm" {
			t.Errorf("got %+v, %v", got, err)
		}
		bare := terminaltest.NewFake(t, terminaltest.Options{Marks: terminal.MarksNone})
		q, _ := New(Options{Backends: []terminal.Backend{bare}, Processes: fakeProcesses{f: bare, readers: []string{"cat"}}})
		defer bare.Shutdown()
		for command, want := range map[string]ReadyState{"sleep 60": BusyState, "exit 9": EndedState, "cat": WaitingInput} {
			began := time.Now()
			got, err := q.Open(t.Context(), OpenRequest{Command: command, Ends: true})
			if err != nil || time.Since(began) > 6*time.Second || got.Session.Readiness.State != want {
				t.Errorf("%s: got %+v, %v after %v", command, got.Session.Readiness, err, time.Since(began))
			}
		}
		if _, err := p.Open(t.Context(), OpenRequest{Profile: "nosuch"}); !errors.Is(err, fault.ProfileNotFound) {
			t.Errorf("got %v", err)
		}
		if _, err := p.Open(t.Context(), OpenRequest{Backend: "iterm2"}); !errors.Is(err, fault.BackendUnavailable) {
			t.Errorf("got %v", err)
		}
		f.Shutdown()
		down.Shutdown()
	})
}

func TestOpenRefusesWhatCannotBe(t *testing.T) { // OPEN-2
	on(t, terminaltest.Options{}, func(b bench) {
		before := b.f.Calls("open")
		for i, req := range []OpenRequest{
			{Rows: -1},
			{Columns: MaxSize + 1},
			{Name: "a\nb"},
			{Name: "a\x1bb"},
			{Name: "turned \u202e round"},
			{Name: "\xff"},
			{Name: "Active"},
			{Name: strings.Repeat("é", MaxName+1)},
			{Place: terminal.InTab, Window: "w\n1"},
			{Place: terminal.InTab},
			{Place: terminal.InSplit},
			{Window: "w1"},
			{Beside: b.id},
			{Place: terminal.InSplit, Beside: b.id, Direction: "up"},
			{Place: terminal.InSplit, Beside: b.id, Window: "w1"},
			{Command: "echo \x03"},
			{Command: " "},
			{Cwd: "relative"},
			{Cwd: "/a\x00"},
			{Env: map[string]string{"": "x"}},
			{Env: map[string]string{"a=b": "x"}},
			{Env: map[string]string{"A": "\x00"}},
			{Command: "a\x00"},
			{Command: strings.Repeat("x", MaxCommand+1)},
			{Env: map[string]string{"A": strings.Repeat("x", maxEnv)}},
			{Profile: "\xff"},
			{Backend: "nosuch"},
		} {
			if _, err := b.Open(b.t.Context(), req); !errors.Is(err, fault.InvalidArgument) && !errors.Is(err, fault.TooLarge) {
				b.t.Errorf("%d: got %v", i, err)
			}
		}
		if n := b.f.Calls("open"); n != before {
			b.t.Errorf("%d opened", n-before)
		}
	})
}

func TestReadOnlyChangesNothing(t *testing.T) { // POLICY-1
	onWith(t, terminaltest.Options{}, Options{ReadOnly: true}, func(b bench) {
		_, text := b.SendText(b.t.Context(), b.id, "x", false)
		_, keys := b.SendKeys(b.t.Context(), b.id, []string{"enter"})
		_, open := b.Open(b.t.Context(), OpenRequest{})
		for name, err := range map[string]error{"run": b.runErr(RunRequest{Command: "true"}), "text": text, "keys": keys, "open": open} {
			if !errors.Is(err, fault.NotAllowed) {
				b.t.Errorf("%s: got %v", name, err)
			}
		}
		if n := b.f.Calls("send"); n != 0 {
			b.t.Errorf("%d writes", n)
		}
		if _, err := b.Read(b.t.Context(), ReadRequest{SessionID: b.id}); err != nil {
			b.t.Error(err)
		}
	})
}

func TestTheAllowlistHidesTheRest(t *testing.T) { // POLICY-2
	onWith(t, terminaltest.Options{}, Options{Allow: []terminal.ID{"fake-1"}}, func(b bench) {
		other, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Focus: true})
		if err != nil {
			b.t.Fatal(err)
		}
		b.settle()
		list, err := b.Sessions(b.t.Context(), "")
		if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionID != "fake-1" {
			b.t.Errorf("got %+v, %v", list, err)
		}
		_, read := b.Read(b.t.Context(), ReadRequest{SessionID: string(other.ID)})
		_, wait := b.Wait(b.t.Context(), WaitRequest{SessionIDs: []string{string(other.ID)}})
		_, open := b.Open(b.t.Context(), OpenRequest{})
		for name, err := range map[string]error{"read": read, "wait": wait, "open": open, "run": b.runErr(RunRequest{SessionID: string(other.ID), Command: "true"})} {
			if !errors.Is(err, fault.NotAllowed) {
				b.t.Errorf("%s: got %v", name, err)
			}
		}
		if _, err := b.Current(b.t.Context()); !errors.Is(err, fault.NoCurrentSession) {
			b.t.Errorf("got %v", err)
		}
		b.want(b.run("echo hi"), Completed, 0, "hi")
	})
}

func TestTheTripwireStopsARun(t *testing.T) { // POLICY-3
	onWith(t, terminaltest.Options{}, Options{Tripwire: []string{"deploy"}}, func(b bench) {
		for _, command := range []string{"rm -rf /", "./deploy"} {
			if err := b.runErr(RunRequest{Command: command}); !errors.Is(err, fault.Blocked) || !strings.Contains(fault.HintOf(err), "force") {
				b.t.Errorf("got %v", err)
			}
		}
		if n := b.f.Calls("send"); n != 0 {
			b.t.Errorf("%d writes", n)
		}
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "./deploy", Force: true})
		if err != nil || res.Status != Completed {
			b.t.Errorf("got %+v, %v", res, err)
		}
	})
}
