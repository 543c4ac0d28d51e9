package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long calls may take to notice that they were cancelled.
// A process that has lost its client must be gone within two seconds.
const patience = 1200 * time.Millisecond

// ServeStdio serves one client on in and out, one JSON message a line, by m, and
// calls of tools by direct where that is enough, until the input ends, ctx ends or
// the output breaks. Then the calls that are still open are cancelled, and it
// returns when they have ended, or after at most two seconds with [ErrStuck]. It
// returns nil for the end of the input and of ctx, and the cause when
// the output broke.
//
// The values of ctx are those of the contexts under which messages are handled,
// and [ClientOf] is among them where direct does not answer.
//
// If in is an [io.Closer] it is closed on return. A read that the operating
// system does not interrupt, as on a process's own standard input, may outlive
// the call; it takes nothing more than what it was waiting for.
func ServeStdio(ctx context.Context, m *mcp.Server, direct Direct, in io.Reader, out io.Writer) error {
	c := newConn(context.WithoutCancel(ctx), in, out, direct)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	handling := context.WithValue(context.WithoutCancel(ctx), clientKey{}, &Client{c})
	session, err := m.Connect(handling, c, nil)
	if err != nil {
		_ = c.Close()
		return fmt.Errorf("serve stdio: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = session.Wait() // its error is the end of the input, or c.failure
		c.flight.finished()
	}()
	select {
	case <-ended:
	case <-c.over:
		err = c.awaitEnd(ended)
	}
	_ = c.Close()
	if closer, ok := in.(io.Closer); ok {
		_ = closer.Close()
	}
	c.settle()
	if broken := c.failure(); broken != nil {
		return fmt.Errorf("serve stdio: write answer: %w", broken)
	}
	return err
}

// ErrStuck says that a call has not ended although it was cancelled.
var ErrStuck = errors.New("serve stdio: a call did not end when it was cancelled")

// awaitEnd waits until every call has ended. A client that does not read its
// answers gets no more than patience either, and that is its own affair.
func (c *conn) awaitEnd(ended <-chan struct{}) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
	}
	_ = c.Close()
	select {
	case <-ended: // only the output held them
		return nil
	case <-time.After(settling):
		return ErrStuck
	}
}

// settling is the time that goroutines need to end once nothing holds them.
const settling = 100 * time.Millisecond

// settle waits for the goroutines of c, but not for one that the operating system holds.
func (c *conn) settle() {
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		c.running.Wait()
	}()
	timer := time.NewTimer(settling)
	defer timer.Stop()
	select {
	case <-settled:
	case <-timer.C:
	}
}
