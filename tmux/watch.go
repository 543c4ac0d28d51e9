package tmux

import (
	"context"
	"iter"

	"termpilot/terminal"
)

// Watch subscribes to a session's events.
func (b *Backend) Watch(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	const op = "watch"
	p, err := b.shown(ctx, op, id)
	if err != nil {
		return nil, err
	}
	ask(ctx, p)
	q := terminal.NewEventQueue(b.o.Queue)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil, ended(op, id)
	}
	if p.link.isLost() {
		return nil, b.explain(op, id, errLost)
	}
	p.tellHeld()
	q.Push(terminal.Event{Kind: terminal.State, Prompt: p.last()})
	p.watchers[q] = struct{}{}
	return q.Events(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers, q)
	}), nil
}
