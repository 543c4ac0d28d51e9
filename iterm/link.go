package iterm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

var errDisconnected = errors.New("the client was closed")

// link is one connection and everything known through it: requests under way,
// the topology and the watchers. When it is lost it stays lost; the client
// makes another.
type link struct {
	client  *Client
	log     *slog.Logger
	ws      *websocket.Conn
	wire    *wire
	version string

	queue chan []*call  // to the writer
	lost  chan struct{} // closed when the connection is over
	cause error         // why; set before lost is closed
	once  sync.Once
	both  sync.WaitGroup // reader and writer

	mu      sync.Mutex
	lastID  int64
	pending map[int64]*call

	screens  sync.Mutex                  // makes one step of a change of watchers and its request; see watch.go
	warm     map[terminal.ID]*time.Timer // cancels what nobody watches any more; screens guards it
	state    state
	topology stage // windows, focus, broadcast domains; see sync.go
	details  stage // variables and prompts
}

// call is one request, and the place of its answer.
type call struct {
	request *api.ClientOriginatedMessage
	// apply, if set, is run by the reader when the answer comes, so that what it
	// stores keeps its place in the order of the terminal's messages. An error means
	// that the answer cannot be understood.
	apply func(*api.ServerOriginatedMessage) error
	names []string // of the variables that are asked for
	ours  bool     // the answer is an error of termpilot's host

	bytes  []byte
	state  atomic.Int32
	done   chan struct{} // closed when answer is set
	answer *api.ServerOriginatedMessage
}

// The states of a call.
const (
	queued int32 = iota
	sent
	abandoned
)

func newLink(c *Client, ws *websocket.Conn, w *wire, version string) *link {
	l := &link{
		client: c, log: c.o.Log, ws: ws, wire: w, version: terminal.OneLine(version, 16),
		queue: make(chan []*call, 16), lost: make(chan struct{}), pending: make(map[int64]*call), warm: make(map[terminal.ID]*time.Timer),
		topology: newStage(), details: newStage(),
	}
	l.state.init(c)
	ws.SetReadLimit(maxAnswer)
	l.both.Add(2)
	go l.readAll()
	go l.writeAll()
	return l
}

// close ends the connection and returns when its goroutines have ended.
func (l *link) close() {
	l.fail(errDisconnected)
	l.both.Wait()
	l.screens.Lock()
	defer l.screens.Unlock()
	for _, timer := range l.warm {
		timer.Stop()
	}
	clear(l.warm)
}

func (l *link) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// fail ends the connection for a reason. Only the first reason counts.
func (l *link) fail(cause error) {
	l.once.Do(func() {
		l.cause = cause
		close(l.lost)
		l.ws.Close()
		l.state.disconnected(&lostError{sent: true, cause: cause})
		l.log.Debug("terminal connection ended", "backend", l.client.o.Name, "cause", cause)
	})
}

// do sends requests in one burst and waits until all are answered. A nil error
// means that every call has its answer, which may still be an error of the
// terminal's: see answerOf.
func (l *link) do(ctx context.Context, calls ...*call) error {
	return l.within(ctx, l.client.o.Deadline, calls...)
}

func (l *link) within(ctx context.Context, limit time.Duration, calls ...*call) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if ctx.Err() != nil {
		return &lateError{cause: context.Cause(ctx)}
	}
	if err := l.post(ctx, calls); err != nil {
		return err
	}
	return l.await(ctx, calls)
}

// await waits until every posted call has its answer.
func (l *link) await(ctx context.Context, calls []*call) error {
	for _, c := range calls {
		if isDone(c) {
			continue
		}
		select {
		case <-c.done:
		case <-l.lost:
			if !isDone(c) {
				return &lostError{sent: l.abandon(calls), cause: l.cause}
			}
		case <-ctx.Done():
			return &lateError{sent: l.abandon(calls), cause: context.Cause(ctx)}
		}
	}
	return nil
}

func isDone(c *call) bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// post numbers and encodes the requests and hands them to the writer.
func (l *link) post(ctx context.Context, calls []*call) error {
	for _, c := range calls {
		c.done = make(chan struct{})
		l.mu.Lock()
		l.lastID++ // from 1: a notification has no id, which reads as 0
		id := l.lastID
		l.mu.Unlock()
		c.request.Id = proto.Int64(id)
		var err error
		if c.bytes, err = proto.Marshal(c.request); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		if len(c.bytes) > maxMessage {
			return &fault.Error{
				Code: fault.TooLarge, Detail: fmt.Sprintf("the request has %d bytes, of at most %d", len(c.bytes), maxMessage),
				Hint: "send it in parts",
			}
		}
	}
	l.mu.Lock()
	for _, c := range calls {
		l.pending[c.request.GetId()] = c
	}
	l.mu.Unlock()
	select {
	case l.queue <- calls:
		return nil
	case <-l.lost:
		l.abandon(calls)
		return &lostError{cause: l.cause}
	case <-ctx.Done():
		l.abandon(calls)
		return &lateError{cause: context.Cause(ctx)}
	}
}

// abandon gives up on calls: those not yet sent never will be, and late answers
// are dropped. It reports whether any had been sent.
func (l *link) abandon(calls []*call) bool {
	anySent := false
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range calls {
		delete(l.pending, c.request.GetId())
		if !c.state.CompareAndSwap(queued, abandoned) {
			anySent = true
		}
	}
	return anySent
}

// writeAll is the writer: it sends what is queued, as much at once as there is.
func (l *link) writeAll() {
	defer l.both.Done()
	for {
		select {
		case <-l.lost:
			return
		case calls := <-l.queue:
			if err := l.writeBurst(calls); err != nil {
				l.fail(err)
				return
			}
		}
	}
}

func (l *link) writeBurst(calls []*call) error {
	l.wire.hold()
	for {
		for _, c := range calls {
			if !c.state.CompareAndSwap(queued, sent) {
				continue
			}
			if err := l.ws.WriteMessage(websocket.BinaryMessage, c.bytes); err != nil {
				return err
			}
		}
		select {
		case calls = <-l.queue:
		default:
			return l.wire.release()
		}
	}
}

// readAll is the reader: it takes every message in the order of its arrival.
func (l *link) readAll() {
	defer l.both.Done()
	var buffer bytes.Buffer
	for {
		kind, r, err := l.ws.NextReader()
		if err != nil {
			l.fail(brokenFrame(err))
			return
		}
		if kind != websocket.BinaryMessage {
			continue
		}
		buffer.Reset()
		if _, err := buffer.ReadFrom(r); err != nil {
			l.fail(brokenFrame(err))
			return
		}
		if err := l.receive(buffer.Bytes()); err != nil {
			l.fail(err)
			return
		}
		if buffer.Cap() > 1<<20 { // one huge screen need not be paid for ever
			buffer = bytes.Buffer{}
		}
	}
}

// brokenFrame tells a peer that breaks WebSocket's rules from one that left.
func brokenFrame(err error) error {
	if errors.Is(err, websocket.ErrReadLimit) {
		return violation(fmt.Sprintf("an answer is longer than %d bytes", maxAnswer))
	}
	var closed *websocket.CloseError
	if errors.As(err, &closed) && closed.Code == websocket.CloseProtocolError {
		return violation("the server reports a protocol error")
	}
	return err
}

// receive takes one message of the terminal. An error ends the connection.
func (l *link) receive(data []byte) error {
	m := &api.ServerOriginatedMessage{}
	if err := proto.Unmarshal(data, m); err != nil {
		return violation("a message cannot be decoded")
	}
	if n := m.GetNotification(); n != nil {
		return l.state.notified(n)
	}
	l.mu.Lock()
	c := l.pending[m.GetId()]
	delete(l.pending, m.GetId())
	l.mu.Unlock()
	if c == nil { // the answer to a request that was given up, or an error that names none
		return nil
	}
	if c.apply != nil {
		if err := c.apply(m); err != nil {
			return err
		}
	}
	if _, failed := m.GetSubmessage().(*api.ServerOriginatedMessage_Error); failed {
		c.ours = l.state.isOurs()
	}
	c.answer = m
	close(c.done)
	return nil
}

// exchange makes a call and returns the expected response to it.
func exchange[R any](ctx context.Context, l *link, c *call, get func(*api.ServerOriginatedMessage) *R) (*R, error) {
	if err := l.do(ctx, c); err != nil {
		return nil, err
	}
	return answerOf(c, get)
}

// answerOf picks the expected response out of a call's answer.
func answerOf[R any](c *call, get func(*api.ServerOriginatedMessage) *R) (*R, error) {
	if r := get(c.answer); r != nil {
		return r, nil
	}
	switch s := c.answer.GetSubmessage().(type) {
	case *api.ServerOriginatedMessage_Error:
		if f, ok := hostFault(s.Error); ok && c.ours {
			return nil, f
		}
		return nil, refusal(s.Error)
	case nil:
		return nil, violation("an answer holds nothing")
	default:
		return nil, violation("an answer is of another kind than its request")
	}
}
