// Package pilot says what running, reading, waiting, sending and opening mean
// on any terminal: the gate, the order of effects, policy and locks.
//
// A [Pilot] holds no terminal of its own. It finds the session that an exact id
// names among its backends, proves that typing is right, types, and reports
// only what the terminal, the shell's marks and the machine's processes show.
// The contract is specs/tools.md.
package pilot

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/private"
	"termpilot/terminal"
)

// Options says what a [Pilot] drives and what it may touch. The zero value
// drives nothing, keeps nothing on disk and allows everything.
type Options struct {
	// Backends are asked in this order; the first that can opens sessions.
	Backends []terminal.Backend
	// Dir holds the run journal and the session locks, shared with other
	// processes, and is this user's alone. "" keeps both in this process only.
	Dir string
	// MaxWait caps every wait. 0 is 55 s, which fits the deadlines of the usual
	// clients.
	MaxWait time.Duration
	// ReadOnly refuses whatever could change a session.
	ReadOnly bool
	// Allow, when not empty, names the only sessions that exist for this Pilot;
	// nothing can be opened then.
	Allow []terminal.ID
	// Tripwire holds regular expressions (RE2) of further commands to refuse.
	Tripwire []string
	// NoMask leaves text that looks like a secret as it is.
	NoMask bool
	// Processes is asked who runs on a tty; nil asks this machine.
	Processes Processes
	// Log takes short facts about runs, never typed text or screen content. nil is silence.
	Log *slog.Logger
}

const (
	maxWait        = 55 * time.Second
	defaultTimeout = 30 * time.Second
	// backendPatience is how long a backend may take to list its sessions
	// before it counts as unavailable for this call.
	backendPatience = 2 * time.Second
	// callPatience bounds one exchange with a backend whose caller has gone.
	callPatience = 10 * time.Second
)

// Pilot drives sessions. Its methods may be called from several goroutines.
type Pilot struct {
	backends  []terminal.Backend
	maxWait   time.Duration
	readOnly  bool
	allow     []terminal.ID
	wire      *tripwire
	noMask    bool
	processes Processes
	log       *slog.Logger
	locks     *locks
	runs      *runs

	mu     sync.Mutex
	homes  map[terminal.ID]int    // which backend had a session last
	shells map[terminal.ID]string // the name of its shell when it was last looked at
	closed bool

	news []named // the names given last, where no folder holds them; see naming
}

// New returns a Pilot over o.Backends. It starts nothing and asks no backend.
// InvalidArgument: a Tripwire pattern that is not RE2; NotAllowed or Storage: Dir cannot be used.
func New(o Options) (*Pilot, error) {
	wire, err := newTripwire(o.Tripwire)
	if err != nil {
		return nil, err
	}
	p := &Pilot{
		backends:  slices.Clone(o.Backends),
		maxWait:   o.MaxWait,
		readOnly:  o.ReadOnly,
		allow:     slices.Clone(o.Allow),
		wire:      wire,
		noMask:    o.NoMask,
		processes: o.Processes,
		log:       o.Log,
		homes:     map[terminal.ID]int{},
		shells:    map[terminal.ID]string{},
	}
	if p.maxWait <= 0 {
		p.maxWait = maxWait
	}
	if p.processes == nil {
		p.processes = machine{}
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if o.Dir != "" {
		if err := private.Folder(o.Dir); err != nil {
			return nil, err
		}
	}
	if p.locks, err = newLocks(o.Dir); err != nil {
		return nil, err
	}
	if p.runs, err = newRuns(o.Dir); err != nil {
		return nil, err
	}
	return p, nil
}

// Close lets go of the journal. The backends stay open: they belong to the
// caller. Commands go on. It is idempotent.
func (p *Pilot) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	p.locks.close()
	return p.runs.close()
}

// patience is how long a call that asked for want may wait; def is for want 0.
func (p *Pilot) patience(want, def time.Duration) time.Duration {
	if want <= 0 {
		want = def
	}
	return min(want, p.maxWait)
}

func (p *Pilot) mayTouch(id terminal.ID) bool {
	return len(p.allow) == 0 || slices.Contains(p.allow, id)
}

func (p *Pilot) refuseWhenReadOnly(op, session string) error {
	if !p.readOnly {
		return nil
	}
	return &fault.Error{
		Op: op, Session: session, Code: fault.NotAllowed, Detail: "this server is read-only",
		Hint: "start the server without read-only mode, or ask the person to type it",
	}
}

// lasting is a context for an effect that the caller may go away from: it ends
// callPatience after the caller's.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	lasts, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(callPatience, cancel) })
	return lasts, func() { stop(); cancel() }
}

// givenUp is the error of a call whose caller went before it had an effect; nil
// while the caller is there.
func givenUp(ctx context.Context, op, session string) error {
	if ctx.Err() == nil {
		return nil
	}
	return &fault.Error{Op: op, Session: session, Code: fault.Deadline, Detail: "the call was given up", Err: context.Cause(ctx)}
}

// afterwards is a context for finishing what a caller that may be gone began.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), callPatience)
}
