package host

import (
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"termpilot/fault"
	"termpilot/iterm/api"
)

const (
	// writePatience is how long a client may leave a full socket unread.
	writePatience = 30 * time.Second
	// maxSlow is how many requests that take time one client may have open.
	maxSlow = 64
)

// client is one connection to the API.
type client struct {
	host *server
	ws   *websocket.Conn
	wire *wire
	pen  sync.Mutex // held by who writes messages
	out  *outbox
	slow chan struct{} // tokens of the requests that take time
	wg   sync.WaitGroup
	left atomic.Bool // calls no function of it any more

	mu            sync.Mutex
	subscriptions map[subscription]modes
	patterns      map[subscription][]*api.KeystrokePattern // keys that it keeps from sessions
}

// serveClient serves a client of the host's own socket.
func (h *server) serveClient(conn *net.UnixConn) { h.serveConn(conn, anyCookie) }

// serveConn talks to one client until it leaves, breaks the protocol, or
// falls too far behind. It returns after all that it started has stopped.
func (h *server) serveConn(conn *net.UnixConn, admits func(cookie string) bool) {
	ws, wire, err := upgrade(conn, admits)
	if err != nil {
		_ = conn.Close()
		h.log.Debug("client refused", "error", err)
		return
	}
	c := &client{
		host: h, ws: ws, wire: wire, out: newOutbox(func() { _ = ws.Close() }), slow: make(chan struct{}, maxSlow),
		subscriptions: map[subscription]modes{}, patterns: map[subscription][]*api.KeystrokePattern{},
	}
	c.out.now = c.writeNow
	wire.idle = c.out.wake // answers to requests that came together go out together
	wire.more = c.out.keep
	h.hub.add(c)
	c.wg.Go(func() {
		c.write()
		c.out.close()  // the reader may wait for room in it
		_ = ws.Close() // ends the reading, too
	})
	c.read()
	h.frozen.end(c)
	h.hub.remove(c)
	h.calls.forget(c)
	if c.out.close() {
		h.log.Warn("client dropped: it reads too slowly")
	}
	_ = ws.Close()
	c.wg.Wait()
}

// write sends what does not go without waiting.
func (c *client) write() {
	for c.out.await() {
		if c.writePatiently() != nil {
			return
		}
	}
}

func (c *client) writePatiently() error {
	c.pen.Lock()
	defer c.pen.Unlock()
	burst := c.out.take()
	c.wire.hold(true)
	if err := c.put(burst); err != nil {
		return err
	}
	return c.wire.release()
}

// writeNow sends what is queued without waiting, if that is little and nobody
// else writes: whoever has something to say says it, because waking the writer
// would take longer than writing. It reports whether the writer has nothing to do.
func (c *client) writeNow() bool {
	if !c.pen.TryLock() {
		return false
	}
	defer c.pen.Unlock()
	burst := c.out.takeLittle()
	if burst == nil {
		return false
	}
	c.wire.hold(false)
	err := c.put(burst)
	all, failed := c.wire.releaseNow()
	switch {
	case err != nil || failed != nil:
		_ = c.ws.Close()
	case !all:
		c.out.keep()
	}
	return true
}

// put hands messages to the wire, which is held. pen is held.
func (c *client) put(burst []message) error {
	for i, m := range burst {
		if err := c.ws.WriteMessage(websocket.BinaryMessage, m.data); err != nil {
			return err
		}
		burst[i].data = nil
	}
	return nil
}

// reading leaves out what this host does not know, which would be kept with what it does.
var reading = proto.UnmarshalOptions{DiscardUnknown: true}

// read takes requests in order. Text messages and what is no protobuf get no
// answer, as from the API's own server.
func (c *client) read() {
	for {
		c.out.room()
		kind, data, err := c.ws.ReadMessage()
		if err != nil {
			return
		}
		if kind != websocket.BinaryMessage {
			continue
		}
		in := &api.ClientOriginatedMessage{}
		if err := reading.Unmarshal(data, in); err != nil {
			continue
		}
		c.out.hurry()
		c.answer(in)
	}
}

// answer finds the row of a request and answers it: at once and in order, or,
// when it takes time, beside the others. While another client's transaction is
// open it waits, and what takes time waits for the client's own to end as well.
func (c *client) answer(in *api.ClientOriginatedMessage) {
	m := in.ProtoReflect()
	field := m.WhichOneof(submessage())
	if field == nil {
		c.reply(in.GetId(), nil, errUnknownRequest)
		return
	}
	row, ok := requests[field.Number()]
	if !ok {
		c.reply(in.GetId(), nil, errUnknownRequest)
		return
	}
	body := m.Get(field).Message().Interface()
	c.host.frozen.pass(c)
	if !row.slow {
		c.handle(in.GetId(), row, body)
		return
	}
	c.beside(func() { c.handle(in.GetId(), row, body) })
}

// beside answers a request that takes time beside the others, when no
// transaction is open.
func (c *client) beside(answer func()) {
	c.slow <- struct{}{}
	c.wg.Go(func() {
		defer func() { <-c.slow }()
		c.host.frozen.thaw()
		answer()
		c.out.wake()
	})
}

// survive answers a request by a fault of ours in it, which ends neither the
// client nor the host, with all its sessions.
func (c *client) survive(answer func(error)) {
	if cause := recover(); cause != nil {
		c.host.log.Error("a request failed", "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		answer(&fault.Error{Op: "answer", Code: fault.Internal, Detail: "the host failed", Hint: "report what is in its log"})
	}
}

// handle answers one request.
func (c *client) handle(id int64, row row, body proto.Message) {
	defer c.survive(func(err error) { c.reply(id, nil, err) })
	if row.late != nil {
		row.late(c, body, func(out proto.Message, err error) {
			c.reply(id, out, err)
			c.out.wake()
		})
		return
	}
	out, err := row.handle(c, body)
	c.reply(id, out, err)
}

// What the envelopes hold. The descriptors are read when they are first asked
// for: most processes that link the host only dial it.
var (
	submessage = sync.OnceValue(func() protoreflect.OneofDescriptor {
		return (&api.ClientOriginatedMessage{}).ProtoReflect().Descriptor().Oneofs().ByName("submessage")
	})
	answers = sync.OnceValue(func() protoreflect.FieldDescriptors {
		return (&api.ServerOriginatedMessage{}).ProtoReflect().Descriptor().Fields()
	})
)

// reply sends an answer: an error as the API's error text, no body as an id alone.
func (c *client) reply(id int64, body proto.Message, err error) {
	out := &api.ServerOriginatedMessage{Id: proto.Int64(id)}
	switch {
	case err != nil:
		out.Submessage = &api.ServerOriginatedMessage_Error{Error: errorText(err)}
	case body != nil && body.ProtoReflect().IsValid():
		out.ProtoReflect().Set(answerField(body), protoreflect.ValueOfMessage(body.ProtoReflect()))
	}
	data, err := proto.Marshal(out)
	if err != nil {
		c.host.log.Error("an answer cannot be encoded", "error", err)
		return
	}
	c.out.later(message{data: data}) // the reader wakes it before it waits for the next request
}

// answerField finds the envelope's field for a kind of answer.
func answerField(body proto.Message) protoreflect.FieldDescriptor {
	name := body.ProtoReflect().Descriptor().FullName()
	fields := answers()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Message() != nil && f.Message().FullName() == name {
			return f
		}
	}
	panic("host: no answer field for " + string(name)) // the table's types rule this out
}
