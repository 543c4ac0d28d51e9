// Package iterm is the client of the iTerm2 API: it makes a [terminal.Backend]
// of iTerm2 itself, or of termpilot's own host, which serves the same API.
//
// One WebSocket connection carries everything. It is made by the first call
// that needs it and made anew by the next call after it was lost, with its
// subscriptions and the whole topology read again. What the terminal tells by
// notification is kept, so that listing sessions costs no request once warm.
//
// What the client promises is in specs/iterm.md (ITERM-n).
package iterm

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Options says how to reach a terminal. Name and Dial are required.
type Options struct {
	// Name is what Backend.Name answers: "host" or "iterm2".
	Name string
	// Dial connects to the terminal's socket. It is called once per connection
	// and must start nothing.
	Dial func(ctx context.Context) (net.Conn, error)
	// Credentials returns the cookie and key for one connection; iTerm2 takes a
	// cookie only once. Nil or an empty cookie sends none. It is asked again, once,
	// when the terminal refuses the first.
	Credentials func(ctx context.Context) (cookie, key string, err error)
	// Start makes the terminal run and returns when it listens. Only Open calls
	// it, and only when Dial failed. Nil: the terminal is never started.
	Start func(ctx context.Context) error
	// Library is this client's name and version for the terminal, two words;
	// "" is "go 1.0".
	Library string
	// Deadline is the longest that a call waits for a connection, and for the
	// answers to each burst of its requests; 0 is 5 s. A context may shorten it.
	Deadline time.Duration
	// SlowDeadline is the same for Open and Close, which may wait for a person;
	// 0 is 30 s.
	SlowDeadline time.Duration
	// Queue is how many events a watcher may fall behind before it gets a
	// Resync; 0 is 256.
	Queue int
	// Log gets short facts, never text of a session. Nil is silent.
	Log *slog.Logger

	keys *keyring // of ITerm2, for its checks
}

const (
	defaultDeadline     = 5 * time.Second
	defaultSlowDeadline = 30 * time.Second
	defaultQueue        = 256
	maxKnown            = 4096 // ids remembered to tell "ended" from "never was"
)

// Client is a terminal reached over the iTerm2 API. It implements
// [terminal.Backend], [terminal.Finder], [terminal.Ender], [terminal.Broadcaster],
// [terminal.Prompter], [terminal.Typer], [terminal.Keyer], [terminal.Profiler],
// [terminal.Arranger] and [terminal.GroupCloser]. Its methods may be called from
// several goroutines.
type Client struct {
	o      Options
	linger time.Duration // lingering

	dialing chan struct{} // holds one token while a connection is being made

	mu     sync.Mutex
	link   *link
	closed bool
	pause  backoff
	known  map[terminal.ID]time.Time // ids seen alive; when they ended, or zero
}

var (
	_ terminal.Backend     = (*Client)(nil)
	_ terminal.Finder      = (*Client)(nil)
	_ terminal.Ender       = (*Client)(nil)
	_ terminal.Broadcaster = (*Client)(nil)
	_ terminal.Prompter    = (*Client)(nil)
	_ terminal.Typer       = (*Client)(nil)
	_ terminal.Keyer       = (*Client)(nil)
	_ terminal.Profiler    = (*Client)(nil)
	_ terminal.Arranger    = (*Client)(nil)
	_ terminal.GroupCloser = (*Client)(nil)
)

// New returns a client. It connects when it is first used.
func New(o Options) *Client {
	if words := strings.Fields(o.Library); len(words) > 1 {
		o.Library = words[0] + " " + strings.Join(words[1:], "-") // iTerm2 demands exactly two words
	} else {
		o.Library = "go 1.0"
	}
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.SlowDeadline <= 0 {
		o.SlowDeadline = defaultSlowDeadline
	}
	if o.Queue <= 0 {
		o.Queue = defaultQueue
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{o: o, dialing: make(chan struct{}, 1), known: make(map[terminal.ID]time.Time), linger: lingering}
}

// Name returns Options.Name.
func (c *Client) Name() string { return c.o.Name }

// Disconnect ends the connection and every watch, and refuses further calls. It
// returns when all has stopped. Sessions live on. It may be called twice.
func (c *Client) Disconnect() error {
	c.mu.Lock()
	c.closed = true
	l := c.link
	c.link = nil
	c.mu.Unlock()
	if l != nil {
		l.close()
	}
	return nil
}

// remember notes that a session lives, or when it ended.
func (c *Client) remember(id terminal.ID, ended time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[id]; !ok && len(c.known) >= maxKnown {
		for old := range c.known { // any one: only the wording of an error depends on it
			delete(c.known, old)
			break
		}
	}
	c.known[id] = ended
}

// recall says whether a session was ever seen, and when it ended.
func (c *Client) recall(id terminal.ID) (ended time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended, known = c.known[id]
	return ended, known
}

// exact reports whether id could be a session's GUID. Words that the protocol
// gives a meaning, such as "active" and "all", never reach the terminal.
func exact(id terminal.ID) bool {
	if len(id) != 36 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'A' && c <= 'F', c >= 'a' && c <= 'f':
		default:
			return false
		}
	}
	return true
}

// read runs f on a connection. Because f has no effect on the terminal, it is
// run once more on a new connection when the first is lost under it.
func (c *Client) read(ctx context.Context, op string, id terminal.ID, f func(*link) error) error {
	var err error
	for range 2 {
		var l *link
		if l, err = c.connect(ctx); err != nil {
			break
		}
		if err = f(l); errors.Is(err, errNotFound) {
			err = c.notFound(ctx, l, op, id)
		}
		if !isLost(err) {
			break
		}
	}
	return c.explain(ctx, op, id, err, false)
}

// notFound tells an ended session from one that never was.
func (c *Client) notFound(ctx context.Context, l *link, op string, id terminal.ID) error {
	if _, known := c.recall(id); known {
		return ended(op, id)
	}
	if !exact(id) {
		return unknown(op, id)
	}
	exit, err := l.exit(ctx, id)
	if err == nil && exit != nil {
		return ended(op, id)
	}
	return unknown(op, id)
}

func ended(op string, id terminal.ID) error {
	return &fault.Error{
		Op: op, Session: string(id), Code: fault.SessionEnded, Detail: "the session has ended",
		Hint: "open a new session, or choose another from the list of sessions",
	}
}

func unknown(op string, id terminal.ID) error {
	return &fault.Error{
		Op: op, Session: string(id), Code: fault.SessionNotFound, Detail: "no session has this id",
		Hint: "list the sessions and use an exact id",
	}
}
