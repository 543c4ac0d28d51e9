package host

import (
	"io"
	"sync"
	"time"
)

const (
	// maxInput is the most input that waits for a program that does not read.
	maxInput = 8 << 20
	// maxReplies is how much may wait before the emulator's own answers are left
	// out: a program that asks without reading must not fill the queue.
	maxReplies = 64 << 10
	// joined is up to which length small texts wait as one: as much as a terminal
	// takes at once. Of single bytes, each would take forty.
	joined = 4 << 10
)

// input is the queue between those who type and a PTY. What is put in goes out
// in order and whole; nobody who puts waits for the program to read.
type input struct {
	now func([]byte) int // writes what the terminal takes without waiting; may be nil

	mu      sync.Mutex
	more    *sync.Cond
	waiting [][]byte
	size    int
	closed  bool
	last    time.Time // when the last byte was taken by the terminal
}

func newInput(now func([]byte) int) *input {
	q := &input{now: now}
	q.more = sync.NewCond(&q.mu)
	return q
}

// put queues text, all of it or none: false when the queue is closed or has no
// room. The text is copied.
func (q *input) put(text []byte) bool { return q.add(text, maxInput) }

// reply queues an answer of the emulator's, unless too much waits already.
func (q *input) reply(text []byte) { q.add(text, maxReplies) }

func (q *input) add(text []byte, limit int) bool {
	if len(text) == 0 {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.size+len(text) > limit {
		return false
	}
	if q.size == 0 && q.now != nil { // nothing is before it: most often all of it can go now
		text = text[q.now(text):]
		q.last = time.Now()
	}
	if len(text) == 0 {
		return true
	}
	if n := len(q.waiting); n > 0 && len(q.waiting[n-1])+len(text) <= joined {
		q.waiting[n-1] = append(q.waiting[n-1], text...)
	} else {
		q.waiting = append(q.waiting, append([]byte(nil), text...))
	}
	q.size += len(text)
	q.more.Signal()
	return true
}

// idle reports whether everything has been taken by the terminal, and when the
// last of it was.
func (q *input) idle() (bool, time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size == 0, q.last
}

// close drops what waits and ends drain.
func (q *input) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.waiting = nil
	q.more.Signal()
}

// drain writes what is put until close, or until the terminal takes no more.
func (q *input) drain(w io.Writer) {
	for {
		q.mu.Lock()
		for len(q.waiting) == 0 && !q.closed {
			q.more.Wait()
		}
		if q.closed {
			q.mu.Unlock()
			return
		}
		text := q.waiting[0]
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		q.mu.Unlock()

		_, err := w.Write(text)

		q.mu.Lock()
		q.size -= len(text)
		q.last = time.Now()
		q.mu.Unlock()
		if err != nil {
			q.close()
			return
		}
	}
}
