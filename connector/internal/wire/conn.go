package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long calls may go on after the end of the input: drainSteps times
// drainStep, a quarter of a second. It lets `printf … | termpilot` see its
// answers; longer calls are cancelled. In steps, because a process that the
// machine did not run for a quarter of a second has not had its time.
const (
	drainSteps = 10
	drainStep  = 25 * time.Millisecond
)

// maxErrorText is the longest error message that leaves, in bytes: the SDK
// quotes a whole request in some of its own.
const maxErrorText = 1 << 10

var errClosed = errors.New("connection closed")

// conn is one client on a pair of streams. It is the SDK's transport and its
// connection at once.
type conn struct {
	in     *lines
	out    io.Writer
	flight *flight
	direct Direct
	ctx    context.Context // of the calls that are answered without the SDK

	calls    chan func()          // from read to work
	incoming chan jsonrpc.Message // from read to Read
	outgoing chan outgoing        // from send to pump
	silent   chan struct{}        // closed when the input has ended
	over     chan struct{}        // closed when no more input will be taken
	done     chan struct{}        // closed by Close
	hush     sync.Once            // closes silent
	overOnce sync.Once
	doneOnce sync.Once
	running  sync.WaitGroup // read, pump, and what answers calls without the SDK

	shaken bool // the SDK has seen an initialize; owned by read

	mu  sync.Mutex
	err error // why the output failed
}

type outgoing struct {
	line []byte
	sent chan error
}

func newConn(ctx context.Context, in io.Reader, out io.Writer, direct Direct) *conn {
	c := &conn{
		in: newLines(in, MaxMessage), out: out, flight: newFlight(), direct: direct, ctx: ctx,
		calls: make(chan func()), incoming: make(chan jsonrpc.Message), outgoing: make(chan outgoing),
		silent: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{}),
	}
	c.running.Go(c.read)
	c.running.Go(c.pump)
	c.running.Go(c.work)
	return c
}

// Connect implements [mcp.Transport].
func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements [mcp.Connection]: there is one client, which needs no name.
func (c *conn) SessionID() string { return "" }

// Read returns the next message for the SDK. io.EOF makes the SDK cancel the
// calls that are still open.
func (c *conn) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.over:
		return nil, io.EOF
	case <-c.done:
		return nil, io.EOF
	}
}

// Write sends a message of the SDK's to the client, unless it answers a call
// that was cancelled.
func (c *conn) Write(_ context.Context, m jsonrpc.Message) error {
	resp, ok := m.(*jsonrpc.Response)
	if !ok {
		data, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		return c.send(append(data, '\n'))
	}
	number, _ := resp.ID.Raw().(int64)
	p, ok := c.flight.take(number)
	if !ok {
		return nil
	}
	defer c.flight.land(p)
	if p.id == nil {
		return nil
	}
	a := answer{}
	if !p.cancelled {
		a = answer{Version: "2.0", ID: p.id, Result: resp.Result, Error: wireError(resp.Error)}
	}
	return c.deliver(p.batch, a)
}

// deliver sends an answer, at once or with the rest of its batch. The zero
// answer is not sent.
func (c *conn) deliver(b *batch, a answer) error {
	if b != nil {
		all, complete := c.flight.join(b, a)
		if !complete || len(all) == 0 {
			return nil
		}
		return c.sendAnswers(all, true)
	}
	if a.Version == "" {
		return nil
	}
	return c.sendAnswers([]answer{a}, false)
}

// sendAnswers sends one answer, or those of a batch.
func (c *conn) sendAnswers(all []answer, isBatch bool) error {
	line, err := encode(all, isBatch)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return c.send(line)
}

// send hands a line to pump and waits until it is written.
func (c *conn) send(line []byte) error {
	o := outgoing{line: line, sent: make(chan error, 1)}
	select {
	case c.outgoing <- o:
	case <-c.done:
		return errClosed
	}
	select {
	case err := <-o.sent:
		return err
	case <-c.done:
		return errClosed
	}
}

// pump writes lines one after the other. It is a goroutine of its own so that
// a client that does not read can hold up the writing but not the ending.
func (c *conn) pump() {
	for {
		select {
		case o := <-c.outgoing:
			_, err := c.out.Write(o.line)
			if err != nil {
				c.fail(err) // before anybody hears of it: ServeStdio asks for the cause
				o.sent <- err
				return
			}
			o.sent <- nil
		case <-c.done:
			return
		}
	}
}

// fail notes that the output is broken: nobody can be answered any more.
func (c *conn) fail(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	_ = c.Close()
}

// failure returns why the output broke, or nil.
func (c *conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// quiet ends what lasts until the client has no more to say.
func (c *conn) quiet() { c.hush.Do(func() { close(c.silent) }) }

// end stops taking input.
func (c *conn) end() {
	c.quiet()
	c.overOnce.Do(func() {
		close(c.over)
		c.flight.close()
	})
}

// Close stops everything but a read or write that the operating system holds.
func (c *conn) Close() error {
	c.end()
	c.doneOnce.Do(func() { close(c.done) })
	return nil
}

// read takes lines until the input ends, then gives the open calls a moment.
func (c *conn) read() {
	defer c.end()
	for {
		line, err := c.in.next()
		switch {
		case errors.Is(err, errTooLong):
			err = c.deliver(nil, invalid(nil, fmt.Sprintf("a message is at most %d bytes", MaxMessage)).answer())
		case err == nil:
			err = c.take(line)
		}
		if err != nil {
			break
		}
	}
	c.quiet()
	c.drain()
}

// drain waits until the open calls are answered, or have had their time.
func (c *conn) drain() {
	answered := make(chan struct{})
	var clock sync.WaitGroup
	clock.Go(func() {
		defer c.end()
		for range drainSteps {
			select {
			case <-time.After(drainStep):
			case <-answered:
				return
			}
		}
	})
	c.flight.drained()
	close(answered)
	clock.Wait()
}

// take handles a line. An error ends the input.
func (c *conn) take(line []byte) error {
	ms, rs, isBatch := parse(line)
	var b *batch
	if isBatch {
		b = &batch{open: 1 + len(rs)} // one for this function, so that the batch is not complete too early
		for _, m := range ms {
			if m.kind == call {
				b.open++
			}
		}
	}
	for _, r := range rs {
		if err := c.deliver(b, r.answer()); err != nil {
			return err
		}
	}
	for _, m := range ms {
		if err := c.pass(m, b, len(line)/len(ms)); err != nil {
			return err
		}
	}
	if b != nil {
		return c.deliver(b, answer{})
	}
	return nil
}

// pass hands a message to the SDK, or answers it.
func (c *conn) pass(m message, b *batch, size int) error {
	switch m.kind {
	case reply:
		if msg, err := jsonrpc.DecodeMessage(m.raw); err == nil {
			return c.hand(msg)
		}
		return nil
	case notification:
		if m.method == methodCancelled {
			return c.cancel(m)
		}
		return c.hand(&jsonrpc.Request{Method: m.method, Params: m.params})
	}
	p := &pending{id: m.id, key: key(m.id), size: size, batch: b}
	called, isPlain := c.plain(m)
	if isPlain {
		p.ctx, p.cancel = context.WithCancel(c.ctx)
	} else if err := c.shake(m); err != nil {
		return err
	}
	number, used, ok := c.flight.admit(p)
	switch {
	case !ok:
		return errClosed
	case used:
		return c.deliver(b, invalid(nil, fmt.Sprintf("id %s is in use by a call that is not answered yet", Clip(string(m.id), 80))).answer())
	case isPlain:
		c.begin(number, p, called)
		return nil
	}
	params := m.params
	if m.method == methodListen {
		params = withRequestID(params, m.id)
	}
	return c.hand(&jsonrpc.Request{ID: numbered(number), Method: m.method, Params: params})
}

// shake performs the handshake on behalf of a client that skips it: a tunnel
// that was restarted sends tools/call first.
func (c *conn) shake(m message) error {
	switch {
	case c.shaken, m.method == methodPing, m.method == methodDiscover:
		return nil
	case m.method == methodInitialize:
		c.shaken = true
		return nil
	case standsAlone(m.params):
		return nil
	}
	c.shaken = true
	number, _, ok := c.flight.admit(&pending{})
	if !ok {
		return errClosed
	}
	params := json.RawMessage(`{"protocolVersion":"` + handshakeVersion + `","capabilities":{},"clientInfo":{"name":"unknown","version":"0"}}`)
	if err := c.hand(&jsonrpc.Request{ID: numbered(number), Method: methodInitialize, Params: params}); err != nil {
		return err
	}
	return c.hand(&jsonrpc.Request{Method: methodInitialized, Params: json.RawMessage(`{}`)})
}

// cancel ends the context of a call, or passes its cancellation on with the SDK's
// number in place of the client's id.
func (c *conn) cancel(m message) error {
	var p map[string]json.RawMessage
	if err := json.Unmarshal(m.params, &p); err != nil || len(p["requestId"]) == 0 {
		return nil
	}
	number, ok := c.flight.cancel(p["requestId"])
	if !ok {
		return nil // already answered, never sent, or told
	}
	params := fmt.Appendf(nil, `{"requestId":%d}`, number)
	return c.hand(&jsonrpc.Request{Method: m.method, Params: params})
}

func (c *conn) hand(m jsonrpc.Message) error {
	select {
	case c.incoming <- m:
		return nil
	case <-c.over:
		return errClosed
	}
}

func numbered(n int64) jsonrpc.ID {
	id, _ := jsonrpc.MakeID(float64(n)) // exact: n counts calls
	return id
}

// wireError makes an error of the SDK's fit to be sent: never code 0, which is
// none of JSON-RPC's, and never longer than maxErrorText.
func wireError(err error) *jsonrpc.Error {
	if err == nil {
		return nil
	}
	w := jsonrpc.Error{Code: jsonrpc.CodeInternalError}
	if inner, ok := errors.AsType[*jsonrpc.Error](err); ok {
		w.Data = inner.Data
		if inner.Code != 0 {
			w.Code = inner.Code
		}
	}
	w.Message = Clip(err.Error(), maxErrorText)
	return &w
}
