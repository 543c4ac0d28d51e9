package tmux

import (
	"context"
	"iter"
	"slices"
	"sync"

	"termpilot/terminal"
)

// watcher is one subscription to a session's events.
type watcher struct {
	limit  int
	wake   chan struct{} // holds one token when there is something to take
	mu     sync.Mutex
	events []terminal.Event
	over   bool  // nothing comes after events
	err    error // then, the reason, if the backend went away
}

// push adds an event. When the reader is too far behind, what it missed is
// replaced by one Resync.
func (w *watcher) push(e terminal.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(e)
}

// add is push for a caller that holds the lock.
func (w *watcher) add(e terminal.Event) {
	if w.over {
		return
	}
	if n := len(w.events); n > 0 && e.Kind == terminal.Output && w.events[n-1].Kind == terminal.Output {
		return
	}
	if len(w.events) >= w.limit {
		w.missed()
	}
	w.events = append(w.events, e)
	w.signal()
}

// missed puts one Resync in place of all but the State. mu is held.
func (w *watcher) missed() {
	keep := 0
	if len(w.events) > 0 && w.events[0].Kind == terminal.State {
		keep = 1
	}
	clear(w.events[keep:])
	w.events = append(w.events[:keep], terminal.Event{Kind: terminal.Resync})
}

// resync tells that events were missed.
func (w *watcher) resync() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.missed()
		w.signal()
	}
}

// end adds the last event.
func (w *watcher) end(e terminal.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(e)
	w.over = true
}

// fail ends the subscription with an error, after what was already told.
func (w *watcher) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.over, w.err = true, err
		w.signal()
	}
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take returns the next event; ok is false at the end of the sequence.
func (w *watcher) take(ctx context.Context) (e terminal.Event, err error, ok bool) {
	for {
		if ctx.Err() != nil {
			return e, nil, false
		}
		w.mu.Lock()
		if len(w.events) > 0 {
			e = w.events[0]
			w.events = slices.Delete(w.events, 0, 1)
			w.mu.Unlock()
			return e, nil, true
		}
		over, err := w.over, w.err
		w.mu.Unlock()
		if over {
			return e, err, false
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
		}
	}
}

// Watch subscribes to a session's events.
func (b *Backend) Watch(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	const op = "watch"
	p, err := b.shown(ctx, op, id)
	if err != nil {
		return nil, err
	}
	ask(ctx, p)
	w := &watcher{limit: b.o.Queue, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		return nil, ended(op, id)
	}
	if p.link.isLost() {
		p.mu.Unlock()
		return nil, b.explain(op, id, errLost)
	}
	p.tellHeld()
	w.push(terminal.Event{Kind: terminal.State, Prompt: p.last()})
	p.watchers[w] = struct{}{}
	p.mu.Unlock()

	leave := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers, w)
	}
	stop := context.AfterFunc(ctx, leave) // for a sequence that is never ranged over
	return func(yield func(terminal.Event, error) bool) {
		defer leave()
		defer stop()
		for {
			e, err, ok := w.take(ctx)
			if err != nil {
				yield(terminal.Event{}, err)
				return
			}
			if !ok || !yield(e, nil) {
				return
			}
		}
	}, nil
}
