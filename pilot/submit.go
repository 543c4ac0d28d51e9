package pilot

import (
	"context"
	"errors"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// submit types the command, at the prompt that was told last where the terminal
// looks and types in one step, else at the one that the gate finds. When it fails,
// nothing was typed.
func (p *Pilot) submit(ctx context.Context, t target, one *run, deadline time.Time) (*watcher, error) {
	w, err := p.typeAtOnce(ctx, t, one)
	if w == nil && err == nil {
		w, err = p.typeThroughGate(ctx, t, one, deadline)
	}
	if err != nil && one.recorded {
		one.Status, one.Reason = Rejected, "it was not typed"
		_ = p.runs.save("run", *one) // the first error is what the caller needs
	}
	return w, err
}

// typeThroughGate waits for the gate, records the run and types it. While it
// looks and types, nobody else types into the session through termpilot.
func (p *Pilot) typeThroughGate(ctx context.Context, t target, one *run, deadline time.Time) (*watcher, error) {
	const op = "run"
	release, err := p.locks.acquire(ctx, op, t.id(), lockType, "run "+one.ID, time.Until(deadline))
	if err != nil {
		return nil, err
	}
	defer release()
	p.locks.settle(ctx, t.id())
	w, err := watch(ctx, t)
	if err != nil {
		return nil, p.dead(ctx, op, t, err)
	}
	g := &gate{p: p, t: t, w: w, run: one.ID, prompt: w.first}
	ready, err := g.pass(ctx, deadline)
	if err != nil {
		w.stop()
		return nil, err
	}
	if one.shell = g.shell; one.shell == "" {
		one.shell = p.shellName(t.session)
	}
	p.setShell(t.id(), one.shell)
	keys, rest, err := keystrokes(t.id(), one.Command, g.prompt.Paste, one.shell)
	if err != nil {
		w.stop()
		return nil, err
	}
	one.pasted, one.untyped = g.prompt.Paste == terminal.Yes, rest
	if err := p.record(ctx, op, one, g.prompt.ID, ready.Evidence); err != nil {
		w.stop()
		return nil, err
	}
	sending, cancel := afterwards(ctx)
	defer cancel()
	if err := t.backend.Send(sending, t.id(), keys); err != nil && !errors.Is(err, fault.Deadline) {
		w.stop()
		return nil, p.dead(ctx, op, t, err)
	}
	return w, nil
}

// typeAtOnce records the run and has the terminal type it at the prompt that was
// told last, if that stands there as it was told: the terminal looks for itself,
// so nothing is typed on the strength of what is no longer true. Without a watcher
// and an error nothing was typed, and the gate must look.
func (p *Pilot) typeAtOnce(ctx context.Context, t target, one *run) (*watcher, error) {
	const op = "run"
	b, ok := t.backend.(terminal.Typer)
	if !ok {
		return nil, nil
	}
	w, err := subscribe(ctx, t, b.Follow)
	if err != nil { // whatever it is, the gate meets it too
		return nil, nil
	}
	one.pasted, one.shell = true, p.shell(t.session)
	keys, _, err := keystrokes(t.id(), one.Command, terminal.Yes, one.shell)
	if err != nil {
		w.stop()
		return nil, err
	}
	release, err := p.locks.acquire(ctx, op, t.id(), lockType, "run "+one.ID, 0)
	if err != nil { // the gate waits for who types or keeps others from it
		w.stop()
		return nil, nil
	}
	defer release()
	if err := p.record(ctx, op, one, w.first.ID, typerEvidence); err != nil {
		w.stop()
		return nil, err
	}
	sending, cancel := afterwards(ctx)
	defer cancel()
	typed, err := b.TypeAt(sending, t.id(), w.first.ID, keys)
	if typed || errors.Is(err, fault.Deadline) {
		return w, nil
	}
	w.stop()
	return nil, nil
}

// typerEvidence is what [terminal.Typer] demands before it types.
var typerEvidence = []string{"marks", "nonce", "foreground", "tty"}

// record puts a run on record before its effect. It refuses when the caller has gone.
func (p *Pilot) record(ctx context.Context, op string, one *run, prompt string, evidence []string) error {
	if err := givenUp(ctx, op, string(one.Session)); err != nil {
		return err
	}
	one.Prompts, one.Began, one.Evidence = []string{prompt}, time.Now(), evidence
	if err := p.runs.save(op, *one); err != nil {
		return err
	}
	one.recorded = true
	return nil
}
