package terminaltest

import (
	"context"
	"iter"

	"termpilot/terminal"
)

// Watch implements terminal.Backend.
func (f *Fake) Watch(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	if err := f.enter(ctx, "watch", id); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	s, err := f.live("watch", id)
	if err != nil {
		return nil, err
	}
	q := terminal.NewEventQueue(f.o.Queue)
	q.Push(terminal.Event{Kind: terminal.State, Prompt: s.present()})
	s.watchers[q] = true
	return q.Events(ctx, func() { f.unwatch(s, q) }), nil
}

func (f *Fake) unwatch(s *session, q *terminal.EventQueue) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(s.watchers, q)
}

// emit tells every watcher of the session. The lock must be held.
func (s *session) emit(kind terminal.EventKind, p *prompt) {
	e := terminal.Event{Kind: kind}
	if p != nil {
		e.Prompt = s.view(p)
	}
	for q := range s.watchers {
		q.Push(e)
	}
}
