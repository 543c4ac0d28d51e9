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
	turn   sync.Cond // a transaction has ended, or somebody who waited for that goes on
	holder *client
	shut   bool        // drawing is held for the holder
	timer  *time.Timer // ends the transaction
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
// more. false when it has one. Those whom the last one held up go first, so that
// nobody can hold them up for ever.
func (f *freeze) begin(c *client) bool {
	f.mu.Lock()
	if f.holder == c {
		f.mu.Unlock()
		return false
	}
	for (f.holder != nil || f.parked > 0) && !f.over {
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
	f.shut = true
	var mine *time.Timer
	mine = time.AfterFunc(transactionPatience, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.timer == mine {
			f.release()
		}
	})
	f.timer = mine
	return true
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
}

// release lets everybody go on. mu is held.
func (f *freeze) release() {
	f.holder = nil
	if f.shut {
		f.shut = false
		f.timer.Stop()
		f.timer = nil
		f.drawing.Unlock()
	}
	f.turn.Broadcast()
}
