package agent

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// follower collects what a follower is told.
type follower struct {
	t    *testing.T
	said chan Standing
	all  []Standing
}

// follow follows the agent of a session until it ends, or the test does.
func (w *world) follow(session string) *follower {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	f := &follower{t: w.t, said: make(chan Standing, 100)}
	var all sync.WaitGroup
	all.Go(func() {
		defer close(f.said)
		for now, err := range w.agents.Follow(ctx, session) {
			if err != nil {
				w.t.Error(err)
				return
			}
			f.said <- now
		}
	})
	w.t.Cleanup(func() { cancel(); all.Wait() })
	return f
}

// until reads on to a state and outcome.
func (f *follower) until(state string, outcome Outcome) Standing {
	f.t.Helper()
	for {
		select {
		case now, ok := <-f.said:
			if !ok {
				f.t.Fatalf("it ended before %s %s: %+v", state, outcome, f.all)
			}
			if n := len(f.all); n > 0 && !now.tells(f.all[n-1]) {
				f.t.Errorf("told twice: %+v", now)
			}
			f.all = append(f.all, now)
			if now.State == state && now.Outcome == outcome {
				return now
			}
		case <-time.After(patience):
			f.t.Fatalf("%s %s was not told: %+v", state, outcome, f.all)
		}
	}
}

func TestAFollowerIsToldOfEveryChangeOnce(t *testing.T) { // FOLLOW-11, FOLLOW-12, APPROVE-5
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		f := w.follow(r.SessionID)
		first := f.until(Idle, None)
		if first.SessionID != r.SessionID || first.LaunchID != r.LaunchID || first.Provider != preset || first.Waits || first.Schema != standingSchema {
			t.Errorf("%+v", first)
		}
		sent, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "RUN:touch x\nSAY:fine", OperationID: "op 1"})
		if err != nil {
			t.Fatal(err)
		}
		asks := f.until(WaitingApproval, Waiting)
		if !asks.Waits || asks.TurnID != sent.TurnID || asks.At != "" || asks.Next != "agent_approval action=inspect session_id="+shellwords.Quote(r.SessionID) {
			t.Errorf("%+v", asks)
		}
		ask, err := w.agents.Ask(t.Context(), r.SessionID)
		if err != nil || !ask.Asks {
			t.Fatalf("%+v %v", ask, err)
		}
		if _, err := w.agents.Answer(t.Context(), r.SessionID, ask.Digest, true); err != nil {
			t.Fatal(err)
		}
		over := f.until(Idle, Done)
		if over.TurnID != sent.TurnID || over.Waits || over.TextChars != 4 || over.At == "" ||
			over.Next != "agent_turn action=result session_id="+shellwords.Quote(r.SessionID)+" operation_id='op 1'" {
			t.Errorf("%+v", over)
		}
		now, err := w.agents.Standing(t.Context(), r.SessionID)
		if now.tells(over) || err != nil {
			t.Errorf("looked at: %+v %v", now, err)
		}
		running, _ := readProcess(w.agents.folder(r.LaunchID))
		if err := syscall.Kill(running.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		gone := f.until(Ended, Done)
		if gone.TurnID != sent.TurnID || gone.Next != over.Next {
			t.Errorf("the answer is no longer told: %+v", gone)
		}
		if _, open := <-f.said; open {
			t.Error("it goes on after the end")
		}
	})
}

func TestAnAgentThatAsksBeforeItsFirstComposerIsStarting(t *testing.T) { // FOLLOW-12
	w := newWorld(t)
	r := w.launch("claude", "trust", "")
	if now, err := w.agents.Standing(t.Context(), r.SessionID); err != nil || now.State != Starting || now.Outcome != None || now.Waits {
		t.Errorf("%+v %v", now, err)
	}
	f := w.follow(r.SessionID)
	f.until(Starting, None)
	w.keys(r.SessionID, "1")
	f.until(Idle, None)
}

func TestAgentsAreListedAsTheirProcessesStand(t *testing.T) { // FOLLOW-13
	w := newWorld(t)
	if list, err := w.agents.List(); err != nil || len(list) != 0 {
		t.Fatalf("before any launch: %v %v", list, err)
	}
	woken, stop, err := w.agents.Launches()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	first, second := w.launch("claude", "", ""), w.launch("codex", "", "")
	for listed := 0; listed < 2; { // a token may come before the session is known, never after the last one only
		select {
		case <-woken:
			list, err := w.agents.List()
			if err != nil {
				t.Fatal(err)
			}
			listed = len(list)
		case <-time.After(patience):
			t.Fatal("nobody was woken")
		}
	}
	running, _ := readProcess(w.agents.folder(first.LaunchID))
	if err := syscall.Kill(running.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.follow(first.SessionID).until(Ended, Exited)
	list, err := w.agents.List()
	want := []Listed{
		{SessionID: second.SessionID, LaunchID: second.LaunchID, Provider: "codex", Cwd: w.home, Runs: true},
		{SessionID: first.SessionID, LaunchID: first.LaunchID, Provider: "claude", Cwd: w.home},
	}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v %v, want %+v", list, err, want)
	}
	all, err := w.agents.Standings(t.Context())
	if err != nil || len(all) != 2 || all[0].State != Idle || all[1].State != Ended {
		t.Errorf("%+v %v", all, err)
	}

	narrow, err := pilot.New(pilot.Options{Backends: []terminal.Backend{w.host}, Dir: filepath.Join(w.home, "tp", "runs"), Allow: []terminal.ID{terminal.ID(second.SessionID)}})
	if err != nil {
		t.Fatal(err)
	}
	defer narrow.Close()
	w.agents.pilot = narrow
	if list, err := w.agents.List(); err != nil || !slices.Equal(list, want[:1]) {
		t.Errorf("with an allowlist: %+v %v", list, err)
	}
	_, err = w.agents.Standing(t.Context(), first.SessionID)
	w.refuses(err, fault.NotAllowed)
	for _, err := range w.agents.Follow(t.Context(), first.SessionID) {
		w.refuses(err, fault.NotAllowed)
	}
	w.agents.pilot = w.pilot
	_, err = w.agents.Standing(t.Context(), "no such session")
	w.refuses(err, fault.AgentNotFound)
}

// brokenPilot counts how often a session is looked at, and its terminal's news ends at once.
type brokenPilot struct {
	Pilot
	looks atomic.Int64
}

func (p *brokenPilot) SeeOne(ctx context.Context, op string, id terminal.ID) (pilot.Seen, error) {
	p.looks.Add(1)
	seen, err := p.Pilot.SeeOne(ctx, op, id)
	seen.On = brokenBackend{seen.On}
	return seen, err
}

type brokenBackend struct{ terminal.Backend }

func (brokenBackend) Watch(context.Context, terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	return func(func(terminal.Event, error) bool) {}, nil
}

func TestAWaitIsQuietWhileTheTerminalTellsNothing(t *testing.T) { // FOLLOW-14
	w := newWorld(t)
	r := w.launch("codex", "", "")
	broken := &brokenPilot{Pilot: w.pilot}
	other := *w
	other.agents = New(Options{Pilot: broken, Dir: w.agents.dir, Self: w.agents.self})
	f := other.follow(r.SessionID)
	f.until(Idle, None)
	w.send(r.SessionID, "SAY:x\nSLOW:500")
	f.until(Idle, Done)
	if looks := broken.looks.Load(); looks > 40 {
		t.Errorf("%d looks at a screen of which nothing is told", looks)
	}
}

func TestAFollowerWhoCannotReadOnIsTold(t *testing.T) { // FOLLOW-17
	w := newWorld(t)
	r := w.launch("claude", "", "")
	folder := w.agents.folder(r.LaunchID)
	var failed error
	for now, err := range w.agents.Follow(t.Context(), r.SessionID) {
		switch failed = err; {
		case err != nil:
		case now.State == Idle: // it reads on when this returns
			err = record(t.Context(), folder, false, event{Kind: prompted, Chat: r.ChatID, VendorTurn: "p", Source: fromHook})
		case now.State == Working:
			err = os.Rename(folder, folder+".moved")
		}
		if failed == nil && err != nil {
			t.Fatal(err)
		}
	}
	w.refuses(failed, fault.Storage)
}

// BenchmarkFollow is the time from the moment at which a hook begins to write down
// that a turn ended to the one at which a follower is told.
func BenchmarkFollow(b *testing.B) {
	dir := b.TempDir()
	a := New(Options{Pilot: blindPilot{}, Dir: dir, Self: "termpilot", Env: []string{}})
	l := Launch{Schema: launchSchema, ID: newLaunchID(), Session: "s", Provider: "grok", Chat: "c", Cwd: dir, Folder: dir, At: time.Now()}
	if err := a.save(l); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	said := make(chan Standing)
	var all sync.WaitGroup
	all.Go(func() {
		for now, err := range a.Follow(ctx, "s") {
			if err != nil {
				b.Error(err)
				break
			}
			said <- now
		}
	})
	defer all.Wait()
	defer cancel()
	<-said
	folder := a.folder(l.ID)
	for i := 0; b.Loop(); i++ {
		id := exactDigest(string(rune(i)))
		if err := record(ctx, folder, false, event{Kind: prompted, Chat: "c", VendorTurn: id, Source: fromHook}); err != nil {
			b.Fatal(err)
		}
		<-said
		if err := record(ctx, folder, false, event{Kind: done, Chat: "c", VendorTurn: id, Text: "x", Source: fromHook}); err != nil {
			b.Fatal(err)
		}
		<-said
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(2*b.N), "µs/notice")
}

// blindPilot has no terminal.
type blindPilot struct{ Pilot }

func (blindPilot) MayTouch(terminal.ID) bool { return true }

func (blindPilot) SeeOne(context.Context, string, terminal.ID) (pilot.Seen, error) {
	return pilot.Seen{}, errors.New("there is no terminal")
}
