package agent

import (
	"context"
	"errors"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// hands is a session in which one agent is typed to: its type lock is held from
// the look that decides until the last key.
type hands struct {
	a       *Agents
	op      string
	launch  Launch
	vendor  *vendor
	seen    pilot.Seen
	release func()
	said    string // a row that looks like work, and is of an answer
}

// take finds the agent of a session, takes the session's type lock and proves
// that what would read the keys is this agent.
func (a *Agents) take(ctx context.Context, op, sessionID string) (*hands, error) {
	if err := a.pilot.MayChange(op); err != nil {
		return nil, err
	}
	l, err := a.find(ctx, op, sessionID)
	if err != nil {
		return nil, err
	}
	release, err := a.pilot.Hold(ctx, op, terminal.ID(sessionID), holdPatience)
	if err != nil {
		return nil, err
	}
	h := &hands{a: a, op: op, launch: l, vendor: vendorOf(l.Provider), release: release}
	if err := h.prove(ctx); err != nil {
		release()
		return nil, err
	}
	return h, nil
}

// prove looks whether the agent that was launched here is in the foreground of the
// session's terminal, and input reaches nothing else. It is asked anew before
// every press: an agent that dies leaves a shell behind, and that must get nothing.
func (h *hands) prove(ctx context.Context) (err error) {
	if h.seen, err = h.a.pilot.SeeOne(ctx, h.op, terminal.ID(h.launch.Session)); err != nil {
		if errors.Is(err, fault.SessionEnded) {
			return h.agentEnded()
		}
		return err
	}
	if err := h.reads(); err != nil {
		return err
	}
	if b, ok := h.seen.On.(terminal.Broadcaster); ok {
		if copied, err := b.Broadcasts(ctx, h.seen.ID); err != nil || copied {
			return h.unproven("what is typed here is also typed into other sessions, or that is not known", "ask the person to end the broadcast")
		}
	}
	return nil
}

// reads proves that the agent reads in the session that was seen. It asks the
// system alone, and takes no time.
func (h *hands) reads() error {
	r, known := readProcess(h.a.folder(h.launch.ID))
	switch {
	case !known:
		return refused(h.op, h.launch.Session, fault.NotReady, "the agent's program has not started", "call agent_turn action=status until it has")
	case !h.seen.Local || h.seen.ShellPID == 0:
		return h.unproven("the terminal is not of this machine, so that it is not known what reads there", "use send_text if typing is right all the same")
	}
	p, err := h.a.machine.Lookup(r.PID)
	if !process.Runs(p, err, process.Born(r.Birth)) {
		return h.agentEnded()
	}
	if err != nil {
		return h.unproven("the agent's process cannot be looked at", "use send_text if typing is right all the same")
	}
	if front, err := h.a.machine.Foreground(h.seen.ShellPID); err != nil || front != p.PGID || p.State == process.Stopped {
		return h.unproven("the agent is not in the foreground of its terminal", "read the screen; bring it back with fg if it was suspended")
	}
	return nil
}

func (h *hands) unproven(detail, hint string) error {
	return refused(h.op, h.launch.Session, fault.Unverified, detail, hint)
}

func (h *hands) agentEnded() error {
	return refused(h.op, h.launch.Session, fault.AgentEnded, "the agent has ended", "launch another one; agent_turn action=status says how to resume its chat")
}

// look reads what the agent shows.
func (h *hands) look(ctx context.Context) (look, error) {
	s, err := h.screen(ctx)
	if err != nil {
		return look{}, err
	}
	return h.vendor.look(s), nil
}

// screen is the screen from where the command that runs began to print: above
// may stand the composer or a question of an agent that was launched there before.
func (h *hands) screen(ctx context.Context) (terminal.Screen, error) {
	s, err := h.seen.On.Screen(ctx, h.seen.ID, terminal.Range{Kind: terminal.Visible})
	if err != nil || s.Alternate {
		return s, err
	}
	p, err := h.seen.On.Prompt(ctx, h.seen.ID, "")
	above := min(p.Output.Start.Row-s.First, int64(len(s.Rows)))
	if err == nil && p.State == terminal.Running && !p.Unseen && !p.Strewn && p.Output != (terminal.Span{}) && above > 0 {
		s.Rows, s.First = s.Rows[above:], s.First+above
	}
	return s, err
}

// errChanged says that nothing was pressed, since the screen shows something else
// than what the keys were for.
var errChanged = errors.New("its screen changed before the key was pressed")

// aim proves once more who reads, and that the screen still shows what keys are
// for: what is on disk by then took its time. A screen that is being drawn gets the
// time to be drawn to its end.
func (h *hands) aim(ctx context.Context, fits func(look) bool) error {
	for range 3 {
		if err := h.prove(ctx); err != nil {
			return err
		}
		now, err := h.look(ctx)
		if err != nil {
			return err
		}
		if fits(now) {
			return h.reads() // a screen stays as it was when its agent dies
		}
		now, came, err := h.await(ctx, redrawPatience, 0, fits)
		switch {
		case err != nil:
			return err
		case !came && now.state == stateDialog:
			return h.dialogInTheWay(now, errChanged)
		case !came:
			return &fault.Error{Op: h.op, Session: h.launch.Session, Code: fault.NotReady, Hint: "read the screen", Err: errChanged}
		}
	}
	return &fault.Error{Op: h.op, Session: h.launch.Session, Code: fault.NotReady, Hint: "try again when its screen stands still", Err: errChanged}
}

// press sends keys to a screen that shows what they are for.
func (h *hands) press(ctx context.Context, keys string, fits func(look) bool) error {
	if err := h.aim(ctx, fits); err != nil {
		return err
	}
	return h.send(ctx, keys)
}

// send sends what was aimed.
func (h *hands) send(ctx context.Context, keys string) error {
	return h.seen.On.Send(ctx, h.seen.ID, []byte(keys))
}

// await looks, and looks again whenever the screen changes, until the screen is as
// is says and has been so for still. It returns the last look, and whether the screen
// came to that: it must be so within patience, and what is gets its still. However
// long a look takes, there is one, and one when patience is over.
func (h *hands) await(ctx context.Context, patience, still time.Duration, is func(look) bool) (last look, came bool, err error) {
	events, stop, err := changesOf(ctx, h.seen)
	if err != nil {
		return look{}, false, err
	}
	defer stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	var since time.Time
	for over := false; ; {
		now, err := h.look(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return last, false, nil
		case err != nil:
			return last, false, err
		}
		last = now
		wait := patience
		if is(last) {
			if since.IsZero() {
				since = time.Now()
			}
			if wait = still - time.Since(since); wait <= 0 {
				return last, true, nil
			}
		} else if since = (time.Time{}); over {
			return last, false, nil
		}
		timer := time.NewTimer(wait)
		select {
		case _, open := <-events:
			if !open {
				timer.Stop()
				return last, false, nil
			}
		case <-timer.C:
		case <-late.C:
			over = true
		case <-ctx.Done():
			timer.Stop()
			return last, false, nil
		}
		timer.Stop()
	}
}

// works looks again at a screen that says busy, where an answer may have said the
// same: it returns what shows when that is known, which is no work where the row stood
// still, for longer where no answer is known that holds it.
func (h *hands) works(ctx context.Context, s *story, l look) (look, error) {
	if l.state != stateBusy || l.work == "" {
		return l, nil
	}
	patience := stalls
	if s.said(l.work) {
		patience = ticks
	}
	last, moved, err := h.await(ctx, patience, 0, func(now look) bool { return now.state != stateBusy || now.work != l.work })
	if err == nil && ctx.Err() == nil && !moved {
		last.state = stateReady
	}
	return last, err
}

// changesOf gives a token whenever something happened in a session, at most one
// each redraw; it is closed when nothing will happen any more.
func changesOf(ctx context.Context, seen pilot.Seen) (<-chan struct{}, func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	seq, err := seen.On.Watch(ctx, seen.ID)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	c := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() { // stop waits for it
		defer close(done)
		defer close(c)
		for e, err := range seq {
			if err != nil || e.Kind == terminal.Gone {
				return
			}
			select {
			case c <- struct{}{}:
			default:
			}
			pause(ctx, redraw)
			if ctx.Err() != nil {
				return
			}
		}
	}()
	return c, func() { cancel(); <-done }, nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
