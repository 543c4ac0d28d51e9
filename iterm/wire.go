package iterm

import (
	"context"
	"net"
	"sync"
	"time"
)

const (
	// maxMessage is the longest request. It is also the write buffer of the
	// WebSocket, because a message that does not fit would be sent in fragments,
	// on which iTerm2 aborts the connection.
	maxMessage = 256 << 10
	// maxAnswer is the longest answer that is taken. The terminal sets no limit
	// of its own; its own Swift client stops at the same size.
	maxAnswer = 100_000_000
	// writePatience is how long a terminal may leave its socket full.
	writePatience = 10 * time.Second
)

// wire is a connection whose small writes can be gathered: between hold and
// release they are kept and then go out together, which saves a system call
// and a wake-up of the server for each request of a burst.
type wire struct {
	net.Conn
	mu      sync.Mutex
	holding bool
	kept    []byte
}

// dial hands the connection to the handshake.
func (w *wire) dial(context.Context, string, string) (net.Conn, error) { return w, nil }

// Write sends p, or keeps it while the wire is held.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.holding {
		return w.Conn.Write(p)
	}
	w.kept = append(w.kept, p...)
	if len(w.kept) < maxMessage {
		return len(p), nil
	}
	return len(p), w.flush()
}

func (w *wire) hold() {
	w.mu.Lock()
	w.holding = true
	w.mu.Unlock()
}

func (w *wire) release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding = false
	return w.flush()
}

func (w *wire) flush() error {
	if len(w.kept) == 0 {
		return nil
	}
	if err := w.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return err
	}
	_, err := w.Conn.Write(w.kept)
	w.kept = w.kept[:0]
	if cap(w.kept) > maxMessage {
		w.kept = nil
	}
	return err
}
