package pilot

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// deafFake is a Fake whose watchers miss every mark: each is one Resync.
type deafFake struct{ *terminaltest.Fake }

func (f deafFake) Watch(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	seq, err := f.Fake.Watch(ctx, id)
	if err != nil {
		return nil, err
	}
	return func(yield func(terminal.Event, error) bool) {
		for e, err := range seq {
			if e.Kind > terminal.State && e.Kind < terminal.Output {
				e = terminal.Event{Kind: terminal.Resync}
			}
			if !yield(e, err) {
				return
			}
		}
	}, nil
}

func TestMissedEventsAreFoundByLooking(t *testing.T) { // RUN-8, RUN-11, RUN-14, WAIT-2
	for _, shell := range shellsToTry {
		synctestRun(t, func(t *testing.T) {
			f := deafFake{terminaltest.NewFake(t, terminaltest.Options{Shell: shell})}
			p, _ := New(Options{Backends: []terminal.Backend{f}, Processes: fakeProcesses{f: f.Fake, readers: []string{"cat"}}})
			s, err := f.Open(t.Context(), terminal.OpenSpec{})
			if err != nil {
				t.Fatal(err)
			}
			b := bench{Pilot: p, t: t, f: f.Fake, id: string(s.ID)}
			b.settle()
			b.want(b.run("echo hi; sleep 2; (exit 3)"), Completed, 3, "hi")
			b.want(b.run("true"), Completed, 0, "")
			b.want(b.run("echo 'abc"), Continues, -1, "")
			b.want(b.run("echo ok"), Completed, 0, "ok")
			if shell != "zsh" {
				f.Refuse("bad!", "no")
				b.want(b.run("bad!"), Rejected, -1, "no")
			}
			b.f.Type(b.sid(), "sleep 3; (exit 5)\r")
			b.settle()
			if got := b.wait(WaitRequest{Until: UntilCommand}).Sessions[0]; !got.Matched || got.ExitCode == nil || *got.ExitCode != 5 {
				t.Errorf("%s: got %+v", shell, got)
			}
			f.Shutdown()
		})
	}
}

func TestDiagnoseTellsProgramsApart(t *testing.T) { // RUN-16, RUN-17, RUN-20
	yes, no := terminal.Yes, terminal.No
	long := time.Minute
	for _, c := range []struct {
		name string
		s    sight
		want RunStatus
		kind string
	}{
		{"sleep", sight{front: frontOther, name: "sleep", echo: yes, canonical: yes, reads: no, quiet: long}, "", ""},
		{"sleep, reads unknown", sight{front: frontOther, name: "sleep", echo: yes, canonical: yes, quiet: long}, "", ""},
		{"cat", sight{front: frontOther, name: "cat", echo: yes, canonical: yes, reads: yes, quiet: long}, WaitsInput, "program"},
		{"cat, just printed", sight{front: frontOther, name: "cat", echo: yes, canonical: yes, reads: yes, quiet: time.Millisecond}, "", ""},
		{"read", sight{front: frontShell, name: "bash", echo: yes, canonical: yes, reads: yes, quiet: long}, WaitsInput, "program"},
		{"loop in the shell", sight{front: frontShell, name: "bash", echo: yes, canonical: yes, reads: no, quiet: long}, "", ""},
		{"python", sight{front: frontOther, name: "python3", echo: no, canonical: no, quiet: long}, WaitsInput, "program"},
		{"sudo", sight{front: frontOther, name: "sudo", echo: no, canonical: yes, quiet: time.Second}, WaitsInput, "password"},
		{"read -s", sight{front: frontShell, name: "bash", echo: no, canonical: yes, quiet: time.Second}, WaitsInput, "password"},
		{"vim", sight{front: frontOther, name: "vim", echo: no, canonical: no, alternate: true, quiet: long}, "", ""},
		{"read -k", sight{front: frontShell, name: "zsh", echo: no, canonical: no, paste: no, quiet: long}, WaitsInput, "program"},
		{"marks lost", sight{front: frontShell, name: "zsh", echo: no, canonical: no, paste: yes, quiet: long}, RunUnknown, ""},
		{"fish's read", sight{front: frontShell, name: "fish", echo: no, canonical: no, paste: yes, quiet: long}, WaitsInput, "program"},
		{"exec sh", sight{front: frontShell, name: "sh", echo: yes, canonical: yes, replaced: true, reads: yes, quiet: long}, RunUnknown, ""},
		{"prompt without an end", sight{front: frontShell, name: "bash", echo: no, canonical: no, nested: true, quiet: time.Second}, RunUnknown, ""},
		{"nested shell with marks", sight{front: frontNested, name: "bash", echo: no, canonical: no, nested: true, quiet: long}, WaitsInput, "program"},
		{"nested shell", sight{front: frontNested, name: "bash", echo: no, canonical: no, quiet: long}, WaitsInput, "program"},
		{"elsewhere", sight{quiet: long}, "", ""},
	} {
		if got := diagnose(c.s); got.status != c.want || got.kind != c.kind || (got.status != "") != (got.reason != "") {
			t.Errorf("%s: got %+v, want %s %s", c.name, got, c.want, c.kind)
		}
	}
}

func TestTheGateFollowsASessionThatEndsOrGoesAway(t *testing.T) { // RUN-4, RUN-19
	for _, c := range []struct {
		what string
		do   func(f *terminaltest.Fake, id terminal.ID)
		code fault.Code
		say  string
	}{
		{"ends", func(f *terminaltest.Fake, id terminal.ID) { f.End(id, terminal.Exit{Signal: "SIGKILL"}) }, fault.SessionEnded, "SIGKILL"},
		{"goes away", func(f *terminaltest.Fake, id terminal.ID) { f.Disconnect() }, fault.BackendUnavailable, ""},
		{"is mute", func(f *terminaltest.Fake, id terminal.ID) { f.PretendFlags(id, &process.TTY{}) }, fault.NoIntegration, "no prompt marks"},
		{"never starts", func(f *terminaltest.Fake, id terminal.ID) {}, fault.NotReady, "no prompt since"},
	} {
		synctestRun(t, func(t *testing.T) {
			f := terminaltest.NewFake(t, terminaltest.Options{Start: time.Hour})
			p, _ := New(Options{Backends: []terminal.Backend{f}, Processes: fakeProcesses{f: f}})
			s, err := f.Open(t.Context(), terminal.OpenSpec{})
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { c.do(f, s.ID) })
			_, err = p.Run(t.Context(), RunRequest{SessionID: string(s.ID), Command: "true", Timeout: 10 * time.Second})
			if !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%s: got %v", c.what, err)
			}
			if c.what != "goes away" && len(f.Sent(s.ID)) != 0 {
				t.Errorf("%s: sent %q", c.what, f.Sent(s.ID))
			}
			f.Shutdown()
		})
	}
}

func TestAPromptOfBeforeIsAskedFor(t *testing.T) { // GATE-12
	synctestRun(t, func(t *testing.T) {
		f := terminaltest.NewFake(t, terminaltest.Options{Name: "tmux", Start: time.Hour})
		p, _ := New(Options{Backends: []terminal.Backend{f}, Processes: fakeProcesses{f: f}})
		s, err := f.Open(t.Context(), terminal.OpenSpec{})
		if err != nil {
			t.Fatal(err)
		}
		f.PretendFlags(s.ID, &process.TTY{}) // as a shell does that shows a prompt which nobody told of
		_, err = p.Run(t.Context(), RunRequest{SessionID: string(s.ID), Command: "true", Timeout: 10 * time.Second})
		if !errors.Is(err, fault.Unverified) || !strings.Contains(fault.HintOf(err), "press enter") || len(f.Sent(s.ID)) != 0 {
			t.Errorf("got %v (%s), and sent %q", err, fault.HintOf(err), f.Sent(s.ID))
		}
		f.Shutdown()
	})
}

func TestAWaitEndsWhenTheTerminalGoesAway(t *testing.T) { // WAIT-9
	on(t, terminaltest.Options{}, func(b bench) {
		time.AfterFunc(time.Second, b.f.Disconnect)
		began := time.Now()
		got := b.wait(WaitRequest{Until: UntilExit})
		if got.Sessions[0].Matched || !strings.Contains(got.Sessions[0].Reason, "went away") || time.Since(began) > 5*time.Second {
			b.t.Errorf("got %+v after %v", got, time.Since(began))
		}
	})
}

func TestARunIsFoundAfterItsSessionEndedUnwatched(t *testing.T) { // RUN-19, RUN-22
	on(t, terminaltest.Options{}, func(b bench) {
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "echo x; sleep 5; exit 8", Timeout: time.Second})
		if err != nil {
			b.t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // of the bubble's clock: nobody watches meanwhile
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, SessionEnded, 8, "x")
	})
}

func TestAnOutputThatCannotBeAskedForIsNotSaidToBeGone(t *testing.T) { // RUN-10
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("late", func(p *terminaltest.Program) int {
			p.Print("x\n")
			b.f.Fail("prompt", &fault.Error{Op: "prompt", Code: fault.Protocol, Detail: "garbled"})
			return 0
		})
		res := b.run("late")
		if res.Status != Completed || !strings.Contains(res.ExitReason, "garbled") || strings.Contains(res.ExitReason, "no longer kept") {
			t.Errorf("got %+v", res)
		}
	})
}

func TestAnUnknownOutcomeIsFoundOutLater(t *testing.T) { // RUN-20
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("read -e x", func(p *terminaltest.Program) int {
			p.Paste(true)
			p.ReadKey()
			p.Paste(false)
			return 4
		})
		b.f.PretendForeground(b.sid(), b.sessionNow().ShellPID)
		res := b.run("read -e x")
		b.want(res, RunUnknown, -1, "")
		b.f.Type(b.sid(), "y")
		b.settle()
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 4, "")
	})
}
