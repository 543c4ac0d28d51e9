package pilot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

func TestRunRefusesCommandsThatCannotBeTyped(t *testing.T) { // RUN-1
	on(t, terminaltest.Options{}, func(b bench) {
		for command, code := range map[string]fault.Code{
			"": fault.InvalidArgument, "  \n\t": fault.InvalidArgument, "a\x00b": fault.InvalidArgument, "a\x1b[201~b": fault.InvalidArgument,
			"a\rb": fault.InvalidArgument, "a\u009bb": fault.InvalidArgument, "a\xffb": fault.InvalidArgument, "\x7f": fault.InvalidArgument,
			strings.Repeat("x", MaxCommand+1): fault.TooLarge,
		} {
			if err := b.runErr(RunRequest{Command: command}); !errors.Is(err, code) || fault.HintOf(err) == "" {
				b.t.Errorf("%.20q: got %v, want %s", command, err, code)
			}
		}
		for _, chars := range []int{-1, MaxChars + 1} {
			if err := b.runErr(RunRequest{Command: "echo hi", MaxChars: chars}); !errors.Is(err, fault.InvalidArgument) || fault.HintOf(err) == "" {
				b.t.Errorf("%d: got %v", chars, err)
			}
		}
		if sent := b.f.Sent(b.sid()); len(sent) != 0 {
			b.t.Errorf("sent %q", sent)
		}
	})
}

func TestRunTypesOneBracketedPaste(t *testing.T) { // RUN-2, RUN-5
	on(t, terminaltest.Options{}, func(b bench) {
		b.want(b.run("echo one\r\necho two\r\n"), Completed, 0, "one\ntwo")
		if got, want := string(b.f.Sent(b.sid())[0]), "\x1b[200~echo one\necho two\x1b[201~\r"; got != want {
			b.t.Errorf("got %q, want %q", got, want)
		}
		b.want(b.run("cat <<'EOF'\n\tfoo\nEOF\necho second"), Completed, 0, "        foo\nsecond")
		b.want(b.run(strings.Repeat("x", 8000)+"=1"), Completed, 0, "")
	})
}

func TestRunWithoutPasteTypesTheSameLines(t *testing.T) { // RUN-6
	const text = "echo 'a\tb'\necho c"
	for shell, want := range map[string]string{
		"bash": "echo 'a\x16\tb'\x16\necho c\r", "zsh": "echo 'a\x16\tb'\x16\necho c\r", "": "", "fish": "",
	} {
		got, _, err := keystrokes("s", text, terminal.No, shell)
		if want == "" {
			if !errors.Is(err, fault.InvalidArgument) {
				t.Errorf("%q: got %q, %v", shell, got, err)
			}
			var rest []string
			got, rest, _ = keystrokes("s", "echo a\necho c", terminal.Unknown, shell)
			want = "echo a\r"
			if len(rest) != 1 || rest[0] != "echo c" {
				t.Errorf("%q: the rest is %q", shell, rest)
			}
		}
		if string(got) != want {
			t.Errorf("%q: got %q, want %q", shell, got, want)
		}
	}
}

func TestTabsReachFishAsBlanksOrNotAtAll(t *testing.T) { // RUN-37
	for text, want := range map[string]string{
		"echo\ta":                      "echo a",
		"if true\n\techo 'x'\nend":     "if true\n echo 'x'\nend",
		"echo a # don't\n\techo b":     "echo a # don't\n echo b",
		"echo a#b'c'\td":               "echo a#b'c' d",
		`echo 'it\'s'` + "\td":         `echo 'it\'s' d`,
		`echo "a \" b"` + "\td":        `echo "a \" b" d`,
		`echo 'a"b'` + "\td":           `echo 'a"b' d`,
		"echo (echo 'x')\t# tab\there": "echo (echo 'x') # tab here",
		"printf %s 'a\tb'":             "",
		"printf %s \"a\tb\"":           "",
		"printf %s a\\\tb":             "",
		"echo \"$(echo 'a')\tb\"":      "",
		"echo \"$(echo 'a')\"\tb":      "",
		"echo 'open\t":                 "",
	} {
		for _, paste := range []terminal.Known{terminal.Yes, terminal.No} {
			got, rest, err := keystrokes("s", text, paste, "fish")
			typed := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(string(got), pasteStart), "\r"), pasteEnd)
			if typed = strings.Join(append([]string{typed}, rest...), "\n"); typed != want || (want == "") != errors.Is(err, fault.InvalidArgument) {
				t.Errorf("%q: got %q, %v, want %q", text, typed, err, want)
			}
		}
	}
}

func TestLinesThatRunAsSeveralCommandsGiveOneResult(t *testing.T) { // RUN-7
	on(t, terminaltest.Options{Shell: "fish", NoPaste: true}, func(b bench) {
		b.want(b.run("echo one\necho two\n(exit 4)"), Completed, 4, "one\ntwo")
		b.want(b.run("echo next"), Completed, 0, "next")
		b.want(b.run("for i in 1\necho x\ndone"), Completed, 127, "for: command not found\nx\ndone: command not found")
	})
}

func TestACommandThatWasNotTypedToItsEndIsNotCompleted(t *testing.T) { // RUN-38
	for _, req := range []RunRequest{{Command: "sleep 20\n(exit 7)", NoWait: true}, {Command: "sleep 20\n(exit 7)", Timeout: time.Second}} {
		on(t, terminaltest.Options{Shell: "fish", NoPaste: true}, func(b bench) {
			req.SessionID = b.id
			res, err := b.Run(b.t.Context(), req)
			if err != nil || !strings.Contains(res.ExitReason, "not typed: 1 line") {
				b.t.Fatalf("got %+v, %v", res, err)
			}
			for range 2 {
				again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID, Timeout: 40 * time.Second})
				if err != nil || again.Run.Status != RunUnknown || again.Run.ExitCode != nil || !strings.Contains(again.Run.ExitReason, "not typed: 1 line") {
					b.t.Errorf("got %+v, %v", again.Run, err)
				}
			}
			b.want(b.run("echo next"), Completed, 0, "next")
		})
	}
}

func TestExitCodesAreTheShellsOwn(t *testing.T) { // RUN-8
	inEveryShell(t, func(b bench) {
		b.f.Type(b.sid(), "\r") // marks of empty lines belong to nobody
		b.settle()
		b.f.Type(b.sid(), "\r")
		b.settle()
		for _, code := range []int{7, 0, 1, 126, 127, 130, 255} {
			b.want(b.run(fmt.Sprintf("(exit %d)", code)), Completed, code, "")
		}
		b.want(b.run("nosuch"), Completed, 127, "nosuch: command not found")
	})
}

func TestForgedMarksEndNoRun(t *testing.T) { // RUN-9
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("forge", func(p *terminaltest.Program) int {
			p.Print("\x1b]133;D;0\a\x1b]133;A\a$ \x1b]133;B\a\x1b]133;C\afake\n")
			p.Sleep(2 * time.Second)
			p.Print("real\n")
			return 3
		})
		res := b.run("forge")
		b.want(res, Completed, 3, "$ fake\nreal")
		if res.DurationMS < 2000 {
			b.t.Errorf("ended after %d ms", res.DurationMS)
		}
	})
}

func TestANestedShellsMarksEndNoRun(t *testing.T) { // RUN-9
	on(t, terminaltest.Options{Marks: terminal.MarksPlain}, func(b bench) {
		res := b.run("bash")
		if res.Status != WaitsInput || res.Kind != "program" || res.ExitCode != nil {
			b.t.Errorf("got %s %s %v (%s)", res.Status, res.Kind, res.ExitCode, res.ExitReason)
		}
	})
}

func TestOutputIsExactlyWhatWasPrinted(t *testing.T) { // RUN-10
	inEveryShell(t, func(b bench) {
		long := strings.Repeat("0", 100) + "|"
		b.want(b.run("printf '"+long+"\\n'"), Completed, 0, long)
		b.f.On("blanks", terminaltest.Prints("a  \nb", 0))
		b.want(b.run("blanks"), Completed, 0, "a  \nb")
		reduced, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "blanks", Reduce: true})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(reduced, Completed, 0, "a\nb")
		b.want(b.run("printf 'abc%%'"), Completed, 0, "abc%")
	})
}

func TestTheEndOfTheSessionEndsTheRun(t *testing.T) { // RUN-19
	inEveryShell(t, func(b bench) {
		began := time.Now()
		res := b.run("exit 42")
		if res.Status != SessionEnded || res.ExitCode == nil || *res.ExitCode != 42 || time.Since(began) > time.Second {
			b.t.Errorf("got %+v after %v", res, time.Since(began))
		}
		err := b.runErr(RunRequest{Command: "echo hi"})
		if !errors.Is(err, fault.SessionEnded) || !strings.Contains(err.Error(), "code 42") {
			b.t.Errorf("got %v", err)
		}
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil || again.Run.Status != SessionEnded || *again.Run.ExitCode != 42 {
			b.t.Errorf("got %+v, %v", again.Run, err)
		}
	})
}

func TestLostMarksDoNotHang(t *testing.T) { // RUN-20, GATE-6
	inEveryShell(t, func(b bench) {
		if name := b.shellName(b.sessionNow()); name == "fish" { // looks like its read builtin
			res := b.run("unset PROMPT_COMMAND; sleep 1; echo late")
			if res.Status != WaitsInput || res.ExitCode != nil {
				b.t.Errorf("got %+v", res)
			}
			return
		}
		began := time.Now()
		res := b.run("unset PROMPT_COMMAND; sleep 1; echo late")
		b.want(res, RunUnknown, -1, "late")
		if d := time.Since(began); d > 5*time.Second || !strings.Contains(res.ExitReason, "marks") {
			b.t.Errorf("%v: %q", d, res.ExitReason)
		}
		if err := b.runErr(RunRequest{Command: "echo hi"}); !errors.Is(err, fault.NoIntegration) || !strings.Contains(err.Error(), "lost") {
			b.t.Errorf("got %v", err)
		}
	})
}

func TestOnlyOneRunHasASession(t *testing.T) { // RUN-21
	on(t, terminaltest.Options{}, func(b bench) {
		done := make(chan RunResult)
		go func() { done <- b.run("sleep 5; echo A") }()
		b.settle()
		err := b.runErr(RunRequest{Command: "echo B"})
		if !errors.Is(err, fault.Busy) || !strings.Contains(err.Error(), "run r") {
			b.t.Errorf("got %v", err)
		}
		other, err := b.f.Open(b.t.Context(), terminal.OpenSpec{})
		if err != nil {
			b.t.Fatal(err)
		}
		b.settle()
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: string(other.ID), Command: "echo C"})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(res, Completed, 0, "C")
		if _, err := b.Read(b.t.Context(), ReadRequest{SessionID: b.id}); err != nil {
			b.t.Error(err)
		}
		b.want(<-done, Completed, 0, "A")
	})
}

func TestAfterATimeoutTheSessionIsBusy(t *testing.T) { // RUN-3, RUN-22
	on(t, terminaltest.Options{}, func(b bench) {
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "echo 1; sleep 5; echo 2; (exit 6)", Timeout: time.Second})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(res, StillRunning, -1, "1")
		busy := b.runErr(RunRequest{Command: "echo B"})
		if !errors.Is(busy, fault.NotReady) || !strings.Contains(busy.Error(), res.RunID) {
			b.t.Errorf("got %v", busy)
		}
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID, Timeout: time.Second})
		if err != nil || !again.TimedOut || again.Run.Status != StillRunning {
			b.t.Errorf("got %+v, %v", again, err)
		}
		again, err = b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID}) // WAIT-1
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 6, "1\n2")
		if n := len(b.f.Sent(b.sid())); n != 1 {
			b.t.Errorf("%d writes", n)
		}
	})
}

func TestACancelledCallerLeavesTheCommandAlone(t *testing.T) { // RUN-23
	on(t, terminaltest.Options{}, func(b bench) {
		ctx, cancel := context.WithCancel(b.t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		res, err := b.Run(ctx, RunRequest{SessionID: b.id, Command: "sleep 5; echo done"})
		if err != nil || time.Since(began) != time.Second {
			b.t.Fatalf("%v after %v", err, time.Since(began))
		}
		b.want(res, StillRunning, -1, "")
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 0, "done")
	})
}

func TestWithoutWaitingTheAnswerIsSubmitted(t *testing.T) { // RUN-24
	inEveryShell(t, func(b bench) {
		began := time.Now()
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "sleep 5; false", NoWait: true})
		if err != nil || time.Since(began) > time.Second {
			b.t.Fatalf("%v after %v", err, time.Since(began))
		}
		b.want(res, Submitted, -1, "")
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 1, "")
	})
}

func TestBackgroundOutputIsInNoRun(t *testing.T) { // RUN-29, RUN-32
	inEveryShell(t, func(b bench) {
		began := time.Now()
		if res := b.run("sleep 60 & echo go"); res.Status != Completed || !strings.HasSuffix(res.Output, "go") || time.Since(began) > time.Second {
			b.t.Errorf("got %+v after %v", res, time.Since(began))
		}
		b.f.Print(b.sid(), "LATE\n")
		b.want(b.run("echo next"), Completed, 0, "next")
	})
}

func TestTheNextPromptStandsWhenARunReturns(t *testing.T) { // RUN-30
	inEveryShell(t, func(b bench) {
		for range 20 {
			b.want(b.run("true"), Completed, 0, "")
			p, err := b.f.Prompt(b.t.Context(), b.sid(), "")
			if err != nil || p.State != terminal.Editing {
				b.t.Fatalf("got %v, %v", p.State, err)
			}
		}
	})
}

func TestARunWithoutOutputIsCheap(t *testing.T) { // RUN-31
	on(t, terminaltest.Options{}, func(b bench) {
		b.want(b.run("true"), Completed, 0, "")
		for call, most := range map[string]int{"send": 1, "prompt": 0, "screen": 0, "watch": 1} {
			if n := b.f.Calls(call); n > most {
				b.t.Errorf("%d calls of %s, want at most %d", n, call, most)
			}
		}
	})
}

func TestALongRunTellsItsProgress(t *testing.T) { // RUN-33
	on(t, terminaltest.Options{}, func(b bench) {
		var told []time.Duration
		_, err := b.Run(b.t.Context(), RunRequest{
			SessionID: b.id, Command: "sleep 17",
			Progress: func(elapsed time.Duration, message string) { told = append(told, elapsed.Round(time.Second)) },
		})
		if err != nil || fmt.Sprint(told) != "[5s 10s 15s]" {
			b.t.Errorf("got %v, %v", told, err)
		}
	})
}

func TestARunTellsTheFolderAfterIt(t *testing.T) { // RUN-34
	inEveryShell(t, func(b bench) {
		if got := b.run("cd /tmp && true").Cwd; got != "/tmp" {
			b.t.Errorf("got %q", got)
		}
	})
}

func TestABackendThatFailsIsTold(t *testing.T) { // RUN-3
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.Fail("send", &fault.Error{Op: "send", Code: fault.Refused})
		if err := b.runErr(RunRequest{Command: "echo hi"}); !errors.Is(err, fault.Refused) {
			b.t.Errorf("got %v", err)
		}
		b.f.Answer("send")
		b.f.Fail("send", nil)
		b.want(b.run("echo hi"), Completed, 0, "hi")
		b.f.LoseAnswer("send") // the effect is not known, but the marks tell
		b.want(b.run("echo again"), Completed, 0, "again")
	})
}

func TestATerminalThatGoesAwayLeavesTheRunRunning(t *testing.T) { // RUN-22
	on(t, terminaltest.Options{}, func(b bench) {
		time.AfterFunc(time.Second, b.f.Disconnect)
		res := b.run("sleep 3; echo done")
		if res.Status != StillRunning || !strings.Contains(res.ExitReason, "terminal went away") {
			b.t.Errorf("got %s (%s)", res.Status, res.ExitReason)
		}
		b.f.Reconnect()
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 0, "done")
	})
}

func TestStopByCtrlZGivesTheShellsStatus(t *testing.T) { // RUN-8
	on(t, terminaltest.Options{}, func(b bench) {
		time.AfterFunc(time.Second, func() { _, _ = b.SendKeys(context.Background(), b.id, []string{"ctrl_z"}) })
		res := b.run("sleep 99")
		if res.Status != Completed || res.ExitCode == nil || *res.ExitCode != 148 {
			b.t.Errorf("got %+v", res)
		}
	})
}
