package agent

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/terminal"
)

// asks gives a prompt that ends in a question, and returns that.
func (w *world) asks(session, prompt string) Approval {
	w.t.Helper()
	sent := w.send(session, prompt)
	if got := w.wait(session, sent.Cursor); got.Outcome != Waiting {
		w.t.Fatalf("%+v\n%s", got, w.screen(session))
	}
	var asked Approval
	w.until("the question shows", func() bool {
		var err error
		asked, err = w.agents.Ask(w.t.Context(), session)
		return err == nil && asked.Asks && asked.Kind == "permission"
	})
	return asked
}

func TestAPermissionIsAnsweredOnceByWhatItsRowSays(t *testing.T) { // APPROVE-1, APPROVE-2, FOLLOW-9
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		asked := w.asks(r.SessionID, "RUN:curl x\nSAY:allowed")
		if !strings.Contains(strings.Join(asked.Question, "\n"), "curl x") {
			t.Errorf("question %q", asked.Question)
		}
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "not into the question"})
		w.refuses(err, fault.AgentWaiting)
		got, err := w.agents.Answer(t.Context(), r.SessionID, asked.Digest, true)
		if err != nil || got.Answered != "yes" || got.Asks {
			t.Fatalf("%+v %v", got, err)
		}
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
			t.Fatalf("%+v", got)
		}
		asked = w.asks(r.SessionID, "RUN:curl y")
		if _, err := w.agents.Answer(t.Context(), r.SessionID, asked.Digest, false); err != nil {
			t.Fatal(err)
		}
		s, err := w.agents.Status(t.Context(), r.SessionID, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := w.wait(r.SessionID, s.Cursor); got.Outcome != Interrupted {
			t.Errorf("%+v", got)
		}
		chosen := w.noted("chosen")
		if len(chosen) != 2 || classOf(chosen[0]) != "once" || classOf(chosen[1]) != "no" {
			t.Errorf("chosen %q", chosen)
		}
	})
}

func TestAQuestionThatADeadAgentLeftIsNone(t *testing.T) { // APPROVE-8
	every(t, func(t *testing.T, w *world, preset string) {
		opened, err := w.pilot.Open(t.Context(), pilot.OpenRequest{Cwd: w.home, Rows: rows, Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.agents.Launch(t.Context(), LaunchRequest{Preset: preset, SessionID: opened.SessionID, Cwd: w.home})
		if err != nil {
			t.Fatal(err)
		}
		w.asks(r.SessionID, "RUN:curl x")
		running, _ := readProcess(w.agents.folder(r.LaunchID))
		if err := syscall.Kill(running.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		w.until("it has ended", func() bool { return !running.alive() })
		asked, err := w.agents.Ask(t.Context(), r.SessionID)
		if w.refuses(err, fault.AgentEnded); asked.Asks {
			t.Errorf("%+v", asked)
		}
	})
}

func TestAnAnsweredQuestionThatStillShowsIsNotTakenForAnother(t *testing.T) { // FOLLOW-9
	w := newWorld(t)
	r := w.launch("codex", "", "")
	asked := w.asks(r.SessionID, "RUN:curl x")
	l, err := w.agents.find(t.Context(), "wait", r.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if err := record(t.Context(), w.agents.folder(l.ID), true, event{Kind: answered, Digest: asked.Digest, Choice: "yes"}); err != nil {
		t.Fatal(err)
	}
	s, err := w.agents.tale(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	s.answered = time.Now()
	if w.agents.lookForQuestions(t.Context(), s); s.waiting {
		t.Error("it is asked for again before the key is pressed")
	}
	s.answered = time.Time{} // long ago
	if w.agents.lookForQuestions(t.Context(), s); !s.waiting {
		t.Error("a question that shows is none")
	}
}

func TestAQuestionThatAPersonAnsweredIsNotWaitedFor(t *testing.T) { // FOLLOW-9, FOLLOW-12
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		sent := w.send(r.SessionID, "RUN:curl x\nTHEN:60000")
		w.until("a look finds the question", func() bool { // though nobody has waited for it
			got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}, Cursors: []string{sent.Cursor}})
			return err == nil && got.Sessions[0].Outcome == Waiting
		})
		asked, err := w.agents.Ask(t.Context(), r.SessionID)
		if err != nil || !asked.Asks {
			t.Fatalf("%+v %v", asked, err)
		}
		s, _ := w.host.Screen(t.Context(), terminal.ID(r.SessionID), terminal.Range{Kind: terminal.Visible})
		for _, c := range vendorOf(preset).look(s).dialog.choices {
			if c.class == "once" {
				w.keys(r.SessionID, c.key)
			}
		}
		w.until("it goes on", func() bool { return len(w.noted("chosen")) == 1 })
		w.until("it is said to go on", func() bool {
			now, err := w.agents.Standing(t.Context(), r.SessionID)
			return err == nil && now.State == Working
		})
		got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}, Cursors: []string{sent.Cursor}})
		if err != nil || !got.TimedOut || got.Sessions[0].Outcome != Pending {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestNothingIsSaidWithANo(t *testing.T) { // APPROVE-6
	w := newWorld(t)
	r := w.launch("opencode", "", "")
	asked := w.asks(r.SessionID, "RUN:curl x\nWORDS")
	got, err := w.agents.Answer(t.Context(), r.SessionID, asked.Digest, false)
	if err != nil || got.Answered != "no" {
		t.Fatalf("%+v %v\n%s", got, err, w.screen(r.SessionID))
	}
	if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Interrupted {
		t.Errorf("%+v", got)
	}
	w.wantNoted("words", enter)
}

func TestADigestHoldsWhenTheHookIsSlowerThanTheScreen(t *testing.T) { // APPROVE-7
	w := newWorld(t)
	r := w.launch("claude", "late", "")
	sent := w.send(r.SessionID, "RUN:touch x\nSAY:allowed")
	if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Waiting {
		t.Fatalf("%+v", got)
	}
	asked, err := w.agents.Ask(t.Context(), r.SessionID)
	if err != nil || !asked.Asks {
		t.Fatalf("%+v %v", asked, err)
	}
	w.until("the hook has told", func() bool {
		l, err := w.agents.find(t.Context(), "test", r.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.agents.tale(t.Context(), l)
		return err == nil && s.asked == 1
	})
	if _, err := w.agents.Answer(t.Context(), r.SessionID, asked.Digest, true); err != nil {
		t.Fatal(err)
	}
	if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Done {
		t.Errorf("%+v", got)
	}
}

func TestAQuestionThatChangedIsNotAnswered(t *testing.T) { // APPROVE-3
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		asked := w.asks(r.SessionID, "RUN:curl x\nSWAP")
		running, _ := readProcess(w.agents.folder(r.LaunchID))
		if err := syscall.Kill(running.PID, syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		w.until("another question shows", func() bool { return strings.Contains(w.screen(r.SessionID), "rm -r everything") })
		_, err := w.agents.Answer(t.Context(), r.SessionID, asked.Digest, true)
		w.refuses(err, fault.Stale)
		w.wantNoted("answer")
		now, err := w.agents.Ask(t.Context(), r.SessionID)
		if err != nil || now.Digest == asked.Digest {
			t.Fatalf("%+v %v", now, err)
		}
		if _, err := w.agents.Answer(t.Context(), r.SessionID, now.Digest, false); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAQuestionThatLooksLikeTheLastIsAnother(t *testing.T) { // APPROVE-1, APPROVE-3
	w := newWorld(t)
	r := w.launch("claude", "", "")
	asked := w.asks(r.SessionID, "RUN:curl x")
	next := func() { // the hook of another question with the same words
		if err := record(t.Context(), w.agents.folder(r.LaunchID), false, event{Kind: waits, Chat: r.ChatID, Source: fromHook}); err != nil {
			t.Error(err)
		}
	}
	_, err := w.at(3, next).Answer(t.Context(), r.SessionID, asked.Digest, true) // found, taken, about to be pressed
	w.refuses(err, fault.Stale)
	w.wantNoted("answer")
	if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Waiting {
		t.Errorf("%+v", got)
	}
	if asked, err = w.agents.Ask(t.Context(), r.SessionID); err != nil {
		t.Fatal(err)
	}
	a := New(Options{Pilot: asking{w.pilot, next}, Dir: w.agents.dir, Self: w.agents.self, Env: w.env})
	if got, err := a.Answer(t.Context(), r.SessionID, asked.Digest, true); err != nil || got.Answered != "yes" { // the next follows at once
		t.Errorf("%+v %v", got, err)
	}
}

// asking has an agent that takes every key for an answer, and asks the same again.
type asking struct {
	Pilot
	again func()
}

func (a asking) SeeOne(ctx context.Context, op string, id terminal.ID) (pilot.Seen, error) {
	seen, err := a.Pilot.SeeOne(ctx, op, id)
	seen.On = askingBackend{seen.On, a.again}
	return seen, err
}

type askingBackend struct {
	terminal.Backend
	again func()
}

func (b askingBackend) Send(context.Context, terminal.ID, []byte) error {
	b.again()
	return nil
}

func TestAQuotedQuestionIsNone(t *testing.T) { // APPROVE-4
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.ends(r.SessionID, "QUOTE", Done)
		asked, err := w.agents.Ask(t.Context(), r.SessionID)
		if err != nil || asked.Asks {
			t.Errorf("%+v %v\n%s", asked, err, w.screen(r.SessionID))
		}
		_, err = w.agents.Answer(t.Context(), r.SessionID, "x", true)
		w.refuses(err, fault.Stale)
		w.ends(r.SessionID, "next", Done)
		w.wantNoted("answer")
	})
}

func TestRowsAreChosenByWhatTheySay(t *testing.T) { // APPROVE-2
	for label, want := range map[string]string{
		"Yes": "once", "Yes, proceed (y)": "once", "Yes, proceed": "once", "No": "no", "No, reject (type to add feedback)": "no",
		"No, and tell Codex what to do differently (esc)":             "no",
		"Yes, and don’t ask again for: curl *":                        "always",
		"Yes, and don't ask again for anything (always-approve mode)": "always",
		"Always allow: curl -s":                                       "always",
		"Never allow: curl -s":                                        "always",
		"Yes, allow all edits during this session (shift+tab)":        "always",
		"Yes, I trust this folder":                                    "always",
		"Yes, and use auto mode":                                      "other",
		"No, exit":                                                    "other",
		"Nothing":                                                     "other", "Install now": "other", "Yesterday": "other",
		"Ja": "other", "はい": "other", "Nein": "other", "いいえ": "other",
	} {
		if got := classOf(label); got != want {
			t.Errorf("%q is %s, want %s", label, got, want)
		}
	}
}

func TestAModelIsChangedForTheSessionAlone(t *testing.T) { // CONFIGURE-1, CONFIGURE-2, CONFIGURE-3
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		for range 3 { // its header is not on the screen any more
			w.ends(r.SessionID, "LINES:30", Done)
		}
		if preset == "claude" && strings.Contains(w.screen(r.SessionID), "Claude Code") {
			t.Error("its header still shows")
		}
		configure := func(model, effort string) (Configured, error) {
			return w.agents.Configure(t.Context(), r.SessionID, model, effort)
		}
		if preset == "grok" || preset == "opencode" {
			_, err := configure("Small", "")
			w.refuses(err, fault.Unsupported)
			w.wantNoted("menu")
			return
		}
		_, err := configure("nonsense", "")
		w.refuses(err, fault.ModelUnknown)
		for model, want := range map[string]fault.Code{"": fault.InvalidArgument, "a b": fault.ModelUnknown, "x\ry": fault.ModelUnknown} {
			_, err := configure(model, "")
			w.refuses(err, want)
		}
		effort := "high"
		if preset == "claude" {
			_, err = configure("", "high")
			w.refuses(err, fault.Unsupported)
			effort = ""
		} else {
			_, err = configure("Small", "nonsense")
			w.refuses(err, fault.ModelUnknown)
		}
		got, err := configure("Small", effort)
		if err != nil || !strings.Contains(got.Shows, "Small") || !strings.Contains(got.Shows, "this session only") {
			t.Fatalf("%+v %v\n%s", got, err, w.screen(r.SessionID))
		}
		w.ends(r.SessionID, "Unexpected: no menu is open", Done)
		w.wantNoted("persisted")
		w.wantNoted("prompt", "LINES:30", "LINES:30", "LINES:30", "Unexpected: no menu is open")
	})
}

func TestAnotherModelThanWasAskedForIsNoSuccess(t *testing.T) { // CONFIGURE-4
	w := newWorld(t)
	r := w.launch("claude", "slips", "")
	_, err := w.agents.Configure(t.Context(), r.SessionID, "Small", "")
	if w.refuses(err, fault.Protocol); err == nil || !strings.Contains(err.Error(), "Set model to Big") {
		t.Errorf("%v", err)
	}
	if _, err := w.agents.Configure(t.Context(), r.SessionID, "Big", ""); err != nil {
		t.Error(err)
	}
}
