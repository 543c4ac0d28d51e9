package host

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"termpilot/shellint"
)

const (
	maxSessions = 512
	maxClients  = 256 // connections to the API
	maxVisits   = 64  // connections to the second socket

	// How long, and how many, ended sessions stay readable.
	maxEnded     = 64
	maxEndedRows = 2_000_000 // of all their scrollbacks together, some 200 MB
	keepEnded    = time.Hour

	defaultColumns, defaultRows = 80, 24
	defaultScrollback           = 100_000
	maxScrollback               = 1_000_000
)

// server is a running host. Order of locks: those that are held for long
// (arranging, copying, frozen's drawing), a session's mu, then the server's, then
// the small ones (facts, hub, client, outbox, frozen's own).
type server struct {
	options Options
	env     []string // what sessions inherit from
	log     *slog.Logger
	hub     hub
	calls   calls
	objects objects
	started time.Time
	suite   *suite
	stop    chan struct{} // takes one value when the end is asked for
	wg      sync.WaitGroup
	chunks  sync.Pool // of *[chunk]byte, for sessions that print much

	mu          sync.Mutex
	sessions    map[string]*session // that live
	opening     int                 // sessions that are being started
	order       []*session          // as they were made
	ended       []*session          // the oldest first
	layout      *layout
	user        map[string]string // user.* variables of the application
	changed     profileChanges
	preferences map[string]string // as JSON
	broadcasts  [][]string
	closing     bool

	copying   sync.RWMutex // held while input is copied
	arranging sync.Mutex   // held while an arrangement is saved or restored
	frozen    *freeze
}

// request says what session to make.
type request struct {
	id         string // "" is a new one
	profile    profile
	window     string // "" is a new window
	index      int    // of the tab; -1 is the last
	beside     *session
	near       *session // in whose folder it may start
	heirOf     *session // of which it takes over what clients keep there
	vertical   bool
	before     bool
	command    []string // run instead of the shell
	shellLine  string   // run by the shell, with which the session ends
	dir        string
	env        map[string]string
	name       string
	columns    int
	rows       int
	scrollback int
	focus      bool
	typed      string // typed into the program when it has started
	properties map[string]string
}

// open makes a session: its program runs and it is part of the layout when
// open returns.
func (h *server) open(r request) (*session, error) {
	if err := h.reserve(1); err != nil {
		return nil, err
	}
	s, err := h.start(r)
	if err != nil {
		h.release(1)
		return nil, err
	}
	if err := h.place(s, r); err != nil {
		s.abandon()
		return nil, err
	}
	if r.heirOf != nil {
		s.takeOver(r.heirOf)
	}
	s.begin()
	return s, nil
}

// start starts the program of a session that nobody knows yet.
func (h *server) start(r request) (*session, error) {
	r = h.withProfile(r)
	if r.id == "" {
		r.id = newID()
	}
	s := &session{
		host: h, id: r.id, space: uuid.New(), profile: r.profile, request: r,
		exited: make(chan struct{}), done: make(chan struct{}),
		viewers: map[*viewer]struct{}{}, told: map[string]string{}, seen: map[string]any{},
		lastOutput: time.Now(),
	}
	s.request.beside, s.request.near, s.request.heirOf = nil, nil, nil // a session must not keep another in memory
	s.facts = facts{name: r.name, created: time.Now(), user: map[string]string{}, properties: map[string]string{}}
	maps.Copy(s.facts.properties, r.properties)
	dir := r.dir
	if dir == "" {
		dir = homeFolder(h.env)
	}
	env := environment(h.env, h.options.Version, s.id, dir, r.env)
	var err error
	if s.nonce, err = s.prepare(r, dir, env); err != nil {
		s.removeFolder()
		return nil, err
	}
	columns, rows := r.columns, r.rows
	if columns == 0 {
		columns = defaultColumns
	}
	if rows == 0 {
		rows = defaultRows
	}
	size := Size{columns, rows}.within(Size{minColumns, minRows}, Size{maxColumns, maxRows})
	columns, rows = size.Columns, size.Rows
	s.facts.columns, s.facts.rows = columns, rows
	if s.scrollback = r.scrollback; s.scrollback == 0 {
		s.scrollback = defaultScrollback
	}
	s.newTerminal(columns, rows)
	dev, tty, err := openDevice(columns, rows)
	if err != nil {
		s.removeFolder()
		return nil, err
	}
	defer tty.Close()
	s.device, s.input = dev, newInput(dev.writeNow)
	if s.proc, err = s.program.start(tty); err != nil {
		_ = dev.Close()
		s.removeFolder()
		return nil, err
	}
	s.pid = s.proc.Pid
	return s, nil
}

// prepare decides what the session's program is, and has the shell integrated
// where that is possible. It returns the nonce that the shell's marks carry.
func (s *session) prepare(r request, dir string, env []string) (nonce string, err error) {
	shell := r.profile.Shell
	switch {
	case len(r.command) > 0:
		path, err := findProgram(r.command[0], dir, env)
		if err != nil {
			return "", err
		}
		s.program = program{path: path, argv: r.command, env: env, dir: dir}
		return "", nil
	case r.shellLine != "":
		s.program = program{path: shell, argv: shellRuns(shell, r.shellLine), env: env, dir: dir}
		return "", nil
	}
	s.shell = true
	s.program = program{path: shell, argv: []string{loginName(shell)}, env: env, dir: dir}
	if s.folder, err = os.MkdirTemp(s.host.options.folder(), sessionFolder); err != nil {
		return "", storage("open", "the session's folder cannot be made", err)
	}
	nonce, err = newNonce()
	if err != nil {
		return "", err
	}
	argv, out, ok, err := shellint.Inject(shell, s.folder, nonce, env)
	if err != nil {
		return "", err
	}
	if !ok {
		s.removeFolder()
		s.folder = ""
		return "", nil
	}
	s.program.argv, s.program.env = argv, out
	return nonce, nil
}

// shellRuns is the argument list with which a shell runs a command line, as a
// login shell where it has a way to say so.
func shellRuns(shell, line string) []string {
	name := filepath.Base(shell)
	switch name {
	case "bash", "zsh", "fish", "sh", "dash", "ksh":
		return []string{name, "-l", "-c", line}
	}
	return []string{name, "-c", line}
}

// loginName is the name under which a shell knows itself to be a login shell.
func loginName(shell string) string {
	name := filepath.Base(shell)
	switch name {
	case "nu", "xonsh", "elvish", "pwsh": // take the dash for part of their name
		return name
	}
	return "-" + name
}

func (s *session) removeFolder() {
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

func (s *session) bell() {
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	s.facts.bells++
}

// forgetEnded drops the ended sessions that are too many or too old.
func (h *server) forgetEnded(now time.Time) {
	rows := 0
	for _, s := range h.ended {
		rows += s.keptRows
	}
	for len(h.ended) > 0 && (len(h.ended) > maxEnded || rows > maxEndedRows || now.Sub(h.ended[0].facts.ended().At) > keepEnded) {
		rows -= h.ended[0].keptRows
		h.ended[0] = nil
		h.ended = h.ended[1:]
	}
}

// live finds a live session by the name that the API gives it.
func (h *server) live(id string) (*session, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id == "active" {
		s := h.layout.current()
		return s, s != nil
	}
	s, ok := h.sessions[id]
	return s, ok
}

// readable finds a session that lives, or has ended and is still kept.
func (h *server) readable(id string) (*session, bool) {
	if s, ok := h.live(id); ok {
		return s, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgetEnded(time.Now())
	for _, s := range h.ended {
		if s.id == id {
			return s, true
		}
	}
	return nil, false
}

// everyone lists the live sessions as they were made.
func (h *server) everyone() []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.order)
}

// chosen is live, where "all" names every session that is not buried.
func (h *server) chosen(id string) []*session {
	if id == everySession {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.DeleteFunc(slices.Clone(h.order), func(s *session) bool { return h.layout.inTab[s] == nil })
	}
	if s, ok := h.live(id); ok {
		return []*session{s}
	}
	return nil
}
