package closing

import (
	"context"
	"os"
	"slices"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// Close carries out a request, in this order: the selector; a look at every
// session that is meant; the receipt; for each session a second look, then its
// programs' end; the close, once; the proof. A refusal is a result, as is what
// could not be proven. An error means that nothing was tried: a bad selector,
// NotAllowed, or BackendUnavailable.
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
	table, err := c.machine.Snapshot()
	if err != nil {
		return Result{}, &fault.Error{Op: op, Code: fault.Internal, Detail: "the processes of this machine cannot be read", Hint: "nothing was done", Err: err}
	}
	r := &running{c: c, req: req, receipt: Receipt{
		V: receiptVersion, Operation: req.Operation, Force: req.Force, Target: target, Status: executing, Began: time.Now().UTC(), Reopened: []Reopened{},
	}}
	for _, s := range members {
		v := c.judge(table, s)
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
	return err
}

// running is one close that goes on.
type running struct {
	c        *Closer
	req      Request
	verdicts []verdict
	receipt  Receipt // its Sessions are the items, in the order of verdicts
	begun    bool    // the receipt is on disk
	refusal  string  // the code for which all of it is refused
	reason   string
	lost     bool // a receipt could not be written after an effect
}

func (r *running) add(v verdict) {
	r.verdicts = append(r.verdicts, v)
	r.receipt.Sessions = append(r.receipt.Sessions, v.item())
}

func (r *running) item(i int) *Item { return &r.receipt.Sessions[i] }

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
	if r.refusal == "" {
		return
	}
	for i := range r.verdicts { // all of a target or none of it
		if item := r.item(i); item.Code == "" {
			item.Code, item.Closure, item.Reason = codeParent, skipped, "another session of the same "+r.receipt.Target.Kind+" stays"
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
		for i := range r.verdicts {
			if item := r.item(i); item.Closure == pending {
				item.Closure, item.Code, item.Reason = skipped, codeReceipt, r.reason
			}
		}
		return
	}
	r.begun = true
	r.c.log.Info("close begins", "operation", string(r.req.Operation), "recovery", r.receipt.ID, "sessions", r.candidates())
	group := r.groupOf()
	for i := range r.verdicts {
		if r.item(i).Closure != pending || r.lost {
			continue
		}
		r.endPrograms(ctx, i, group == nil)
	}
	if group != nil {
		r.closeGroup(ctx, group)
	}
	r.receipt.Status = string(r.status())
	r.write()
}

// groupOf returns the backend's way to close the whole tab or window in one act,
// or nil when its sessions are closed one by one.
func (r *running) groupOf() func(ctx context.Context) error {
	how := terminal.Hangup
	if r.req.Force {
		how = terminal.Force
	}
	g, ok := r.verdicts[0].seen.On.(terminal.GroupCloser)
	switch {
	case !ok || len(r.verdicts) < 2:
	case r.receipt.Target.Kind == "tab":
		return func(ctx context.Context) error { return g.CloseTab(ctx, r.receipt.Target.ID, how) }
	case r.receipt.Target.Kind == "window":
		return func(ctx context.Context) error { return g.CloseWindow(ctx, r.receipt.Target.ID, how) }
	}
	return nil
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

// endPrograms looks at a session once more, ends its programs and, when alone,
// closes it.
func (r *running) endPrograms(ctx context.Context, i int, alone bool) {
	item, v := r.item(i), r.verdicts[i]
	fail := func(code, reason string) {
		item.Code, item.Reason, item.Closure = code, reason, failed
		r.write()
	}
	if ctx.Err() != nil {
		fail(codeTime, "the time was over before its turn")
		return
	}
	id := terminal.ID(item.SessionID)
	release, err := r.c.pilot.Hold(ctx, string(r.req.Operation), id, holdPatience)
	if err != nil {
		fail(codeBusy, "somebody types into it: "+err.Error())
		return
	}
	defer release()
	now, code, reason := r.lookAgain(ctx, v)
	if code != "" {
		fail(code, reason)
		return
	}
	if !r.endAgents(ctx, item, now) || !r.interrupt(ctx, item, now) {
		r.write()
		return
	}
	if item.Exit == notAttempted {
		item.Exit = notNeeded
	}
	if item.Interruption == notAttempted {
		item.Interruption = notNeeded
	}
	if !r.write() || !alone {
		return
	}
	if reason := r.crowded(now); reason != "" {
		fail(codeChanged, reason)
		return
	}
	r.closeOne(ctx, item, now)
	r.write()
}

// crowded says what runs in a session by now that was not counted, or "". Once
// its programs were asked to end this is the last look before the close.
func (r *running) crowded(v verdict) string {
	table, err := r.c.machine.Snapshot()
	if err != nil {
		return "its processes cannot be read any more"
	}
	if now := r.c.take(table, v.seen); v.census.known && now.known && now.grew(v.census) {
		return describe(now.work) + " was started meanwhile"
	}
	return ""
}

// lookAgain is the second look, just before the effect: the session is still
// where it was, its programs are no others and no more, and it is no busier.
func (r *running) lookAgain(ctx context.Context, before verdict) (now verdict, code, reason string) {
	id := before.seen.ID
	s, err := r.c.pilot.SeeOne(ctx, string(r.req.Operation), id)
	switch fault.CodeOf(err) {
	case "":
	case fault.SessionEnded, fault.SessionNotFound:
		return before, codeChanged, "it ended meanwhile"
	default:
		return before, codeBackend, err.Error()
	}
	table, err := r.c.machine.Snapshot()
	if err != nil {
		return before, codeChanged, "its processes cannot be read any more"
	}
	now = r.c.judge(table, s)
	switch {
	case s.Window != before.seen.Window || s.Tab != before.seen.Tab:
		return now, codeChanged, "it was moved meanwhile"
	case now.code != "":
		return now, now.code, now.reason
	case now.census.grew(before.census):
		return now, codeChanged, "other programs run in it by now: " + now.reason
	case !sameChats(now.chats, before.chats):
		return now, codeChanged, "an agent in it holds another chat by now"
	case !r.req.Force && now.state != Idle:
		return now, now.needsForce(), now.reason
	}
	return now, "", ""
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

// closeOne has the terminal close a session, once, and proves that it is gone.
func (r *running) closeOne(ctx context.Context, item *Item, v verdict) {
	how := terminal.Hangup
	if r.req.Force {
		how = terminal.Force
	}
	closing, cancel := context.WithTimeout(ctx, closePatience)
	err := v.seen.On.Close(closing, v.seen.ID, how)
	cancel()
	r.prove(ctx, item, v, err)
}

// prove says from the terminal's own list whether a session is gone, whatever
// the close itself answered, and names what lives on.
func (r *running) prove(ctx context.Context, item *Item, v verdict, err error) {
	gone, asked := r.untilGone(ctx, v)
	switch {
	case gone:
		item.Closure, item.Code = closed, ""
		item.Reason = "it is gone from the terminal's list"
		item.Survivors = r.survivors(ctx, v)
	case asked != nil:
		item.Closure, item.Code, item.Reason = unknown, codeUnverified, "the terminal does not answer: "+asked.Error()
	case err == nil, fault.CodeOf(err) == fault.Deadline:
		item.Closure, item.Code, item.Reason = unknown, codeUnverified, "the terminal was asked to close it, and still lists it"
	default:
		item.Closure, item.Code, item.Reason = failed, codeClose, err.Error()
	}
}

// untilGone asks the terminal until it no longer lists the session.
func (r *running) untilGone(ctx context.Context, v verdict) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), provePatience) // an effect is proven also when the caller has gone
	defer cancel()
	for {
		if gone, err = r.c.pilot.Gone(ctx, v.seen.On, v.seen.ID); gone {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, err
		case <-time.After(glance): // lists change without an event that closing hears of
		}
	}
}

// survivors are the processes of a session that was closed that live on, after
// the terminal has hung up on them.
func (r *running) survivors(ctx context.Context, v verdict) []Program {
	alive := func() []process.Entry {
		var left []process.Entry
		for _, e := range append(slices.Clone(v.census.work), v.census.detached...) {
			if p, err := r.c.machine.Lookup(e.PID); err == nil && p.Start.Equal(e.Start) && p.State != process.Zombie {
				left = append(left, e)
			}
		}
		return left
	}
	for end := time.Now().Add(endPatience); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(glance) { // the end of another's process comes without an event
		if left := alive(); len(left) <= len(v.census.detached) {
			return v.census.programs(left)
		}
	}
	return v.census.programs(alive())
}

// closeGroup closes a whole tab or window, if all of its sessions are ready for
// it and it holds no others.
func (r *running) closeGroup(ctx context.Context, group func(context.Context) error) {
	ready := !r.lost && ctx.Err() == nil
	for i := range r.verdicts {
		ready = ready && r.item(i).Closure == pending
	}
	if newcomer := r.newcomer(ctx); newcomer != "" {
		ready = false
		for i := range r.verdicts {
			if item := r.item(i); item.Closure == pending {
				item.Closure, item.Code, item.Reason = failed, codeChanged, newcomer
			}
		}
	}
	for i, v := range r.verdicts {
		if item := r.item(i); item.Closure == pending {
			if reason := r.crowded(v); reason != "" {
				ready = false
				item.Closure, item.Code, item.Reason = failed, codeChanged, reason
			}
		}
	}
	if !ready {
		for i := range r.verdicts {
			if item := r.item(i); item.Closure == pending {
				r.settle(ctx, i)
			}
		}
		return
	}
	closing, cancel := context.WithTimeout(ctx, closePatience)
	err := group(closing)
	cancel()
	for i := range r.verdicts {
		r.prove(ctx, r.item(i), r.verdicts[i], err)
	}
}

// settle says how a session stands whose programs were ended and that was then
// not closed: it may have gone with its last program.
func (r *running) settle(ctx context.Context, i int) {
	item, v := r.item(i), r.verdicts[i]
	if gone, err := r.c.pilot.Gone(context.WithoutCancel(ctx), v.seen.On, v.seen.ID); err == nil && gone {
		item.Closure, item.Reason = closed, "it ended with its last program"
		return
	}
	item.Closure, item.Code, item.Reason = retained, codeParent, "another session of the same "+r.receipt.Target.Kind+" could not be closed"
}

// newcomer says what is in the tab or window by now that was not looked at, or "".
func (r *running) newcomer(ctx context.Context) string {
	all, _ := r.c.pilot.See(ctx)
	known := map[terminal.ID]bool{}
	for _, v := range r.verdicts {
		known[v.seen.ID] = true
	}
	first := r.verdicts[0].seen
	for _, s := range all {
		in := r.receipt.Target.Kind == "tab" && s.Tab == r.receipt.Target.ID || r.receipt.Target.Kind == "window" && s.Window == r.receipt.Target.ID
		if in && s.Session.Backend == first.Session.Backend && !known[s.ID] {
			return "a session that was not looked at is in the " + r.receipt.Target.Kind + " by now"
		}
	}
	return ""
}

// status is how all of it ended.
func (r *running) status() Status {
	count := map[string]int{}
	for i := range r.verdicts {
		count[r.item(i).Closure]++
	}
	switch {
	case r.refusal != "":
		return Refused
	case r.req.DryRun:
		return DryRun
	case count[closed] > 0 && count[closed] == len(r.verdicts) && !r.lost:
		return Closed
	case count[closed] > 0:
		return Partial
	case count[unknown] > 0 || r.lost:
		return UnknownStatus
	case !r.begun:
		return Noop
	}
	return Refused
}

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
		if res.Code == "" && res.Status != Closed && res.Status != DryRun && item.Code != "" {
			res.Code, res.Reason = item.Code, item.Reason
		}
	}
	if r.lost {
		res.Code, res.Reason = codeReceipt, r.reason
	}
	if res.Status == Noop && res.Reason == "" {
		res.Reason = "there is nothing to close"
	}
	return res
}

// Inspect tells, of one session or of all that may be touched, what runs in it
// and what a close would do and why not. It changes nothing.
func (c *Closer) Inspect(ctx context.Context, sessionID, name string) ([]Item, error) {
	all, _ := c.pilot.See(ctx)
	some := allowed(all)
	if sessionID != "" || name != "" {
		if sessionID != "" && name != "" {
			return nil, &fault.Error{Op: "inspect", Code: fault.InvalidArgument, Detail: "two selectors are given", Hint: "pass session_id or nickname"}
		}
		s, err := one(Request{Operation: "inspect", SessionID: sessionID, Name: name}, some)
		if err != nil {
			if better := c.known(ctx, "inspect", sessionID, err); better != nil {
				err = better
			}
			return nil, err
		}
		some = []pilot.Seen{s}
	}
	table, err := c.machine.Snapshot()
	if err != nil {
		return nil, &fault.Error{Op: "inspect", Code: fault.Internal, Detail: "the processes of this machine cannot be read", Hint: "try again", Err: err}
	}
	items := []Item{}
	for _, s := range some {
		v := c.judge(table, s)
		item := v.item()
		if item.Code == "" {
			item.Code = v.needsForce()
		}
		items = append(items, item)
	}
	return items, nil
}
