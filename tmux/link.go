package tmux

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"termpilot/process"
	"termpilot/terminal"
)

// link is the life of our connections to one server process.
//
// Locks of the package are taken in this order, never the other way round:
// Backend.dialing, refreshing, mainMu, Backend.calm, listener.mu, link.mu, then one of pane.mu
// and Backend.mu, then one of watcher.mu, conn.mu and running.
type link struct {
	b        *Backend
	program  string
	version  version
	epoch    int
	pid      int
	identity string // tells this server process from every other
	fresh    string // the session that keeps a server alive that we have just started

	mainMu  sync.Mutex // held while the command connection is made
	command *conn

	cleared    map[int]bool // dead panes that are to be closed; guarded by refreshing
	refreshing sync.Mutex   // held while the lists are read
	readings   atomic.Int64 // how often that was begun
	readErr    error        // what came of it last; guarded by refreshing
	running    sync.Mutex   // held while a goroutine is started
	wg         sync.WaitGroup
	dirty      chan struct{} // holds a token when the lists may have changed
	done       chan struct{} // closed when the link is lost
	closing    sync.Once
	closed     chan struct{} // closed when nothing of the link runs any more

	mu        sync.Mutex
	homes     []home
	panes     map[int]*pane
	order     []*pane              // as tmux lists them
	listeners map[string]*listener // by session
	clients   clients
	nonceFor  map[int]string // the secret of the pane that is being opened
	folder    string         // of the start-up scripts of the shell that is being opened
	lost      error
	ended     atomic.Bool // lost is set
}

// listener is the connection that hears a session's output.
type listener struct {
	session string
	conn    *conn // nil while it is made, or when it could not be

	mu     sync.Mutex
	newest int            // the newest pane when it began to hear; -1: not known yet
	early  map[int][]byte // what panes printed that nobody has looked at yet
}

// The limits of what is kept for panes that are not known yet.
const (
	maxEarly      = 256 << 10
	maxEarlyPanes = 32
)

// keep keeps what a pane printed that is new: all of it or nothing. mu is held.
func (h *listener) keep(number int, escaped []byte) {
	kept, ok := h.early[number]
	if h.newest < 0 || number <= h.newest || !ok && len(h.early) >= maxEarlyPanes || ok && kept == nil {
		return
	}
	if kept == nil {
		kept = []byte{}
	}
	if len(kept)+len(escaped) > maxEarly {
		h.early[number] = nil
		return
	}
	h.early[number] = unescape(kept, escaped)
}

// adopt has the listener hear a pane. When it has heard all that the pane ever
// printed, that is what the pane shows; otherwise its picture must be asked for.
func (h *listener) adopt(p *pane) (known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	printed, any := h.early[p.number]
	delete(h.early, p.number)
	p.hear(h)
	if h.newest < 0 || p.number <= h.newest || any && printed == nil {
		return false
	}
	return p.begin(printed)
}

// maxListeners is how many sessions are listened to: each costs a process.
const maxListeners = 128

// isLost reports whether the link has ended. It takes no lock: it is asked with
// a pane's held, or the backend's, which others take while they hold the link's.
func (l *link) isLost() bool { return l.ended.Load() }

// stir has the lists read again soon.
func (l *link) stir() {
	select {
	case l.dirty <- struct{}{}:
	default:
	}
}

// keep reads the lists whenever they may have changed.
func (l *link) keep() {
	for {
		select {
		case <-l.done:
			return
		case <-l.dirty:
		}
		ctx, cancel := context.WithTimeout(context.Background(), l.b.o.Deadline)
		err := l.refresh(ctx)
		cancel()
		switch {
		case err == nil:
		case errors.Is(err, errSilent):
			l.b.o.Log.Warn("the tmux server does not answer", "socket", l.b.socket)
		default:
			l.give(err)
			return
		}
	}
}

// give gives the link up: the server cannot be reached any more.
func (l *link) give(cause error) {
	l.b.o.Log.Info("lost the tmux server", "socket", l.b.socket, "cause", cause.Error())
	l.lose(cause, l.died())
	go l.close(cause) // Disconnect waits for closed
}

// run starts a goroutine that close waits for; none once the link is lost.
func (l *link) run(f func()) {
	l.running.Lock()
	defer l.running.Unlock()
	if !l.isLost() {
		l.wg.Go(f)
	}
}

// dying is how long a server that answers no more may take to end.
const dying = 300 * time.Millisecond

// died reports whether the server's process is gone.
func (l *link) died() bool {
	ctx, cancel := context.WithTimeout(context.Background(), dying)
	defer cancel()
	for {
		p, err := process.Lookup(l.pid)
		if errors.Is(err, process.ErrGone) || err == nil && p.State == process.Zombie {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Millisecond): // nobody tells the end of another's child
		}
	}
}

// lose ends all watches. When the server's process has died, so have its sessions.
func (l *link) lose(cause error, died bool) {
	l.mu.Lock()
	if l.lost != nil {
		l.mu.Unlock()
		return
	}
	l.lost = cause
	l.running.Lock() // a goroutine that is being started is one that close waits for
	l.ended.Store(true)
	l.running.Unlock()
	close(l.done)
	panes := l.order
	l.panes, l.order = map[int]*pane{}, nil
	l.mu.Unlock()
	for _, p := range panes {
		if died {
			p.end(terminal.Exit{At: time.Now()})
			l.b.bury(p)
			continue
		}
		p.fail(l.b.explain("watch", p.id, cause))
		l.b.mu.Lock()
		l.b.kept[p.id] = p
		l.b.mu.Unlock()
	}
}

// close ends the link, and returns when nothing of it runs any more.
func (l *link) close(cause error) {
	l.closing.Do(func() {
		l.lose(cause, false)
		l.leave()
		l.wg.Wait()
		close(l.closed)
	})
}

// leave closes the connections.
func (l *link) leave() {
	l.mainMu.Lock()
	conns := []*conn{}
	if l.command != nil {
		conns = append(conns, l.command)
	}
	l.mainMu.Unlock()
	l.mu.Lock()
	for _, h := range l.listeners {
		if h.conn != nil {
			conns = append(conns, h.conn)
		}
	}
	l.mu.Unlock()
	_ = l.b.calm.Lock(context.Background()) // what is closed must not stay
	defer l.b.calm.Unlock()
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(c.close)
	}
	wg.Wait()
}

// do carries out commands on the command connection. When that was lost,
// because its session was closed or somebody detached it, another is made, and
// the commands are carried out once more.
func (l *link) do(ctx context.Context, line string) ([]answer, error) {
	return l.on(ctx, true, func(c *conn) ([]answer, error) { return c.do(ctx, line) })
}

// once is do for what must not be carried out twice: errUnsure when it may have
// been, and nothing tells.
func (l *link) once(ctx context.Context, line string) ([]answer, error) {
	return l.on(ctx, false, func(c *conn) ([]answer, error) { return c.do(ctx, line) })
}

// alone is do for what ends sessions, and with again unset once for what makes
// them: not while a connection is made. tmux (3.3a for one) tells all clients in
// control mode of it, also one that has not said all of itself yet, and crashes at
// that.
func (l *link) alone(ctx context.Context, again bool, line string) ([]answer, error) {
	return l.on(ctx, again, func(c *conn) ([]answer, error) {
		if err := l.b.calm.Lock(ctx); err != nil {
			return nil, err
		}
		defer l.b.calm.Unlock()
		return c.do(ctx, line)
	})
}

// on does something with the command connection, with a new one where that was
// lost: also what may have been done already, if it may be done again.
func (l *link) on(ctx context.Context, again bool, do func(*conn) ([]answer, error)) ([]answer, error) {
	for tries := 0; ; tries++ {
		c, err := l.main(ctx)
		if err != nil {
			return nil, err
		}
		answers, err := do(c)
		if midway := (unanswered{}); !again && errors.As(err, &midway) {
			return nil, errUnsure
		}
		if !errors.Is(err, errLost) || tries > 0 || l.isLost() {
			return answers, err
		}
	}
}

// noted takes in a notification. h is nil for the command connection. It waits
// for nothing: the connection may not be known to its listener yet, and then no
// pane hears that.
func (l *link) noted(h *listener, n note) {
	switch n.kind {
	case noteOutput:
		if h == nil {
			return
		}
		h.mu.Lock()
		p := l.pane(n.pane)
		if p == nil || !p.hears(h) {
			h.keep(n.pane, n.data)
			p = nil
		}
		h.mu.Unlock()
		if p != nil {
			p.output(n.data)
		}
	case notePause:
		if p := l.pane(n.pane); h != nil && p != nil && p.hears(h) {
			h.conn.post(&call{}, resumes(p.target()))
			l.seed(h, p)
		}
	case noteLayout:
		if h != nil {
			l.measure(h)
		}
		l.stir()
	case noteMoved, noteChanged, noteExit:
		l.stir()
	}
}

func (l *link) pane(number int) *pane {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.panes[number]
}

func (l *link) byID(id terminal.ID) *pane {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.order {
		if p.id == id {
			return p
		}
	}
	return nil
}

// listen makes sure that a session is listened to, and returns the listener:
// nil when it cannot be. refreshing is held.
func (l *link) listen(ctx context.Context, session string) *listener {
	l.mu.Lock()
	h := l.listeners[session]
	if h != nil && h.conn != nil && !h.conn.isLost() {
		l.mu.Unlock()
		return h
	}
	if l.lost != nil || len(l.listeners) >= maxListeners {
		l.mu.Unlock()
		return nil
	}
	before := h
	h = &listener{session: session, newest: -1, early: map[int][]byte{}}
	l.listeners[session] = h
	l.mu.Unlock()
	if before != nil && before.conn != nil {
		l.b.part(before.conn)
	}
	c, err := l.connect(ctx, session, true, func(n note) { l.noted(h, n) })
	l.mu.Lock()
	h.conn = c
	over := l.lost != nil
	l.mu.Unlock()
	if err == nil && over {
		c.close()
		err = errLost
	}
	if err != nil {
		l.b.o.Log.Info("a tmux session cannot be listened to", "session", session, "cause", err.Error())
		l.forget(h)
		return nil
	}
	k := &call{}
	k.finish = func(k *call) {
		newest := -1
		for _, a := range k.answers {
			for _, line := range a.lines {
				number, ok := paneNumber(line)
				if !ok {
					return // and no pane counts as new
				}
				newest = max(newest, number)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.newest = newest
	}
	c.post(k, "list-panes -a -F '#{pane_id}'")
	l.run(func() { // when it ends, what it heard is out of date
		<-c.done
		l.forget(h)
		l.stir()
	})
	return h
}

// forget takes a listener out.
func (l *link) forget(h *listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listeners[h.session] == h {
		delete(l.listeners, h.session)
	}
}
