package agent

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
)

func TestAnOperationIsSentAtMostOnce(t *testing.T) { // TURN-8
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		send := func(id, text string) (TurnReceipt, error) {
			return w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: text, OperationID: id})
		}
		first, err := send("op 1", "SAY:one")
		if err != nil {
			t.Fatal(err)
		}
		if got := w.wait(r.SessionID, first.Cursor); got.Outcome != Done || got.OperationID != "op 1" {
			t.Fatalf("%+v", got)
		}
		again, err := send("op 1", "SAY:one")
		if err != nil || again.TurnID != first.TurnID || again.Outcome != Done {
			t.Errorf("%+v %v", again, err)
		}
		_, err = send("op 1", "SAY:other")
		w.refuses(err, fault.OperationTaken)
		second, err := send("op 2", "SAY:two")
		if err != nil {
			t.Fatal(err)
		}
		w.wait(r.SessionID, second.Cursor)
		for id, want := range map[string]string{"op 1": "one", "op 2": "two"} { // every result is kept
			got, err := w.agents.Result(t.Context(), ResultRequest{SessionID: r.SessionID, OperationID: id})
			if err != nil || got.Text != want {
				t.Errorf("%s: %q %v", id, got.Text, err)
			}
		}
		_, err = w.agents.Recover(t.Context(), r.SessionID, "op 3")
		w.refuses(err, fault.OperationNotFound)
		_, err = w.agents.Recover(t.Context(), r.SessionID, "")
		w.refuses(err, fault.InvalidArgument)
		w.keys(r.SessionID, "/exit")
		w.keys(r.SessionID, "\r")
		w.until("the agent has ended", func() bool {
			s, err := w.agents.Status(t.Context(), r.SessionID, "")
			return err == nil && s.State == "ended"
		})
		again, err = send("op 1", "SAY:one") // it cannot be typed to any more, and what is known is told
		if err != nil || again.Outcome != Done {
			t.Errorf("%+v %v", again, err)
		}
		w.wantNoted("prompt", "SAY:one", "SAY:two")
	})
}

func TestAnOperationOfASessionIsNotSentToItsNextAgent(t *testing.T) { // TURN-8
	w := newWorld(t)
	opened, err := w.pilot.Open(t.Context(), pilot.OpenRequest{Cwd: w.home})
	if err != nil {
		t.Fatal(err)
	}
	request := LaunchRequest{Preset: "claude", SessionID: opened.SessionID, Cwd: w.home}
	if _, err := w.agents.Launch(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	send := func(text string) (TurnReceipt, error) {
		return w.agents.Send(t.Context(), SendRequest{SessionID: opened.SessionID, Text: text, OperationID: "op"})
	}
	first, err := send("DIE")
	if err != nil {
		t.Fatal(err)
	}
	w.until("another can be launched", func() bool {
		_, err = w.agents.Launch(t.Context(), request)
		return err == nil
	})
	again, err := send("DIE")
	if err != nil || again.TurnID != first.TurnID || again.Outcome != Exited {
		t.Errorf("%+v %v", again, err)
	}
	_, err = send("another")
	w.refuses(err, fault.OperationTaken)
	if got, err := w.agents.Recover(t.Context(), opened.SessionID, "op"); err != nil || got.TurnID != first.TurnID {
		t.Errorf("%+v %v", got, err)
	}
	w.wantNoted("prompt", "DIE")
}

func TestOneOperationFromManyAtOnceIsTypedOnce(t *testing.T) { // TURN-8
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { // some are told that another types: none types twice
				_, _ = w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "SLOW:300", OperationID: "x"})
			})
		}
		all.Wait()
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
			t.Fatalf("%+v", got)
		}
		w.wantNoted("prompt", "SLOW:300")
	})
}

// TestSenderThatDies is no test of its own: it is the process that the next one kills.
func TestSenderThatDies(t *testing.T) {
	session := os.Getenv("SENDER_SESSION")
	if session == "" {
		t.Skip("runs for TestWhatBecameOfATurnIsKnownAfterItsSenderWasKilled")
	}
	w := worldOfProcess(t)
	_, _ = w.agents.Send(t.Context(), SendRequest{SessionID: session, Text: "SLOW:500\nSAY:survived", OperationID: "op"})
}

func TestWhatBecameOfATurnIsKnownAfterItsSenderWasKilled(t *testing.T) { // TURN-9
	t.Parallel()
	for _, stage := range []string{"begun", "entered", "prompted"} {
		t.Run(stage, func(t *testing.T) {
			every(t, func(t *testing.T, w *world, preset string) {
				r := w.launch(preset, "", "")
				sender := w.process("TestSenderThatDies", "SENDER_SESSION="+r.SessionID)
				if err := sender.Start(); err != nil {
					t.Fatal(err)
				}
				events := filepath.Join(w.agents.folder(r.LaunchID), "events.000001.jsonl")
				w.until("the sender is that far", func() bool {
					data, _ := os.ReadFile(events)
					return strings.Contains(string(data), `"kind":"`+stage+`"`)
				})
				_ = sender.Process.Signal(syscall.SIGKILL)
				_ = sender.Wait()

				got, err := w.agents.Recover(t.Context(), r.SessionID, "op")
				if err != nil {
					t.Fatal(err)
				}
				if typed := len(w.noted("prompt")); typed == 0 && got.Outcome != Unknown && got.Outcome != Pending {
					t.Errorf("it was not typed, and the outcome is %s", got.Outcome)
				}
				again, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "SLOW:500\nSAY:survived", OperationID: "op"})
				if err != nil || again.TurnID != got.TurnID {
					t.Errorf("sent again: %+v %v", again, err)
				}
				if stage == "prompted" {
					if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
						t.Errorf("%+v", got)
					}
					if got := w.result(r.SessionID); got != "survived" {
						t.Errorf("answer %q", got)
					}
				}
				if n := len(w.noted("prompt")); n > 1 {
					t.Errorf("typed %d times", n)
				}
			})
		})
	}
}

func TestALongAnswerComesInFullOrByPart(t *testing.T) { // TURN-10
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.ends(r.SessionID, "LONG:5000", Done)
		if got := w.result(r.SessionID); got != strings.Repeat("é", 5000) {
			t.Errorf("%d characters", len([]rune(got)))
		}
		whole, offset := "", 0
		for range 10 {
			part, err := w.agents.Result(t.Context(), ResultRequest{SessionID: r.SessionID, Offset: offset, MaxChars: 999})
			if err != nil {
				t.Fatal(err)
			}
			whole += part.Text
			if offset = part.NextOffset; offset == 0 {
				break
			}
		}
		if whole != strings.Repeat("é", 5000) {
			t.Errorf("the parts have %d characters", len([]rune(whole)))
		}
		_, err := w.agents.Result(t.Context(), ResultRequest{SessionID: r.SessionID, Offset: 6000})
		w.refuses(err, fault.InvalidArgument)
		w.send(r.SessionID, "SLOW:60000")
		got, err := w.agents.Result(t.Context(), ResultRequest{SessionID: r.SessionID, MaxChars: 1})
		if err != nil || got.Text != "é" {
			t.Errorf("while the next is at work, the last answer is %q %v", got.Text, err)
		}
	})
}

func TestManyWaitForManyAgents(t *testing.T) { // FOLLOW-6, FOLLOW-7
	w := newWorld(t)
	one, two := w.launch("claude", "", ""), w.launch("grok", "", "")
	second, first := w.send(two.SessionID, "SLOW:60000"), w.send(one.SessionID, "SLOW:400\nSAY:first")
	both := WaitRequest{Sessions: []string{one.SessionID, two.SessionID}, Cursors: []string{first.Cursor, second.Cursor}, Timeout: patience}
	var any, all sync.WaitGroup
	for range 3 {
		any.Go(func() {
			got, err := w.agents.Wait(t.Context(), both)
			if err != nil || got.Sessions[0].Outcome != Done || got.Sessions[1].Outcome != Pending {
				t.Errorf("any: %+v %v", got, err)
			}
		})
	}
	all.Go(func() {
		both := both
		both.All = true
		got, err := w.agents.Wait(t.Context(), both)
		if err != nil || got.Sessions[0].Outcome != Done || got.Sessions[1].Outcome != Interrupted {
			t.Errorf("all: %+v %v", got, err)
		}
	})
	any.Wait()
	w.keys(two.SessionID, "\x03")
	all.Wait()
	look := WaitRequest{Sessions: []string{one.SessionID}, Cursors: []string{first.Cursor}}
	if got, err := w.agents.Wait(t.Context(), look); err != nil || got.TimedOut || got.Sessions[0].Outcome != Done {
		t.Errorf("a look at what is done: %+v %v", got, err)
	}
	look.Cursors = []string{second.Cursor}
	_, err := w.agents.Wait(t.Context(), look)
	w.refuses(err, fault.CursorInvalid)
	_, err = w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{one.SessionID}, Cursors: []string{"a", "b"}})
	w.refuses(err, fault.InvalidArgument)
	_, err = w.agents.Wait(t.Context(), WaitRequest{})
	w.refuses(err, fault.InvalidArgument)
}

func TestAWaitEndsWithItsTimeAndChangesNothing(t *testing.T) { // FOLLOW-8
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "SLOW:600000") // long beyond the patience of any test
		got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}, Timeout: 200 * time.Millisecond})
		if err != nil || !got.TimedOut || got.Sessions[0].Outcome != Pending {
			t.Errorf("%+v %v", got, err)
		}
		if got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}}); err != nil || !got.TimedOut {
			t.Errorf("%+v %v", got, err)
		}
		w.keys(r.SessionID, "\x1b")
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Interrupted {
			t.Errorf("%+v", got)
		}
	})
}
