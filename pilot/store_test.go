package pilot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// another is a second Pilot over the same terminal and folder, as another
// process has it.
func (b bench) another(dir string) bench {
	b.t.Helper()
	p, err := New(Options{Backends: []terminal.Backend{b.f}, Dir: dir, Processes: b.processes})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = p.Close() })
	b.Pilot = p
	return b
}

func TestAnotherProcessGivesTheResult(t *testing.T) { // RUN-26
	dir := t.TempDir()
	onWith(t, terminaltest.Options{}, Options{Dir: dir}, func(b bench) {
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "echo one; sleep 5; echo two; (exit 6)", Timeout: time.Second})
		if err != nil {
			b.t.Fatal(err)
		}
		other := b.another(dir)
		busy := other.runErr(RunRequest{Command: "true"})
		if !errors.Is(busy, fault.NotReady) || !strings.Contains(busy.Error(), res.RunID) {
			b.t.Errorf("got %v", busy)
		}
		again, err := other.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 6, "one\ntwo")
		if len(again.Run.Evidence) == 0 {
			b.t.Error("the evidence is lost")
		}
		if again.Run.Command != "echo one; sleep 5; echo two; (exit 6)" {
			b.t.Errorf("got %q", again.Run.Command)
		}
		third := b.another(dir)
		read, err := third.Read(b.t.Context(), ReadRequest{RunID: res.RunID, Source: SourceCommand})
		if err != nil || read.Content != "one\ntwo" {
			b.t.Errorf("got %q, %v", read.Content, err)
		}
		late, err := third.Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*late.Run, Completed, 6, "one\ntwo")
	})
}

// stuckStore records no outcome until it is released.
type stuckStore struct {
	store
	released chan struct{}
}

func (s *stuckStore) save(r run) error {
	if r.Status == Completed {
		<-s.released
	}
	return s.store.save(r)
}

func TestAnOutcomeIsNotWaitedForAndNotLost(t *testing.T) { // RUN-26, RUN-40
	dir := t.TempDir()
	onWith(t, terminaltest.Options{}, Options{Dir: dir}, func(b bench) {
		stuck := &stuckStore{b.runs.store, make(chan struct{})}
		b.runs.store = stuck
		began := time.Now()
		res := b.run("echo one; (exit 6)")
		b.want(res, Completed, 6, "one")
		if took := time.Since(began); took > time.Second {
			b.t.Errorf("took %v", took)
		}
		// As if this process were killed now.
		again, err := b.another(dir).Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 6, "one")
		close(stuck.released)
		b.want(b.run("true"), Completed, 0, "")
		if one, ok, err := b.another(dir).runs.store.load(res.RunID); !ok || one.Status != Completed || err != nil {
			b.t.Errorf("on record: %+v, %v, %v", one, ok, err)
		}
		last := b.run("(exit 3)")
		if err := b.Close(); err != nil {
			b.t.Fatal(err)
		}
		if one, ok, err := b.another(dir).runs.store.load(last.RunID); !ok || one.Status != Completed || err != nil {
			b.t.Errorf("on record after the end: %+v, %v, %v", one, ok, err)
		}
	})
}

func TestAResultIsFoundAfterTheCommandEndedUnwatched(t *testing.T) { // RUN-26
	dir := t.TempDir()
	onWith(t, terminaltest.Options{}, Options{Dir: dir}, func(b bench) {
		res, err := b.Run(b.t.Context(), RunRequest{SessionID: b.id, Command: "sleep 2; echo done; (exit 9)", Timeout: time.Second})
		if err != nil {
			b.t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // of the bubble's clock: nobody watches meanwhile
		b.f.Type(b.sid(), "echo other; false\r")
		b.settle()
		again, err := b.another(dir).Wait(b.t.Context(), WaitRequest{RunID: res.RunID})
		if err != nil {
			b.t.Fatal(err)
		}
		b.want(*again.Run, Completed, 9, "done")
	})
}

func TestAnotherProcessKnowsOfLinesThatWereNotTyped(t *testing.T) { // RUN-38
	for _, c := range []struct {
		command, reason string
		status          RunStatus
		exit            int
	}{
		{"sleep 20\n(exit 7)", "not typed, as far as is on record: 1 line", RunUnknown, -1},
		{"sleep 1\nsleep 20\n(exit 7)", "not typed, as far as is on record: 1 line", RunUnknown, -1},
		{"sleep 1\nsleep 20; (exit 7)", "", Completed, 7},
	} {
		dir := t.TempDir()
		onWith(t, terminaltest.Options{Shell: "fish", NoPaste: true}, Options{Dir: dir}, func(b bench) {
			other := b.another(dir)
			ctx, cancel := context.WithCancel(b.t.Context())
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = b.Run(ctx, RunRequest{SessionID: b.id, Command: c.command, Timeout: 40 * time.Second}) })
			time.Sleep(10 * time.Second) // of the bubble's clock: the first process waits for the lines that it has typed
			one, found := other.runs.last(b.sid())
			if !found {
				b.t.Fatal("the run is not on record")
			}
			b.f.Fail("send", errors.New("the first process is gone"))
			again, err := other.Wait(b.t.Context(), WaitRequest{RunID: one.ID, Timeout: 40 * time.Second})
			if err != nil || !strings.Contains(again.Run.ExitReason, c.reason) {
				b.t.Errorf("got %+v, %v", again.Run, err)
			}
			if got := again.Run; got.Status != c.status || (got.ExitCode == nil) != (c.exit < 0) || got.ExitCode != nil && *got.ExitCode != c.exit {
				b.t.Errorf("%q: got %s %v (%s), want %s %d", c.command, got.Status, got.ExitCode, got.ExitReason, c.status, c.exit)
			}
			cancel()
			wg.Wait()
		})
	}
}

func TestAnotherProcessCancelsTheOpenLine(t *testing.T) { // RUN-12
	dir := t.TempDir()
	onWith(t, terminaltest.Options{}, Options{Dir: dir}, func(b bench) {
		b.want(b.run("echo 'abc"), Continues, -1, "")
		b.want(b.another(dir).run("echo ok"), Completed, 0, "ok")
	})
}

func TestTheHolderOfASessionIsNamedAcrossProcesses(t *testing.T) { // RUN-21
	dir := t.TempDir()
	onWith(t, terminaltest.Options{}, Options{Dir: dir}, func(b bench) {
		other := b.another(dir)
		done := make(chan RunResult)
		go func() { done <- b.run("sleep 5; echo A") }()
		b.settle()
		time.Sleep(namedAfter) // by the clock of the bubble
		b.settle()
		err := other.runErr(RunRequest{Command: "echo B"})
		if !errors.Is(err, fault.Busy) || !strings.Contains(err.Error(), "run r") || !strings.Contains(err.Error(), "process") {
			b.t.Errorf("got %v", err)
		}
		b.want(<-done, Completed, 0, "A")
		b.want(other.run("echo B"), Completed, 0, "B")
	})
}

func TestARunThatCannotBeRecordedIsNotTyped(t *testing.T) { // RUN-25
	onWith(t, terminaltest.Options{}, Options{Dir: t.TempDir()}, func(b bench) {
		if err := b.Close(); err != nil {
			b.t.Fatal(err)
		}
		if err := b.runErr(RunRequest{Command: "echo hi"}); !errors.Is(err, fault.Storage) || fault.HintOf(err) == "" {
			b.t.Errorf("got %v", err)
		}
		if sent := b.f.Sent(b.sid()); len(sent) != 0 {
			b.t.Errorf("sent %q", sent)
		}
	})
}

func TestAFolderThatCannotBeUsedIsStorage(t *testing.T) { // RUN-25
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Dir: filepath.Join(file, "x")}); !errors.Is(err, fault.Storage) {
		t.Errorf("got %v", err)
	}
}

func TestNothingTypedOrPrintedIsKept(t *testing.T) { // POLICY-4
	dir := t.TempDir()
	var log bytes.Buffer
	canary := "canary7f3a"
	o := Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	onWith(t, terminaltest.Options{}, o, func(b bench) {
		b.run("echo " + canary)
		b.run("cat")
		if _, err := b.SendText(b.t.Context(), b.id, canary+"\r\x04", false); err != nil {
			b.t.Fatal(err)
		}
		b.read(ReadRequest{})
		b.wait(WaitRequest{Until: UntilText, Pattern: canary})
		_ = b.runErr(RunRequest{Command: "rm -rf / " + canary})
	})
	if strings.Contains(log.String(), canary) || log.Len() == 0 {
		t.Errorf("the log is %q", log.String())
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte(canary)) {
			t.Errorf("%s: %v holds what was typed", path, err)
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
		return nil
	})
}

func TestARecordIsWrittenAsEncodingJSONWritesIt(t *testing.T) { // RUN-26
	now, three := time.Date(2026, 11, 30, 1, 2, 3, 40, time.FixedZone("", 5400)), 3
	for _, r := range []record{
		{},
		{Run: "r1", Session: "s", Backend: "host", Prompts: []string{}, Began: now, Status: Submitted, Proof: []string{"marks", "tty"}},
		{Run: "r1", Prompts: []string{"a\"\\", "<é&>\x7f\xff\n"}, Left: "p", Untyped: -2, Began: now.UTC(), Status: Completed, Exit: &three, Reason: "\u2028'", Ended: now},
	} {
		want, err := json.Marshal(r)
		if got := r.json(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got  %s\nwant %s, %v", got, want, err)
		}
	}
	for _, h := range []holder{{}, {PID: 7, What: "run <\"x\">", Since: now}} {
		want, err := json.Marshal(h)
		if got := h.json(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got  %s\nwant %s, %v", got, want, err)
		}
	}
}
