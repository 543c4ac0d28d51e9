package closing

import (
	"context"
	"log/slog"
	"os"
	"time"

	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// Pilot is what closing needs of a [pilot.Pilot].
type Pilot interface {
	See(ctx context.Context) (all []pilot.Seen, complete bool)
	SeeOne(ctx context.Context, op string, id terminal.ID) (pilot.Seen, error)
	Listed(ctx context.Context, on terminal.Backend) (ids map[terminal.ID]bool, running bool, err error)
	MayChange(op string) error
	Hold(ctx context.Context, op string, id terminal.ID, patience time.Duration) (release func(), err error)
	Open(ctx context.Context, req pilot.OpenRequest) (pilot.Opened, error)
}

// Options says what a [Closer] closes and where it writes. Pilot and Dir are needed.
type Options struct {
	Pilot Pilot
	// Dir is the folder of the receipts: made with mode 0700 when it is needed.
	Dir string
	// Launched returns the chats of agents that termpilot itself started in a
	// session; nil knows of none.
	Launched func(session string) []Chat
	// Machine is asked about processes; nil is this machine.
	Machine Machine
	// Budget is how long one close may take; 0 is 50 s, which fits the deadlines of
	// the usual clients.
	Budget time.Duration
	Log    *slog.Logger // nil is silence
}

// Machine tells of processes and signals them.
type Machine interface {
	Snapshot() (*process.Table, error)
	Lookup(pid int) (process.Process, error)
	OpenFiles(pid int) ([]string, error)
	Device(tty string) (uint64, error)
	Variable(pid int, name string) (string, bool)
	Ticks(pid int) (uint64, error)
	// Signal signals one process, only if it is still the one that started then.
	Signal(pid int, started time.Time, signal os.Signal) error
}

const (
	defaultBudget = 50 * time.Second
	holdPatience  = 2 * time.Second        // for somebody who types to finish
	askPatience   = 3 * time.Second        // for an agent that was asked to end
	breakPatience = 500 * time.Millisecond // for a program that was interrupted
	termPatience  = 1500 * time.Millisecond
	closePatience = 10 * time.Second // for the terminal to close
	provePatience = 3 * time.Second  // for its list to show it
	endPatience   = time.Second      // for processes that were hung up to end

	// promptPatience is how long programs that a shell starts for its prompt may
	// run: its command has just ended. What runs longer was started by somebody.
	promptPatience = 3 * time.Second

	glance = 10 * time.Millisecond
)

// Closer closes. Its methods may be called from several goroutines.
type Closer struct {
	pilot    Pilot
	receipts store
	launched func(string) []Chat
	machine  Machine
	budget   time.Duration
	log      *slog.Logger
}

// New returns a Closer. It reads and makes nothing before it is used.
func New(o Options) *Closer {
	c := &Closer{
		pilot: o.Pilot, receipts: store{dir: o.Dir}, launched: o.Launched, machine: o.Machine, budget: o.Budget, log: o.Log,
	}
	if c.launched == nil {
		c.launched = func(string) []Chat { return nil }
	}
	if c.machine == nil {
		c.machine = machine{}
	}
	if c.budget <= 0 {
		c.budget = defaultBudget
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}
