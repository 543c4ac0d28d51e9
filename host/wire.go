package host

import (
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

const (
	// maxBacklog bounds what waits for a client that does not read. Past it the
	// client is dropped: it must connect again and look at the present anyway.
	maxBacklog      = 64 << 20
	maxBacklogCount = 32 << 10
	// crowd is how many messages may wait before a session that tells things in
	// floods is held back.
	crowd = 2048
	// roomToAnswer is how little must wait before a client's next request is taken.
	roomToAnswer = 1 << 20
	// maxBurst is how much is gathered into one write.
	maxBurst = 64 << 10
	// lingerTime is how long an answer waits for what is sure to follow it: most
	// commands have ended by then.
	lingerTime = 2 * time.Millisecond
)

// wire is a client's connection. Writes between hold and release are kept and
// go out together: a system call and a wake-up of the client for each message
// would cost more than the messages.
type wire struct {
	net.Conn
	idle func() // called before a reading that may wait

	mu      sync.Mutex
	holding bool
	kept    []byte
}

func (w *wire) Read(p []byte) (int, error) {
	if w.idle != nil {
		w.idle()
	}
	return w.Conn.Read(p)
}

// Write sends p, or keeps it while the wire is held and that is not much.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holding && len(w.kept)+len(p) <= 2*maxBurst {
		w.kept = append(w.kept, p...)
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return w.Conn.Write(p)
}

func (w *wire) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding = true
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
	_, err := w.Conn.Write(w.kept)
	w.kept = w.kept[:0]
	return err
}

// outbox is the queue of messages to one client. Nobody who adds to it waits.
type outbox struct {
	mu       sync.Mutex
	changed  *sync.Cond
	messages [][]byte
	size     int
	closed   bool
	overflow bool
	linger   *time.Timer // while it runs, nothing is sent; nil otherwise
	drop     func()      // ends the connection; must not wait
}

func newOutbox(drop func()) *outbox {
	o := &outbox{drop: drop}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// wake has what is queued sent, unless it lingers.
func (o *outbox) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.messages) > 0 && o.linger == nil {
		o.changed.Broadcast()
	}
}

// lingers has what is queued wait a moment for what follows it: a write and a
// wake-up of the client for each step of a short command cost more than it does.
func (o *outbox) lingers() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.linger == nil && !o.closed {
		o.linger = time.AfterFunc(lingerTime, func() {
			o.hurry()
			o.wake()
		})
	}
}

// hurry ends the lingering.
func (o *outbox) hurry() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLinger()
}

// endLinger is hurry for a caller that holds mu.
func (o *outbox) endLinger() {
	if o.linger != nil {
		o.linger.Stop()
		o.linger = nil
	}
}

// later queues a message, to be sent when the caller wakes the outbox: when it
// has said all, so that it goes out at once. Nothing is queued for a client that
// is dropped, as one is that has too much to read.
func (o *outbox) later(message []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	// A single answer may be large; what is refused is a pile.
	if len(o.messages) > 0 && (o.size+len(message) > maxBacklog || len(o.messages) >= maxBacklogCount) {
		o.closed, o.overflow = true, true
		o.messages, o.size = nil, 0
		o.changed.Broadcast()
		o.drop() // the writer is stuck in a full socket
		return
	}
	o.messages = append(o.messages, message)
	o.size += len(message)
}

// take waits for messages and returns as many as go out together, in order;
// false when the outbox is closed.
func (o *outbox) take() ([][]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.messages) == 0 || o.linger != nil) && !o.closed {
		o.changed.Wait()
	}
	if o.closed {
		return nil, false
	}
	n, size := 0, 0
	for n < len(o.messages) && (n == 0 || size+len(o.messages[n]) <= maxBurst) {
		size += len(o.messages[n])
		n++
	}
	burst := o.messages[:n:n]
	if o.messages = o.messages[n:]; len(o.messages) == 0 {
		o.messages = nil
	}
	o.size -= size
	o.changed.Broadcast()
	return burst, true
}

// crowded reports whether many messages wait.
func (o *outbox) crowded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.messages) > crowd
}

// room waits until so little is queued that another request may be answered.
func (o *outbox) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size > roomToAnswer {
		o.endLinger()
		o.changed.Broadcast() // what was queued to go out later goes now
	}
	for o.size > roomToAnswer && !o.closed {
		o.changed.Wait()
	}
}

func (o *outbox) close() (overflowed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.messages = nil
	o.endLinger()
	o.changed.Broadcast()
	return o.overflow
}

// notice is a notification as it goes over the wire.
func notice(n *api.Notification) []byte {
	data, err := proto.Marshal(&api.ServerOriginatedMessage{
		Submessage: &api.ServerOriginatedMessage_Notification{Notification: n},
	})
	if err != nil {
		return nil // cannot happen: text was made valid before
	}
	return data
}
