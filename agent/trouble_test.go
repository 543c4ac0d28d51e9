package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

func TestNothingIsTypedIntoAShellThatADeadAgentLeft(t *testing.T) { // TURN-4
	every(t, func(t *testing.T, w *world, preset string) {
		opened, err := w.pilot.Open(t.Context(), pilot.OpenRequest{Cwd: w.home})
		if err != nil {
			t.Fatal(err)
		}
		request := w.request(preset, "", "SAY:x\nSLOW:60000")
		request.SessionID, request.Env = opened.SessionID, nil
		r, err := w.agents.Launch(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if r.TurnID == "" {
			t.Fatalf("%+v\n%s", r, w.screen(r.SessionID))
		}
		running, _ := readProcess(w.agents.folder(r.LaunchID))
		if err := syscall.Kill(running.PID, syscall.SIGKILL); err != nil { // its screen stays as it was
			t.Fatal(err)
		}
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Exited {
			t.Errorf("outcome %s, want exited", got.Outcome)
		}
		_, err = w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "echo typed-$((6*7))"})
		w.refuses(err, fault.AgentEnded)
		_, err = w.agents.Answer(t.Context(), r.SessionID, "x", true)
		w.refuses(err, fault.AgentEnded)
		want := fault.AgentEnded
		if preset == "grok" || preset == "opencode" {
			want = fault.Unsupported
		}
		_, err = w.agents.Configure(t.Context(), r.SessionID, "Big", "")
		w.refuses(err, want)
		if got, err := w.agents.Status(t.Context(), r.SessionID, ""); err != nil || got.State != "ended" {
			t.Errorf("%+v %v", got, err)
		}
		if strings.Contains(w.screen(r.SessionID), "typed-") {
			t.Error("it was typed into the shell")
		}
	})
}

func TestASuspendedAgentGetsNothing(t *testing.T) { // TURN-4
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		running, _ := readProcess(w.agents.folder(r.LaunchID))
		if err := syscall.Kill(running.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "x"})
		w.refuses(err, fault.Unverified)
		if err := syscall.Kill(running.PID, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		w.ends(r.SessionID, "now", Done)
		w.wantNoted("prompt", "now")
	})
}

// copying has a terminal that types into other sessions, too.
type copying struct{ *pilot.Pilot }

func (c copying) SeeOne(ctx context.Context, op string, id terminal.ID) (pilot.Seen, error) {
	seen, err := c.Pilot.SeeOne(ctx, op, id)
	seen.On = copied{seen.On}
	return seen, err
}

type copied struct{ terminal.Backend }

func (copied) Broadcasts(context.Context, terminal.ID) (bool, error) { return true, nil }

func TestNothingIsTypedWhereItReachesOtherSessions(t *testing.T) { // TURN-11
	w := newWorld(t)
	r := w.launch("claude", "", "")
	a := New(Options{Pilot: copying{w.pilot}, Dir: w.agents.dir, Self: w.agents.self, Env: w.env})
	_, err := a.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "for one"})
	w.refuses(err, fault.Unverified)
	w.asks(r.SessionID, "RUN:curl x")
	asked, err := a.Ask(t.Context(), r.SessionID)
	if err != nil || !asked.Asks {
		t.Fatalf("%+v %v", asked, err)
	}
	_, err = a.Answer(t.Context(), r.SessionID, asked.Digest, true)
	w.refuses(err, fault.Unverified)
	w.wantNoted("prompt", "RUN:curl x")
	w.wantNoted("answer")
	a = New(Options{Pilot: copying{w.pilot}, Dir: w.agents.dir, Self: w.agents.self, Env: w.env, Machine: lost{}})
	_, err = a.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "for nobody"})
	w.refuses(err, fault.AgentEnded) // a session that goes with its agent tells nothing of others
}

// lost is a machine on which no agent runs any more.
type lost struct{ machine }

func (lost) Lookup(int) (process.Process, error) { return process.Process{}, process.ErrGone }

func TestAPromptIsNotLostOnAnAgentThatStartsSlowly(t *testing.T) { // LAUNCH-2
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "slow=1500", "early bird")
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
			t.Fatalf("%+v", got)
		}
		w.wantNoted("prompt", "early bird")
	})
}

func TestNothingIsTypedIntoAQuestionBeforeTheComposer(t *testing.T) { // LAUNCH-3
	t.Parallel()
	for _, screen := range []string{"trust", "update"} {
		t.Run(screen, func(t *testing.T) {
			every(t, func(t *testing.T, w *world, preset string) {
				if preset == "grok" || preset == "opencode" {
					t.Skip("it asks nothing of the kind in a way that was seen")
				}
				r := w.launch(preset, screen, "fix bug 2 now")
				if r.State != "dialog" || r.TurnID != "" || !strings.Contains(r.Reason, "not sent") {
					t.Fatalf("%+v", r)
				}
				_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "fix bug 2 now"})
				w.refuses(err, fault.AgentWaiting)
				asked, err := w.agents.Ask(t.Context(), r.SessionID)
				if err != nil || !asked.Asks || asked.Kind != "other" || len(asked.Choices) != 2 {
					t.Fatalf("%+v %v", asked, err)
				}
				_, err = w.agents.Answer(t.Context(), r.SessionID, asked.Digest, true)
				w.refuses(err, fault.NotAllowed)
				w.wantNoted(screen)
				w.keys(r.SessionID, "1") // a person
				w.until("the composer shows", func() bool {
					s, err := w.agents.Status(t.Context(), r.SessionID, "")
					return err == nil && s.State == "ready"
				})
				w.ends(r.SessionID, "fix bug 2 now", Done)
				w.wantNoted("prompt", "fix bug 2 now")
			})
		})
	}
}

func TestAnEnterThatMakesANewlineLeavesResidueAndIsNotRepeatedBlindly(t *testing.T) { // TURN-5
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "stuck", "")
		got := w.send(r.SessionID, "stays here")
		if got.Residue == nil || !*got.Residue || got.Outcome != Unknown {
			t.Errorf("%+v", got)
		}
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "another"})
		w.refuses(err, fault.TypedText)
		w.wantNoted("prompt")
	})
}

func TestAnEnterThatIsActedOnLateIsNotPressedAgain(t *testing.T) { // TURN-5
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "lag=3000", "")
		got := w.send(r.SessionID, "RUN:curl x") // its question would take a second one for a yes
		if got.Outcome != Pending && got.Outcome != Waiting || got.Residue == nil || *got.Residue {
			t.Errorf("%+v\n%s", got, w.screen(r.SessionID))
		}
		if got := w.wait(r.SessionID, got.Cursor); got.Outcome != Waiting {
			t.Errorf("%+v\n%s", got, w.screen(r.SessionID))
		}
		w.wantNoted("answer")
		w.wantNoted("prompt", "RUN:curl x")
	})
}

func TestAnEnterThatWasTakenForANewlineIsPressedOnceMore(t *testing.T) { // TURN-5
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "once", "")
		w.ends(r.SessionID, "SAY:sent", Done)
		if got := strings.TrimSpace(w.result(r.SessionID)); got != "sent" { // with the newline
			t.Errorf("answer %q", got)
		}
	})
}

func TestAnEnterThatCompletesIsNotTakenForOneThatSends(t *testing.T) { // TURN-5
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "completes", "")
		got := w.send(r.SessionID, "look at main")
		if got.Residue != nil || got.Outcome != Unknown {
			t.Errorf("%+v\n%s", got, w.screen(r.SessionID))
		}
		w.wantNoted("prompt")
	})
}

func TestAnEnterDoesNotComeSoSoonThatItIsTakenForText(t *testing.T) { // TURN-2
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "burst=120", "one line")
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
			t.Fatalf("%+v", got)
		}
		w.ends(r.SessionID, "and\nthree\nof them\n", Done)
		w.wantNoted("prompt", "one line", "and\nthree\nof them")
	})
}

func TestAComposerThatHoldsTextIsLeftAlone(t *testing.T) { // TURN-6
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.ends(r.SessionID, "first", Done) // from now on Grok shows a suggestion, which is no text
		w.keys(r.SessionID, "a person's draft")
		w.until("the draft shows", func() bool { return strings.Contains(w.screen(r.SessionID), "draft") })
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "mine"})
		w.refuses(err, fault.TypedText)
		w.keys(r.SessionID, "\x03")
		w.until("the draft is gone", func() bool { return !strings.Contains(w.screen(r.SessionID), "draft") })
		w.ends(r.SessionID, "mine", Done)
		w.wantNoted("prompt", "first", "mine")
	})
}

func TestAnAgentAtWorkGetsNoSecondPrompt(t *testing.T) { // TURN-7
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		first := w.send(r.SessionID, "SLOW:60000")
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "second"})
		w.refuses(err, fault.AgentBusy)
		w.keys(r.SessionID, "\x1b")
		if got := w.wait(r.SessionID, first.Cursor); got.Outcome != Interrupted {
			t.Fatalf("%+v\n%s", got, w.screen(r.SessionID))
		}
		w.ends(r.SessionID, "third", Done)
		w.wantNoted("prompt", "SLOW:60000", "third")
	})
}

func TestAPersonsTurnThatItsScreenDoesNotShowIsWork(t *testing.T) { // TURN-7
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.keys(r.SessionID, "GAP:600000") // Codex's row of work goes when its answer begins
		w.keys(r.SessionID, "\r")
		w.until("it works and does not show it", func() bool {
			if len(w.noted("gap")) == 0 {
				return false
			}
			s, err := w.host.Screen(t.Context(), terminal.ID(r.SessionID), terminal.Range{Kind: terminal.Visible})
			l := vendorOf(preset).look(s)
			return err == nil && l.state == stateReady && l.empty
		})
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "second"})
		w.refuses(err, fault.AgentBusy)
		w.keys(r.SessionID, "\x1b") // ends the gap
		w.until("it has answered", func() bool {
			s, err := w.agents.Status(t.Context(), r.SessionID, "")
			return err == nil && s.Outcome == Done
		})
		w.ends(r.SessionID, "third", Done)
		w.wantNoted("prompt", "GAP:600000", "third")
	})
}

func TestABusyLineInWhatWasSaidIsNoWork(t *testing.T) { // TURN-7
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.ends(r.SessionID, "SAY:press esc to interrupt", Done)
		w.ends(r.SessionID, "SAY:• Working (3s • esc to interrupt)", Done)
		w.ends(r.SessionID, "SAY:    Responding… 3.0s [stop]", Done)
		w.ends(r.SessionID, "SAY:You hit your weekly limit, 429 rate limit reached", Done)
		w.ends(r.SessionID, "next", Done)
	})
}

func TestWorkThatOnlyTheScreenTellsOfIsWork(t *testing.T) { // TURN-7
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.keys(r.SessionID, "/compact")
		w.keys(r.SessionID, "\r")
		w.until("it is busy", func() bool {
			s, err := w.agents.Status(t.Context(), r.SessionID, "")
			return err == nil && s.State == "busy" && s.Outcome == None
		})
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "second"})
		w.refuses(err, fault.AgentBusy)
		w.keys(r.SessionID, "\x1b")
		w.ends(r.SessionID, "third", Done)
		w.wantNoted("prompt", "third")
	})
}

func TestWorkThatIsSeldomDrawnIsWork(t *testing.T) { // TURN-7
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "stalls=6000", "")
		w.keys(r.SessionID, "/compact")
		w.keys(r.SessionID, "\r")
		w.until("it shows that it works", func() bool {
			s, err := w.host.Screen(t.Context(), terminal.ID(r.SessionID), terminal.Range{Kind: terminal.Visible})
			return err == nil && vendorOf(preset).look(s).state == stateBusy
		})
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "second"})
		w.refuses(err, fault.AgentBusy)
		w.wantNoted("prompt")
	})
}

func TestAnEmptyComposerInTheMiddleOfATurnIsNoEnd(t *testing.T) { // FOLLOW-2
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		sent := w.send(r.SessionID, "GAP:600000\nSAY:after the gap")
		w.until("its composer is empty", func() bool {
			s, err := w.host.Screen(t.Context(), terminal.ID(r.SessionID), terminal.Range{Kind: terminal.Visible})
			l := vendorOf(preset).look(s)
			return err == nil && l.state == stateReady && l.empty
		})
		got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}, Timeout: 300 * time.Millisecond})
		if err != nil || !got.TimedOut || got.Sessions[0].Outcome != Pending {
			t.Fatalf("%+v %v", got, err)
		}
		w.keys(r.SessionID, "\x1b") // ends the gap
		if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Done {
			t.Fatalf("%+v", got)
		}
		if got := w.result(r.SessionID); got != "after the gap" {
			t.Errorf("answer %q", got)
		}
	})
}

func TestEveryEndIsItsOwnOutcome(t *testing.T) { // FOLLOW-3
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.ends(r.SessionID, "FAIL:something broke", Failed)
		if got := w.ends(r.SessionID, "FAIL:429 Too Many Requests", RateLimited); !strings.Contains(got.Reason, "429") {
			t.Errorf("reason %q", got.Reason)
		}
		w.ends(r.SessionID, "TWICE\nSAY:once", Done)
		w.ends(r.SessionID, "FOREIGN\nSLOW:300\nSAY:of this chat", Done)
		if got := w.result(r.SessionID); got != "of this chat" {
			t.Errorf("answer %q", got)
		}
		w.ends(r.SessionID, "DIE", Exited)
	})
}

func TestAnEndBeforeAnyPromptEndsNothing(t *testing.T) { // FOLLOW-4
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "early", "SLOW:500\nSAY:the answer")
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
			t.Fatalf("%+v", got)
		}
		if got := w.result(r.SessionID); got != "the answer" {
			t.Errorf("answer %q", got)
		}
	})
}

func TestAnotherChatEndsTheTurn(t *testing.T) { // FOLLOW-5
	every(t, func(t *testing.T, w *world, preset string) {
		if preset == "codex" || preset == "opencode" {
			t.Skip("it tells of no other chat while a turn is at work")
		}
		r := w.launch(preset, "", "")
		got := w.ends(r.SessionID, "CLEAR", Replaced)
		w.ends(r.SessionID, "in the new chat", Done)
		s, err := w.agents.Status(t.Context(), r.SessionID, "")
		if err != nil || s.ChatID == r.ChatID || s.ChatID == "" || s.Resume.Argv[2] != s.ChatID {
			t.Errorf("chat %s after %s: %+v %v", got.ChatID, r.ChatID, s, err)
		}
	})
}

func TestWhatFollowsAnotherChatBelongsToThat(t *testing.T) { // FOLLOW-5
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.ends(r.SessionID, "SAY:in the old one", Done)
		was, err := w.agents.Status(t.Context(), r.SessionID, "")
		if err != nil || was.ChatID == "" {
			t.Fatalf("%+v %v", was, err)
		}
		w.keys(r.SessionID, "/new") // a person
		w.keys(r.SessionID, "\r")
		w.ends(r.SessionID, "SAY:in the new one", Done)
		if got := w.result(r.SessionID); got != "in the new one" {
			t.Errorf("answer %q", got)
		}
		now, err := w.agents.Status(t.Context(), r.SessionID, "")
		if err != nil || now.ChatID == was.ChatID || now.ChatID == "" || now.Resume.Argv[len(now.Resume.Argv)-1] != now.ChatID {
			t.Errorf("chat %s after %s: %+v %v", now.ChatID, was.ChatID, now, err)
		}
		w.ends(r.SessionID, "SAY:in the same", Done)
	})
}

func TestAnAgentOfTheAgentsOwnTakesNoTurn(t *testing.T) { // FOLLOW-3, FOLLOW-5
	w := newWorld(t)
	r := w.launch("codex", "", "")
	w.ends(r.SessionID, "PART\nSLOW:300\nSAY:of the whole", Done)
	if got := w.result(r.SessionID); got != "of the whole" {
		t.Errorf("answer %q", got)
	}
	was, err := w.agents.Status(t.Context(), r.SessionID, "")
	if err != nil {
		t.Fatal(err)
	}
	w.ends(r.SessionID, "PART\nSAY:and again", Done)
	if now, err := w.agents.Status(t.Context(), r.SessionID, ""); err != nil || now.ChatID != was.ChatID {
		t.Errorf("chat %s after %s %v", now.ChatID, was.ChatID, err)
	}
}

func TestAPromptThatComesBackWasInterruptedAndIsNotSentAgain(t *testing.T) { // TURN-6, FOLLOW-10
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		sent := w.send(r.SessionID, "BACK\nSLOW:60000")
		w.keys(r.SessionID, "\x1b")
		if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Interrupted {
			t.Fatalf("%+v\n%s", got, w.screen(r.SessionID))
		}
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "next"})
		w.refuses(err, fault.TypedText)
		w.wantNoted("prompt", "BACK\nSLOW:60000")
	})
}

func TestWhatAnAgentInheritsFromAnotherIsTakenOut(t *testing.T) { // LAUNCH-4
	w := newWorld(t)
	w.launch("claude", "", "")
	w.wantNoted("env", "|1|agent|yes") // the test's own environment has CLAUDE_CODE_CHILD_SESSION
}

func TestNoSecretAndNoPromptIsWrittenDown(t *testing.T) { // LAUNCH-5
	w := newWorld(t)
	w.added["CANARY_KEY"] = "canary-secret-value"
	r := w.launch("claude", "", "SAY:fine\nand the word canary-prompt")
	w.wait(r.SessionID, r.Cursor)
	for _, argv := range w.noted("argv") {
		if strings.Contains(argv, "canary") {
			t.Errorf("argv %q", argv)
		}
	}
	err := filepath.WalkDir(filepath.Join(w.home, "tp", "agents"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if want := map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "canary") {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAnEndThatIsBeingToldIsNoInterruption(t *testing.T) { // FOLLOW-3
	w := newWorld(t)
	r := w.launch("claude", "tardy", "")
	w.ends(r.SessionID, "SAY:late", Done)
}
