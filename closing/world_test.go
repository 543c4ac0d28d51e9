package closing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// world is a terminal and a machine of a test's own: sessions with processes,
// and a record of all that was done to them.
type world struct {
	t        testing.TB
	mu       sync.Mutex
	sessions []*session
	next     int
	dir      string
	done     []string            // effects, in order: "signal 12 TERM", "close s1", "close tab t1"
	stubborn map[int]bool        // processes that no signal ends
	files    map[int][]string    // open files of processes
	before   func(effect string) // called before each effect; may change the world
	look     func()              // called before each look at the processes
	hung     map[terminal.ID]error
	stays    map[terminal.ID]bool // sessions that a close does not end
	readOnly bool
	silent   bool            // the backend does not answer
	ended    string          // the id of a session that is no more, of which the backend still tells
	down     bool            // the backend seems not to run
	hides    bool            // the machine shows our own processes alone
	unseen   map[int]bool    // processes that a look at all of them misses
	unread   error           // why no process can be looked up
	gaps     bool            // another backend could not be asked
	strays   []process.Entry // processes of sessions that are gone
	opened   []pilot.OpenRequest
	held     map[terminal.ID]bool
	denied   error // for whoever signals
	unheld   error // for whoever would keep others from typing
	argv     map[int][]string
	vars     map[string]string
	started  map[int]string // the terminal's name of the session that processes were started in
}

type session struct {
	id, tab, window, name string
	state                 pilot.ReadyState
	hidden                bool
	remote                bool // its processes are not of this machine
	shell                 int
	procs                 []process.Entry
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{
		t: t, next: 1 << 24, dir: filepath.Join(t.TempDir(), "home", "recovery"), stubborn: map[int]bool{}, files: map[int][]string{},
		hung: map[terminal.ID]error{}, stays: map[terminal.ID]bool{}, argv: map[int][]string{}, vars: map[string]string{},
	}
}

func (w *world) closer() *Closer {
	return New(Options{Pilot: w, Dir: w.dir, Machine: w})
}

var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// add makes a session whose shell stands at an empty prompt.
func (w *world) add(id, tab, window string) *session {
	w.next += 100 // numbers that no process of this machine has
	s := &session{id: id, tab: tab, window: window, name: "n" + id, state: pilot.Ready, shell: w.next}
	s.procs = []process.Entry{{Process: process.Process{PID: s.shell, PPID: 1, PGID: s.shell, SID: s.shell, Name: "bash", Start: born, State: process.Running}, TTY: uint64(s.shell), Foreground: s.shell}}
	w.sessions = append(w.sessions, s)
	return s
}

// start runs a program on a session's terminal, in the foreground or behind it.
func (w *world) start(s *session, name string, foreground bool) process.Entry {
	pid := s.procs[len(s.procs)-1].PID + 1
	e := process.Entry{Process: process.Process{PID: pid, PPID: s.shell, PGID: pid, SID: s.shell, Name: name, Start: born.Add(time.Duration(pid) * time.Second), State: process.Running}, TTY: uint64(s.shell), Foreground: s.shell}
	s.procs = append(s.procs, e)
	if foreground {
		s.state = pilot.BusyState
		for i := range s.procs {
			s.procs[i].Foreground = pid
		}
	}
	return s.procs[len(s.procs)-1]
}

// detach runs a program that has left the terminal.
func (w *world) detach(s *session, name string) process.Entry {
	e := w.start(s, name, false)
	p := &s.procs[len(s.procs)-1]
	p.SID, p.PGID, p.TTY, p.Foreground = e.PID, e.PID, 0, -1
	return *p
}

func (w *world) effect(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if w.before != nil {
		w.before(text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = append(w.done, text)
}

func (w *world) effects() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.done)
}

func (w *world) find(id string) *session {
	for _, s := range w.sessions {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (w *world) remove(id string) {
	w.sessions = slices.DeleteFunc(w.sessions, func(s *session) bool { return s.id == id })
}

func (w *world) seen(s *session) pilot.Seen {
	return pilot.Seen{
		Session: terminal.Session{ID: terminal.ID(s.id), Backend: "fake", Window: s.window, Tab: s.tab, Name: s.name, Local: !s.remote, ShellPID: s.shell, TTY: fmt.Sprintf("/dev/pts/%d", s.shell), Cwd: "/srv"},
		On:      w.backend(), Readiness: pilot.Readiness{State: s.state, Reason: "as the test wants"}, Allowed: !s.hidden,
	}
}

func (w *world) backend() terminal.Backend { return &backend{w: w} }

// See, SeeOne, Listed, MayChange, Hold and Open are the pilot's.
func (w *world) See(context.Context) (all []pilot.Seen, complete bool) {
	for _, s := range w.sessions {
		all = append(all, w.seen(s))
	}
	return all, !w.silent && !w.gaps
}

func (w *world) SeeOne(_ context.Context, op string, id terminal.ID) (pilot.Seen, error) {
	s := w.find(string(id))
	switch {
	case w.silent:
		return pilot.Seen{}, &fault.Error{Op: op, Code: fault.BackendUnavailable, Hint: "-"}
	case s == nil && string(id) == w.ended:
		return pilot.Seen{}, &fault.Error{Op: op, Code: fault.SessionEnded, Hint: "open another session"}
	case s == nil:
		return pilot.Seen{}, &fault.Error{Op: op, Code: fault.SessionNotFound, Hint: "-"}
	case s.hidden:
		return pilot.Seen{}, &fault.Error{Op: op, Code: fault.NotAllowed, Hint: "-"}
	}
	return w.seen(s), nil
}

func (w *world) Listed(context.Context, terminal.Backend) (ids map[terminal.ID]bool, running bool, err error) {
	switch {
	case w.silent:
		return nil, true, &fault.Error{Op: "list", Code: fault.Deadline}
	case w.down:
		return nil, false, nil
	}
	ids = map[terminal.ID]bool{}
	for _, s := range w.sessions {
		ids[terminal.ID(s.id)] = true
	}
	return ids, true, nil
}

func (w *world) MayChange(op string) error {
	if w.readOnly {
		return &fault.Error{Op: op, Code: fault.NotAllowed}
	}
	return nil
}

func (w *world) Hold(_ context.Context, _ string, id terminal.ID, _ time.Duration) (func(), error) {
	if w.unheld != nil {
		return nil, w.unheld
	}
	if w.held == nil {
		w.held = map[terminal.ID]bool{}
	}
	w.held[id] = true
	return func() { delete(w.held, id) }, nil
}

func (w *world) Open(_ context.Context, r pilot.OpenRequest) (pilot.Opened, error) {
	w.opened = append(w.opened, r)
	id := fmt.Sprintf("new%d", len(w.opened))
	run := ""
	if r.Command != "" {
		run = "r1"
	}
	return pilot.Opened{SessionID: id, RunID: run}, nil
}

// backend closes.
type backend struct {
	terminal.Backend // nil: what closing does not call
	w                *world
}

func (b *backend) Name() string { return "fake" }

func (b *backend) Close(_ context.Context, id terminal.ID, _ terminal.CloseMode) error {
	b.w.effect("close %s", id)
	return b.w.closed(id)
}

func (w *world) closed(id terminal.ID) error {
	if s := w.find(string(id)); s != nil && !w.stays[id] {
		w.remove(string(id))
	}
	return w.hung[id]
}

func (b *backend) CloseTab(_ context.Context, tab string, _ terminal.CloseMode) error {
	b.w.effect("close tab %s", tab)
	for _, s := range slices.Clone(b.w.sessions) {
		if s.tab == tab {
			_ = b.w.closed(terminal.ID(s.id))
		}
	}
	return nil
}

func (b *backend) CloseWindow(_ context.Context, window string, _ terminal.CloseMode) error {
	b.w.effect("close window %s", window)
	for _, s := range slices.Clone(b.w.sessions) {
		if s.window == window {
			_ = b.w.closed(terminal.ID(s.id))
		}
	}
	return nil
}

// Snapshot, Lookup and the rest are the machine's.
func (w *world) Snapshot() (*process.Table, error) {
	if w.look != nil {
		w.look()
	}
	entries := []process.Entry{{Process: process.Process{PID: os.Getpid(), PPID: os.Getppid(), Start: born, Name: "termpilot"}}}
	for _, s := range w.sessions {
		entries = append(entries, s.procs...)
	}
	entries = append(entries, w.strays...)
	table := process.TableOf(slices.DeleteFunc(entries, func(e process.Entry) bool { return w.unseen[e.PID] })...)
	table.Hides = w.hides
	return table, nil
}

func (w *world) Lookup(pid int) (process.Process, error) {
	if w.unread != nil {
		return process.Process{}, w.unread
	}
	for _, s := range w.sessions {
		for _, e := range s.procs {
			if e.PID == pid {
				e.Argv = w.argv[pid]
				return e.Process, nil
			}
		}
	}
	for _, e := range w.strays {
		if e.PID == pid {
			return e.Process, nil
		}
	}
	return process.Process{}, process.ErrGone
}

func (w *world) OpenFiles(pid int) ([]string, error) { return w.files[pid], nil }

func (w *world) Device(tty string) (device uint64, err error) {
	_, err = fmt.Sscanf(tty, "/dev/pts/%d", &device)
	return device, err
}

func (w *world) Variable(pid int, name string) (string, bool) {
	if name == "ITERM_SESSION_ID" {
		return w.started[pid], true
	}
	value, ok := w.vars[name]
	return value, ok || strings.HasPrefix(name, "T")
}
func (w *world) Ticks(int) (uint64, error) { return 0, process.ErrGone }

func (w *world) Signal(pid int, started time.Time, signal os.Signal) error {
	number, _ := signal.(syscall.Signal)
	w.effect("signal %d %s", pid, number)
	if w.denied != nil {
		return w.denied
	}
	for _, s := range w.sessions {
		for i, e := range s.procs {
			if e.PID != pid || !e.Start.Equal(started) {
				continue
			}
			if !w.stubborn[pid] && (number == syscall.SIGTERM || number == syscall.SIGINT) {
				s.procs = slices.Delete(s.procs, i, i+1)
				for k := range s.procs {
					s.procs[k].Foreground = s.shell
				}
				if s.state == pilot.BusyState || s.state == pilot.WaitingInput || s.state == pilot.Password {
					s.state = pilot.Ready
				}
			}
			return nil
		}
	}
	return process.ErrGone
}
