package agent

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// lastMoment lets something happen after a session was looked at for the nth time.
type lastMoment struct {
	Pilot
	left    atomic.Int64
	happens func()
}

func (p *lastMoment) SeeOne(ctx context.Context, op string, id terminal.ID) (pilot.Seen, error) {
	seen, err := p.Pilot.SeeOne(ctx, op, id)
	if p.left.Add(-1) == 0 {
		p.happens()
	}
	return seen, err
}

// at is an agent of the same folder whose nth look at a session lets something happen.
func (w *world) at(n int64, happens func()) *Agents {
	p := &lastMoment{Pilot: w.pilot, happens: happens}
	p.left.Store(n)
	return New(Options{Pilot: p, Dir: w.agents.dir, Self: w.agents.self, Env: w.env})
}

// swap lets the stand-in of a launch show another question.
func (w *world) swap(r LaunchReceipt) func() {
	return func() {
		running, _ := readProcess(w.agents.folder(r.LaunchID))
		if err := syscall.Kill(running.PID, syscall.SIGUSR1); err != nil {
			w.t.Error(err)
		}
		w.until("another question shows", func() bool { return strings.Contains(w.screen(r.SessionID), "rm -r everything") })
	}
}

func TestAQuestionThatChangesAtTheLastMomentIsNotAnswered(t *testing.T) { // APPROVE-3
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		asked := w.asks(r.SessionID, "RUN:curl x\nSWAP")
		_, err := w.at(3, w.swap(r)).Answer(t.Context(), r.SessionID, asked.Digest, true) // found, taken, about to be pressed
		w.refuses(err, fault.Stale)
		w.wantNoted("swapped", "yes")
		w.wantNoted("answer")
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Waiting {
			t.Errorf("%+v", got)
		}
	})
}

func TestAQuestionThatComesAtTheLastMomentGetsNoPrompt(t *testing.T) { // TURN-13
	for n, stage := range map[int64]string{3: "paste", 4: "Enter"} {
		t.Run(stage, func(t *testing.T) {
			every(t, func(t *testing.T, w *world, preset string) {
				r := w.launch(preset, "comes", "")
				send := func(a *Agents) (TurnReceipt, error) {
					return a.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "yes, do it", OperationID: "op"})
				}
				_, err := send(w.at(n, w.swap(r)))
				w.refuses(err, fault.AgentWaiting)
				w.wantNoted("answer")
				w.keys(r.SessionID, "\x1b")
				if stage == "Enter" {
					if got, err := send(w.agents); err != nil || got.Residue != nil {
						t.Errorf("%+v %v", got, err)
					}
					w.wantNoted("prompt")
					return
				}
				w.until("the composer is back", func() bool {
					s, err := w.agents.Status(t.Context(), r.SessionID, "")
					return err == nil && s.State == "ready"
				})
				if got, err := send(w.agents); err != nil || got.TurnID == "" { // nothing was typed the first time
					t.Fatalf("%+v %v", got, err)
				}
				w.until("it has the prompt", func() bool { return len(w.noted("prompt")) > 0 })
				w.wantNoted("prompt", "yes, do it")
			})
		})
	}
}

func TestAQuestionThatComesInsteadOfAMenuIsNotAnswered(t *testing.T) { // CONFIGURE-5
	for n, stage := range map[int64]string{4: "command", 5: "Enter"} {
		for _, preset := range []string{"claude", "codex"} {
			t.Run(preset+", "+stage, func(t *testing.T) {
				w := newWorld(t)
				r := w.launch(preset, "comes", "")
				_, err := w.at(n, w.swap(r)).Configure(t.Context(), r.SessionID, "Small", "")
				w.refuses(err, fault.AgentWaiting)
				w.wantNoted("answer")
				w.wantNoted("menu")
			})
		}
	}
}

func TestWorkThatBeginsAtTheLastMomentGetsNoPrompt(t *testing.T) { // TURN-7, TURN-13
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		begins := func() {
			w.keys(r.SessionID, "/compact")
			w.keys(r.SessionID, "\r")
			w.until("it shows that it works", func() bool {
				s, err := w.host.Screen(t.Context(), terminal.ID(r.SessionID), terminal.Range{Kind: terminal.Visible})
				l := vendorOf(preset).look(s)
				return err == nil && l.state == stateBusy && l.empty
			})
		}
		_, err := w.at(3, begins).Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "into its work"})
		w.refuses(err, fault.NotReady)
		w.keys(r.SessionID, "\x1b")
		w.ends(r.SessionID, "next", Done)
		w.wantNoted("prompt", "next")
	})
}

// blinded has a terminal that shows nothing any more once Enter was pressed, or
// takes its time for it.
type blinded struct {
	Pilot
	slow    time.Duration // 0 is nothing any more
	pressed atomic.Bool
}

func (b *blinded) SeeOne(ctx context.Context, op string, id terminal.ID) (pilot.Seen, error) {
	seen, err := b.Pilot.SeeOne(ctx, op, id)
	seen.On = blindedBackend{seen.On, b}
	return seen, err
}

type blindedBackend struct {
	terminal.Backend
	b *blinded
}

func (b blindedBackend) Send(ctx context.Context, id terminal.ID, text []byte) error {
	if string(text) == enter {
		b.b.pressed.Store(true)
	}
	return b.Backend.Send(ctx, id, text)
}

func (b blindedBackend) Screen(ctx context.Context, id terminal.ID, r terminal.Range) (terminal.Screen, error) {
	if b.b.pressed.Load() {
		if b.b.slow == 0 {
			return terminal.Screen{}, fault.BackendUnavailable
		}
		if pause(ctx, b.b.slow); ctx.Err() != nil {
			return terminal.Screen{}, ctx.Err()
		}
	}
	return b.Backend.Screen(ctx, id, r)
}

func TestASlowScreenIsSeenAllTheSame(t *testing.T) { // TURN-5
	w := newWorld(t)
	r := w.launch("claude", "stuck", "")
	a := New(Options{Pilot: &blinded{Pilot: w.pilot, slow: 3 * still}, Dir: w.agents.dir, Self: w.agents.self, Env: w.env})
	got, err := a.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "stays here"})
	if err != nil || got.Residue == nil || !*got.Residue {
		t.Errorf("%+v %v", got, err)
	}
}

func TestWhatCannotBeSeenAfterEnterIsNoFailureToSend(t *testing.T) { // TURN-5, LAUNCH-1
	w := newWorld(t)
	a := New(Options{Pilot: &blinded{Pilot: w.pilot}, Dir: w.agents.dir, Self: w.agents.self, Env: w.env})
	r, err := a.Launch(t.Context(), w.request("claude", "mute", "do it"))
	if err != nil || r.TurnID == "" || r.Residue != nil {
		t.Fatalf("%+v %v", r, err)
	}
	w.until("it has the prompt", func() bool { return len(w.noted("prompt")) == 1 })
	got, err := w.agents.Status(t.Context(), r.SessionID, "")
	if err != nil || got.TurnID != r.TurnID || got.Outcome != Unknown {
		t.Errorf("%+v %v", got, err)
	}
}

// dying is a machine on which every agent has ended after so many lookups.
type dying struct {
	machine
	left atomic.Int64
}

func (d *dying) Lookup(pid int) (process.Process, error) {
	if d.left.Add(-1) < 0 {
		return process.Process{}, process.ErrGone
	}
	return d.machine.Lookup(pid)
}

func TestAnAgentThatDiesAtTheLastMomentGetsNothing(t *testing.T) { // TURN-4
	w := newWorld(t)
	r := w.launch("claude", "", "")
	d := &dying{}
	d.left.Store(2) // taken, proven once more: it dies while its screen is looked at
	a := New(Options{Pilot: w.pilot, Dir: w.agents.dir, Self: w.agents.self, Env: w.env, Machine: d})
	_, err := a.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "echo typed"})
	w.refuses(err, fault.AgentEnded)
	w.ends(r.SessionID, "next", Done)
	w.wantNoted("prompt", "next")
}
