package tmux

import (
	"context"
	"errors"
	"syscall"
	"time"

	"termpilot/process"
)

var past = time.Unix(1, 0)

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// watchExit tells the end of a pane that we opened. With remain-on-exit tmux
// tells nobody that its program has ended, so the process itself is watched.
func (l *link) watchExit(p *pane, pid int) {
	if !awaitExit(pid, l.done) {
		for !stopped(l.done) && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			select {
			case <-l.done:
			case <-time.After(100 * time.Millisecond): // nothing tells it here
			}
		}
	}
	// tmux knows a moment later, when it has collected the process and read the
	// last of its output.
	for patience := time.Millisecond; patience < 2*time.Second; patience *= 2 {
		if over, _ := p.isOver(); over || stopped(l.done) {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), l.b.o.Deadline)
		err := l.refresh(ctx)
		cancel()
		if err != nil && !errors.Is(err, errSilent) {
			l.stir()
			return
		}
		if over, _ := p.isOver(); over {
			return
		}
		if at, err := process.Lookup(pid); err == nil && at.State == process.Zombie {
			_ = syscall.Kill(l.pid, syscall.SIGCHLD) // it may have missed one, and collects when it gets another
		}
		select {
		case <-l.done:
			return
		case <-time.After(patience): // there is no event for it
		}
	}
}
