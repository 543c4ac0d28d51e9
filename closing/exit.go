package closing

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"termpilot/process"
)

// endAgents asks the coding agents of a session to end, one after the other, and
// returns when all are gone. SIGTERM is how each of them is told to save and
// leave; then SIGHUP, as when a terminal is closed; SIGKILL never.
func (r *running) endAgents(ctx context.Context, item *Item, v verdict) bool {
	for i, agent := range v.agents {
		if v.chats[i].State == Busy || v.chats[i].State == Waiting {
			item.Interruption = unknown // until it is known what became of it
		}
		item.Exit = unknown
		if !r.write() { // on record before the effect
			item.Closure, item.Code, item.Reason = failed, codeReceipt, r.reason
			return false
		}
		left := []process.Entry{agent}
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			if left = r.signal(ctx, left, signal, askPatience); len(left) == 0 {
				break
			}
		}
		if len(left) > 0 {
			item.Exit, item.Closure, item.Code = failed, failed, codeExit
			item.Reason = fmt.Sprintf("%s (process %d) was asked to end and has not", v.chats[i].CLI, agent.PID)
			return false
		}
		item.Exit = exited
		if item.Interruption == unknown {
			item.Interruption = interrupted
		}
	}
	return true
}

// interrupt ends, when force allows it, what else is at work on the terminal: an
// interrupt for the foreground, then a request to end for all, then the close
// itself hangs up. What is stopped is woken, so that it can act on it.
func (r *running) interrupt(ctx context.Context, item *Item, v verdict) bool {
	var work, front []process.Entry
	for _, e := range v.census.work {
		if v.isAgents(e) {
			continue
		}
		work = append(work, e)
		if e.PGID == e.Foreground {
			front = append(front, e)
		}
	}
	if len(work) == 0 {
		return true
	}
	if !r.req.Force { // plan and the second look let nothing of this kind pass
		item.Closure, item.Code, item.Reason = failed, codeBusy, describe(work)+" runs"
		return false
	}
	item.Interruption = unknown
	if !r.write() {
		item.Closure, item.Code, item.Reason = failed, codeReceipt, r.reason
		return false
	}
	r.signal(ctx, front, syscall.SIGINT, breakPatience)
	left := r.signal(ctx, work, syscall.SIGTERM, termPatience)
	item.Interruption = interrupted
	item.Exit = exited
	if len(left) > 0 { // the close hangs up on it, and names it if it survives that
		item.Exit = unknown
	}
	return true
}

// signal sends a signal to each process that is still the one that was counted,
// and returns those that have not ended within patience.
func (r *running) signal(ctx context.Context, list []process.Entry, signal syscall.Signal, patience time.Duration) (left []process.Entry) {
	left = r.alive(list)
	if len(left) == 0 || ctx.Err() != nil {
		return left
	}
	for _, e := range left {
		if err := r.c.machine.Signal(e.PID, e.Start, signal); err == nil && e.State == process.Stopped {
			_ = r.c.machine.Signal(e.PID, e.Start, syscall.SIGCONT) // it acts on the signal only when it runs
		}
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(glance) { // the end of another's process comes without an event
		if left = r.alive(left); len(left) == 0 || ctx.Err() != nil {
			break
		}
	}
	return left
}

func (r *running) alive(list []process.Entry) []process.Entry {
	return slices.DeleteFunc(slices.Clone(list), func(e process.Entry) bool {
		p, err := r.c.machine.Lookup(e.PID)
		return err != nil || !p.Start.Equal(e.Start) || p.State == process.Zombie
	})
}
