package closing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
)

// receipt writes a receipt of a test's own.
func (w *world) receipt(status string, changed time.Time, items ...Item) string {
	w.t.Helper()
	r := Receipt{V: receiptVersion, ID: newID(), Began: changed, Operation: CleanAll, Status: status, Sessions: items}
	s := store{dir: w.dir}
	if err := s.write(&r); err != nil {
		w.t.Fatal(err)
	}
	data, err := os.ReadFile(s.path(r.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	old := fmt.Sprintf("%q", r.Updated.Format(time.RFC3339Nano))
	data = []byte(strings.ReplaceAll(string(data), old, fmt.Sprintf("%q", changed.UTC().Format(time.RFC3339Nano))))
	if err := os.WriteFile(s.path(r.ID), data, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

func chatItem(id, closure, exit string, pid int) Item {
	resume := &Resume{Executable: "claude", Argv: []string{"claude", "--resume", chatID}}
	return Item{SessionID: id, Backend: "fake", Cwd: "/srv", Closure: closure, Exit: exit, Chats: []Chat{{CLI: "claude", PID: pid, ChatID: chatID, Cwd: "/c", Resume: resume}}}
}

func TestOnlyWhatWasEndedIsOpenedAgain(t *testing.T) { // RECOVER-5, RECOVER-3
	for _, c := range []struct {
		name   string
		status string
		item   func(w *world) Item
		want   []string // the commands
	}{
		{"closed, with two chats", "closed", func(*world) Item {
			item := chatItem("s1", closed, exited, 7)
			item.Chats = append(item.Chats, item.Chats[0])
			return item
		}, []string{"claude --resume " + chatID, "claude --resume " + chatID}},
		{"an agent that was ended in a tab that stayed", "partial", func(*world) Item { return chatItem("s1", retained, exited, 7) }, []string{"claude --resume " + chatID}},
		{"an agent that has not ended", "refused", func(w *world) Item {
			return chatItem("s1", failed, failed, w.start(w.find("s1"), "claude", true).PID)
		}, nil},
		{"cut off, and the agent still runs", executing, func(w *world) Item {
			return chatItem("s1", pending, unknown, w.start(w.find("s1"), "claude", true).PID)
		}, nil},
		{"cut off after its agent had ended", executing, func(*world) Item { return chatItem("s1", pending, unknown, 7) }, []string{"claude --resume " + chatID}},
		{"cut off before the close", executing, func(*world) Item { return Item{SessionID: "s1", Closure: pending, Exit: notNeeded} }, nil},
		{"cut off, and it is gone", executing, func(*world) Item { return Item{SessionID: "s9", Closure: pending, Exit: notNeeded} }, []string{""}},
		{"cut off, and whether the agent runs cannot be seen", executing, func(w *world) Item {
			w.unread = syscall.EMFILE
			return chatItem("s1", pending, unknown, 7)
		}, nil},
		{"one of two agents that was ended, while the other was not", "partial", func(w *world) Item {
			item := chatItem("s1", failed, failed, 7)
			lives := w.start(w.find("s1"), "claude", true)
			item.Chats = append(item.Chats, Chat{CLI: "claude", PID: lives.PID, ChatID: "other-chat", Resume: item.Chats[0].Resume})
			return item
		}, []string{"claude --resume " + chatID}},
		{"one that stayed, and that somebody closed since", "partial", func(*world) Item { return Item{SessionID: "s9", Closure: failed, Exit: exited} }, nil},
		{"not begun", executing, func(*world) Item { return Item{SessionID: "s9", Closure: pending, Exit: notAttempted} }, nil},
	} {
		w := newWorld(t)
		w.add("s1", "t1", "w1")
		id := w.receipt(c.status, time.Now(), c.item(w))
		_, err := w.closer().Reopen(t.Context(), id, false)
		if len(c.want) == 0 && !errors.Is(err, fault.Refused) || len(c.want) > 0 && err != nil {
			t.Errorf("%s: got %v", c.name, err)
		}
		if len(w.opened) != len(c.want) {
			t.Errorf("%s: opened %+v, want %v", c.name, w.opened, c.want)
			continue
		}
		for i, req := range w.opened {
			if req.Command != c.want[i] {
				t.Errorf("%s: got %q, want %q", c.name, req.Command, c.want[i])
			}
		}
	}
}

func TestATerminalThatDoesNotAnswerGetsNothingASecondTime(t *testing.T) { // RECOVER-5
	w := newWorld(t)
	w.silent = true
	id := w.receipt("unknown", time.Now(), Item{SessionID: "s1", Closure: unknown, Exit: notNeeded})
	if _, err := w.closer().Reopen(t.Context(), id, false); !errors.Is(err, fault.BackendUnavailable) || len(w.opened) != 0 {
		t.Errorf("got %v, opened %+v", err, w.opened)
	}
}

func TestAChatThatRanIsTakenUpOnceItHasEnded(t *testing.T) { // RECOVER-5
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	runs := w.start(s, "claude", true)
	item := chatItem("s1", failed, failed, runs.PID)
	item.Chats[0].ChatID, item.Chats[0].Resume = "first-chat", &Resume{Argv: []string{"claude", "--resume", "first-chat"}}
	item.Chats = append(item.Chats, chatItem("s1", failed, failed, 7).Chats[0])
	id := w.receipt("partial", time.Now(), item)
	for _, want := range []string{chatID, "first-chat"} {
		if _, err := w.closer().Reopen(t.Context(), id, false); err != nil || w.opened[len(w.opened)-1].Command != "claude --resume "+want {
			t.Errorf("got %v, opened %+v, want %s", err, w.opened, want)
		}
		s.procs = s.procs[:1]
	}
	if _, err := w.closer().Reopen(t.Context(), id, false); !errors.Is(err, fault.Refused) || len(w.opened) != 2 {
		t.Errorf("a third time: got %v, opened %+v", err, w.opened)
	}
}

func TestNothingIsOpenedThatCannotBeWrittenDown(t *testing.T) { // RECOVER-5
	w := newWorld(t)
	id := w.receipt("closed", time.Now(), chatItem("s1", closed, exited, 7))
	c := w.closer()
	read := c.receipts
	c.receipts.dir = filepath.Join(w.dir, "x") // readable, and then not writable
	if err := os.Symlink(w.dir, c.receipts.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reopen(t.Context(), id, false); err == nil || len(w.opened) != 0 {
		t.Errorf("got %v, opened %+v", err, w.opened)
	}
	c.receipts = read
	if _, err := c.Reopen(t.Context(), id, false); err != nil || len(w.opened) != 1 {
		t.Errorf("got %v, opened %+v", err, w.opened)
	}
}

// failing opens the first session and no other.
type failing struct {
	*world
	code fault.Code
}

func (f failing) Open(ctx context.Context, r pilot.OpenRequest) (pilot.Opened, error) {
	if len(f.opened) == 1 {
		return pilot.Opened{}, &fault.Error{Op: "open", Code: f.code}
	}
	return f.world.Open(ctx, r)
}

func TestReopeningGoesOnWhereItBrokeOff(t *testing.T) { // RECOVER-5
	w := newWorld(t)
	item := chatItem("s1", closed, exited, 7)
	item.Chats = append(item.Chats, item.Chats[0])
	id := w.receipt("closed", time.Now(), item)
	c := New(Options{Pilot: failing{w, fault.Unsupported}, Dir: w.dir, Machine: w})
	if _, err := c.Reopen(t.Context(), id, false); !errors.Is(err, fault.Unsupported) {
		t.Fatal(err)
	}
	if r, err := w.closer().Reopen(t.Context(), id, false); err != nil || len(w.opened) != 2 || len(r.Reopened) != 2 {
		t.Errorf("got %+v %v, opened %d", r, err, len(w.opened))
	}
}

func TestWhatMayHaveBeenOpenedIsNotOpenedASecondTime(t *testing.T) { // RECOVER-5
	w := newWorld(t)
	item := chatItem("s1", closed, exited, 7)
	item.Chats = append(item.Chats, item.Chats[0])
	id := w.receipt("closed", time.Now(), item)
	c := New(Options{Pilot: failing{w, fault.Deadline}, Dir: w.dir, Machine: w})
	if r, err := c.Reopen(t.Context(), id, false); !errors.Is(err, fault.Deadline) || len(r.Reopened) != 2 || r.Reopened[1].As != "" || r.Reopened[1].Resumed {
		t.Errorf("got %+v %v", r.Reopened, err)
	}
	if _, err := w.closer().Reopen(t.Context(), id, false); !errors.Is(err, fault.Refused) || len(w.opened) != 1 {
		t.Errorf("got %v, opened %d", err, len(w.opened))
	}
	if _, err := w.closer().Reopen(t.Context(), id, true); err != nil || len(w.opened) != 3 {
		t.Errorf("again: got %v, opened %d", err, len(w.opened))
	}
}

func TestAReceiptThatCouldNotBeReadAgainIsNotWritten(t *testing.T) { // CLOSE-22
	w := newWorld(t)
	s := store{dir: w.dir}
	r := Receipt{V: receiptVersion, ID: newID(), Sessions: []Item{{Reason: strings.Repeat("x", maxReceipt)}}}
	if err := s.write(&r); err == nil {
		t.Error("it was written")
	}
}

func TestAgeTakesReceiptsHoweverManyThereAre(t *testing.T) { // RECOVER-6
	w := newWorld(t)
	day := time.Now().Add(-24 * time.Hour)
	cut := w.receipt(executing, day)
	fresh := w.receipt(executing, time.Now())
	data, err := os.ReadFile(store{dir: w.dir}.path(cut))
	if err != nil {
		t.Fatal(err)
	}
	for range maxReceipts { // more than a list holds
		id := newID()
		if err := os.WriteFile(filepath.Join(w.dir, id+".json"), []byte(strings.ReplaceAll(string(data), cut, id)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := w.closer().Prune(time.Minute); err != nil || n != maxReceipts+1 {
		t.Errorf("got %d %v", n, err)
	}
	if list, err := w.closer().Recoveries(""); err != nil || len(list) != 1 || list[0].ID != fresh {
		t.Errorf("got %+v %v", list, err)
	}
}
