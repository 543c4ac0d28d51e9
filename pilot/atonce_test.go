package pilot

import (
	"errors"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

func TestATerminalThatLooksItselfIsNotAskedBefore(t *testing.T) { // RUN-35, RUN-31
	on(t, terminaltest.Options{}, func(b bench) {
		for _, command := range []string{"true", "false", "echo hi"} {
			res := b.run(command)
			if got := res.Evidence; len(got) != 5 || got[0] != "marks" || got[1] != "nonce" || got[2] != "foreground" || got[3] != "tty" || got[4] != "text" {
				b.t.Errorf("%s: evidence %q", command, got)
			}
		}
		if sent := b.f.Sent(b.sid()); len(sent) != 3 || string(sent[0]) != "\x1b[200~true\x1b[201~\r" {
			b.t.Errorf("sent %q", sent)
		}
	})
}

func TestNothingIsTypedWhereThePromptMovedOn(t *testing.T) { // RUN-35, RUN-3
	on(t, terminaltest.Options{}, func(b bench) {
		b.want(b.run("true"), Completed, 0, "")
		sent := len(b.f.Sent(b.sid()))
		b.f.TypeBefore(b.sid(), "rm -r ") // a person is a moment faster
		err := b.runErr(RunRequest{Command: "echo hi"})
		if !errors.Is(err, fault.NotReady) || len(b.f.Sent(b.sid())) != sent {
			b.t.Errorf("got %v, sent %q", err, b.f.Sent(b.sid())[sent:])
		}
	})
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.TypeBefore(b.sid(), "sleep 1\r")
		err := b.runErr(RunRequest{Command: "echo hi"})
		if !errors.Is(err, fault.NotReady) || strings.Contains(err.Error(), "(r") || len(b.f.Sent(b.sid())) != 0 {
			b.t.Errorf("got %v, sent %q", err, b.f.Sent(b.sid())) // no run of ours keeps it busy
		}
		time.Sleep(2 * time.Second) // in the bubble: the command of the person ends
		b.want(b.run("echo hi"), Completed, 0, "hi")
	})
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.TypeBefore(b.sid(), "\x15") // the gate asks for a fresh prompt
		b.want(b.run("echo hi"), Completed, 0, "hi")
	})
}

func TestNothingIsTypedAtOnceWhileOthersAreKeptFromIt(t *testing.T) { // RUN-35
	on(t, terminaltest.Options{}, func(b bench) {
		release, err := b.Hold(b.t.Context(), "test", b.sid(), 0)
		if err != nil {
			b.t.Fatal(err)
		}
		err = b.runErr(RunRequest{Command: "echo hi", Timeout: time.Second})
		if !errors.Is(err, fault.Busy) || !strings.Contains(err.Error(), "test of process") || len(b.f.Sent(b.sid())) != 0 {
			b.t.Errorf("got %v, sent %q", err, b.f.Sent(b.sid()))
		}
		time.AfterFunc(time.Second, release) // in the bubble
		b.want(b.run("echo hi"), Completed, 0, "hi")
	})
}

func TestARunThatWasNeverTypedIsOnRecordAsThat(t *testing.T) { // RUN-35, RUN-25
	onWith(t, terminaltest.Options{}, Options{Dir: t.TempDir()}, func(b bench) {
		b.f.TypeBefore(b.sid(), "sleep 9\r")
		_ = b.runErr(RunRequest{Command: "echo hi"})
		one, ok := b.runs.last(b.sid())
		if !ok || one.Status != Rejected || one.Reason != "it was not typed" {
			b.t.Errorf("got %+v", one)
		}
	})
}

func TestATerminalThatLooksInTwoStepsIsAskedBefore(t *testing.T) { // RUN-3
	inEveryShell(t, func(b bench) { b.want(b.run("echo hi"), Completed, 0, "hi") })
	for _, shell := range shellsToTry {
		on(t, terminaltest.Options{Shell: shell, NoTyper: true}, func(b bench) {
			b.want(b.run("echo hi; false"), Completed, 1, "hi")
			b.want(b.run("echo again"), Completed, 0, "again")
			b.f.Disconnect()
			time.AfterFunc(time.Second, b.f.Reconnect)
			if err := b.runErr(RunRequest{Command: "echo hi"}); !errors.Is(err, fault.BackendUnavailable) && !errors.Is(err, fault.SessionNotFound) {
				b.t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhatTheTerminalCannotProveIsTheGates(t *testing.T) { // RUN-35, GATE-5, GATE-11
	for name, c := range map[string]struct {
		o      terminaltest.Options
		change func(b bench)
		want   error
	}{
		"plain marks":    {o: terminaltest.Options{Marks: terminal.MarksPlain}},
		"no pastes":      {o: terminaltest.Options{NoPaste: true}},
		"another group":  {change: func(b bench) { b.f.PretendForeground(b.sid(), 4242) }, want: fault.NotReady},
		"a copy of it":   {change: func(b bench) { b.f.SetBroadcast(b.sid(), true) }, want: fault.Unverified},
		"marks are lost": {change: func(b bench) { b.f.SetMarks(b.sid(), terminal.MarksLost) }, want: fault.NoIntegration},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, c.o, func(b bench) {
				if c.change == nil {
					b.want(b.run("echo hi"), Completed, 0, "hi")
					return
				}
				c.change(b)
				if err := b.runErr(RunRequest{Command: "echo hi"}); !errors.Is(err, c.want) || len(b.f.Sent(b.sid())) != 0 {
					b.t.Errorf("got %v, sent %q", err, b.f.Sent(b.sid()))
				}
			})
		})
	}
}
