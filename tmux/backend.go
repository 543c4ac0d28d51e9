package tmux

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Options says which tmux server to use, and how. The zero value is the user's
// default server.
type Options struct {
	// Socket names the server: "" is the default one, a word is that of tmux -L,
	// a path that of tmux -S. TMUX_TMPDIR counts as it does for tmux.
	Socket string
	// Program is the tmux to run; "" is the one on PATH, or where Homebrew puts it.
	Program string
	// Env is the environment of tmux and, when Open starts a server, of that; nil
	// is this process's own. TMUX and what is termpilot's own are left out.
	Env []string
	// Dir is a private folder, made when needed, for the start-up scripts of the
	// shells that we open. "" opens shells without prompt marks of ours.
	Dir string
	// Deadline is the longest that a call waits for the server; 0 is 2.5 s.
	Deadline time.Duration
	// Scrollback is how many rows above the screen are kept of each pane; 0 is 10,000.
	Scrollback int
	// Queue is how many events a watcher may fall behind before it gets a
	// Resync; 0 is 256.
	Queue int
	// Log gets short facts, never text of a session. Nil is silent.
	Log *slog.Logger
}

// Backend is one tmux server. It implements [terminal.Backend],
// [terminal.Finder], [terminal.Ender], [terminal.Broadcaster], [terminal.Prompter],
// [terminal.Keyer], [terminal.Profiler], [terminal.Arranger] and
// [terminal.GroupCloser]. Its methods may be called from several goroutines.
type Backend struct {
	o      Options
	socket string

	dialing sync.Mutex     // held while a link is made
	calm    *calm          // held while a connection is made, and while sessions or clients go or come by us
	links   sync.WaitGroup // that are not closed yet

	mu     sync.Mutex
	link   *link
	closed bool
	ended  []*pane                // sessions that are over, the oldest first
	nonces map[terminal.ID]string // of the shells that we opened
	kept   map[terminal.ID]*pane  // of a link that was lost, while the server lives
	epoch  int                    // of the links, so that prompt ids stay unique
	token  string                 // and among processes
}

var (
	_ terminal.Backend     = (*Backend)(nil)
	_ terminal.Finder      = (*Backend)(nil)
	_ terminal.Ender       = (*Backend)(nil)
	_ terminal.Broadcaster = (*Backend)(nil)
	_ terminal.Prompter    = (*Backend)(nil)
	_ terminal.Keyer       = (*Backend)(nil)
	_ terminal.Profiler    = (*Backend)(nil)
	_ terminal.Arranger    = (*Backend)(nil)
	_ terminal.GroupCloser = (*Backend)(nil)
)

// New returns the backend of a server. It looks for nothing and starts nothing
// until it is used, and Open alone starts a server.
func New(o Options) *Backend {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Deadline <= 0 {
		o.Deadline = 2500 * time.Millisecond
	}
	if o.Scrollback <= 0 {
		o.Scrollback = maxSeed
	}
	if o.Queue <= 0 {
		o.Queue = 256
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	socket := socketPath(o.Socket, o.Env)
	return &Backend{
		o: o, socket: socket, calm: newCalm(o.Dir, socket), token: rand.Text()[:10],
		nonces: map[terminal.ID]string{}, kept: map[terminal.ID]*pane{},
	}
}

// Name is "tmux".
func (b *Backend) Name() string { return "tmux" }

// Disconnect lets go of the server and ends every watch, and refuses further
// calls. It returns when all has stopped. Sessions live on.
func (b *Backend) Disconnect() error {
	b.mu.Lock()
	b.closed = true
	l := b.link
	b.link = nil
	b.mu.Unlock()
	if l != nil {
		l.close(errLost)
	}
	b.links.Wait()
	return nil
}

// limited returns a context that ends at the latest after the backend's own deadline.
func (b *Backend) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, b.o.Deadline)
}

// reach returns a living link to the server, making one if needed. The server
// is started only with start.
func (b *Backend) reach(ctx context.Context, start bool) (*link, error) {
	if l, err := b.present(); l != nil || err != nil {
		return l, err
	}
	b.dialing.Lock()
	defer b.dialing.Unlock()
	if l, err := b.present(); l != nil || err != nil {
		return l, err
	}
	b.mu.Lock()
	b.epoch++
	epoch := b.epoch
	b.mu.Unlock()
	l, err := b.dial(ctx, epoch, start)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	closed := b.closed
	if !closed {
		b.link = l
		b.links.Go(func() { <-l.closed })
	}
	b.mu.Unlock()
	if closed {
		l.close(errLost)
		return nil, errLost
	}
	return l, nil
}

// present returns the link that stands, if one does.
func (b *Backend) present() (*link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errLost
	}
	if b.link != nil && b.link.isLost() {
		b.link = nil
	}
	return b.link, nil
}

// find returns a session by its exact id. A live one is found among those that
// are listed now.
func (b *Backend) find(ctx context.Context, op string, id terminal.ID) (*pane, error) {
	if p := b.over(id); p != nil {
		return p, nil
	}
	if ctx.Err() != nil {
		return nil, b.explain(op, id, errSilent)
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	l, err := b.reach(ctx, false)
	if err != nil {
		return nil, b.explain(op, id, err)
	}
	p := l.byID(id)
	if p == nil {
		if err := l.refresh(ctx); err != nil {
			return nil, b.explain(op, id, err)
		}
		p = l.byID(id)
	}
	if p == nil {
		p = b.over(id)
	}
	if p == nil {
		return nil, notFound(op, id)
	}
	return p, nil
}

// live is find for a session that has not ended.
func (b *Backend) live(ctx context.Context, op string, id terminal.ID) (*pane, error) {
	p, err := b.find(ctx, op, id)
	if err != nil {
		return nil, err
	}
	if over, _ := p.isOver(); over {
		return nil, ended(op, id)
	}
	return p, nil
}

// over returns a session that has ended.
func (b *Backend) over(id terminal.ID) *pane {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.ended {
		if p.id == id {
			return p
		}
	}
	return nil
}

// maxEnded is how many ended sessions stay readable.
const maxEnded = 64

// bury keeps a session that has ended.
func (b *Backend) bury(p *pane) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, p)
	if len(b.ended) > maxEnded {
		b.ended = append([]*pane(nil), b.ended[1:]...)
	}
	b.dropNonce(p.id)
}

func notFound(op string, id terminal.ID) error {
	return &fault.Error{
		Op: op, Session: string(id), Code: fault.SessionNotFound, Detail: "no tmux pane has this id",
		Hint: "call list_sessions and pass a session_id from it",
	}
}

func ended(op string, id terminal.ID) error {
	return &fault.Error{
		Op: op, Session: string(id), Code: fault.SessionEnded, Detail: "the pane is gone, or its program has ended",
		Hint: "read its last screen with read_terminal, or open another session",
	}
}

// program finds the tmux to run.
func (b *Backend) program() (string, error) {
	if b.o.Program != "" {
		path, err := exec.LookPath(b.o.Program)
		if err != nil {
			return "", exec.ErrNotFound
		}
		return path, nil
	}
	for _, dir := range append(pathOf(b.o.Env), "/opt/homebrew/bin", "/usr/local/bin") {
		if path, err := exec.LookPath(dir + "/tmux"); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}
