package terminal

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// EventQueue holds a subscription's events between a backend, which never waits,
// and the one reader of the sequence that [Backend.Watch] returned. Events come
// out in the order in which they were put in; Output behind Output is one.
//
// It is bounded: when an event comes and as many wait as the limit says, those
// that wait are dropped, but for a State in front, and one Resync stands in
// their place. What comes later, Gone included, follows it.
//
// Its methods may be called from several goroutines at once.
type EventQueue struct {
	limit int
	wake  chan struct{} // holds one token when there is something to take

	mu     sync.Mutex
	events []Event
	told   Prompt // what Begin told
	over   bool   // nothing comes after events
	err    error  // then, the reason, unless it is Gone
}

// NewEventQueue returns a queue of as many events as limit says, or of four.
func NewEventQueue(limit int) *EventQueue {
	return &EventQueue{limit: max(limit, 4), wake: make(chan struct{}, 1)}
}

// Push adds an event; Gone is the last one that is added.
func (q *EventQueue) Push(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.events)
	switch {
	case q.over, q.knows(e), e.Kind == Output && n > 0 && q.events[n-1].Kind == Output:
		return
	case n >= q.limit:
		q.resync()
	}
	q.events = append(q.events, e)
	q.over = e.Kind == Gone
	q.signal()
}

// Begin puts a State in front of what was pushed while present was asked for.
// Events that present already tells are dropped, also those that come later:
// prompts only move on.
func (q *EventQueue) Begin(present Prompt) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.told = present
	q.events = slices.Insert(slices.DeleteFunc(q.events, q.knows), 0, Event{Kind: State, Prompt: present})
	q.signal()
}

// knows reports whether Begin has told an event.
func (q *EventQueue) knows(e Event) bool {
	return e.Kind != Gone && e.Prompt.ID != "" && e.Prompt.ID == q.told.ID && e.Prompt.State <= q.told.State
}

// Resync puts one Resync in place of what waits, but for a State in front: the
// backend missed events itself.
func (q *EventQueue) Resync() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.resync()
		q.signal()
	}
}

func (q *EventQueue) resync() {
	keep := 0
	if len(q.events) > 0 && q.events[0].Kind == State {
		keep = 1
	}
	clear(q.events[keep:])
	q.events = append(q.events[:keep], Event{Kind: Resync})
}

// Fail has the sequence end with an error, after what waits. Nothing is added
// any more.
func (q *EventQueue) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.over, q.err = true, err
		q.signal()
	}
}

func (q *EventQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Events returns the sequence for [Backend.Watch] to return. It ends after Gone,
// with the error of Fail, or when ctx ends. leave is called once: when the
// sequence was left, or when ctx ended, also if it is never ranged over.
func (q *EventQueue) Events(ctx context.Context, leave func()) iter.Seq2[Event, error] {
	leave = sync.OnceFunc(leave)
	stop := context.AfterFunc(ctx, leave)
	return func(yield func(Event, error) bool) {
		defer leave()
		defer stop()
		for {
			e, err, ok := q.take(ctx)
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !ok || !yield(e, nil) {
				return
			}
		}
	}
}

// take waits for the next event; ok is false at the end of the sequence.
func (q *EventQueue) take(ctx context.Context) (e Event, err error, ok bool) {
	for {
		if ctx.Err() != nil {
			return e, nil, false
		}
		q.mu.Lock()
		if len(q.events) > 0 {
			e = q.events[0]
			q.events = slices.Delete(q.events, 0, 1)
			q.mu.Unlock()
			return e, nil, true
		}
		over, err := q.over, q.err
		q.mu.Unlock()
		if over {
			return e, err, false
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}
