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

func (b bench) wait(req WaitRequest) WaitResult {
	b.t.Helper()
	if len(req.SessionIDs) == 0 {
		req.SessionIDs = []string{b.id}
	}
	res, err := b.Wait(b.t.Context(), req)
	if err != nil {
		b.t.Fatalf("wait %+v: %v", req, err)
	}
	return res
}

func TestWaitForACommand(t *testing.T) { // WAIT-2
	inEveryShell(t, func(b bench) {
		if got := b.wait(WaitRequest{Until: UntilCommand}); !got.Sessions[0].Matched || !strings.Contains(got.Sessions[0].Reason, "no command") {
			b.t.Errorf("got %+v", got)
		}
		b.f.Type(b.sid(), "sleep 3; (exit 5)\r")
		b.settle()
		began := time.Now()
		got := b.wait(WaitRequest{Until: UntilCommand}).Sessions[0]
		if !got.Matched || got.ExitCode == nil || *got.ExitCode != 5 || time.Since(began).Round(time.Second) != 3*time.Second || got.Cursor == "" || got.State != Ready {
			b.t.Errorf("got %+v after %v", got, time.Since(began))
		}
		b.f.Type(b.sid(), "sleep 30\r")
		b.settle()
		late := b.wait(WaitRequest{Until: UntilCommand, Timeout: 2 * time.Second})
		if !late.TimedOut || late.Sessions[0].Matched || late.Sessions[0].State != BusyState {
			b.t.Errorf("got %+v", late)
		}
	})
}

func TestWaitForACommandThatReadsEnds(t *testing.T) { // WAIT-2, RUN-16
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.Type(b.sid(), "cat\r")
		b.settle()
		began := time.Now()
		got := b.wait(WaitRequest{Until: UntilCommand})
		if got.TimedOut || got.Sessions[0].Matched || !strings.Contains(got.Sessions[0].Reason, "cat reads") || time.Since(began) > 3*time.Second {
			b.t.Errorf("got %+v after %v", got, time.Since(began))
		}
	})
}

func TestWaitForAPrompt(t *testing.T) { // WAIT-3
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.Type(b.sid(), "sleep 2\r")
		b.settle()
		began := time.Now()
		got := b.wait(WaitRequest{Until: UntilPrompt}).Sessions[0]
		if d := time.Since(began); !got.Matched || got.State != Ready || d < 2*time.Second || d > 3*time.Second {
			b.t.Errorf("got %+v after %v", got, d)
		}
	})
}

func TestWaitForText(t *testing.T) { // WAIT-4
	on(t, terminaltest.Options{Rows: 6}, func(b bench) {
		b.f.On("serve", func(p *terminaltest.Program) int {
			p.Sleep(time.Second)
			p.Print("listening on port 8080 [1]\n" + strings.Repeat("noise\n", 50)) // scrolls by at once
			p.Sleep(time.Second)
			p.Print("part")
			p.Sleep(time.Second)
			p.Print("ial line\n")
			p.Sleep(time.Minute)
			return 0
		})
		b.f.Type(b.sid(), "serve\r")
		b.settle()
		began := time.Now()
		got := b.wait(WaitRequest{Until: UntilText, Pattern: `port \d+`, Regex: true}).Sessions[0]
		if !got.Matched || got.Text != "listening on port 8080 [1]" || time.Since(began) > 1200*time.Millisecond {
			b.t.Errorf("got %+v after %v", got, time.Since(began))
		}
		if got := b.wait(WaitRequest{Until: UntilText, Pattern: "partial line"}).Sessions[0]; !got.Matched {
			b.t.Errorf("got %+v", got)
		}
		if got := b.wait(WaitRequest{Until: UntilText, Pattern: "partial line"}).Sessions[0]; !got.Matched { // on the screen
			b.t.Errorf("got %+v", got)
		}
		if got := b.wait(WaitRequest{Until: UntilText, Pattern: "p.rtial", Timeout: time.Second}); got.Sessions[0].Matched || !got.TimedOut {
			b.t.Errorf("got %+v", got)
		}
	})
}

func TestWaitForQuiet(t *testing.T) { // WAIT-5
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("chatter", func(p *terminaltest.Program) int {
			for range 5 {
				p.Sleep(time.Second)
				p.Print("x")
			}
			p.Sleep(time.Minute)
			return 0
		})
		b.f.Type(b.sid(), "chatter\r")
		b.settle()
		began := time.Now()
		got := b.wait(WaitRequest{Until: UntilQuiet}).Sessions[0]
		if d := time.Since(began).Round(time.Second); !got.Matched || d != 7*time.Second {
			b.t.Errorf("got %+v after %v", got, d)
		}
	})
}

func TestWaitForTheEnd(t *testing.T) { // WAIT-6, WAIT-9
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.Type(b.sid(), "sleep 2; exit 3\r")
		b.settle()
		got := b.wait(WaitRequest{Until: UntilExit}).Sessions[0]
		if !got.Matched || got.ExitCode == nil || *got.ExitCode != 3 || got.State != EndedState {
			b.t.Errorf("got %+v", got)
		}
		if got := b.wait(WaitRequest{Until: UntilExit}).Sessions[0]; !got.Matched || *got.ExitCode != 3 {
			b.t.Errorf("got %+v", got)
		}
		for _, until := range []WaitUntil{UntilPrompt, UntilText, UntilQuiet, UntilCommand} {
			began := time.Now()
			req := WaitRequest{Until: until}
			if until == UntilText {
				req.Pattern = "nothing like this"
			}
			if got := b.wait(req); got.Sessions[0].Matched || time.Since(began) > time.Second || !strings.Contains(got.Sessions[0].Reason, "code 3") {
				b.t.Errorf("%s: got %+v", until, got)
			}
		}
	})
}

func TestAnEndWakesWaiters(t *testing.T) { // WAIT-9
	on(t, terminaltest.Options{}, func(b bench) {
		for _, until := range []WaitUntil{UntilPrompt, UntilText, UntilQuiet} {
			s, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Command: "sleep 100"})
			if err != nil {
				b.t.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { b.f.End(s.ID, terminal.Exit{Signal: "SIGKILL"}) })
			req := WaitRequest{SessionIDs: []string{string(s.ID)}, Until: until}
			if until == UntilText {
				req.Pattern = "nothing"
			}
			began := time.Now()
			got := b.wait(req)
			if d := time.Since(began); got.TimedOut || d > 1100*time.Millisecond || !strings.Contains(got.Sessions[0].Reason, "SIGKILL") {
				b.t.Errorf("%s: got %+v after %v", until, got, d)
			}
		}
	})
}

func TestWaitForAnyOrAll(t *testing.T) { // WAIT-7
	on(t, terminaltest.Options{}, func(b bench) {
		ids := []string{b.id}
		for range 2 {
			s, err := b.f.Open(b.t.Context(), terminal.OpenSpec{})
			if err != nil {
				b.t.Fatal(err)
			}
			ids = append(ids, string(s.ID))
		}
		b.settle()
		start := func() {
			for i, id := range ids {
				b.f.Type(terminal.ID(id), []string{"sleep 2", "sleep 4", "sleep 6"}[i]+"\r")
			}
			b.settle()
		}
		start()
		began := time.Now()
		got := b.wait(WaitRequest{SessionIDs: ids, Until: UntilCommand})
		if d := time.Since(began).Round(time.Second); d != 2*time.Second || got.TimedOut || !got.Sessions[0].Matched || got.Sessions[1].Matched || got.Sessions[1].State != BusyState {
			b.t.Errorf("any: got %+v after %v", got, d)
		}
		got = b.wait(WaitRequest{SessionIDs: ids, Until: UntilCommand, All: true})
		if d := time.Since(began).Round(time.Second); d != 6*time.Second || got.TimedOut || !got.Sessions[2].Matched {
			b.t.Errorf("all: got %+v after %v", got, d)
		}
		start()
		got = b.wait(WaitRequest{SessionIDs: ids, Until: UntilCommand, All: true, Timeout: 5 * time.Second})
		if !got.TimedOut || !got.Sessions[1].Matched || got.Sessions[2].Matched {
			b.t.Errorf("all with a limit: got %+v", got)
		}
	})
}

func TestNoWaitIsLongerThanTheCap(t *testing.T) { // WAIT-8
	onWith(t, terminaltest.Options{}, Options{MaxWait: 3 * time.Second}, func(b bench) {
		began := time.Now()
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "sleep 60", Timeout: time.Hour})
		if err != nil || res.Status != StillRunning || time.Since(began) != 3*time.Second {
			b.t.Errorf("got %s, %v after %v", res.Status, err, time.Since(began))
		}
		began = time.Now()
		if got := b.wait(WaitRequest{Until: UntilExit, Timeout: time.Hour}); !got.TimedOut || time.Since(began) != 3*time.Second {
			b.t.Errorf("got %+v after %v", got, time.Since(began))
		}
	})
}

func TestWaitTellsItsProgress(t *testing.T) { // RUN-33
	on(t, terminaltest.Options{}, func(b bench) {
		n := 0
		b.wait(WaitRequest{Until: UntilExit, Timeout: 12 * time.Second, Progress: func(time.Duration, string) { n++ }})
		if n != 2 {
			b.t.Errorf("told %d times", n)
		}
	})
}

func TestAPromptInsideOfACommandEndsNoWaitForIt(t *testing.T) { // WAIT-2
	on(t, terminaltest.Options{Marks: terminal.MarksPlain}, func(b bench) {
		session, err := b.find(b.t.Context(), "test", b.id)
		if err != nil {
			b.t.Fatal(err)
		}
		outer, err := b.f.Prompt(b.t.Context(), b.sid(), "")
		if err != nil {
			b.t.Fatal(err)
		}
		b.f.Type(b.sid(), "bash\r")
		b.settle()
		if inner, err := b.f.Prompt(b.t.Context(), b.sid(), ""); err != nil || inner.ID == outer.ID {
			b.t.Fatalf("there is no prompt inside: %+v, %v", inner, err)
		}
		v := &vigil{p: b.Pilot, t: session, c: condition{until: UntilCommand}, command: outer.ID}
		v.take(b.t.Context(), terminal.Event{Kind: terminal.Resync})
		if v.final {
			b.t.Errorf("inside: got %+v", v.result)
		}
		b.f.Type(b.sid(), "exit 3\r")
		b.settle()
		b.f.Fail("prompt", &fault.Error{Op: "prompt", Code: fault.Deadline})
		if v.commandOver(b.t.Context()); v.final {
			b.t.Errorf("nobody could be asked: got %+v", v.result)
		}
		b.f.Answer("prompt")
		v.lookAtCommand(b.t.Context(), time.Now())
		if !v.result.Matched || v.result.ExitCode == nil || *v.result.ExitCode != 3 {
			b.t.Errorf("afterwards: got %+v", v.result)
		}
	})
}

func TestARunTookAsLongWhenItIsAskedForAgain(t *testing.T) { // WAIT-1
	on(t, terminaltest.Options{}, func(b bench) {
		one, err := b.runs.find("test", b.run("true").RunID)
		if err != nil {
			b.t.Fatal(err)
		}
		session, err := b.find(b.t.Context(), "test", b.id)
		if err != nil {
			b.t.Fatal(err)
		}
		one.Status, one.Ended, one.Began = "", time.Time{}, time.Now()
		a := b.awaiting(session, nil, one)
		time.Sleep(time.Second) // in the bubble, as are the others
		a.end(one.Exit, time.Now())
		time.Sleep(nextPatience) // for a prompt that takes longer
		a.settle(Completed, "", "")
		first, err := b.report(b.t.Context(), session, a, outputWish{})
		if err != nil || first.DurationMS != 1000 {
			b.t.Errorf("got %+v, %v", first, err)
		}
		again, err := b.Wait(b.t.Context(), WaitRequest{RunID: one.ID})
		if err != nil || again.Run.DurationMS != first.DurationMS {
			b.t.Errorf("got %+v, %v", again.Run, err)
		}
	})
}

func TestWaitRefusesBadRequests(t *testing.T) { // WAIT-10
	on(t, terminaltest.Options{}, func(b bench) {
		for i, c := range []struct {
			req  WaitRequest
			code fault.Code
		}{
			{WaitRequest{}, fault.InvalidArgument},
			{WaitRequest{SessionIDs: []string{b.id}, Until: "rain"}, fault.InvalidArgument},
			{WaitRequest{SessionIDs: []string{b.id}, Until: UntilText}, fault.InvalidArgument},
			{WaitRequest{SessionIDs: []string{b.id}, Until: UntilText, Pattern: "(", Regex: true}, fault.InvalidArgument},
			{WaitRequest{SessionIDs: []string{b.id}, Until: UntilExit, Pattern: "x"}, fault.InvalidArgument},
			{WaitRequest{SessionIDs: []string{b.id, "nosuch"}, Until: UntilExit}, fault.SessionNotFound},
			{WaitRequest{SessionIDs: make([]string, MaxWaited+1), Until: UntilExit}, fault.InvalidArgument},
			{WaitRequest{RunID: "r0000000000000000"}, fault.RunNotFound},
			{WaitRequest{RunID: "r0000000000000000", MaxChars: -1}, fault.InvalidArgument},
			{WaitRequest{RunID: "r0000000000000000", MaxChars: MaxChars + 1}, fault.InvalidArgument},
			{WaitRequest{RunID: "r0000000000000000", SessionIDs: []string{b.id}}, fault.InvalidArgument},
		} {
			began := time.Now()
			if _, err := b.Wait(b.t.Context(), c.req); !errors.Is(err, c.code) || time.Since(began) > 0 {
				b.t.Errorf("%d: got %v", i, err)
			}
		}
	})
}
