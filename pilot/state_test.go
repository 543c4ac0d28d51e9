package pilot

import (
	"errors"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal/terminaltest"
)

func TestUnfinishedInputIsContinuation(t *testing.T) { // RUN-11, RUN-12
	inEveryShell(t, func(b bench) {
		for _, command := range []string{"echo 'abc", "cat <<EOF\nhello\nEOF "} {
			began := time.Now()
			res := b.run(command)
			b.want(res, Continues, -1, "")
			if d := time.Since(began); d > 1500*time.Millisecond {
				b.t.Errorf("told after %v", d)
			}
			b.want(b.run("echo ok"), Completed, 0, "ok")
		}
	})
}

func TestSecondaryPromptsOfAWholeCommandAreNoEnd(t *testing.T) { // RUN-5, RUN-9
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("for i in 1 2; do\necho x$i\ndone", terminaltest.Prints("x1\nx2\n", 0))
		b.want(b.run("for i in 1 2; do\necho x$i\ndone"), Completed, 0, "x1\nx2")
	})
}

func TestATouchedEmptyLineGetsAFreshPrompt(t *testing.T) { // RUN-13
	inEveryShell(t, func(b bench) {
		if _, err := b.SendText(b.t.Context(), b.id, "ab\x7f\x7f", false); err != nil {
			b.t.Fatal(err)
		}
		b.want(b.run("echo ok"), Completed, 0, "ok")
		sent := b.f.Sent(b.sid())
		if string(sent[1]) != "\x03" || len(sent) != 3 {
			b.t.Errorf("sent %q", sent)
		}
	})
}

func TestACommandJustSentIsNotInterrupted(t *testing.T) { // RUN-13
	on(t, terminaltest.Options{}, func(b bench) {
		if _, err := b.SendText(b.t.Context(), b.id, "sleep 1; echo sent\r", false); err != nil {
			b.t.Fatal(err)
		}
		if err := b.runErr(RunRequest{Command: "echo ok"}); !errors.Is(err, fault.NotReady) {
			b.t.Errorf("got %v", err)
		}
		if got := b.f.Sent(b.sid()); len(got) != 1 {
			b.t.Errorf("sent %q", got)
		}
	})
}

func TestRefusedLinesAreRejected(t *testing.T) { // RUN-14
	for _, shell := range []string{"bash", "fish"} {
		on(t, terminaltest.Options{Shell: shell}, func(b bench) {
			b.f.Refuse(`echo "a!b"`, "event not found")
			b.want(b.run(`echo "a!b"`), Rejected, -1, "event not found")
			b.want(b.run("echo ok"), Completed, 0, "ok")
		})
	}
	on(t, terminaltest.Options{Shell: "zsh"}, func(b bench) { // zsh itself says 1
		b.f.Refuse(`echo "a!b"`, "event not found")
		b.want(b.run(`echo "a!b"`), Completed, 1, "event not found")
	})
}

func TestACommentBorrowsNoExitCode(t *testing.T) { // RUN-15
	on(t, terminaltest.Options{Shell: "fish"}, func(b bench) {
		b.f.Refuse("# only a comment", "")
		b.run("false")
		res := b.run("# only a comment")
		if res.Status != Completed || res.ExitCode != nil || !strings.Contains(res.ExitReason, "comment") {
			b.t.Errorf("got %s %v %q", res.Status, res.ExitCode, res.ExitReason)
		}
	})
}

func TestProgramsThatReadAreTold(t *testing.T) { // RUN-16
	inEveryShell(t, func(b bench) {
		b.f.On("python3 -q", func(p *terminaltest.Program) int {
			p.Print(">>> ")
			for p.ReadKey() != 0x04 {
			}
			return 4
		})
		for command, end := range map[string]string{"cat": "\x04", "read x": "v\r", "python3 -q": "\x04"} {
			began := time.Now()
			res := b.run(command)
			if res.Status != WaitsInput || res.Kind != "program" || res.ExitCode != nil {
				b.t.Errorf("%s: got %s %s (%s)", command, res.Status, res.Kind, res.ExitReason)
			}
			if d := time.Since(began); d > 1500*time.Millisecond {
				b.t.Errorf("%s: told after %v", command, d)
			}
			if _, err := b.SendText(b.t.Context(), b.id, end, false); err != nil { // SEND-6
				b.t.Fatal(err)
			}
			again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
			if err != nil || again.Run.Status != Completed {
				b.t.Errorf("%s: got %+v, %v", command, again.Run, err)
			}
		}
	})
}

func TestASilentCommandRuns(t *testing.T) { // RUN-16
	inEveryShell(t, func(b bench) {
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "sleep 60", Timeout: 20 * time.Second})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(res, StillRunning, -1, "")
	})
}

func TestAPasswordQuestionIsToldByTheTerminalsFlags(t *testing.T) { // RUN-17
	inEveryShell(t, func(b bench) {
		b.f.On("sudo x", func(p *terminaltest.Program) int { p.ReadPassword(); return 0 })
		b.f.On("say", terminaltest.Prints("password: ", 0))
		b.want(b.run("say"), Completed, 0, "password: ")
		res := b.run("sudo x")
		if res.Status != WaitsInput || res.Kind != "password" {
			b.t.Errorf("got %s %s", res.Status, res.Kind)
		}
		if _, err := b.SendText(b.t.Context(), b.id, "hunter2\r", false); err != nil {
			b.t.Fatal(err)
		}
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 0, "")
	})
}

func TestAFullScreenProgramIsToldAtOnce(t *testing.T) { // RUN-18
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("vim", func(p *terminaltest.Program) int {
			p.FullScreen(true)
			p.Print("file")
			p.ReadKey()
			p.FullScreen(false)
			return 0
		})
		began := time.Now()
		res := b.run("vim")
		if res.Status != StillRunning || res.Kind != "full_screen" || time.Since(began) > time.Second {
			b.t.Errorf("got %s %s after %v", res.Status, res.Kind, time.Since(began))
		}
		if _, err := b.SendKeys(b.t.Context(), b.id, []string{"escape"}); err != nil {
			b.t.Fatal(err)
		}
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 0, "")
	})
}
