package pilot

import (
	"context"
	"errors"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Seen is one live session as a package sees it that acts on sessions in other
// ways than typing: with its backend and the gate's verdict.
type Seen struct {
	terminal.Session
	On        terminal.Backend
	Readiness Readiness
	Allowed   bool // this server may touch it
}

// See returns every live session of every backend, also those that this server
// may not touch, in the backends' order. complete is false when a backend that
// may have sessions could not be asked: then absence proves nothing there.
func (p *Pilot) See(ctx context.Context) (all []Seen, complete bool) {
	complete = true
	answers := askAll(ctx, p.backends)
	found := make([][]target, len(answers))
	for i, a := range answers {
		if a.err != nil && backendInfo(p.backends[i], a.err).State != notRunning {
			complete = false
		}
		for _, s := range a.sessions {
			found[i] = append(found[i], target{backend: p.backends[i], session: s})
		}
	}
	for i, verdicts := range p.readinessOf(ctx, found) {
		for k, r := range verdicts {
			s := found[i][k].session
			all = append(all, Seen{Session: s, On: p.backends[i], Readiness: r, Allowed: p.mayTouch(s.ID)})
		}
	}
	return all, complete
}

// SeeOne looks at one session anew. SessionEnded or SessionNotFound when it is gone.
func (p *Pilot) SeeOne(ctx context.Context, op string, id terminal.ID) (Seen, error) {
	t, err := p.find(ctx, op, string(id))
	if err == nil {
		err = t.alive(op)
	}
	if err != nil {
		return Seen{}, err
	}
	return Seen{Session: t.session, On: t.backend, Readiness: p.readinessNow(ctx, t), Allowed: true}, nil
}

// Listed returns the sessions that a backend lists now. running is false when it
// provably does not run, as far as that is told by its socket: then it lists
// none. An error when it does not answer.
func (p *Pilot) Listed(ctx context.Context, on terminal.Backend) (ids map[terminal.ID]bool, running bool, err error) {
	a := askOne(ctx, on)
	if a.err != nil {
		if errors.Is(a.err, fault.BackendUnavailable) && backendInfo(on, a.err).State == notRunning {
			return nil, false, nil
		}
		return nil, true, a.err
	}
	ids = make(map[terminal.ID]bool, len(a.sessions))
	for _, s := range a.sessions {
		ids[s.ID] = true
	}
	return ids, true, nil
}

// MayTouch reports whether this server shows a session to its clients, be it there or not.
func (p *Pilot) MayTouch(id terminal.ID) bool { return p.mayTouch(id) }

// MayChange refuses with NotAllowed when this server only reads.
func (p *Pilot) MayChange(op string) error { return p.refuseWhenReadOnly(op, "") }

// MayOpen refuses with NotAllowed when this server opens nothing: it only reads, or
// is limited to sessions that exist.
func (p *Pilot) MayOpen(op string) error {
	if err := p.refuseWhenReadOnly(op, ""); err != nil || len(p.allow) == 0 {
		return err
	}
	return &fault.Error{
		Op: op, Code: fault.NotAllowed, Detail: "this server is limited to sessions that exist",
		Hint: "use a session that list_sessions shows",
	}
}

// Hold keeps all others, in every process with the same home, from typing into a
// session until release is called, and returns when the session's program has had
// the time to deal with what another process sent. Busy when somebody types for
// longer than patience.
func (p *Pilot) Hold(ctx context.Context, op string, id terminal.ID, patience time.Duration) (release func(), err error) {
	release, err = p.locks.acquire(ctx, op, id, lockType, op, patience)
	if err == nil {
		p.locks.settle(ctx, id)
	}
	return release, err
}
