package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/private"
)

// Options says how a host runs. The zero value serves the place that [Paths]
// finds in the process's environment.
type Options struct {
	Version string   // of termpilot, told to programs and clients; "" is "dev"
	Env     []string // what sessions inherit from, and where Paths looks; nil is os.Environ()

	// Idle is how long a host without sessions and clients lives; 0 is 30 minutes,
	// less than 0 for ever.
	Idle time.Duration

	Log *slog.Logger // nil is silence

	location Location
}

const defaultIdle = 30 * time.Minute

func (o Options) folder() string { return o.location.Folder }

// Serve is the host. It claims the location, serves until ctx ends, [Stop]
// asks for it, or it has been idle, then closes its sessions, and returns when
// nothing of it runs any more. BackendUnavailable when another host has the
// location; NotAllowed when a folder of it belongs to another user.
//
// Serve takes over all signals that programs must find at their default; a
// caller that wants to end on SIGTERM cancels ctx (signal.NotifyContext).
//
// When [Start] asked for it in the environment, Serve starts itself once more
// as a process that no client is the parent of, and returns at once.
func Serve(ctx context.Context, o Options) error {
	if os.Getenv(detachVariable) != "" {
		return detach()
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.location, err = Paths(func(name string) string { return lookup(o.Env, name) }); err != nil {
		return err
	}
	claimed, err := occupy(ctx, o.location)
	if err != nil {
		return err
	}
	defer claimed.release()
	defer ownSignals()()

	h := &server{
		options: o, env: o.Env, log: o.Log, started: time.Now(), stop: make(chan struct{}, 1),
		hub:   hub{clients: map[*client]struct{}{}},
		calls: newCalls(), objects: objects{told: map[objectVariable]string{}}, changed: profileChanges{}, preferences: map[string]string{},
		chunks:   sync.Pool{New: func() any { return new([chunk]byte) }},
		sessions: map[string]*session{}, layout: newLayout(), user: map[string]string{}, frozen: newFreeze(),
	}
	clients, visits := newConnections(maxClients), newConnections(maxVisits)
	if h.suite, err = newSuite(o.location.Suite, func(d *door) { h.accept(d, clients, h.serveSuite) }); err != nil {
		return err
	}
	h.log.Info("host listening", "socket", o.location.Socket, "version", o.Version, "pid", os.Getpid())
	h.serve(ctx, claimed, clients, visits)
	h.log.Info("host ended")
	return nil
}

// serve accepts clients of the API, and visits to the second socket, until the
// end is asked for.
func (h *server) serve(ctx context.Context, c *claim, clients, visits *connections) {
	var accepting sync.WaitGroup
	accepting.Go(func() { h.accept(c.api, clients, h.serveClient) })
	accepting.Go(func() { h.accept(c.attach, visits, h.serveAttach) })

	h.housekeep(ctx, c, func() bool { return clients.count()+visits.count() > 0 })

	// The sockets go first, so that nobody finds a host that is ending.
	c.api.close()
	c.attach.close()
	h.suite.close()
	accepting.Wait()
	h.closeAll()
	clients.closeAll()
	visits.see(farewell)
	visits.closeAll()
	h.wg.Wait()
}

// connections are those that are open of one kind: clients that keep all places
// of theirs must not keep a person from asking for the status, or an end.
type connections struct {
	most int

	mu   sync.Mutex
	open map[*net.UnixConn]struct{}
	wg   sync.WaitGroup
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[*net.UnixConn]struct{}{}}
}

func (c *connections) add(conn *net.UnixConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.most {
		return false
	}
	c.open[conn] = struct{}{}
	return true
}

func (c *connections) remove(conn *net.UnixConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// farewell is how long those who are attached may take to read the end.
const farewell = time.Second

// see waits until all have left, or for as long as told.
func (c *connections) see(patience time.Duration) {
	for end := time.Now().Add(patience); c.count() > 0 && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond) // they leave one by one
	}
}

func (c *connections) closeAll() {
	c.mu.Lock()
	for conn := range c.open {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.wg.Wait()
}

// acceptPause is how long the host waits after it could not accept a client.
const acceptPause = 200 * time.Millisecond

func (h *server) accept(d *door, conns *connections, serve func(*net.UnixConn)) {
	for failing := false; ; {
		conn, err := d.accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the folder is gone and cannot be made
			if !failing { // it may last for hours
				h.log.Error("clients cannot be accepted", "socket", d.path, "error", err)
			}
			failing = true
			time.Sleep(acceptPause)
			continue
		}
		failing = false
		if !conns.add(conn) {
			h.log.Warn("client refused: too many")
			_ = conn.Close()
			continue
		}
		conns.wg.Go(func() {
			defer conn.Close()
			defer conns.remove(conn) // who sees that it is closed finds its place free
			serve(conn)
		})
	}
}

// tick is how often the host looks after what nothing announces: marks that
// were lost, watched variables that the kernel knows, its own idleness.
const tick = 250 * time.Millisecond

// lookEvery is after how many ticks a quiet session is looked at even though
// the same job is in front: it may have become another program.
const lookEvery = 16

// housekeep returns when the host is to end.
func (h *server) housekeep(ctx context.Context, c *claim, connected func() bool) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	idleSince := time.Now()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-h.stop:
			return
		case <-ticker.C:
		}
		live := h.everyone()
		for _, s := range live {
			s.checkMarks()
			if n%lookEvery == 0 {
				s.look()
			} else {
				s.lookIfMoved()
			}
		}
		h.lookAtObjects()
		if err := c.keep(); err != nil && n%lookEvery == 0 {
			h.log.Error("the lock's file cannot be made anew", "error", err)
		}
		if len(live) > 0 || connected() {
			idleSince = time.Now()
		}
		if h.options.Idle > 0 && time.Since(idleSince) > h.options.Idle {
			h.log.Info("host ends: idle", "for", h.options.Idle)
			return
		}
		if n%240 == 0 {
			if _, err := private.Trim(h.options.location.Log, maxLog); err != nil {
				h.log.Warn("the log is too long", "err", err)
			}
		}
	}
}

// closeAll ends every session, all at once. No new one is made from now on.
func (h *server) closeAll() {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.frozen.finish()
	var wg sync.WaitGroup
	for _, s := range h.everyone() {
		wg.Go(func() { h.closeSession(s, true) })
	}
	wg.Wait()
}

// prepareStop is the first half of ending: no session is made from now on. While
// sessions live it refuses, unless forced.
func (h *server) prepareStop(force bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.sessions); n > 0 && !force {
		detail := fmt.Sprintf("%d sessions live", n)
		if n == 1 {
			detail = "1 session lives"
		}
		return &fault.Error{
			Op: "host stop", Code: fault.Refused, Detail: detail,
			Hint: "close them with close_session, or pass force, which ends their programs",
		}
	}
	h.closing = true
	return nil
}

// newNonce returns the secret that a session's shell puts into its marks.
func newNonce() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", &fault.Error{Op: "open", Code: fault.Internal, Detail: "no randomness", Hint: "try again", Err: err}
	}
	return hex.EncodeToString(b[:]), nil
}
