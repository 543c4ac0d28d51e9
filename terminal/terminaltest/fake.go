// Package terminaltest holds the executable contract of terminal.Backend,
// [TestBackend], and an in-memory backend that passes it, [Fake].
//
// A Fake's sessions run scripted shells that behave as bash, zsh or fish do as
// seen from outside: line editor and line discipline, echo, bracketed paste,
// Ctrl-C, continuation lines, marks in the order that each shell sends them.
// A small command language is built in (see [Fake.On]); a test adds commands of
// its own. Nothing polls and no clock of ours is read, so a Fake runs under
// testing/synctest, and it also tells the process facts that go with its
// sessions (see [Fake.Foreground]).
package terminaltest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Options says how a Fake's sessions behave. The zero value is a bash with the
// host's proven marks in 80x24.
type Options struct {
	Name         string         // kind of backend; "" is "host"
	Shell        string         // whose habits: "bash" (also ""), "zsh" or "fish"
	Marks        terminal.Marks // what Session.Marks says at first; 0 is MarksNonce. MarksPlain lets any program print marks. MarksNone: no marks at all
	Prompt       string         // "" is "$ "
	Columns      int            // 0 is 80
	Rows         int            // 0 is 24
	Scrollback   int            // rows of history; 0 is 10000
	Profiles     []string       // nil is Default alone
	Timeout      time.Duration  // of calls whose context has no deadline; 0 is 5s
	Queue        int            // events kept for a watcher that reads nothing; 0 is 64
	Start        time.Duration  // from Open to the first prompt
	KeepPrompts  int            // prompts remembered in a session; 0 is 100
	KeepEnded    int            // ended sessions remembered; 0 is 64
	TypedUnknown bool           // the backend cannot tell what is typed
	NoPaste      bool           // shells that do not take bracketed pastes
	Remote       bool           // sessions are of another machine: Local is false
	NoTyper      bool           // looking and typing are two steps
}

// Fake is a terminal.Backend in memory, and a terminal.Finder, Ender, Broadcaster,
// Prompter, Typer, Keyer, Profiler, Arranger and GroupCloser. Its methods may be
// called from several goroutines. NewFake makes one.
type Fake struct {
	o Options

	mu       sync.Mutex
	sessions map[terminal.ID]*session
	order    []terminal.ID // live ones, in the order of opening
	ended    []terminal.ID
	current  terminal.ID
	count    int // sessions ever opened
	pids     int
	scripts  map[string]func(*Program) int
	refused  map[string]string
	more     func(string) bool
	down     bool
	hangs    map[string]hang
	fails    map[string]error
	calls    map[string]int
	before   func() // runs once, with the lock, before TypeAt looks
	closed   bool

	stop context.CancelFunc
	life context.Context
	wg   sync.WaitGroup
}

var (
	_ terminal.Backend     = (*Fake)(nil)
	_ terminal.Finder      = (*Fake)(nil)
	_ terminal.Ender       = (*Fake)(nil)
	_ terminal.Broadcaster = (*Fake)(nil)
	_ terminal.Prompter    = (*Fake)(nil)
	_ terminal.Typer       = (*Fake)(nil)
	_ terminal.Keyer       = (*Fake)(nil)
	_ terminal.Profiler    = (*Fake)(nil)
	_ terminal.Arranger    = (*Fake)(nil)
	_ terminal.GroupCloser = (*Fake)(nil)
)

// NewFake returns a fake that is closed when the test ends. In a synctest
// bubble, pass the bubble's own T.
func NewFake(t testing.TB, o Options) *Fake {
	o.Name = cmp.Or(o.Name, "host")
	o.Shell = cmp.Or(o.Shell, "bash")
	o.Marks = cmp.Or(o.Marks, terminal.MarksNonce)
	o.Prompt = cmp.Or(o.Prompt, "$ ")
	o.Columns = cmp.Or(o.Columns, 80)
	o.Rows = cmp.Or(o.Rows, 24)
	o.Scrollback = cmp.Or(o.Scrollback, 10000)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.Queue = cmp.Or(o.Queue, 64)
	o.KeepPrompts = cmp.Or(o.KeepPrompts, 100)
	o.KeepEnded = cmp.Or(o.KeepEnded, 64)
	if o.Profiles == nil {
		o.Profiles = []string{"Default"}
	}
	f := &Fake{
		o: o, pids: 1000,
		sessions: map[terminal.ID]*session{},
		scripts:  map[string]func(*Program) int{},
		refused:  map[string]string{},
		hangs:    map[string]hang{}, fails: map[string]error{}, calls: map[string]int{},
	}
	f.life, f.stop = context.WithCancel(context.Background())
	t.Cleanup(f.Shutdown)
	return f
}

// Shutdown ends every session and returns when nothing of the fake runs any
// more. It may be called again. Calls made later are BackendUnavailable.
func (f *Fake) Shutdown() {
	f.mu.Lock()
	f.closed = true
	for _, s := range f.sessions {
		s.end(terminal.Exit{Signal: "SIGHUP"})
	}
	f.setDown(true)
	f.mu.Unlock()
	f.stop()
	f.wg.Wait()
}

// enter begins a call: it counts it, lets it hang or fail as the test asked,
// and takes the lock. The caller must unlock when err is nil.
func (f *Fake) enter(ctx context.Context, op string, id terminal.ID) error {
	f.mu.Lock()
	f.calls[op]++
	hang, fail, down := f.hangs[op], f.fails[op], f.down
	f.mu.Unlock()
	if hang == hangBefore {
		return f.deadline(ctx, op, id)
	}
	if ctx.Err() != nil {
		return late(op, id, context.Cause(ctx))
	}
	if down {
		return unavailable(op, id)
	}
	if fail != nil {
		return fail
	}
	f.mu.Lock()
	return nil
}

// leave ends a call with its outcome: the answer to one that had its effect may
// still be lost.
func (f *Fake) leave(ctx context.Context, op string, id terminal.ID, err error) error {
	if err != nil {
		return err
	}
	f.mu.Lock()
	hang := f.hangs[op]
	f.mu.Unlock()
	if hang == hangAfter {
		return f.deadline(ctx, op, id)
	}
	return nil
}

// deadline waits until the call's time is over.
func (f *Fake) deadline(ctx context.Context, op string, id terminal.ID) error {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.o.Timeout)
		defer cancel()
	}
	select {
	case <-ctx.Done():
		return late(op, id, context.Cause(ctx))
	case <-f.life.Done():
		return unavailable(op, id)
	}
}

func late(op string, id terminal.ID, cause error) error {
	return &fault.Error{Op: op, Session: string(id), Code: fault.Deadline, Hint: "read the session to learn whether it happened", Err: cause}
}

func unavailable(op string, id terminal.ID) error {
	return &fault.Error{Op: op, Session: string(id), Code: fault.BackendUnavailable, Hint: "start the terminal, then try again"}
}

// session finds a session, live or ended. The lock must be held.
func (f *Fake) session(op string, id terminal.ID) (*session, error) {
	if s := f.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &fault.Error{Op: op, Session: string(id), Code: fault.SessionNotFound, Hint: "list the sessions"}
}

func (f *Fake) live(op string, id terminal.ID) (*session, error) {
	s, err := f.session(op, id)
	if err == nil && s.exit != nil {
		err = &fault.Error{Op: op, Session: string(id), Code: fault.SessionEnded, Hint: "open a new session"}
	}
	return s, err
}

// Name implements terminal.Backend.
func (f *Fake) Name() string { return f.o.Name }

// Sessions implements terminal.Backend.
func (f *Fake) Sessions(ctx context.Context) ([]terminal.Session, error) {
	if err := f.enter(ctx, "sessions", ""); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	list := make([]terminal.Session, 0, len(f.order))
	for _, id := range f.order {
		list = append(list, f.sessions[id].info())
	}
	return list, nil
}

// Find implements terminal.Finder. It fails and hangs as Sessions does.
func (f *Fake) Find(ctx context.Context, id terminal.ID) (terminal.Session, error) {
	if err := f.enter(ctx, "sessions", id); err != nil {
		return terminal.Session{}, err
	}
	defer f.mu.Unlock()
	s, err := f.live("find", id)
	if err != nil {
		return terminal.Session{}, err
	}
	return s.info(), nil
}

// Open implements terminal.Backend.
func (f *Fake) Open(ctx context.Context, spec terminal.OpenSpec) (terminal.Session, error) {
	if err := f.enter(ctx, "open", ""); err != nil {
		return terminal.Session{}, err
	}
	s, err := f.open(spec)
	var info terminal.Session
	if err == nil {
		info = s.info()
	}
	f.mu.Unlock()
	return info, f.leave(ctx, "open", info.ID, err)
}

func (f *Fake) open(spec terminal.OpenSpec) (*session, error) {
	profile := cmp.Or(spec.Profile, f.o.Profiles[0])
	if !slices.Contains(f.o.Profiles, profile) {
		return nil, &fault.Error{Op: "open", Code: fault.ProfileNotFound, Detail: profile, Hint: "list the profiles"}
	}
	window, tab, at, err := f.place(&spec)
	if err != nil {
		return nil, err
	}
	f.count++
	s := newSession(f, f.count, spec)
	s.window, s.tab, s.profile = window, tab, profile
	f.sessions[s.id] = s
	f.order = slices.Insert(f.order, at, s.id)
	if spec.Focus || f.current == "" {
		f.current = s.id
	}
	f.wg.Go(s.run)
	return s, nil
}

// Screen implements terminal.Backend.
func (f *Fake) Screen(ctx context.Context, id terminal.ID, want terminal.Range) (terminal.Screen, error) {
	if err := f.enter(ctx, "screen", id); err != nil {
		return terminal.Screen{}, err
	}
	defer f.mu.Unlock()
	s, err := f.session("screen", id)
	if err != nil {
		return terminal.Screen{}, err
	}
	return s.grid.read(want), nil
}

// Prompt implements terminal.Backend.
func (f *Fake) Prompt(ctx context.Context, id terminal.ID, promptID string) (terminal.Prompt, error) {
	if err := f.enter(ctx, "prompt", id); err != nil {
		return terminal.Prompt{}, err
	}
	defer f.mu.Unlock()
	s, err := f.session("prompt", id)
	if err != nil {
		return terminal.Prompt{}, err
	}
	if promptID == "" {
		return s.present(), nil
	}
	for _, p := range s.prompts {
		if p.id == promptID {
			return s.view(p), nil
		}
	}
	return terminal.Prompt{ID: promptID, State: terminal.Lost}, nil
}

// Prompts implements terminal.Prompter.
func (f *Fake) Prompts(ctx context.Context) (map[terminal.ID]terminal.Prompt, error) {
	if err := f.enter(ctx, "prompts", ""); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	all := make(map[terminal.ID]terminal.Prompt, len(f.order))
	for _, id := range f.order {
		p := f.sessions[id].present()
		all[id] = terminal.Prompt{ID: p.ID, State: p.State, Marks: p.Marks, Typed: p.Typed, Touched: p.Touched, Paste: p.Paste}
	}
	return all, nil
}

// Send implements terminal.Backend.
func (f *Fake) Send(ctx context.Context, id terminal.ID, text []byte) error {
	if err := f.enter(ctx, "send", id); err != nil {
		return err
	}
	s, err := f.live("send", id)
	if err == nil {
		s.sent = append(s.sent, append([]byte(nil), text...))
		s.receive(text)
	}
	f.mu.Unlock()
	return f.leave(ctx, "send", id, err)
}

// Close implements terminal.Backend. A test makes a session resist Hangup with
// [Fake.Resist].
func (f *Fake) Close(ctx context.Context, id terminal.ID, how terminal.CloseMode) error {
	if err := f.enter(ctx, "close", id); err != nil {
		return err
	}
	s, err := f.live("close", id)
	switch {
	case err != nil:
	case how == terminal.Hangup && s.resists:
		err = &fault.Error{Op: "close", Session: string(id), Code: fault.Refused, Detail: "its user kept it open", Hint: "close it with force"}
	default:
		s.end(endOf(how))
	}
	f.mu.Unlock()
	return f.leave(ctx, "close", id, err)
}

// Exit implements terminal.Ender.
func (f *Fake) Exit(ctx context.Context, id terminal.ID) (terminal.Exit, error) {
	if err := f.enter(ctx, "exit", id); err != nil {
		return terminal.Exit{}, err
	}
	defer f.mu.Unlock()
	s, err := f.session("exit", id)
	if err != nil {
		return terminal.Exit{}, err
	}
	if s.exit == nil {
		return terminal.Exit{}, &fault.Error{Op: "exit", Session: string(id), Code: fault.SessionNotFound, Detail: "it has not ended"}
	}
	return *s.exit, nil
}

// Broadcasts implements terminal.Broadcaster.
func (f *Fake) Broadcasts(ctx context.Context, id terminal.ID) (bool, error) {
	if err := f.enter(ctx, "broadcasts", id); err != nil {
		return false, err
	}
	defer f.mu.Unlock()
	s, err := f.live("broadcasts", id)
	if err != nil {
		return false, err
	}
	return s.broadcast, nil
}

// ApplicationCursor implements terminal.Keyer.
func (f *Fake) ApplicationCursor(ctx context.Context, id terminal.ID) (bool, error) {
	if err := f.enter(ctx, "keys", id); err != nil {
		return false, err
	}
	defer f.mu.Unlock()
	s, err := f.live("keys", id)
	if err != nil {
		return false, err
	}
	return s.stream.keys, nil
}

// Profiles implements terminal.Profiler.
func (f *Fake) Profiles(ctx context.Context) ([]string, error) {
	if err := f.enter(ctx, "profiles", ""); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	return append([]string(nil), f.o.Profiles...), nil
}
