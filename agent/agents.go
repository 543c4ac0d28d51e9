package agent

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// Pilot is what this package needs of a [pilot.Pilot].
type Pilot interface {
	Open(ctx context.Context, r pilot.OpenRequest) (pilot.Opened, error)
	Run(ctx context.Context, r pilot.RunRequest) (pilot.RunResult, error)
	See(ctx context.Context) (all []pilot.Seen, complete bool)
	SeeOne(ctx context.Context, op string, id terminal.ID) (pilot.Seen, error)
	Hold(ctx context.Context, op string, id terminal.ID, patience time.Duration) (release func(), err error)
	MayTouch(id terminal.ID) bool
	MayChange(op string) error
	MayOpen(op string) error
}

// Machine is asked about processes.
type Machine interface {
	Lookup(pid int) (process.Process, error)
	Foreground(shellPID int) (pgid int, err error)
	AwaitEnd(ctx context.Context, pid int, start time.Time) error
}

// Options configures [New]. Pilot, Dir and Self are needed.
type Options struct {
	Pilot Pilot
	// Dir holds what is known of launches. It is made with mode 0700.
	Dir string
	// Self is this program's path: vendors call it back when something happens.
	Self string
	// Env is this process's own environment: what an agent gets, where programs are
	// found, and the lineage when an agent started this process. nil is os.Environ().
	Env []string
	// Machine is asked about processes; nil is this machine.
	Machine Machine
	Log     *slog.Logger // nil is silence
}

// Agents launches and follows agents. Its methods may be called from several goroutines.
type Agents struct {
	pilot   Pilot
	dir     string
	self    string
	env     []string
	machine Machine
	log     *slog.Logger
	shelf   shelf
}

// New returns the agents of a folder. It makes and starts nothing.
func New(o Options) *Agents {
	a := &Agents{pilot: o.Pilot, dir: o.Dir, self: o.Self, env: o.Env, machine: o.Machine, log: o.Log}
	if a.env == nil {
		a.env = os.Environ()
	}
	if a.machine == nil {
		a.machine = machine{}
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	return a
}

// machine is this machine.
type machine struct{}

func (machine) Lookup(pid int) (process.Process, error) { return process.Lookup(pid) }

func (machine) Foreground(shellPID int) (int, error) { return process.Foreground(shellPID) }

func (machine) AwaitEnd(ctx context.Context, pid int, start time.Time) error {
	return process.AwaitEnd(ctx, pid, start)
}

// getenv is what a variable of this process's own environment holds; "" is none.
func (a *Agents) getenv(name string) string {
	for _, entry := range slices.Backward(a.env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// home is the person's own folder as the environment tells it.
func home(getenv func(string) string) string {
	if own := getenv("HOME"); filepath.IsAbs(own) {
		return own
	}
	own, _ := os.UserHomeDir() // "" finds nothing
	return own
}

func refused(op, session string, code fault.Code, detail, hint string) error {
	return &fault.Error{Op: op, Session: session, Code: code, Detail: detail, Hint: hint}
}
