package terminaltest

import (
	"context"
	"iter"

	"termpilot/terminal"
)

// watcher is one subscription: a bounded queue, filled under the fake's lock.
type watcher struct {
	queue []terminal.Event
	limit int
	ready chan struct{} // holds one token when the queue may have something
	err   error         // ends the sequence after the queue
}

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
	w := &watcher{limit: f.o.Queue, ready: make(chan struct{}, 1)}
	w.push(terminal.Event{Kind: terminal.State, Prompt: s.present()})
	s.watchers[w] = true
	stop := context.AfterFunc(ctx, func() { f.unwatch(s, w) })
	return func(yield func(terminal.Event, error) bool) {
		defer stop()
		defer f.unwatch(s, w)
		for {
			event, err, ok := f.next(ctx, w)
			if !ok || !yield(event, err) || err != nil || event.Kind == terminal.Gone {
				return
			}
		}
	}, nil
}

func (f *Fake) unwatch(s *session, w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(s.watchers, w)
}

// next waits for an event, the end of ctx (ok is false), or the backend's going away.
func (f *Fake) next(ctx context.Context, w *watcher) (event terminal.Event, err error, ok bool) {
	for {
		if ctx.Err() != nil {
			return event, nil, false
		}
		f.mu.Lock()
		if len(w.queue) > 0 {
			event, w.queue = w.queue[0], w.queue[1:]
			f.mu.Unlock()
			return event, nil, true
		}
		err := w.err
		f.mu.Unlock()
		if err != nil {
			return event, err, true
		}
		select {
		case <-w.ready:
		case <-ctx.Done():
		}
	}
}

// push adds an event. Changes of the screen fold into one; what does not fit
// becomes one Resync, after the State that nobody has read yet.
func (w *watcher) push(e terminal.Event) {
	n := len(w.queue)
	switch {
	case e.Kind == terminal.Output && n > 0 && w.queue[n-1].Kind == terminal.Output:
	case n < w.limit:
		w.queue = append(w.queue, e)
	default:
		kept := w.queue[:0:0]
		if w.queue[0].Kind == terminal.State {
			kept = append(kept, w.queue[0])
		}
		w.queue = append(kept, terminal.Event{Kind: terminal.Resync})
		if e.Kind == terminal.Gone {
			w.queue = append(w.queue, e)
		}
	}
	w.wake()
}

func (w *watcher) wake() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// emit tells every watcher of the session. The lock must be held.
func (s *session) emit(kind terminal.EventKind, p *prompt) {
	e := terminal.Event{Kind: kind}
	if p != nil {
		e.Prompt = s.view(p)
	}
	for w := range s.watchers {
		w.push(e)
	}
}
