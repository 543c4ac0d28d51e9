package closing

import (
	"context"
	"slices"
	"time"

	"termpilot/fault"
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
		code := codeBusy
		if fault.CodeOf(err) != fault.Busy {
			code = codeBackend
		}
		item.fail(code, "it could not be kept from others who type: "+err.Error())
		return nil, false
	}
	return release, true
}

// closeAlone closes one session.
func (r *running) closeAlone(ctx context.Context, i int) {
	item := r.item(i)
	if release, ok := r.hold(ctx, i); ok {
		defer release()
		if r.prepare(ctx, i) && r.lastLook(ctx, i) {
			var err error
			if !r.verdicts[i].over {
				err = r.native(ctx, func(ctx context.Context) error {
					return r.verdicts[i].seen.On.Close(ctx, terminal.ID(item.SessionID), r.how())
				})
			}
			r.prove(ctx, err, i)
		}
	}
	r.write()
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
// and what counts is that it is where it was and that nothing new runs in it.
func (r *running) lastLook(ctx context.Context, i int) bool {
	item, v := r.item(i), &r.verdicts[i]
	if item.Exit == notNeeded {
		if !r.lookAgain(ctx, i) {
			item.Exit, item.Interruption = notAttempted, notAttempted
			return false
		}
		return true
	}
	s, err := r.c.pilot.SeeOne(ctx, string(r.req.Operation), v.seen.ID)
	switch fault.CodeOf(err) {
	case "":
	case fault.SessionEnded, fault.SessionNotFound: // with its last program
		v.over = true
		return true
	default:
		item.fail(codeBackend, err.Error())
		return false
	}
	if s.Window != v.seen.Window || s.Tab != v.seen.Tab {
		item.fail(codeChanged, "it was moved meanwhile")
		return false
	}
	for end := time.Now().Add(promptPatience); ; time.Sleep(glance) { // a shell that is back runs programs for its prompt
		table, err := r.c.machine.Snapshot()
		if err != nil {
			item.fail(codeChanged, "its processes cannot be read any more")
			return false
		}
		now := r.c.take(table, s)
		switch grown := v.census.known && now.known && now.grew(v.census); {
		case now.self:
			item.fail(codeSelf, "termpilot, or what started it, runs in this session by now")
			return false
		case !grown:
			return true
		case !time.Now().Before(end) || ctx.Err() != nil:
			item.fail(codeChanged, describe(now.work)+" was started meanwhile")
			return false
		}
	}
}

// lookAgain is the second look: the session is still where it was, its programs
// are no others and no more, and it is no busier. What is found then counts.
func (r *running) lookAgain(ctx context.Context, i int) bool {
	item, before := r.item(i), r.verdicts[i]
	s, err := r.c.pilot.SeeOne(ctx, string(r.req.Operation), before.seen.ID)
	switch fault.CodeOf(err) {
	case "":
	case fault.SessionEnded, fault.SessionNotFound:
		item.fail(codeChanged, "it ended meanwhile, by itself or by another's hand")
		return false
	default:
		item.fail(codeBackend, err.Error())
		return false
	}
	table, err := r.c.machine.Snapshot()
	if err != nil {
		item.fail(codeChanged, "its processes cannot be read any more")
		return false
	}
	now := r.c.judge(table, s)
	switch {
	case s.Window != before.seen.Window || s.Tab != before.seen.Tab:
		item.fail(codeChanged, "it was moved meanwhile")
	case now.code != "":
		item.fail(now.code, now.reason)
	case now.census.grew(before.census):
		item.fail(codeChanged, "other programs run in it by now: "+now.reason)
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

// sameChats reports whether no chat is there that was not there before.
func sameChats(now, before []Chat) bool {
	for _, chat := range now {
		if !slices.ContainsFunc(before, func(old Chat) bool { return old.PID == chat.PID && old.ChatID == chat.ChatID }) {
			return false
		}
	}
	return true
}
