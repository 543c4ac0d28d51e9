package closing

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"termpilot/process"
)

// endAgents asks the coding agents of a session to end, one after the other, and
// reports whether all are gone. SIGTERM is how each of them is told to save and
// leave; then SIGHUP, as when a terminal is closed; SIGKILL never.
func (r *running) endAgents(ctx context.Context, i int) bool {
	item, v := r.item(i), r.verdicts[i]
	for k, agent := range v.agents {
		name := fmt.Sprintf("%s (process %d)", v.chats[k].CLI, agent.PID)
		if ctx.Err() != nil {
			item.fail(codeTime, "the time was over before "+name+" was asked to end")
			return false
		}
		if v.chats[k].State != Idle {
			item.Interruption = unknown // until it is known what became of it
		}
		item.Exit = unknown
		if !r.write() { // on record before the effect
			item.fail(codeReceipt, r.reason)
			return false
		}
		left := []process.Entry{agent}
		var refused error
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			if left, refused = r.signal(ctx, left, signal, askPatience); len(left) == 0 {
				break
			}
		}
		switch {
		case len(left) == 0:
			item.Exit = exited
			if state := v.chats[k].State; state == Busy || state == Waiting {
				item.Interruption = interrupted
			}
			continue
		case refused != nil:
			item.Exit = failed
			item.fail(codeExit, name+" may not be asked to end: "+refused.Error())
		case ctx.Err() != nil:
			item.fail(codeTime, "the time was over before "+name+" had ended")
		default:
			item.Exit = failed
			item.fail(codeExit, name+" was asked to end and has not")
		}
		return false
	}
	return true
}

// interrupt ends, when force allows it, what else is at work on the terminal: an
// interrupt for the foreground, then a request to end for all, then the close
// itself hangs up. What is stopped is woken, so that it can act on it.
func (r *running) interrupt(ctx context.Context, i int) bool {
	item, v := r.item(i), r.verdicts[i]
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
	if work = r.alive(work); len(work) == 0 {
		return true
	}
	if !r.req.Force { // plan and the second look let nothing of this kind pass
		item.fail(codeBusy, describe(work)+" runs")
		return false
	}
	if ctx.Err() != nil {
		item.fail(codeTime, "the time was over before "+describe(work)+" was interrupted")
		return false
	}
	item.Interruption = unknown
	if item.Exit == notAttempted {
		item.Exit = unknown
	}
	if !r.write() {
		item.fail(codeReceipt, r.reason)
		return false
	}
	_, _ = r.signal(ctx, front, syscall.SIGINT, breakPatience)          // whether it may be sent, the next one tells
	left, refused := r.signal(ctx, work, syscall.SIGTERM, termPatience) // what is left the close hangs up on, and names if it survives that
	item.Interruption, item.Exit = interrupted, exited
	if len(left) > 0 {
		item.Exit = unknown
	}
	if refused != nil && len(left) == len(work) {
		item.Interruption = unknown
	}
	return true
}

// signal sends a signal to each process that is still the one that was counted,
// and returns those that have not ended within patience, and why one of them could
// not be sent it.
func (r *running) signal(ctx context.Context, list []process.Entry, signal syscall.Signal, patience time.Duration) (left []process.Entry, refused error) {
	list = r.alive(list)
	if len(list) == 0 || ctx.Err() != nil {
		return list, nil
	}
	var told []process.Entry
	for _, e := range list {
		err := r.c.machine.Signal(e.PID, e.Start, signal)
		if err == nil && e.State == process.Stopped {
			err = r.c.machine.Signal(e.PID, e.Start, syscall.SIGCONT) // it acts on the signal only when it runs
		}
		switch {
		case err == nil:
			told = append(told, e)
		case len(r.alive([]process.Entry{e})) > 0:
			refused = err
		}
	}
	for end := time.Now().Add(patience); len(told) > 0 && ctx.Err() == nil && time.Now().Before(end); time.Sleep(glance) { // the end of another's process comes without an event
		told = r.alive(told)
	}
	left = r.alive(list)
	r.effect = r.effect || len(left) < len(list)
	return left, refused
}
