package host

import (
	"sync"
	"time"
)

// transactionPatience is how long a client may hold everything up. Clients that
// know what they do need a tenth of a second; the API's own server has no limit.
const transactionPatience = 3 * time.Second

// freeze is the transaction that one client at a time may have open. While it
// is, no output is drawn, and the requests of all other clients wait.
type freeze struct {
	drawing sync.RWMutex // held for reading by whoever draws output; before a session's mu

	mu     sync.Mutex
	turn   sync.Cond // a transaction or a pause has ended, or somebody who waited for that goes on
	holder *client
	shut   bool        // drawing is held for the holder
	since  time.Time   // when it was shut
	timer  *time.Timer // ends the transaction, or the pause after it
	paused bool        // until everybody else has had as long as the last transaction
	parked int         // clients that wait
	over   bool        // the host ends: nothing is held up any more
}

func newFreeze() *freeze {
	f := &freeze{}
	f.turn.L = &f.mu
	return f
}

// pass returns when no other client's transaction is open.
func (f *freeze) pass(c *client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parked++
	for f.holder != nil && f.holder != c {
		f.turn.Wait()
	}
	f.parked--
	f.turn.Broadcast()
}

// thaw returns when no transaction is open, not even the client's own.
func (f *freeze) thaw() { f.pass(nil) }

// holds reports whether a client has a transaction open.
func (f *freeze) holds(c *client) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holder == c
}

// begin opens a client's transaction and returns when nothing is drawn any
// more. false when it has one. Those whom the last one held up go first, and all
// others have as long a time as that one took: whoever begins one after the
// other leaves them half of it.
func (f *freeze) begin(c *client) bool {
	f.mu.Lock()
	if f.holder == c {
		f.mu.Unlock()
		return false
	}
	for (f.holder != nil || f.parked > 0 || f.paused) && !f.over {
		f.turn.Wait()
	}
	if f.over {
		f.mu.Unlock()
		return true
	}
	f.holder = c
	f.mu.Unlock()

	f.drawing.Lock() // those who draw need a moment

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holder != c { // the host ends
		f.drawing.Unlock()
		return true
	}
	f.shut, f.since = true, time.Now()
	f.after(transactionPatience, f.release)
	return true
}

// after has the next thing done in time, unless another takes its place. mu is
// held, also when it is done.
func (f *freeze) after(wait time.Duration, do func()) {
	var mine *time.Timer
	mine = time.AfterFunc(wait, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.timer == mine {
			do()
		}
	})
	f.timer = mine
}

// end ends a client's transaction. false when it has none, or has had it for
// too long.
func (f *freeze) end(c *client) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holder != c {
		return false
	}
	f.release()
	return true
}

// finish ends whatever transaction is open, and lets none begin.
func (f *freeze) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.release()
	f.resume()
}

// release lets everybody go on. mu is held.
func (f *freeze) release() {
	f.holder = nil
	if f.shut {
		f.shut, f.paused = false, true
		f.timer.Stop()
		f.after(time.Since(f.since), f.resume)
		f.drawing.Unlock()
	}
	f.turn.Broadcast()
}

// resume ends the pause. mu is held.
func (f *freeze) resume() {
	if f.timer != nil {
		f.timer.Stop()
	}
	f.timer, f.paused = nil, false
	f.turn.Broadcast()
}
