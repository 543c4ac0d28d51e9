package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
)

func TestTwoAgentsInOneFolderKeepTheirOwnChats(t *testing.T) { // TURN-1, HOOK-2
	every(t, func(t *testing.T, w *world, preset string) {
		one, two := w.launch(preset, "", ""), w.launch(preset, "", "")
		first, second := w.send(one.SessionID, "SLOW:300\nSAY:first"), w.send(two.SessionID, "SAY:second")
		chats := map[string]bool{}
		for _, r := range []struct{ session, cursor, answer string }{{two.SessionID, second.Cursor, "second"}, {one.SessionID, first.Cursor, "first"}} {
			if got := w.wait(r.session, r.cursor); got.Outcome != Done {
				t.Fatalf("%+v", got)
			}
			if got := w.result(r.session); got != r.answer {
				t.Errorf("answer %q, want %q", got, r.answer)
			}
			s, err := w.agents.Status(t.Context(), r.session, "")
			if err != nil || s.ChatID == "" || s.Resume.Cwd != w.home || s.Resume.Argv[len(s.Resume.Argv)-1] != s.ChatID {
				t.Errorf("%+v %v", s, err)
			}
			chats[s.ChatID] = true
		}
		if len(chats) != 2 {
			t.Errorf("chats %v", chats)
		}
	})
}

func TestAnswersOutliveWhatIsToldAfterThem(t *testing.T) { // TURN-10
	w := newWorld(t)
	r := w.launch("claude", "", "")
	sent, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "SAY:the first of many", OperationID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Done {
		t.Fatalf("%+v", got)
	}
	folder := w.agents.folder(r.LaunchID)
	noise := event{Kind: done, Chat: "another", Text: strings.Repeat("x", 1<<20)}
	for range 9 { // more than two files of the journal
		if err := record(t.Context(), folder, false, noise); err != nil {
			t.Fatal(err)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(folder, "events.*.jsonl")); len(files) < 3 {
		t.Errorf("files %q", files)
	}
	w.ends(r.SessionID, "SAY:a later one", Done)
	got, err := w.agents.Result(t.Context(), ResultRequest{SessionID: r.SessionID, OperationID: "one"})
	if err != nil || got.Text != "the first of many" {
		t.Errorf("%q %v", got.Text, err)
	}
	if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Done || got.OperationID != "one" {
		t.Errorf("%+v", got)
	}
}

func TestALongRecordIsReadToItsEnd(t *testing.T) { // TURN-10, FOLLOW-1
	w := newWorld(t)
	r := w.launch("codex", "", "")
	w.ends(r.SessionID, "BULK\nSAY:first", Done)
	w.send(r.SessionID, "BULK\nSAY:second")
	w.until("it shows its answer", func() bool { return strings.Contains(w.screen(r.SessionID), "second\n\n›") })
	if s, err := w.agents.Status(t.Context(), r.SessionID, ""); err != nil || s.Outcome != Done { // nobody else has read it
		t.Errorf("%+v %v", s, err)
	}
	if got := w.result(r.SessionID); got != "second" {
		t.Errorf("answer %q", got)
	}
	l, err := w.agents.find(t.Context(), "test", r.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.agents.tale(t.Context(), l)
	if err != nil || s.recorded.offset < 20<<20 {
		t.Errorf("whoever comes next reads from %d: %v", s.recorded.offset, err)
	}
}

// TestWaiterElsewhere is no test of its own: it is the process that the next one starts.
func TestWaiterElsewhere(t *testing.T) {
	session := os.Getenv("WAITER_SESSION")
	if session == "" {
		t.Skip("runs for TestAWaiterNeedsNoFolder")
	}
	w := worldOfProcess(t)
	data, err := json.Marshal(w.wait(session, os.Getenv("WAITER_CURSOR")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("WAITER_OUT"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAWaiterNeedsNoFolder(t *testing.T) { // FOLLOW-1, FOLLOW-6
	every(t, func(t *testing.T, w *world, preset string) {
		request := w.request(preset, "", "SLOW:500\nSAY:heard everywhere")
		request.Cwd = "" // this process's
		r, err := w.agents.Launch(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(w.home, "waited")
		elsewhere := w.process("TestWaiterElsewhere", "WAITER_SESSION="+r.SessionID, "WAITER_CURSOR="+r.Cursor, "WAITER_OUT="+out)
		elsewhere.Dir = "/"
		if said, err := elsewhere.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		data, err := os.ReadFile(out)
		var got Waited
		if err != nil || json.Unmarshal(data, &got) != nil || got.Outcome != Done || got.TurnID != r.TurnID {
			t.Errorf("%s %v", data, err)
		}
	})
}

func TestAnEndThatNobodyTellsIsNotMadeUp(t *testing.T) { // FOLLOW-3, FOLLOW-8
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "mute", "")
		sent := w.send(r.SessionID, "SAY:nobody hears this")
		got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}, Cursors: []string{sent.Cursor}, Timeout: 2 * time.Second})
		if err != nil || !got.TimedOut || got.Sessions[0].Outcome != Pending {
			t.Errorf("%+v %v", got, err)
		}
		var s TurnReceipt
		w.until("its composer stands", func() bool {
			s, err = w.agents.Status(t.Context(), r.SessionID, "")
			return err != nil || s.State == "ready"
		})
		if err != nil || s.Outcome != Pending || !strings.Contains(s.Reason, "has not said that it took the text") {
			t.Errorf("%+v %v", s, err)
		}
		_, err = w.agents.Result(t.Context(), ResultRequest{SessionID: r.SessionID})
		w.refuses(err, fault.NotReady)
		second := w.send(r.SessionID, "DIE") // nothing keeps the next one from being sent
		if got := w.wait(r.SessionID, second.Cursor); got.Outcome != Exited {
			t.Errorf("%+v", got)
		}
		w.wantNoted("prompt", "SAY:nobody hears this", "DIE")
	})
}

func TestAPromptThatTheVendorDoesNotConfirmEndsAllTheSame(t *testing.T) { // FOLLOW-1
	every(t, func(t *testing.T, w *world, preset string) {
		if preset == "codex" {
			t.Skip("its record tells both or neither")
		}
		r := w.launch(preset, "deaf", "")
		w.ends(r.SessionID, "SLOW:300\nSAY:the end is told", Done)
		if got := w.result(r.SessionID); got != "the end is told" {
			t.Errorf("answer %q", got)
		}
	})
}

func TestAnEndIsToldOnceToWhoWaitsOn(t *testing.T) { // FOLLOW-3, FOLLOW-18
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		on := func(ended Waited) {
			t.Helper()
			got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}, Cursors: []string{ended.Cursor}})
			if err != nil || got.Sessions[0].Outcome != None || !got.TimedOut {
				t.Errorf("behind %s: %+v %v", ended.Outcome, got, err)
			}
		}
		on(w.ends(r.SessionID, "SAY:x", Done))
		sent := w.send(r.SessionID, "SLOW:600000")
		w.keys(r.SessionID, "\x1b")
		interrupted := w.wait(r.SessionID, sent.Cursor)
		if interrupted.Outcome != Interrupted {
			t.Errorf("%+v", interrupted)
		}
		on(interrupted)
	})
}
