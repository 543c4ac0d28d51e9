package host

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/process"
)

const (
	// Patience with a program that is asked to end: hangup, then SIGTERM, then
	// SIGKILL, each after the one before had its time.
	hangupPatience = 1 * time.Second
	termPatience   = 500 * time.Millisecond
	forcedPatience = 200 * time.Millisecond
	killPatience   = 1 * time.Second
)

// run is the session's life: it waits for the program, not for the end of the
// terminal's output, which a program left behind may hold open for ever. It
// returns when nothing of the session runs any more.
func (s *session) run() {
	var pumping, writing sync.WaitGroup
	pumping.Go(s.pump)
	writing.Go(func() { s.input.drain(s.device) })

	state, err := s.proc.Wait()
	close(s.exited)
	s.device.wake() // the pump draws what is there, and ends
	pumping.Wait()

	s.input.close()
	s.device.wakeWriter()
	writing.Wait()
	s.finish(exitOf(state, err))
	// Closing the terminal hangs up on those who still hold it.
	_ = s.device.Close()
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
	close(s.done)
}

func exitOf(state *os.ProcessState, err error) exit {
	e := exit{At: time.Now().UTC()}
	if err != nil || state == nil {
		return e
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
	case status.Signaled():
		e.Signal = unix.SignalName(status.Signal())
	case status.Exited():
		code := status.ExitStatus()
		e.Code = &code
	}
	return e
}

// finish records the end, tells it, and takes the session out of the layout.
func (s *session) finish(e exit) {
	s.mu.Lock()
	s.over = true
	for _, timer := range []*time.Timer{s.update, s.release, s.looking, s.waiting} {
		if timer != nil {
			timer.Stop()
		}
	}
	s.tellHeld()
	if s.release != nil {
		s.term.Release()
	}
	s.facts.mu.Lock()
	s.facts.exit = &e
	s.facts.mu.Unlock()
	s.tellVariables()
	kept := s.term.History()
	s.mu.Unlock()
	if s.host.sessionEnded(s, kept) {
		s.endViewers()
	}
}

// close asks the session's programs to end, as closing a window does, and
// returns when the session has, or its program cannot be killed: at the latest
// after a few seconds, and what a transaction takes meanwhile.
// force shortens the patience. What outlives it is named in the log and kept
// as the session's survivors.
func (s *session) close(force bool) {
	s.closing.Store(true)
	steps := []struct {
		signal   syscall.Signal
		patience time.Duration
	}{
		{syscall.SIGHUP, hangupPatience}, {syscall.SIGTERM, termPatience}, {syscall.SIGKILL, killPatience},
	}
	if force {
		steps[0].patience, steps[1].patience = forcedPatience, forcedPatience
	}
	for _, step := range steps {
		s.signal(step.signal)
		select {
		case <-s.exited:
			<-s.done // what is left to draw waits for the end of a transaction, which is a matter of seconds
			s.nameSurvivors()
			return
		case <-time.After(step.patience):
		}
	}
	s.host.log.Error("a session's program cannot be killed", "session", s.id, "pid", s.pid)
}

// signal sends to the program's process group and to the foreground one. A
// stopped job is woken, so that it can act on it.
func (s *session) signal(sig syscall.Signal) {
	select {
	case <-s.exited:
		return // the ids may belong to somebody else by now
	default:
	}
	groups := []int{s.pid}
	if front, err := s.device.foreground(); err == nil && front > 1 && front != s.pid {
		groups = append(groups, front)
	}
	for _, group := range groups {
		_ = syscall.Kill(-group, sig)
		_ = syscall.Kill(-group, syscall.SIGCONT)
	}
}

// nameSurvivors finds the processes of a closed session that live on: they
// ignored the hangup, or left for a session of their own.
func (s *session) nameSurvivors() {
	left := s.processes()
	// A process that was just hung up on needs a moment to go.
	for end := time.Now().Add(forcedPatience); len(left) > 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
		left = slices.DeleteFunc(left, func(x process.Entry) bool { return !process.Alive(x.PID, x.Start) })
	}
	if len(left) == 0 {
		return
	}
	var list []survivor
	for _, p := range left {
		list = append(list, survivor{PID: p.PID, Name: clean(p.Name)})
	}
	s.facts.mu.Lock()
	s.facts.survivors = list
	s.facts.mu.Unlock()
	for _, p := range list {
		s.host.log.Warn("a process outlived its closed session", "session", s.id, "pid", p.PID, "name", p.Name)
	}
}

// processes finds the session's processes by the kernel's session, and by the
// variable that all of them inherit, also one that began a session of its own.
// Where the system does not tell, they are left out.
func (s *session) processes() []process.Entry {
	table, err := process.Snapshot()
	if err != nil {
		return nil
	}
	return table.Where(func(e process.Entry) bool {
		if e.State == process.Zombie || e.PID == os.Getpid() {
			return false
		}
		return e.SID == s.pid || startedIn(e.PID, s.id)
	})
}

// startedIn reports whether a process is known to have been started in a session.
func startedIn(pid int, session string) bool {
	id, known := process.Variable(pid, sessionIDVariable)
	return known && id == session
}
