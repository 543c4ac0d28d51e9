package agent

import (
	"context"
	"sync"
	"time"

	"termpilot/changes"
	"termpilot/fault"
	"termpilot/journal"
	"termpilot/terminal"
)

const (
	waitSchema = "termpilot.agent-wait.v1"
	// MaxWaited is the most sessions of one wait.
	MaxWaited = 32
)

// WaitRequest asks to sleep until turns of agents end.
type WaitRequest struct {
	Sessions []string
	// Cursors are event_cursor of receipts, one for each session or none: what ends
	// behind it. Without one it is the turn that is at work or was the last.
	Cursors []string
	All     bool          // all of the sessions; otherwise any
	Timeout time.Duration // 0 looks and returns
}

// WaitReceipt is what became of the turns that were waited for.
type WaitReceipt struct {
	Schema   string   `json:"schema"`
	TimedOut bool     `json:"timed_out"`
	Sessions []Waited `json:"sessions"`
}

// Waited is one session of a wait.
type Waited struct {
	SessionID   string  `json:"session_id"`
	LaunchID    string  `json:"launch_id"`
	Provider    string  `json:"provider"`
	ChatID      string  `json:"chat_id"`
	TurnID      string  `json:"turn_id"`
	OperationID string  `json:"operation_id"`
	Outcome     Outcome `json:"outcome"`
	Reason      string  `json:"reason"`
	TextChars   int     `json:"text_chars"`
	Cursor      string  `json:"event_cursor"` // for the next wait
	At          string  `json:"at"`           // when it ended; empty while it has not
}

// Over reports whether there is nothing more to wait for.
func (w Waited) Over() bool {
	return w.Outcome != Pending && w.Outcome != None && (w.Outcome != Unknown || w.At != "")
}

// Wait sleeps until the turns end, an approval is asked for, the agents are gone
// or the time is over. It changes nothing in any session; any number may wait
// for the same, and go on waiting when the server that launched it is gone.
func (a *Agents) Wait(ctx context.Context, r WaitRequest) (WaitReceipt, error) {
	waiters, err := a.waiters(ctx, r)
	if err != nil {
		return WaitReceipt{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, max(r.Timeout, 0))
	defer cancel()
	type answer struct {
		i      int
		waited Waited
		err    error
	}
	answers := make(chan answer, len(waiters))
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i, w := range waiters {
		all.Go(func() {
			waited, err := w.wait(ctx)
			answers <- answer{i, waited, err}
		})
	}
	receipt := WaitReceipt{Schema: waitSchema, Sessions: make([]Waited, len(waiters))}
	over := 0
	for range waiters {
		got := <-answers
		if got.err != nil {
			return WaitReceipt{}, got.err
		}
		receipt.Sessions[got.i] = got.waited
		if got.waited.Over() {
			if over++; !r.All {
				cancel() // the others say how they stand
			}
		}
	}
	receipt.TimedOut = over == 0 || r.All && over < len(waiters)
	return receipt, nil
}

func (a *Agents) waiters(ctx context.Context, r WaitRequest) ([]*waiter, error) {
	switch n := len(r.Sessions); {
	case n == 0 || n > MaxWaited:
		return nil, refused("wait", "", fault.InvalidArgument, "between 1 and 32 sessions can be waited for", "pass session ids of agents")
	case len(r.Cursors) > 0 && len(r.Cursors) != n:
		return nil, refused("wait", "", fault.InvalidArgument, "there is not one cursor for each session", "pass a cursor for each session, in the same order, or none")
	}
	var list []*waiter
	for i, id := range r.Sessions {
		l, err := a.find(ctx, "wait", id)
		if err != nil {
			return nil, err
		}
		w := &waiter{a: a, launch: l}
		if len(r.Cursors) > 0 && r.Cursors[i] != "" {
			if w.after, err = parseCursor("wait", l, r.Cursors[i]); err != nil {
				return nil, err
			}
			w.bounded = true
		}
		list = append(list, w)
	}
	return list, nil
}

// waiter waits for one session.
type waiter struct {
	a       *Agents
	launch  Launch
	after   journal.Position
	bounded bool // after counts
	s       *story
}

// wait sleeps until what is waited for is over, or ctx ends.
func (w *waiter) wait(ctx context.Context) (now Waited, err error) {
	err = w.follow(ctx, func() bool {
		now = w.verdict()
		return !now.Over()
	})
	return now, err
}

// follow reads the journal to its end and sleeps on it, on the agent's process, on
// the vendor's records and, where those do not tell all, on the screen. goOn is
// called once the story is read and whenever it may have changed, until it
// returns false or ctx ends.
func (w *waiter) follow(ctx context.Context, goOn func() bool) error {
	var err error
	if w.s, err = w.a.tale(context.WithoutCancel(ctx), w.launch); err != nil {
		return err
	}
	w.a.observe(context.WithoutCancel(ctx), w.s)
	if !w.s.waiting { // else it was looked whether a question still shows
		w.a.lookForQuestions(context.WithoutCancel(ctx), w.s)
	}
	if !goOn() || ctx.Err() != nil {
		return nil
	}
	inner, cancel := context.WithCancel(ctx)
	var sources sync.WaitGroup
	defer sources.Wait()
	defer cancel()
	j, err := openEvents(w.a.folder(w.launch.ID))
	if err != nil {
		return err
	}
	defer j.Close()
	from := w.s.last // the story goes on while it is used
	records := make(chan journal.Record)
	var unread error // why records was closed
	sources.Go(func() {
		defer close(records)
		for r, err := range j.Follow(inner, from) {
			if err != nil {
				unread = err
				return
			}
			select {
			case records <- r:
			case <-inner.Done():
				return
			}
		}
	})
	ended := make(chan struct{})
	watching := false
	watchProcess := func() { // as soon as it is known which one
		if watching || w.s.pid == 0 {
			return
		}
		watching = true
		pid, start := w.s.pid, w.s.start
		sources.Go(func() {
			if w.a.machine.AwaitEnd(inner, pid, start) == nil {
				pause(inner, lastWords)
				close(ended)
			}
		})
	}
	if w.sleep(inner, records, ended, func() bool {
		watchProcess()
		return goOn()
	}) {
		return nil
	}
	return unread // nil where ctx has ended
}

// sleep wakes by whatever may bring news, and looks. It returns false when no more
// records come.
func (w *waiter) sleep(ctx context.Context, records <-chan journal.Record, ended <-chan struct{}, goOn func() bool) bool {
	v := vendorOf(w.launch.Provider)
	var record recordWatch
	redrawn, stop := w.screen(ctx)
	defer func() {
		stop()
		record.close()
	}()
	for {
		changed := record.on(v, w.s)
		w.a.catchUp(context.WithoutCancel(ctx), w.s)
		if !goOn() {
			return true
		}
		timer := time.NewTimer(w.nextLook(changed != nil || v.watched == nil))
		select {
		case r, ok := <-records:
			if !ok {
				timer.Stop()
				return false
			}
			w.s.read(r)
		case <-changed:
		case _, ok := <-redrawn:
			if !ok { // its session ended, or its terminal cannot be reached
				stop()
				redrawn, stop = nil, func() {}
				break
			}
			w.a.lookForQuestions(ctx, w.s)
			w.a.observe(context.WithoutCancel(ctx), w.s)
		case <-ended:
			ended = nil
			w.a.observe(context.WithoutCancel(ctx), w.s)
		case <-timer.C:
			if redrawn == nil { // the terminal may be back
				redrawn, stop = w.screen(ctx)
			}
		case <-ctx.Done():
			timer.Stop()
			return true
		}
		timer.Stop()
	}
}

// recordWatch wakes when a vendor's record may have changed, also one that has yet to begin.
type recordWatch struct {
	path   string
	folder *changes.Folder
}

// on returns what wakes; nil where the vendor has no record or the kernel tells nothing.
func (r *recordWatch) on(v *vendor, s *story) <-chan struct{} {
	if v.watched == nil {
		return nil
	}
	if now := v.watched(s); now != r.path || r.folder == nil { // a record may have begun
		r.close()
		r.path = now
		r.folder, _ = changes.Watch(now) // a folder that is not there yet is looked for again
	}
	if r.folder == nil {
		return nil
	}
	return r.folder.C
}

func (r *recordWatch) close() {
	if r.folder != nil {
		r.folder.Close()
		r.folder = nil
	}
}

// nextLook is when to look although nothing woke us: soon where something must
// have held for a while, and now and then where the kernel does not wake us.
func (w *waiter) nextLook(woken bool) time.Duration {
	switch {
	case !w.s.recorded.since.IsZero(): // a record may be late
		return recordTicks
	case !woken:
		return time.Second
	}
	return 5 * time.Second
}

// screen gives tokens when the screen changes, where only that tells of questions,
// or of prompts that come back.
func (w *waiter) screen(ctx context.Context) (<-chan struct{}, func()) {
	v := vendorOf(w.launch.Provider)
	if !v.asksOnScreen && !v.rewinds {
		return nil, func() {}
	}
	seen, err := w.a.pilot.SeeOne(ctx, "wait", terminal.ID(w.launch.Session))
	if err != nil {
		return nil, func() {}
	}
	c, stop, err := changesOf(ctx, seen)
	if err != nil {
		return nil, func() {}
	}
	return c, stop
}

// lookForQuestions notes that a question came or went, where no hook tells. What
// cannot be looked at says nothing.
func (a *Agents) lookForQuestions(ctx context.Context, s *story) {
	v := vendorOf(s.launch.Provider)
	if !v.asksOnScreen || s.gone {
		return
	}
	seen, err := a.pilot.SeeOne(ctx, "wait", terminal.ID(s.launch.Session))
	if err != nil {
		return
	}
	h := &hands{a: a, op: "wait", launch: s.launch, vendor: v, seen: seen}
	now, err := h.look(ctx)
	if err != nil {
		return
	}
	asks := now.state == stateDialog && now.dialog.kind == "permission"
	if asks == s.waiting {
		return
	}
	if asks && s.digestOf(now.dialog) == s.settled && time.Since(s.answered) < answerPatience {
		return // it was answered, and does not show that yet
	}
	e := event{Kind: goesOn, Chat: s.chat, Source: fromScreen}
	if asks {
		e.Kind = waits
	}
	a.note(context.WithoutCancel(ctx), s, e)
}

// verdict says how what is waited for stands.
func (w *waiter) verdict() Waited {
	s := w.s
	out := Waited{
		SessionID: w.launch.Session, LaunchID: w.launch.ID, Provider: w.launch.Provider, ChatID: s.chat, Outcome: None,
		Cursor: cursorOf(w.launch, s.last),
	}
	t := s.latest()
	if w.bounded {
		t = nil
		for _, one := range s.turns { // the first that ended behind the cursor, or is at work
			if one.open() || behind(one.end, w.after) {
				t = one
				break
			}
		}
	}
	if t != nil {
		out.TurnID, out.OperationID, out.TextChars = t.id, t.operation, len([]rune(t.text))
		out.Outcome, out.Reason = t.state()
		if !t.open() {
			out.Cursor, out.At = cursorOf(w.launch, t.end), t.ended.UTC().Format(time.RFC3339Nano)
		} else if s.asks() {
			out.Outcome, out.Reason = Waiting, "it waits for an answer; see agent_approval"
		}
	}
	switch {
	case out.Over():
	case s.gone:
		out.Outcome, out.Reason = Exited, s.why
	case w.bounded && t == nil && behind(s.replaced, w.after):
		out.Outcome, out.Reason = Replaced, "the agent holds another chat now"
	}
	return out
}
