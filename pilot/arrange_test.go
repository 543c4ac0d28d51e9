package pilot

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

func TestOpenPutsASessionWhereItIsAsked(t *testing.T) { // OPEN-4
	on(t, terminaltest.Options{}, func(b bench) {
		here := b.sessionNow()
		tab, err := b.Open(b.t.Context(), OpenRequest{Place: terminal.InTab, Window: here.Window})
		if err != nil || tab.WindowID != here.Window || tab.TabID == here.Tab || tab.Session.Readiness.State != Ready {
			b.t.Errorf("got %+v, %v", tab, err)
		}
		for _, side := range []Side{"", SideRight, SideLeft, SideBelow, SideAbove} {
			half, err := b.Open(b.t.Context(), OpenRequest{Place: terminal.InSplit, Beside: tab.SessionID, Direction: side})
			if err != nil || half.TabID != tab.TabID || half.SessionID == tab.SessionID {
				b.t.Errorf("%s: got %+v, %v", side, half, err)
			}
		}
		if now, err := b.Current(b.t.Context()); err != nil || now.SessionID != b.id {
			b.t.Errorf("the focus is at %+v, %v", now, err) // nobody asked for it
		}
		front, err := b.Open(b.t.Context(), OpenRequest{Place: terminal.InTab, Window: here.Window, Focus: true})
		if err != nil || !front.Session.IsCurrent {
			b.t.Errorf("got %+v, %v", front, err)
		}
	})
}

func TestOpenFindsNoPlaceByAnythingButItsId(t *testing.T) { // OPEN-5, FIND-2
	on(t, terminaltest.Options{}, func(b bench) {
		if _, err := b.Rename(b.t.Context(), b.id, "here"); err != nil {
			b.t.Fatal(err)
		}
		before := b.f.Calls("open")
		for _, window := range []string{"here", "active", "W1", "w", "w11", "t1", b.id} {
			_, err := b.Open(b.t.Context(), OpenRequest{Place: terminal.InTab, Window: window})
			if !errors.Is(err, fault.WindowNotFound) || !strings.Contains(fault.HintOf(err), "w1") {
				b.t.Errorf("%q: got %v, hint %q", window, err, fault.HintOf(err))
			}
		}
		for _, beside := range []string{"here", "active", "w1", b.id + "x"} {
			_, err := b.Open(b.t.Context(), OpenRequest{Place: terminal.InSplit, Beside: beside})
			if !errors.Is(err, fault.SessionNotFound) || beside != "active" && !strings.Contains(fault.HintOf(err), b.id) && beside != b.id+"x" {
				b.t.Errorf("%q: got %v, hint %q", beside, err, fault.HintOf(err))
			}
		}
		if n := b.f.Calls("open"); n != before {
			b.t.Errorf("%d opened", n-before)
		}
	})
}

func TestTwoTerminalsWithOneWindowIdAreNotGuessedAt(t *testing.T) { // OPEN-5
	synctestRun(t, func(t *testing.T) {
		one := terminaltest.NewFake(t, terminaltest.Options{})
		two := terminaltest.NewFake(t, terminaltest.Options{Name: "tmux"})
		p, _ := New(Options{Backends: []terminal.Backend{one, two}, Processes: fakeProcesses{f: one}})
		for _, f := range []*terminaltest.Fake{one, two} {
			if _, err := f.Open(t.Context(), terminal.OpenSpec{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Open(t.Context(), OpenRequest{Place: terminal.InTab, Window: "w1"}); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("got %v", err)
		}
		if got, err := p.Open(t.Context(), OpenRequest{Place: terminal.InTab, Window: "w1", Backend: "tmux"}); err != nil || got.Session.Backend != "tmux" {
			t.Errorf("got %+v, %v", got, err)
		}
		two.Disconnect()
		if _, err := p.Open(t.Context(), OpenRequest{Place: terminal.InTab, Window: "w9"}); !errors.Is(err, fault.BackendUnavailable) {
			t.Errorf("got %v", err)
		}
		two.Fail("sessions", &fault.Error{Op: "sessions", Code: fault.BackendUnavailable, Err: fs.ErrNotExist})
		two.Reconnect()
		if _, err := p.Open(t.Context(), OpenRequest{Place: terminal.InTab, Window: "w9"}); !errors.Is(err, fault.WindowNotFound) {
			t.Errorf("got %v", err)
		}
		one.Shutdown()
		two.Shutdown()
	})
}

func TestACommandOfANewSessionLeavesItsShell(t *testing.T) { // OPEN-6
	for _, shell := range []string{"bash", "zsh", "fish"} {
		on(t, terminaltest.Options{Shell: shell, Start: 3 * time.Second}, func(b bench) {
			got, err := b.Open(b.t.Context(), OpenRequest{Command: "sleep 3; (exit 4)\n"})
			if err != nil || got.RunID == "" || got.Reason != "" || got.Session.Readiness.State != BusyState {
				b.t.Fatalf("%s: got %+v, %v", shell, got, err)
			}
			res, err := b.Wait(b.t.Context(), WaitRequest{RunID: got.RunID, Timeout: 10 * time.Second})
			if err != nil || res.Run == nil || res.Run.Status != Completed || *res.Run.ExitCode != 4 {
				b.t.Fatalf("%s: got %+v, %v", shell, res.Run, err)
			}
			after, err := b.Run(b.t.Context(), RunRequest{SessionID: got.SessionID, Command: "echo still here"})
			if err != nil || after.Output != "still here" {
				b.t.Errorf("%s: got %+v, %v", shell, after, err)
			}
		})
	}
}

func TestACommandEndsItsSessionWhenAsked(t *testing.T) { // OPEN-7
	on(t, terminaltest.Options{}, func(b bench) {
		got, err := b.Open(b.t.Context(), OpenRequest{Command: "sleep 3; exit 4", Ends: true})
		if err != nil || got.RunID != "" || got.Reason != "" || got.Session.Job != "sleep" {
			b.t.Fatalf("got %+v, %v", got, err)
		}
		res, err := b.Wait(b.t.Context(), WaitRequest{SessionIDs: []string{got.SessionID}, Until: UntilExit, Timeout: 10 * time.Second})
		if err != nil || !res.Sessions[0].Matched || res.Sessions[0].ExitCode == nil || *res.Sessions[0].ExitCode != 4 {
			b.t.Errorf("got %+v, %v", res, err)
		}
	})
}

func TestACommandThatCannotBeTypedIsToldAndTheSessionStays(t *testing.T) { // OPEN-8
	on(t, terminaltest.Options{Marks: terminal.MarksNone}, func(b bench) {
		got, err := b.Open(b.t.Context(), OpenRequest{Command: "echo hi"})
		if err != nil || got.RunID != "" || !strings.Contains(got.Reason, "no_integration") || got.SessionID == "" {
			b.t.Errorf("got %+v, %v", got, err)
		}
		if sent := b.f.Sent(terminal.ID(got.SessionID)); len(sent) != 0 {
			b.t.Errorf("typed %q", sent)
		}
	})
}

func TestOpeningWaitsNoLongerThanTheLongestWait(t *testing.T) { // WAIT-8, OPEN-1
	onWith(t, terminaltest.Options{Start: time.Minute}, Options{MaxWait: time.Second}, func(b bench) {
		for _, command := range []string{"", "true", "echo a\necho b"} {
			began := time.Now()
			got, err := b.Open(b.t.Context(), OpenRequest{Command: command})
			if took := time.Since(began); err != nil || took > 2*time.Second || got.Session.Readiness.State != Starting || (command != "") != (got.Reason != "") {
				b.t.Errorf("%q: got %+v, %v after %v", command, got, err, took)
			}
		}
	})
}

func TestADangerousCommandOpensNothing(t *testing.T) { // OPEN-9
	on(t, terminaltest.Options{}, func(b bench) {
		before := b.f.Calls("open")
		for _, ends := range []bool{false, true} {
			if _, err := b.Open(b.t.Context(), OpenRequest{Command: "rm -rf /", Ends: ends}); !errors.Is(err, fault.Blocked) || b.f.Calls("open") != before {
				b.t.Errorf("got %v", err)
			}
		}
	})
}

func TestArrangingReadsBackWhatCameOfIt(t *testing.T) { // ARRANGE-1, ARRANGE-2
	on(t, terminaltest.Options{}, func(b bench) {
		other, err := b.Open(b.t.Context(), OpenRequest{})
		if err != nil {
			b.t.Fatal(err)
		}
		got, err := b.Focus(b.t.Context(), other.SessionID)
		if err != nil || !got.Session.IsCurrent || got.Session.SessionID != other.SessionID {
			b.t.Errorf("got %+v, %v", got, err)
		}
		for _, c := range []struct{ rows, columns, wantRows, wantColumns int }{{10, 40, 10, 40}, {0, 50, 10, 50}, {12, 0, 12, 50}} {
			got, err := b.Resize(b.t.Context(), b.id, c.rows, c.columns)
			if err != nil || got.Session.Rows != c.wantRows || got.Session.Columns != c.wantColumns {
				b.t.Errorf("%+v: got %+v, %v", c, got, err)
			}
		}
		half, err := b.Open(b.t.Context(), OpenRequest{Place: terminal.InSplit, Beside: b.id})
		if err != nil {
			b.t.Fatal(err)
		}
		got, err = b.Resize(b.t.Context(), half.SessionID, 3, 9) // its neighbour does not give way
		if err != nil || got.Session.Columns != half.Session.Columns || got.Session.Rows != half.Session.Rows {
			b.t.Errorf("got %+v, %v, before %+v", got, err, half.Session)
		}
		before := b.f.Calls("resize")
		for _, size := range [][2]int{{0, 0}, {-1, 80}, {24, MaxSize + 1}} {
			if _, err := b.Resize(b.t.Context(), b.id, size[0], size[1]); !errors.Is(err, fault.InvalidArgument) || b.f.Calls("resize") != before {
				b.t.Errorf("%v: got %v", size, err)
			}
		}
	})
}

func TestArrangingRefusesWhatCannotBeArranged(t *testing.T) { // ARRANGE-3
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.End(b.sid(), terminal.Exit{})
		stiff := terminaltest.NewFake(b.t, terminaltest.Options{Name: "tmux"})
		p, _ := New(Options{Backends: []terminal.Backend{b.f, bare{stiff}}, Processes: fakeProcesses{f: stiff}})
		first, err := stiff.Open(b.t.Context(), terminal.OpenSpec{})
		if err == nil {
			err = stiff.Close(b.t.Context(), first.ID, terminal.Force) // its id is that of the other backend's session
		}
		if err != nil {
			b.t.Fatal(err)
		}
		s, err := stiff.Open(b.t.Context(), terminal.OpenSpec{})
		if err != nil {
			b.t.Fatal(err)
		}
		for id, want := range map[string]fault.Code{b.id: fault.SessionEnded, "active": fault.SessionNotFound, "": fault.InvalidArgument, string(s.ID) + "0": fault.SessionNotFound} {
			for name, call := range arrangements(p, b.t) {
				if err := call(id); !errors.Is(err, want) {
					b.t.Errorf("%s of %q: got %v, want %s", name, id, err, want)
				}
			}
		}
		q, _ := New(Options{Backends: []terminal.Backend{bare{stiff}}, Processes: fakeProcesses{f: stiff}})
		for name, call := range arrangements(q, b.t) {
			if err := call(string(s.ID)); !errors.Is(err, fault.Unsupported) {
				b.t.Errorf("%s: got %v", name, err)
			}
		}
		stiff.Shutdown()
	})
}

// bare is a backend without abilities.
type bare struct{ terminal.Backend }

func arrangements(p *Pilot, t *testing.T) map[string]func(id string) error {
	return map[string]func(string) error{
		"focus":  func(id string) error { _, err := p.Focus(t.Context(), id); return err },
		"resize": func(id string) error { _, err := p.Resize(t.Context(), id, 10, 40); return err },
		"rename": func(id string) error { _, err := p.Rename(t.Context(), id, "x"); return err },
	}
}

func TestReadOnlyAndAllowlistHoldForArranging(t *testing.T) { // POLICY-1, POLICY-2
	for name, o := range map[string]Options{"read-only": {ReadOnly: true}, "allowlist": {Allow: []terminal.ID{"fake-2"}}} {
		onWith(t, terminaltest.Options{}, o, func(b bench) {
			other, err := b.f.Open(b.t.Context(), terminal.OpenSpec{})
			if err != nil {
				b.t.Fatal(err)
			}
			b.settle()
			for what, call := range arrangements(b.Pilot, b.t) {
				if err := call(b.id); !errors.Is(err, fault.NotAllowed) {
					b.t.Errorf("%s, %s: got %v", name, what, err)
				}
				if err := call(string(other.ID)); name == "allowlist" && err != nil {
					b.t.Errorf("%s, %s: got %v", name, what, err)
				}
			}
			for _, req := range []OpenRequest{{}, {Place: terminal.InTab, Window: "w2"}, {Place: terminal.InSplit, Beside: string(other.ID)}} {
				if _, err := b.Open(b.t.Context(), req); !errors.Is(err, fault.NotAllowed) {
					b.t.Errorf("%s: %+v: got %v", name, req, err)
				}
			}
		})
	}
}

func TestProfilesOfEveryBackendAreListed(t *testing.T) { // ARRANGE-4
	synctestRun(t, func(t *testing.T) {
		f := terminaltest.NewFake(t, terminaltest.Options{Profiles: []string{"Default", "zsh"}})
		down := terminaltest.NewFake(t, terminaltest.Options{Name: "iterm2"})
		down.Disconnect()
		p, _ := New(Options{Backends: []terminal.Backend{down, f}, ReadOnly: true})
		list, err := p.Profiles(t.Context(), "")
		want := []Profile{{"host", "Default", true}, {"host", "zsh", false}}
		if err != nil || !slices.Equal(list.Profiles, want) || list.Backends[0].State != "unavailable" || list.Backends[1].State != "ok" {
			t.Errorf("got %+v, %v", list, err)
		}
		if _, err := p.Profiles(t.Context(), "emacs"); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("got %v", err)
		}
		f.Shutdown()
		down.Shutdown()
	})
}

func TestTheScreenOfThePersonGoesBeforeTheHost(t *testing.T) { // LIST-5
	synctestRun(t, func(t *testing.T) {
		host := terminaltest.NewFake(t, terminaltest.Options{})
		mac := terminaltest.NewFake(t, terminaltest.Options{Name: "iterm2"})
		p, _ := New(Options{Backends: []terminal.Backend{host, mac}, Processes: fakeProcesses{f: host}})
		for _, f := range []*terminaltest.Fake{host, mac} {
			if _, err := f.Open(t.Context(), terminal.OpenSpec{}); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := p.Current(t.Context()); err != nil || got.Backend != "iterm2" {
			t.Errorf("got %+v, %v", got, err)
		}
		mac.SetCurrent("")
		if got, err := p.Current(t.Context()); err != nil || got.Backend != "host" {
			t.Errorf("got %+v, %v", got, err)
		}
		host.Shutdown()
		mac.Shutdown()
	})
}
