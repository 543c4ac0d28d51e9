package wire

import (
	"context"
	"encoding/json"
	"sync"
)

// What may be in the server at once. When it is more, the next line waits for
// an answer to leave: a client that sends without reading is held back, and
// memory keeps its bound.
const (
	maxCalls = 256
	maxBytes = 4 * MaxMessage
)

// pending is a call that is not answered yet.
type pending struct {
	id        json.RawMessage // nil: the call is this package's own
	key       string
	size      int
	cancelled bool
	batch     *batch

	// Of a call that is answered without the SDK; nil of others.
	ctx    context.Context
	cancel context.CancelFunc
}

// batch collects the answers of one batch, which leave together.
type batch struct {
	open    int
	answers []answer
}

// flight is the calls that the server has and has not answered. To the SDK
// each call has a number of this package's, so that any id of a client's comes
// back as it was written: the SDK would round 9007199254740993 and cut 1.5.
type flight struct {
	mu     sync.Mutex
	room   sync.Cond
	last   int64
	open   int // calls admitted and not landed
	direct int // calls admitted and not finished, of those that are answered without the SDK
	bytes  int // their size
	calls  map[int64]*pending
	byKey  map[string]int64
	closed bool
}

func newFlight() *flight {
	f := &flight{calls: map[int64]*pending{}, byKey: map[string]int64{}}
	f.room.L = &f.mu
	return f
}

// admit waits for room and returns the call's number; used is set when a call
// with the same id is still open. ok is false after close.
func (f *flight) admit(p *pending) (number int64, used, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.closed && (f.open >= maxCalls || f.bytes > 0 && f.bytes+p.size > maxBytes) {
		f.room.Wait()
	}
	if f.closed {
		return 0, false, false
	}
	if p.id != nil {
		if _, used := f.byKey[p.key]; used {
			return 0, true, true
		}
	}
	f.last++
	f.calls[f.last] = p
	f.open++
	if p.cancel != nil {
		f.direct++
	}
	f.bytes += p.size
	if p.id != nil {
		f.byKey[p.key] = f.last
	}
	return f.last, false, true
}

// take returns a call that is being answered. Its id may be used again from
// here on, since the client can do so as soon as it has the answer; its room
// is free after land.
func (f *flight) take(number int64) (pending, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.calls[number]
	if !ok {
		return pending{}, false
	}
	delete(f.calls, number)
	if f.byKey[p.key] == number {
		delete(f.byKey, p.key)
	}
	return *p, true
}

// land gives back the room of a call that was taken, once its answer has left.
func (f *flight) land(p pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open--
	f.bytes -= p.size
	f.room.Broadcast()
}

// finish notes that a call that is answered without the SDK runs no more.
func (f *flight) finish(p *pending) {
	p.cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.direct--
	f.room.Broadcast()
}

// finished waits until no call runs that is answered without the SDK.
func (f *flight) finished() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.direct > 0 {
		f.room.Wait()
	}
}

// join adds an answer to a batch; the zero answer stands for a call that is
// not answered. It returns the answers when that was the last.
func (f *flight) join(b *batch, a answer) (all []answer, complete bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Version != "" {
		b.answers = append(b.answers, a)
	}
	b.open--
	return b.answers, b.open == 0
}

// cancel marks an open call, whose answer is then not sent. It returns the number
// of one that the SDK is to cancel.
func (f *flight) cancel(id json.RawMessage) (int64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	number, ok := f.byKey[key(id)]
	if !ok {
		return 0, false
	}
	p := f.calls[number]
	p.cancelled = true
	if p.cancel != nil {
		p.cancel()
		return 0, false
	}
	return number, true
}

// drained waits until every call has landed, or until close.
func (f *flight) drained() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.closed && f.open > 0 {
		f.room.Wait()
	}
}

// close admits no more calls, lets everybody who waits go on, and cancels the calls
// that are answered without the SDK, which cancels its own at the end of the input.
func (f *flight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, p := range f.calls {
		if p.cancel != nil {
			p.cancel()
		}
	}
	f.room.Broadcast()
}
