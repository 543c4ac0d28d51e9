package host

import (
	"cmp"
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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

// wire is a client's connection. What is written to it is kept, and goes out when
// the kernel takes it: a system call and a wake-up of the client for each message
// would cost more than the messages. Only the client's writer waits for room.
type wire struct {
	net.Conn
	raw  syscall.RawConn
	idle func() // called before a reading that may wait
	more func() // called when something is kept that the writer is to send

	mu      sync.Mutex
	holding bool // what is written goes out together
	patient bool // a write may wait
	kept    []byte
}

func newWire(conn *net.UnixConn) (*wire, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &wire{Conn: attend(conn, raw), raw: raw, idle: func() {}, more: func() {}}, nil
}

func (w *wire) Read(p []byte) (int, error) {
	w.idle()
	return w.Conn.Read(p)
}

// Write keeps p, and sends it unless the wire is held.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept)+len(p) > 2*maxBurst {
		if !w.patient {
			return 0, errCrowded
		}
		if err := w.flush(); err != nil {
			return 0, err
		}
		return w.waitAndWrite(p)
	}
	w.kept = append(w.kept, p...)
	if w.holding {
		return len(p), nil
	}
	all, err := w.flushNow()
	if !all {
		w.more()
	}
	return len(p), err
}

var errCrowded = errors.New("the client does not read")

// SetWriteDeadline is called before every message; what waits sets its own.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// hold keeps what is written until release or releaseNow; patient when it may wait.
func (w *wire) hold(patient bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding, w.patient = true, patient
}

// release sends what is kept.
func (w *wire) release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding, w.patient = false, false
	return w.flush()
}

// releaseNow sends of what is kept as much as goes without waiting, and reports
// whether that was all.
func (w *wire) releaseNow() (all bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding = false
	return w.flushNow()
}

func (w *wire) flush() error {
	if len(w.kept) == 0 {
		return nil
	}
	_, err := w.waitAndWrite(w.kept)
	w.kept = w.kept[:0]
	return err
}

func (w *wire) waitAndWrite(p []byte) (int, error) {
	if err := w.Conn.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return 0, err
	}
	return w.Conn.Write(p)
}

func (w *wire) flushNow() (all bool, err error) {
	for len(w.kept) > 0 && err == nil {
		n := 0
		waited := w.raw.Control(func(fd uintptr) { n, err = writeNow(int(fd), w.kept) })
		w.kept = append(w.kept[:0], w.kept[max(n, 0):]...)
		if err = cmp.Or(waited, err); errors.Is(err, unix.EAGAIN) {
			return false, nil
		}
	}
	return true, err
}

// message is one to a client. What tells the state of something at one moment is
// left out when it has not been sent yet and the next one follows.
type message struct {
	data  []byte
	about string // what it tells the state of, or ""
	fixes bool   // those who read it want to have read the states before it
}

// lookBack is how many messages are looked at for one that the next makes obsolete.
const lookBack = 8

// outbox is the queue of messages to one client. Nobody who adds to it waits.
type outbox struct {
	now  func() bool // sends what is queued without waiting, as much as goes; false when the writer is to do it
	drop func()      // ends the connection; must not wait

	mu        sync.Mutex
	changed   *sync.Cond // there is something to send
	freed     *sync.Cond // something was taken
	messages  []message
	size      int
	kept      bool // something that was taken has not been sent
	closed    bool
	overflow  bool
	lingering bool        // nothing is sent
	linger    *time.Timer // ends it; nil until it is first needed
}

func newOutbox(drop func()) *outbox {
	o := &outbox{now: func() bool { return false }, drop: drop}
	o.changed, o.freed = sync.NewCond(&o.mu), sync.NewCond(&o.mu)
	return o
}

// wake has what is queued sent, unless it lingers.
func (o *outbox) wake() {
	if o.ready() && !o.now() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed.Signal()
	}
}

// ready reports whether there is something to send.
func (o *outbox) ready() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.due()
}

// due is ready for a caller that holds mu.
func (o *outbox) due() bool {
	return !o.closed && (o.kept || len(o.messages) > 0 && !o.lingering)
}

// keep says that something which was taken is still to be sent by the writer.
func (o *outbox) keep() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = true
	o.changed.Signal()
}

// lingers has what is queued wait for what follows it: a write and a wake-up of
// the client for each step of a short command cost more than it does. It ends
// with hurry, or lingerTime after boundLinger. What is queued already has
// lingered before, and goes.
func (o *outbox) lingers() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lingering = !o.closed && len(o.messages) == 0
}

// boundLinger ends the lingering after lingerTime, unless it has ended by then.
func (o *outbox) boundLinger() {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.lingering:
	case o.linger == nil:
		o.linger = time.AfterFunc(lingerTime, func() {
			o.hurry()
			o.wake()
		})
	default:
		o.linger.Reset(lingerTime)
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
	if o.lingering && o.linger != nil {
		o.linger.Stop()
	}
	o.lingering = false
}

// later queues a message, to be sent when the caller wakes the outbox: when it
// has said all, so that it goes out at once. Nothing is queued for a client that
// is dropped, as one is that has too much to read.
func (o *outbox) later(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	// A single answer may be large; what is refused is a pile.
	if len(o.messages) > 0 && (o.size+len(m.data) > maxBacklog || len(o.messages) >= maxBacklogCount) {
		o.closed, o.overflow = true, true
		o.messages, o.size = nil, 0
		o.changed.Broadcast()
		o.freed.Broadcast()
		o.drop() // the writer is stuck in a full socket
		return
	}
	o.forget(m.about)
	o.messages = append(o.messages, m)
	o.size += len(m.data)
}

// forget takes out what was queued about something, if that was only just now.
func (o *outbox) forget(about string) {
	if about == "" {
		return
	}
	for i := len(o.messages) - 1; i >= max(0, len(o.messages)-lookBack) && !o.messages[i].fixes; i-- {
		if o.messages[i].about == about {
			o.size -= len(o.messages[i].data)
			o.messages = slices.Delete(o.messages, i, i+1)
			return
		}
	}
}

// await waits until there is something to send; false when the outbox is closed.
func (o *outbox) await() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.due() && !o.closed {
		o.changed.Wait()
	}
	return !o.closed
}

// take returns as many messages as go out together, in order, if they may.
func (o *outbox) take() []message {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.burst()
}

// takeLittle is take when all that is to be sent is no more than goes out together.
func (o *outbox) takeLittle() []message {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size > maxBurst || o.kept {
		return nil
	}
	return o.burst()
}

// burst is take for a caller that holds mu.
func (o *outbox) burst() []message {
	o.kept = false
	if !o.due() {
		return nil
	}
	n, size := 0, 0
	for n < len(o.messages) && (n == 0 || size+len(o.messages[n].data) <= maxBurst) {
		size += len(o.messages[n].data)
		n++
	}
	burst := o.messages[:n:n]
	if o.messages = o.messages[n:]; len(o.messages) == 0 {
		o.messages = nil
	}
	o.size -= size
	o.freed.Broadcast()
	return burst
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
		o.changed.Signal() // what was queued to go out later goes now
	}
	for o.size > roomToAnswer && !o.closed {
		o.freed.Wait()
	}
}

func (o *outbox) close() (overflowed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.messages = nil
	o.endLinger()
	o.changed.Broadcast()
	o.freed.Broadcast()
	return o.overflow
}

// notice is a notification as it goes over the wire.
func notice(n *api.Notification) message {
	data, err := proto.Marshal(&api.ServerOriginatedMessage{
		Submessage: &api.ServerOriginatedMessage_Notification{Notification: n},
	})
	if err != nil {
		return message{} // cannot happen: text was made valid before
	}
	return message{data: data}
}
