package pilot

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// fakeProcesses is the machine on which a Fake's sessions run. Programs whose
// name is in readers wait for input.
type fakeProcesses struct {
	f       *terminaltest.Fake
	readers []string
}

func (p fakeProcesses) Front(shellPID int) (int, string, error) {
	pgid, err := p.f.Foreground(shellPID)
	if err != nil {
		return 0, "", err
	}
	name, _ := p.Name(pgid)
	return pgid, name, nil
}

func (p fakeProcesses) Name(pid int) (string, error) {
	one, err := p.f.Lookup(pid)
	return one.Name, err
}

func (p fakeProcesses) Flags(tty string) (bool, bool, error) {
	flags, err := p.f.Flags(tty)
	return flags.Echo, flags.Canonical, err
}

func (p fakeProcesses) Reads(pgid int, _ string) terminal.Known {
	name, err := p.Name(pgid)
	if err != nil {
		return terminal.Unknown
	}
	return terminal.KnownOf(slices.Contains(p.readers, name))
}

// bench is a Pilot over one Fake with one open session.
type bench struct {
	*Pilot
	t  *testing.T
	f  *terminaltest.Fake
	id string
}

// on runs a test in a synctest bubble with a Pilot over a Fake.
func on(t *testing.T, o terminaltest.Options, test func(b bench)) {
	t.Helper()
	onWith(t, o, Options{}, test)
}

func onWith(t *testing.T, fo terminaltest.Options, po Options, test func(b bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := terminaltest.NewFake(t, fo)
		po.Backends = append([]terminal.Backend{f}, po.Backends...)
		po.Processes = fakeProcesses{f: f, readers: []string{"cat", "read", "sh"}}
		p, err := New(po)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Open(t.Context(), terminal.OpenSpec{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		test(bench{Pilot: p, t: t, f: f, id: string(s.ID)})
		f.Shutdown()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// run runs a command with a 30 s limit and fails the test on an error.
func (b bench) run(command string) RunResult {
	b.t.Helper()
	res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: command})
	if err != nil {
		b.t.Fatalf("run %q: %v", command, err)
	}
	return res
}

func (b bench) runErr(req RunRequest) error {
	b.t.Helper()
	if req.SessionID == "" {
		req.SessionID = b.id
	}
	res, err := b.Run(b.t.Context(), req)
	if err == nil {
		b.t.Fatalf("run %q gave %+v, want an error", req.Command, res)
	}
	return err
}

// want checks status, exit code (-1: null) and output.
func (b bench) want(res RunResult, status RunStatus, exit int, output string) {
	b.t.Helper()
	code := -1
	if res.ExitCode != nil {
		code = *res.ExitCode
	}
	if res.Status != status || code != exit || res.Output != output {
		b.t.Errorf("%q: got %s %d %q (%s), want %s %d %q", res.Command, res.Status, code, res.Output, res.ExitReason, status, exit, output)
	}
}

var shellsToTry = []string{"bash", "zsh", "fish"}

func inEveryShell(t *testing.T, test func(b bench)) {
	t.Helper()
	for _, shell := range shellsToTry {
		t.Run(shell, func(t *testing.T) { on(t, terminaltest.Options{Shell: shell}, test) })
	}
}

func TestRunGivesOutputAndExitCode(t *testing.T) {
	inEveryShell(t, func(b bench) {
		b.want(b.run("echo hi"), Completed, 0, "hi")
		b.want(b.run("(exit 3)"), Completed, 3, "")
		b.want(b.run("echo $?"), Completed, 0, "3")
		b.want(b.run("printf abc"), Completed, 0, "abc")
		b.want(b.run("sleep 3; echo late; false"), Completed, 1, "late")
	})
}

func TestRunWaitsForACommandOnlyAsLongAsAsked(t *testing.T) {
	on(t, terminaltest.Options{}, func(b bench) {
		began := time.Now()
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "sleep 5; echo done", Timeout: 2 * time.Second})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(res, StillRunning, -1, "")
		if got := time.Since(began); got != 2*time.Second {
			b.t.Errorf("waited %v", got)
		}
		again, err := b.Wait(context.Background(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 0, "done")
	})
}

func (b bench) sid() terminal.ID { return terminal.ID(b.id) }

// settle lets everything that is under way in the fake happen.
func (b bench) settle() { synctest.Wait() }

// synctestRun is synctest.Test, named so that tests read evenly.
func synctestRun(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func (b bench) sessionNow() terminal.Session {
	b.t.Helper()
	t, err := b.find(b.t.Context(), "test", b.id)
	if err != nil {
		b.t.Fatal(err)
	}
	return t.session
}
