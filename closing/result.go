package closing

import (
	"context"

	"termpilot/fault"
	"termpilot/pilot"
)

// status is how all of it ended.
func (r *running) status() Status {
	count := map[string]int{}
	ended, doubt := r.effect, false
	for i := range r.verdicts {
		item := r.item(i)
		count[item.Closure]++
		ended = ended || item.Exit == exited || item.Interruption == interrupted
		doubt = doubt || item.Exit == unknown // it was asked to end, and what came of it is not known
	}
	switch {
	case r.refusal != "":
		return Refused
	case r.req.DryRun:
		return DryRun
	case count[closed] > 0 && count[closed] == len(r.verdicts) && !r.lost && r.all():
		return Closed
	case count[closed] > 0:
		return Partial
	case count[unknown] > 0 || r.lost:
		return UnknownStatus
	case ended:
		return Partial
	case doubt:
		return UnknownStatus
	case !r.begun && r.all():
		return Noop
	case !r.begun:
		return UnknownStatus
	}
	return Refused
}

// all reports whether what was meant was seen whole: clean_all_sessions means
// sessions also of terminals that did not answer.
func (r *running) all() bool { return r.complete || r.req.Operation != CleanAll }

// result is what is told of it.
func (r *running) result() Result {
	res := Result{
		Operation: r.req.Operation, Status: r.status(), Code: r.refusal, Reason: r.reason, Force: r.req.Force, DryRun: r.req.DryRun, Target: r.receipt.Target,
		Closed: []Item{}, Skipped: []Item{}, Failed: []Item{}, Unknown: []Item{},
	}
	if r.begun {
		res.RecoveryID, res.RecoveryPath = r.receipt.ID, r.c.receipts.path(r.receipt.ID)
	}
	for i, v := range r.verdicts {
		item := *r.item(i)
		if !v.seen.Allowed {
			item = Item{State: Unknown, Code: codeScope, Reason: item.Reason, Closure: skipped, Interruption: notAttempted, Exit: notAttempted, Evidence: []string{}, Processes: []Program{}, Detached: []Program{}, Chats: []Chat{}, Survivors: []Program{}}
		}
		switch item.Closure {
		case closed, pending: // pending: a dry run's
			res.Closed = append(res.Closed, item)
		case skipped:
			res.Skipped = append(res.Skipped, item)
		case unknown:
			res.Unknown = append(res.Unknown, item)
		default:
			res.Failed = append(res.Failed, item)
		}
		if res.Code == "" && res.Status != Closed && res.Status != DryRun && item.Code != "" && item.Code != codeParent {
			res.Code, res.Reason = item.Code, item.Reason
		}
	}
	switch {
	case r.lost:
		res.Code, res.Reason = codeReceipt, r.reason
	case !r.all() && res.Code == "":
		res.Code, res.Reason = codeBackend, "not every terminal could be asked: sessions of the others are not touched"
	case res.Status == Noop && res.Reason == "":
		res.Reason = "there is nothing to close"
	}
	res.Hint = hints[res.Code]
	return res
}

// hints say what to do next, by Result.Code.
var hints = map[string]string{
	codeBusy:       "wait for it with wait_session, or ask the person whether it may be interrupted and then pass force",
	codeWaiting:    "read it with read_terminal: answer it, or ask the person whether it may be thrown away and then pass force",
	codeUnknown:    "read it with read_terminal; when the person agrees that nothing is lost, pass force",
	codeSelf:       "leave it; close it by hand after termpilot has ended",
	codeChat:       "have the person end the agent in its own window, so that its chat can be resumed; then call again",
	codeScope:      "close the sessions of it that list_sessions shows one by one",
	codeChanged:    "call inspect_sessions to see what it is now, and decide anew",
	codeExit:       "read it with read_terminal: the agent may ask something; end it there, then call again",
	codeClose:      "call list_sessions to see what is still there",
	codeUnverified: "do not call again yet: call list_sessions and see whether it is gone",
	codeReceipt:    "make room, or mend the rights of the folder that reason names; then call again",
	codeTime:       "call again: it goes on with what is left",
	codeBackend:    "call list_sessions to see which terminals answer",
	codeParent:     "see the other sessions' code",
}

// Inspect tells, of one session or of all that may be touched, what runs in it
// and what a close would do and why not. It changes nothing.
func (c *Closer) Inspect(ctx context.Context, sessionID, name string) ([]Item, error) {
	all, complete := c.pilot.See(ctx)
	some := allowed(all)
	unasked := &fault.Error{Op: "inspect", Code: fault.BackendUnavailable, Detail: "not every terminal could be asked", Hint: hints[codeBackend]}
	if sessionID != "" || name != "" {
		if sessionID != "" && name != "" {
			return nil, &fault.Error{Op: "inspect", Code: fault.InvalidArgument, Detail: "two selectors are given", Hint: "pass session_id or nickname"}
		}
		s, err := one(Request{Operation: "inspect", SessionID: sessionID, Name: name}, some)
		if err != nil {
			if better := c.known(ctx, "inspect", sessionID, err); better != nil {
				return nil, better
			}
			if !complete && fault.CodeOf(err) == fault.SessionNotFound {
				return nil, unasked
			}
			return nil, err
		}
		some = []pilot.Seen{s}
	}
	if len(some) == 0 && !complete {
		return nil, unasked
	}
	table, err := c.machine.Snapshot()
	if err != nil {
		return nil, &fault.Error{Op: "inspect", Code: fault.Internal, Detail: "the processes of this machine cannot be read", Hint: "try again", Err: err}
	}
	items := []Item{}
	for _, v := range c.judgeAll(table, some) {
		item := v.item()
		if item.Code == "" {
			item.Code = v.needsForce()
		}
		items = append(items, item)
	}
	return items, nil
}
