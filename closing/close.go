package closing

import (
	"context"
	"errors"
	"os"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Close carries out a request, in this order: the selector; a look at every
// session that is meant; the receipt; for each session a second look, its
// programs' end, and a last look; the close, once; the proof. A refusal is a
// result, as is what could not be proven. An error means that nothing was tried:
// a bad selector, NotAllowed, or BackendUnavailable.
func (c *Closer) Close(ctx context.Context, req Request) (Result, error) {
	op := string(req.Operation)
	if err := c.pilot.MayChange(op); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.budget)
	defer cancel()
	all, complete := c.pilot.See(ctx)
	target, members, err := selected(req, all)
	if err != nil {
		if err := c.known(ctx, op, req.SessionID, err); err != nil {
			return Result{}, err
		}
		if !complete && fault.CodeOf(err) != fault.InvalidArgument {
			return Result{}, &fault.Error{Op: op, Code: fault.BackendUnavailable, Detail: "what was meant was not seen, but not every terminal could be asked", Hint: "call list_sessions to see what can be reached", Err: err}
		}
		return Result{}, err
	}
	if !complete && req.Operation != CleanAll && req.SessionID == "" {
		return Result{}, &fault.Error{Op: op, Code: fault.BackendUnavailable, Detail: "not every terminal could be asked, and another one may have the same name or id", Hint: "pass the exact session_id"}
	}
	table, err := c.machine.Snapshot()
	if err != nil {
		return Result{}, &fault.Error{Op: op, Code: fault.Internal, Detail: "the processes of this machine cannot be read", Hint: "nothing was done", Err: err}
	}
	r := &running{c: c, req: req, complete: complete, receipt: Receipt{
		V: receiptVersion, Operation: req.Operation, Force: req.Force, Target: target, Status: executing, Began: time.Now().UTC(), Reopened: []Reopened{},
	}}
	for _, v := range c.judgeAll(table, members) {
		r.add(v)
	}
	r.plan()
	if r.refusal == "" && !req.DryRun && r.candidates() > 0 {
		r.execute(ctx)
	}
	return r.result(), nil
}

// known says of an id that names no session what is known of it: that it has
// ended, may not be touched, or what may have been meant. nil when that is nothing.
func (c *Closer) known(ctx context.Context, op, sessionID string, err error) error {
	if sessionID == "" || fault.CodeOf(err) != fault.SessionNotFound {
		return nil
	}
	_, err = c.pilot.SeeOne(ctx, op, terminal.ID(sessionID))
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.SessionEnded {
		gone := *f
		gone.Hint = "nothing is left to close; read its last screen with read_terminal"
		return &gone
	}
	return err
}

// running is one close that goes on.
type running struct {
	c        *Closer
	req      Request
	complete bool // every terminal could be asked
	verdicts []verdict
	receipt  Receipt // its Sessions are the items, in the order of verdicts
	begun    bool    // the receipt is on disk
	refusal  string  // the code for which all of it is refused
	reason   string
	effect   bool  // a program has ended that was asked to
	lost     bool  // a receipt could not be written after an effect
	gone     []int // the sessions that were closed
}

func (r *running) add(v verdict) {
	r.verdicts = append(r.verdicts, v)
	r.receipt.Sessions = append(r.receipt.Sessions, v.item())
}

func (r *running) item(i int) *Item { return &r.receipt.Sessions[i] }

// fail says that a session stays, and why.
func (i *Item) fail(code, reason string) { i.Closure, i.Code, i.Reason = failed, code, reason }

// plan decides, before anything is done, what is closed and what is not.
func (r *running) plan() {
	clean := r.req.Operation == CleanAll
	for i, v := range r.verdicts {
		code := v.code
		if code == "" && !r.req.Force {
			code = v.needsForce()
		}
		if code == "" {
			continue
		}
		item := r.item(i)
		item.Code, item.Closure = code, skipped
		if clean {
			continue
		}
		if r.refusal == "" || code == codeSelf || code == codeScope {
			r.refusal, r.reason = code, item.Reason
		}
	}
	if r.refusal != "" { // all of a target or none of it
		r.leave(skipped, codeParent, "another session of the same "+r.receipt.Target.Kind+" stays")
	}
}

// leave says of the sessions that are still to be closed that they are not.
func (r *running) leave(closure, code, reason string) {
	for i := range r.verdicts {
		if item := r.item(i); item.Closure == pending {
			item.Closure, item.Code, item.Reason = closure, code, reason
		}
	}
}

func (r *running) candidates() int {
	n := 0
	for i := range r.verdicts {
		if r.item(i).Closure == pending {
			n++
		}
	}
	return n
}

// execute closes what plan left pending.
func (r *running) execute(ctx context.Context) {
	r.receipt.ID = newID()
	r.receipt.Host, _ = os.Hostname() // "" where it is not known
	if err := r.c.receipts.write(&r.receipt); err != nil {
		r.refusal, r.reason = codeReceipt, "what is needed to get it back could not be written down: "+err.Error()
		r.leave(skipped, codeReceipt, r.reason)
		return
	}
	r.begun = true
	r.c.log.Info("close begins", "operation", string(r.req.Operation), "recovery", r.receipt.ID, "sessions", r.candidates())
	if group := r.groupOf(); group != nil {
		r.closeTogether(ctx, group)
	} else if newcomer := r.newcomer(ctx); newcomer != "" {
		r.leave(failed, codeChanged, newcomer)
	} else {
		for i := range r.verdicts {
			if r.item(i).Closure == pending && !r.lost {
				r.closeAlone(ctx, i)
			}
		}
	}
	r.leave(failed, codeReceipt, "it was not tried: "+r.reason) // nothing is left but what a lost receipt left
	r.nameSurvivors(ctx, r.gone)                                // of all at once: what was hung up on ends meanwhile
	r.receipt.Status = string(r.status())
	r.write()
}

// groupOf returns the backend's way to close the whole tab or window in one act,
// or nil when its sessions are closed one by one.
func (r *running) groupOf() func(ctx context.Context) error {
	g, ok := r.verdicts[0].seen.On.(terminal.GroupCloser)
	switch {
	case !ok || len(r.verdicts) < 2:
	case r.receipt.Target.Kind == "tab":
		return func(ctx context.Context) error { return g.CloseTab(ctx, r.receipt.Target.ID, r.how()) }
	case r.receipt.Target.Kind == "window":
		return func(ctx context.Context) error { return g.CloseWindow(ctx, r.receipt.Target.ID, r.how()) }
	}
	return nil
}

func (r *running) how() terminal.CloseMode {
	if r.req.Force {
		return terminal.Force
	}
	return terminal.Hangup
}

// write puts the receipt's state on disk. After an effect a failure must not be
// hidden: what follows is left undone.
func (r *running) write() bool {
	if err := r.c.receipts.write(&r.receipt); err != nil {
		r.lost = true
		r.reason = "the receipt could not be kept up to date: " + err.Error()
		r.c.log.Error("close: receipt", "recovery", r.receipt.ID, "err", err)
		return false
	}
	return true
}
