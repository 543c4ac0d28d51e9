package closing

import (
	"context"
	"slices"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/terminal"
)

// hold keeps everybody else from typing into a session. false: it stays, and
// says why.
func (r *running) hold(ctx context.Context, i int) (release func(), ok bool) {
	item := r.item(i)
	if ctx.Err() != nil {
		item.fail(codeTime, "the time was over before its turn")
		return nil, false
	}
	release, err := r.c.pilot.Hold(ctx, string(r.req.Operation), terminal.ID(item.SessionID), holdPatience)
	if err != nil {
		code := codeBackend
		switch {
		case fault.CodeOf(err) == fault.Busy:
			code = codeBusy
		case fault.CodeOf(err) == fault.Storage:
			code = codeReceipt
		case ctx.Err() != nil:
			code = codeTime
		}
		item.fail(code, "it could not be kept from others who type: "+err.Error())
		return nil, false
	}
	return release, true
}

// closeAlone closes one session.
func (r *running) closeAlone(ctx context.Context, i int) {
	if release, ok := r.hold(ctx, i); ok {
		defer release()
		if r.prepare(ctx, i) {
			if ready, _ := r.lastLook(ctx, i); ready {
				r.closeNow(ctx, i)
			}
		}
	}
	r.write()
}

// closeNow has the terminal close a session, and proves it.
func (r *running) closeNow(ctx context.Context, i int) {
	var err error
	if v := r.verdicts[i]; !v.over {
		err = r.native(ctx, func(ctx context.Context) error { return v.seen.On.Close(ctx, v.seen.ID, r.how()) })
	}
	r.prove(ctx, err, i)
}

// native has the terminal close something, once.
func (r *running) native(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	return do(ctx)
}

// prepare ends a session's programs, and puts on record that its close is next.
// Nothing is ended before a second look.
func (r *running) prepare(ctx context.Context, i int) bool {
	item := r.item(i)
	if len(r.verdicts[i].census.work) > 0 {
		if !r.lookAgain(ctx, i) || !r.endAgents(ctx, i) || !r.interrupt(ctx, i) {
			return false
		}
	}
	if item.Exit == notAttempted {
		item.Exit = notNeeded
	}
	if item.Interruption == notAttempted {
		item.Interruption = notNeeded
	}
	return r.write()
}

// lastLook is the look just before the close. Where nothing was ended it is the
// second look in full; else the session's programs are no longer what they were,
// and what counts is that it is where it was, that nothing new runs in it, and,
// without force, that nobody has typed at its prompt. late: it had to be waited for.
func (r *running) lastLook(ctx context.Context, i int) (ok, late bool) {
	item, before := r.item(i), &r.verdicts[i]
	if before.over {
		return true, false
	}
	if item.Exit == notNeeded {
		if !r.lookAgain(ctx, i) {
			item.Exit, item.Interruption = notAttempted, notAttempted
			return false, false
		}
		return true, false
	}
	for end := time.Now().Add(promptPatience); ; time.Sleep(glance) { // a shell that is back runs programs for its prompt
		now, over, ok := r.look(ctx, i)
		if over { // with its last program
			before.over = true
		}
		if over || !ok {
			return over, late
		}
		if pid := now.seen.ShellPID; !now.census.known && (pid == 0 || pid == before.census.shell.PID) && r.ended(i) {
			return true, late // with its last program, too, and the terminal keeps it or has yet to notice
		}
		code, reason := now.census.forbids()
		if news := now.census.news(before.census); code == "" && news != "" {
			code, reason = codeChanged, news
		}
		if state := now.seen.Readiness.State; code == "" && !r.req.Force && (state == pilot.TypedText || state == pilot.Continuation) {
			code, reason = codeWaiting, now.seen.Readiness.Reason
		}
		switch {
		case code == "":
			return true, late
		case code == codeSelf, !time.Now().Before(end), ctx.Err() != nil:
			item.fail(code, reason)
			return false, late
		}
		late = true
	}
}

// lookAgain is the second look: the session is still where it was, its programs
// are no others and no more, and it is no busier. What is found then counts.
func (r *running) lookAgain(ctx context.Context, i int) bool {
	item, before := r.item(i), r.verdicts[i]
	now, over, ok := r.look(ctx, i)
	if !ok {
		if over {
			item.fail(codeChanged, "it ended meanwhile, by itself or by another's hand")
		}
		return false
	}
	switch news := now.census.news(before.census); {
	case now.code != "":
		item.fail(now.code, now.reason)
	case news != "":
		item.fail(codeChanged, news)
	case !sameChats(now.chats, before.chats):
		item.fail(codeChanged, "an agent in it holds another chat by now")
	case !r.req.Force && now.state != Idle:
		item.fail(now.needsForce(), now.reason)
	default:
		now.census.orphans = before.census.orphans
		fresh := now.item()
		item.State, item.Evidence, item.Processes, item.Detached, item.Chats = fresh.State, fresh.Evidence, fresh.Processes, fresh.Detached, fresh.Chats
		r.verdicts[i] = now
		return true
	}
	return false
}

// look judges a session anew that was looked at before. It is not ok when the
// session is over, or when it was moved or cannot be seen, and then says so.
func (r *running) look(ctx context.Context, i int) (now verdict, over, ok bool) {
	item, before := r.item(i), r.verdicts[i]
	s, err := r.c.pilot.SeeOne(ctx, string(r.req.Operation), before.seen.ID)
	switch code := fault.CodeOf(err); {
	case err == nil:
	case code == fault.SessionEnded, code == fault.SessionNotFound:
		return verdict{}, true, false
	case ctx.Err() != nil:
		item.fail(codeTime, "the time was over before it was looked at again")
		return verdict{}, false, false
	default:
		item.fail(codeBackend, err.Error())
		return verdict{}, false, false
	}
	if s.Window != before.seen.Window || s.Tab != before.seen.Tab {
		item.fail(codeChanged, "it was moved meanwhile")
		return verdict{}, false, false
	}
	table, err := r.c.machine.Snapshot()
	if err != nil {
		item.fail(codeChanged, "its processes cannot be read any more")
		return verdict{}, false, false
	}
	return r.c.judge(table, s), false, true
}

// sameChats reports whether no chat is there that was not there before.
func sameChats(now, before []Chat) bool {
	for _, chat := range now {
		if !slices.ContainsFunc(before, func(old Chat) bool { return old.PID == chat.PID && old.ChatID == chat.ChatID }) {
			return false
		}
	}
	return true
}
