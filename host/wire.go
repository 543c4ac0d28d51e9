package host

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

const (
	// maxBacklog bounds what waits for a client that does not read. Past it the
	// client is dropped: it must connect again and look at the present anyway.
	maxBacklog      = 64 << 20
	maxBacklogCount = 8192
	// roomToAnswer is how little must wait before a client's next request is taken.
	roomToAnswer = 1 << 20
)

// outbox is the queue of messages to one client. Nobody who adds to it waits.
type outbox struct {
	mu       sync.Mutex
	changed  *sync.Cond
	messages [][]byte
	size     int
	closed   bool
	overflow bool
	drop     func() // ends the connection; must not wait
}

func newOutbox(drop func()) *outbox {
	o := &outbox{drop: drop}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// add queues a message. false when the client is, or is to be, dropped.
func (o *outbox) add(message []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	if o.size+len(message) > maxBacklog || len(o.messages) >= maxBacklogCount {
		// A single answer may be large; what is refused is a pile.
		if len(o.messages) > 0 {
			o.closed, o.overflow = true, true
			o.messages, o.size = nil, 0
			o.changed.Broadcast()
			o.drop() // the writer is stuck in a full socket
			return false
		}
	}
	o.messages = append(o.messages, message)
	o.size += len(message)
	o.changed.Broadcast()
	return true
}

// take waits for the next message; false when the outbox is closed.
func (o *outbox) take() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.messages) == 0 && !o.closed {
		o.changed.Wait()
	}
	if o.closed {
		return nil, false
	}
	m := o.messages[0]
	o.messages[0] = nil
	o.messages = o.messages[1:]
	o.size -= len(m)
	o.changed.Broadcast()
	return m, true
}

// room waits until so little is queued that another request may be answered.
func (o *outbox) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.size > roomToAnswer && !o.closed {
		o.changed.Wait()
	}
}

func (o *outbox) close() (overflowed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.messages = nil
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
