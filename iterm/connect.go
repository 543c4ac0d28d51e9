package iterm

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/websocket"

	"termpilot/fault"
)

// What the iTerm2 API asks of an upgrade request.
const (
	endpoint      = "ws://localhost/"
	subprotocol   = "api.iterm2.com"
	headerVersion = "X-Iterm2-Protocol-Version"
)

// backoff keeps a terminal that refuses connections from being asked at once
// again, by this client at least.
type backoff struct {
	wait  time.Duration
	until time.Time
	err   error
}

const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

func (b *backoff) failed(now time.Time, err error) {
	b.wait = min(max(2*b.wait, firstPause), lastPause)
	b.until, b.err = now.Add(b.wait), err
}

// unreachable is a failed connection; refused is set when something listened.
type unreachable struct {
	refused bool
	err     error
}

func (e *unreachable) Error() string { return e.err.Error() }
func (e *unreachable) Unwrap() error { return e.err }

// connect returns the living connection, or makes one. Callers that come at
// the same time share the attempt.
func (c *Client) connect(ctx context.Context) (*link, error) {
	if l, err := c.living(); l != nil || err != nil {
		return l, err
	}
	caller := ctx
	if caller.Err() != nil {
		return nil, &lateError{cause: context.Cause(caller)}
	}
	ctx, cancel := context.WithTimeout(caller, c.o.Deadline)
	defer cancel()
	select {
	case c.dialing <- struct{}{}:
		defer func() { <-c.dialing }()
	case <-ctx.Done():
		return nil, &lateError{cause: context.Cause(ctx)}
	}
	if l, err := c.living(); l != nil || err != nil {
		return l, err
	}
	if err := c.holdOff(ctx); err != nil {
		return nil, err
	}
	l, err := c.dial(ctx)
	if err != nil {
		if caller.Err() != nil {
			return nil, &lateError{cause: context.Cause(caller)}
		}
		if over(caller, ctx, err) {
			return nil, &lateError{cause: context.DeadlineExceeded}
		}
		return nil, c.noteFailure(err)
	}
	return c.adopt(l)
}

// over reports whether an attempt failed because its caller's time was over,
// not the client's own. A socket can notice a deadline a moment before the
// context does.
func over(caller, ctx context.Context, err error) bool {
	callers, has := caller.Deadline()
	effective, _ := ctx.Deadline()
	return has && callers.Equal(effective) && errors.Is(err, os.ErrDeadlineExceeded)
}

// living returns the connection if there is one that was not lost.
func (c *Client) living() (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &fault.Error{Code: fault.BackendUnavailable, Detail: "the client is closed", Hint: "start termpilot again"}
	}
	if c.link != nil && !c.link.isLost() {
		return c.link, nil
	}
	return nil, nil
}

// holdOff waits out a short pause; inside a long one it answers with the error
// that began it.
func (c *Client) holdOff(ctx context.Context) error {
	c.mu.Lock()
	left, err := time.Until(c.pause.until), c.pause.err
	c.mu.Unlock()
	if left <= 0 {
		return nil
	}
	if left > firstPause {
		return err
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return &lateError{cause: context.Cause(ctx)}
	}
}

// noteFailure makes a fault of a failed attempt. Only a terminal that listens
// and refuses is left alone for a while: finding that nobody listens is cheap.
func (c *Client) noteFailure(err error) error {
	var failed *unreachable
	if !errors.As(err, &failed) {
		return err
	}
	var known *fault.Error
	if !errors.As(failed.err, &known) {
		known = &fault.Error{
			Code: fault.BackendUnavailable, Detail: c.o.Name + " cannot be reached", Hint: c.reachHint(), Err: failed.err,
		}
	}
	if !failed.refused {
		return &unreachable{err: known}
	}
	c.mu.Lock()
	c.pause.failed(time.Now(), known)
	c.mu.Unlock()
	return known
}

// adopt makes l the client's connection and winds up the one that it replaces.
func (c *Client) adopt(l *link) (*link, error) {
	c.mu.Lock()
	old, closed := c.link, c.closed
	if !closed {
		c.link, c.pause = l, backoff{}
	}
	c.mu.Unlock()
	if old != nil {
		old.close()
	}
	if closed {
		l.close()
		return nil, &fault.Error{Code: fault.BackendUnavailable, Detail: "the client is closed", Hint: "start termpilot again"}
	}
	c.o.Log.Debug("terminal connected", "backend", c.o.Name, "protocol", l.version)
	return l, nil
}

// dial makes a connection. Cookies work once, so a refused one is replaced
// once: it may have been taken from the environment by an earlier connection.
func (c *Client) dial(ctx context.Context) (*link, error) {
	l, status, err := c.upgrade(ctx)
	if status == http.StatusUnauthorized && c.o.Credentials != nil {
		again, status, errAgain := c.upgrade(ctx)
		if errAgain == nil || status != 0 { // without a second cookie, the first refusal is the news
			return again, errAgain
		}
	}
	return l, err
}

// upgrade dials and does the handshake. The status is that of a refusal.
func (c *Client) upgrade(ctx context.Context) (*link, int, error) {
	header := http.Header{}
	header.Set("Origin", endpoint)
	header.Set("X-Iterm2-Library-Version", c.o.Library)
	header.Set("X-Iterm2-Disable-Auth-Ui", "true") // fail instead of asking in a dialog
	header.Set("X-Iterm2-Advisory-Name", "termpilot")

	raw, err := c.o.Dial(ctx)
	if err != nil {
		return nil, 0, &unreachable{err: err}
	}
	// Only now: a cookie may be made by a terminal that must not be started by asking.
	if c.o.Credentials != nil {
		cookie, key, err := c.o.Credentials(ctx)
		if err != nil {
			raw.Close()
			return nil, 0, &unreachable{refused: true, err: err}
		}
		if cookie != "" {
			header.Set("X-Iterm2-Cookie", cookie)
		}
		if key != "" {
			header.Set("X-Iterm2-Key", key)
		}
	}
	wire := &wire{Conn: raw}
	dialer := websocket.Dialer{
		NetDialContext:   wire.dial,
		HandshakeTimeout: c.o.Deadline,
		Subprotocols:     []string{subprotocol},
		WriteBufferSize:  maxMessage,
		ReadBufferSize:   16 << 10,
	}
	ws, response, err := dialer.DialContext(ctx, endpoint, header)
	if err != nil {
		raw.Close()
		status := 0
		if response != nil {
			status = response.StatusCode
		}
		return nil, status, &unreachable{refused: true, err: refused(c.o.Name, status, err)}
	}
	if ws.Subprotocol() != subprotocol {
		ws.Close()
		return nil, 0, &unreachable{refused: true, err: &fault.Error{
			Code: fault.Protocol, Detail: "the server does not speak " + subprotocol, Hint: "check that the socket is " + c.o.Name + "'s",
		}}
	}
	return newLink(c, ws, wire, response.Header.Get(headerVersion)), 0, nil
}

// refused names the reason of a failed handshake.
func refused(name string, status int, err error) error {
	f := &fault.Error{Code: fault.BackendUnavailable, Err: err}
	switch status {
	case http.StatusUnauthorized:
		f.Detail = name + " did not authorise this program"
		f.Hint = "allow it under Settings > General > Magic, or give a fresh ITERM2_COOKIE"
	case http.StatusNotAcceptable:
		f.Code, f.Detail, f.Hint = fault.Protocol, name+" wants a newer client", "update termpilot"
	case 0:
		f.Detail, f.Hint = name+" broke off the handshake", "check that it runs and try again"
	default:
		f.Code, f.Detail = fault.Protocol, "the handshake was refused"
		f.Hint = "check that the socket is " + name + "'s"
	}
	return f
}
