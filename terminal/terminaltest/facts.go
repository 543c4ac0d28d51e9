package terminaltest

import (
	"fmt"
	"strconv"
	"time"

	"termpilot/process"
	"termpilot/terminal"
)

// proc is a pretended process.
type proc struct {
	name  string
	pid   int
	ppid  int
	state string
	start time.Time
}

func (s *session) fork(name string, parent *proc) *proc {
	s.f.pids++
	p := &proc{name: name, pid: s.f.pids, ppid: 1, state: process.Running, start: time.Now()}
	if parent != nil {
		p.ppid = parent.pid
	}
	s.procs = append(s.procs, p)
	return p
}

func (s *session) reap(gone *proc) {
	for i, p := range s.procs {
		if p == gone {
			s.procs = append(s.procs[:i:i], s.procs[i+1:]...)
			return
		}
	}
}

func (s *session) fact(p *proc) process.Process {
	return process.Process{
		PID: p.pid, PPID: p.ppid, PGID: p.pid, Name: p.name, Argv: []string{p.name},
		Start: p.start, Cwd: s.cwd, State: p.state,
	}
}

// Foreground is process.Foreground for the fake's sessions.
func (f *Fake) Foreground(shellPID int) (pgid int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		for _, p := range s.procs {
			if p.pid != shellPID {
				continue
			}
			if s.pretendGroup != 0 {
				return s.pretendGroup, nil
			}
			return s.foreground.pid, nil
		}
	}
	return 0, fmt.Errorf("foreground of %d: %w", shellPID, process.ErrGone)
}

// Lookup is process.Lookup for the fake's sessions.
func (f *Fake) Lookup(pid int) (process.Process, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		for _, p := range s.procs {
			if p.pid == pid {
				return s.fact(p), nil
			}
		}
	}
	return process.Process{}, fmt.Errorf("look up %d: %w", pid, process.ErrGone)
}

// Flags is process.Flags for the fake's sessions.
func (f *Fake) Flags(tty string) (process.TTY, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		if s.tty == tty && s.exit == nil {
			if s.pretendFlags != nil {
				return *s.pretendFlags, nil
			}
			return s.flags, nil
		}
	}
	return process.TTY{}, fmt.Errorf("flags of %s: %w", tty, process.ErrNoTTY)
}

// Reads is process.Reads for the fake's sessions: known for all of them.
func (f *Fake) Reads(pgid int, tty string) (reads, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		if s.tty == tty && s.exit == nil {
			return s.reader != nil && s.reader.pid == pgid, true
		}
	}
	return false, false
}

// Facts is a fake's process facts with the results in the shape that the pilot asks for.
type Facts struct{ *Fake }

// Facts returns the process facts of the fake's sessions.
func (f *Fake) Facts() Facts { return Facts{f} }

// Front is process.Front for the fake's sessions.
func (f Facts) Front(shellPID int) (pgid int, name string, err error) {
	pgid, err = f.Foreground(shellPID)
	if err != nil {
		return 0, "", err
	}
	name, _ = f.Name(pgid)
	return pgid, name, nil
}

// Name is process.Name for the fake's sessions.
func (f Facts) Name(pid int) (string, error) {
	p, err := f.Lookup(pid)
	return p.Name, err
}

// Flags is [Fake.Flags], one by one.
func (f Facts) Flags(tty string) (echo, canonical bool, err error) {
	flags, err := f.Fake.Flags(tty)
	return flags.Echo, flags.Canonical, err
}

// Reads is [Fake.Reads] as one value.
func (f Facts) Reads(pgid int, tty string) terminal.Known {
	reads, known := f.Fake.Reads(pgid, tty)
	if !known {
		return terminal.Unknown
	}
	return terminal.KnownOf(reads)
}

func itoa(n int) string { return strconv.Itoa(n) }
