package closing

import (
	"context"

	"termpilot/terminal"
)

// closeTogether closes a whole tab or window, if all of its sessions are ready
// for it and it holds no others. All are held and looked at again before the
// programs of any are asked to end.
func (r *running) closeTogether(ctx context.Context, close func(context.Context) error) {
	for i := range r.verdicts {
		release, ok := r.hold(ctx, i)
		if !ok {
			r.stay(ctx)
			return
		}
		defer release()
	}
	if !r.each(func(i int) bool { return r.lookAgain(ctx, i) }) || !r.each(func(i int) bool { return r.prepare(ctx, i) }) || !r.settle(ctx) {
		r.stay(ctx)
		return
	}
	if newcomer := r.newcomer(ctx); newcomer != "" {
		r.leave(failed, codeChanged, newcomer)
		r.stay(ctx)
		return
	}
	all := make([]int, len(r.verdicts))
	for i := range all {
		all[i] = i
	}
	r.prove(ctx, r.native(ctx, close), all...)
	r.write()
}

// each takes a step with every session, as far as it can be taken.
func (r *running) each(step func(i int) bool) bool {
	for i := range r.verdicts {
		if !step(i) {
			return false
		}
	}
	return true
}

// settle is the last look at all sessions: none of them had to be waited for since
// the first was looked at.
func (r *running) settle(ctx context.Context) bool {
	for {
		waited := false
		if !r.each(func(i int) bool {
			ok, late := r.lastLook(ctx, i)
			waited = waited || late
			return ok
		}) {
			return false
		}
		if !waited {
			return true
		}
	}
}

// stay says how the sessions of a tab or window stand that is not closed: one may
// have gone with its last program, and what was not begun is as it was.
func (r *running) stay(ctx context.Context) {
	listed, running, err := r.c.pilot.Listed(context.WithoutCancel(ctx), r.verdicts[0].seen.On)
	for i, v := range r.verdicts {
		item := r.item(i)
		if item.Exit == notNeeded { // its close was next, and did not come
			item.Exit, item.Interruption = notAttempted, notAttempted
		}
		switch {
		case item.Exit == exited && err == nil && running && !listed[v.seen.ID]:
			item.Closure, item.Code, item.Reason = closed, "", "it ended with its last program"
			r.gone = append(r.gone, i)
		case item.Closure == pending && r.lost:
			item.fail(codeReceipt, r.reason)
		case item.Closure == pending:
			item.Closure, item.Code, item.Reason = retained, codeParent, "another session of the same "+r.receipt.Target.Kind+" could not be closed"
		}
	}
}

// newcomer says what is in the tab or window by now that was not looked at, or "",
// as always where neither is closed.
func (r *running) newcomer(ctx context.Context) string {
	kind, id := r.receipt.Target.Kind, r.receipt.Target.ID
	if kind != "tab" && kind != "window" {
		return ""
	}
	all, complete := r.c.pilot.See(ctx)
	known := map[terminal.ID]bool{}
	for _, v := range r.verdicts {
		known[v.seen.ID] = true
	}
	seen := false
	for _, s := range all {
		in := kind == "tab" && s.Tab == id || kind == "window" && s.Window == id
		if s.Session.Backend != r.verdicts[0].seen.Session.Backend || !in {
			continue
		}
		if !known[s.ID] {
			return "a session that was not looked at is in the " + kind + " by now"
		}
		seen = true
	}
	if !seen && !complete {
		return "the terminal does not tell any more what is in the " + kind
	}
	return ""
}
