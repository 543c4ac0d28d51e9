package pilot

import (
	"context"
	"iter"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// watcher is a subscription to one session as a channel. The channel is closed
// when the subscription ends; err then says why, nil after Gone.
type watcher struct {
	events chan terminal.Event
	first  terminal.Prompt
	cancel context.CancelFunc
	done   chan struct{}
	err    error // read it after events is closed
}

// watch subscribes to a session and reads the first event, which tells the
// present. The subscription outlives ctx's end: stop ends it.
func watch(ctx context.Context, t target) (*watcher, error) {
	return subscribe(ctx, t, t.backend.Watch)
}

// subscribe is watch by the method Watch of a backend, or Follow.
func subscribe(ctx context.Context, t target, to func(context.Context, terminal.ID) (iter.Seq2[terminal.Event, error], error)) (*watcher, error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	seq, err := to(inner, t.id())
	if err != nil {
		cancel()
		return nil, err
	}
	w := &watcher{events: make(chan terminal.Event, 8), cancel: cancel, done: make(chan struct{})}
	go func() { // stop waits for it
		defer close(w.done)
		defer close(w.events)
		for e, err := range seq {
			if err != nil {
				w.err = err
				return
			}
			select {
			case w.events <- e:
			case <-inner.Done():
				return
			}
		}
	}()
	timer := time.NewTimer(callPatience)
	defer timer.Stop()
	select {
	case e, ok := <-w.events:
		if ok {
			w.first = e.Prompt
			return w, nil
		}
		err = w.err
	case <-timer.C:
		err = &fault.Error{Op: "watch", Session: string(t.id()), Code: fault.Deadline, Detail: "no first event came"}
	case <-ctx.Done():
		err = givenUp(ctx, "watch", string(t.id()))
	}
	w.stop()
	if err == nil {
		err = &fault.Error{Op: "watch", Session: string(t.id()), Code: fault.Protocol, Detail: "the subscription ended without a first event"}
	}
	return nil, err
}

// stop unsubscribes and returns when the subscription's goroutine has ended.
func (w *watcher) stop() {
	w.cancel()
	<-w.done
}

// pause waits for the next event, or until d has passed or ctx ends. closed is
// set when no event will come any more.
func (w *watcher) pause(ctx context.Context, d time.Duration) (e terminal.Event, got, closed bool) {
	select {
	case e, ok := <-w.events: // most often one that came with the last
		return e, ok, !ok
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case e, ok := <-w.events:
		return e, ok, !ok
	case <-timer.C:
	case <-ctx.Done():
	}
	return terminal.Event{}, false, false
}
