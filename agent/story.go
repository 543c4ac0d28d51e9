package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"termpilot/journal"
	"termpilot/process"
)

// Outcome is how a turn ended, or stands.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Failed      Outcome = "error"
	Interrupted Outcome = "interrupted"
	RateLimited Outcome = "rate_limited"
	Waiting     Outcome = "waiting_approval" // not an end: somebody has to answer
	Exited      Outcome = "exited"           // the agent is gone
	Replaced    Outcome = "replaced"         // its process holds another chat now
	Pending     Outcome = "running"
	Unknown     Outcome = "unknown"
	None        Outcome = "none" // there was no turn
)

// turn is one prompt and what became of it.
type turn struct {
	id         string // ours, or the vendor's where a person typed it
	own        bool
	operation  string
	exact      string
	loose      string
	entered    bool
	accepted   bool // the vendor said so
	leftScreen bool // its text was seen to leave the composer
	residue    *bool
	chat       string
	vendorTurn string
	outcome    Outcome // "" while it goes on
	text       string
	err        string
	reason     string
	held       string // why it does not go on, while it is tried again
	limited    bool   // that is a limit
	concluded  bool   // the vendor did not tell this end
	began      time.Time
	ended      time.Time
	from       journal.Position // behind the record that began it
	end        journal.Position // behind the record that ended it
}

// open reports whether the turn may be at work.
func (t *turn) open() bool { return t.outcome == "" }

// story is what a launch's records add up to. It is a value without clock and
// without I/O: the same records always tell the same.
type story struct {
	launch   Launch
	pid      int
	start    time.Time
	agentPID int // the vendor's own process, where a hook said so: a wrapper may stand above it
	chat     string
	ready    bool // the vendor said that a chat began
	turns    []*turn
	waiting  bool      // an approval is open, as far as it was told
	asked    int       // questions that hooks told of
	answered time.Time // when we last answered one
	settled  string    // the digest of that
	gone     bool
	why      string // it is gone
	replaced journal.Position
	last     journal.Position
	recorded recorded // how far the vendor's record was read
}

func newStory(l Launch) *story { return &story{launch: l, chat: l.Chat} }

// read adds one record. One that it has, and what is no event of ours, is passed over.
func (s *story) read(r journal.Record) {
	if !behind(r.Next, s.last) {
		return
	}
	s.last = r.Next
	var e event
	if json.Unmarshal(r.Data, &e) == nil {
		s.add(e, r.Time, r.Next)
	}
}

func (s *story) add(e event, at time.Time, next journal.Position) {
	s.last = next
	if e.Read > 0 && e.Source == fromRecord && (e.Record != s.recorded.path || e.Read > s.recorded.offset) {
		s.recorded.path, s.recorded.offset = e.Record, e.Read
	}
	switch e.Kind {
	case started:
		s.pid, s.start = e.PID, process.Born(e.Birth)
	case session:
		s.ready, s.agentPID = true, e.PID
		s.take(e.Chat, at, next)
	case begun:
		for _, t := range s.turns { // a new one is typed only where the composer is empty and nothing works
			if t.open() && !t.accepted {
				s.close(t, Unknown, "that it was accepted was never reported", at, next)
			}
		}
		s.turns = append(s.turns, &turn{id: e.Turn, own: true, operation: e.Operation, exact: e.Exact, loose: e.Loose, began: at, from: next})
	case dropped:
		s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool { return t.own && t.id == e.Turn && !t.entered && !t.accepted })
	case entered:
		if t := s.byID(e.Turn); t != nil {
			t.entered = true
		}
	case residue:
		if t := s.byID(e.Turn); t != nil {
			t.leftScreen = e.Residue != nil && !*e.Residue
			if !t.accepted { // else the agent's own word stands over what its screen showed by then
				t.residue = e.Residue
			}
		}
	case prompted:
		s.prompt(e, at, next)
	case done, failed, interrupted:
		s.end(e, at, next)
	case waits:
		if s.mine(e) {
			s.waiting = true
			if e.Source == fromHook {
				s.asked++
			} else { // it shows, whatever was answered before
				s.answered = time.Time{}
			}
		}
	case goesOn:
		if s.mine(e) {
			s.waiting = false
			s.hold(s.atWork(), event{})
		}
	case held:
		if t := s.byVendorTurn(e.VendorTurn); t != nil && t.open() && s.mine(e) {
			s.hold(t, e)
		}
	case answered:
		s.waiting, s.answered, s.settled = false, at, e.Digest
	case left:
		s.leave(e, at, next)
	case gone:
		s.exit(e.Reason, at, next)
		s.gone, s.why = true, e.Reason
	}
}

// mine reports whether an event is of the chat that this launch holds.
func (s *story) mine(e event) bool { return e.Chat == "" || s.chat == "" || e.Chat == s.chat }

// take notes which chat the process holds. Another one than before ends what was going on.
func (s *story) take(chat string, at time.Time, next journal.Position) {
	if chat == "" || chat == s.chat {
		return
	}
	if s.chat != "" {
		s.replace("the agent holds another chat now", at, next)
	}
	s.chat = chat
}

// replace ends what was going on in the chat that is left. A prompt that no chat
// has accepted yet may be the first of the next one.
func (s *story) replace(reason string, at time.Time, next journal.Position) {
	for _, t := range s.turns {
		if t.open() && t.accepted {
			s.close(t, Replaced, reason, at, next)
		}
	}
	s.replaced = next
}

// hold notes why a turn does not go on, or with no reason that it does.
func (s *story) hold(t *turn, e event) {
	if t != nil {
		t.held, t.limited = e.Error, e.Limited
	}
}

// prompt binds an accepted prompt to the turn that typed it. One that nobody of
// us typed is a turn of its own: a person sits there, too.
func (s *story) prompt(e event, at time.Time, next journal.Position) {
	if s.chat == "" {
		s.chat = e.Chat
	}
	i := slices.IndexFunc(s.turns, func(t *turn) bool {
		return t.own && t.open() && !t.accepted && t.loose == e.Loose && !e.before(t.began)
	})
	if !s.mine(e) {
		if !e.Moves || i < 0 && s.busy() { // whose prompt it is is not known, and its own turn goes on
			return
		}
		s.replace("the agent holds another chat now", at, next)
		s.chat = e.Chat
	}
	if e.PID != 0 {
		s.agentPID = e.PID
	}
	s.waiting = false
	if t := s.byVendorTurn(e.VendorTurn); t != nil {
		return // told twice, or more text for a turn that goes on
	}
	for _, t := range s.turns { // only one is at work: those before it ended without a word
		if t.open() && t.accepted {
			s.close(t, Interrupted, "another prompt was accepted before an end was reported", at, next)
			t.concluded = true
		}
	}
	if i < 0 {
		s.turns = append(s.turns, &turn{
			id: "p" + shortened(e.VendorTurn, e.Exact), exact: e.Exact, loose: e.Loose, accepted: true, entered: true,
			chat: e.Chat, vendorTurn: e.VendorTurn, began: at, from: next,
		})
		return
	}
	t := s.turns[i]
	t.accepted, t.entered, t.chat, t.vendorTurn = true, true, e.Chat, e.VendorTurn
	empty := false
	t.residue = &empty
}

// end closes the turn that an end is about. An end of another chat, or of no
// turn that was going on, closes nothing.
func (s *story) end(e event, at time.Time, next journal.Position) {
	if !s.mine(e) {
		return
	}
	t := s.byVendorTurn(e.VendorTurn)
	if t == nil {
		t = s.atWork()
		if t != nil && t.vendorTurn != "" && e.VendorTurn != "" { // it is of a turn that nobody saw begin
			t = nil
		}
	}
	if t == nil {
		return
	}
	s.waiting = false
	outcome := map[kind]Outcome{done: Done, failed: Failed, interrupted: Interrupted}[e.Kind]
	if e.Limited {
		outcome = RateLimited
	}
	late := t.concluded && e.Kind != interrupted // what the vendor told came after it was given up
	if !t.open() && !late {                      // the vendor went on after it had said it was done: the last word counts, or the first end
		if t.outcome == Done && outcome == Done && e.Text != "" {
			t.text = e.Text
		}
		return
	}
	t.text, t.err = e.Text, e.Error
	t.accepted, t.concluded = true, e.Concluded
	s.close(t, outcome, e.Reason, at, next)
}

// leave notes that a chat was left. At the end of the process the records of the
// system follow; anything else means that another chat begins.
func (s *story) leave(e event, at time.Time, next journal.Position) {
	if !s.mine(e) {
		return
	}
	if e.Reason == "clear" || e.Reason == "resume" {
		s.replace("the chat was left by "+e.Reason, at, next)
		s.chat = "" // the next one that begins is its chat
		return
	}
	s.waiting = false
	s.exit("the agent ended", at, next)
}

// exit ends what was going on with the agent.
func (s *story) exit(reason string, at time.Time, next journal.Position) {
	for _, t := range s.turns {
		if t.open() {
			s.close(t, Exited, reason, at, next)
			t.concluded = true
		}
	}
}

func (s *story) close(t *turn, o Outcome, reason string, at time.Time, next journal.Position) {
	t.outcome, t.reason, t.ended, t.end = o, reason, at, next
}

func (s *story) byID(id string) *turn {
	return s.one(func(t *turn) bool { return id != "" && t.id == id })
}

func (s *story) byOperation(operation string) *turn {
	return s.one(func(t *turn) bool { return operation != "" && t.own && t.operation == operation })
}

func (s *story) byVendorTurn(id string) *turn {
	return s.one(func(t *turn) bool { return id != "" && t.vendorTurn == id })
}

// atWork is the turn that goes on: the last that was accepted, or else entered.
func (s *story) atWork() *turn {
	if t := s.one(func(t *turn) bool { return t.open() && t.accepted }); t != nil {
		return t
	}
	return s.one(func(t *turn) bool { return t.open() && t.entered })
}

// one is the last turn of which is holds.
func (s *story) one(is func(*turn) bool) *turn {
	for _, t := range slices.Backward(s.turns) {
		if is(t) {
			return t
		}
	}
	return nil
}

// said reports whether the last answer holds a row of the screen.
func (s *story) said(row string) bool {
	last := s.one(func(t *turn) bool { return t.text != "" })
	return last != nil && strings.Contains(bare(last.text), bare(strings.TrimLeft(row, " •")))
}

// latest is the last turn, whoever typed it.
func (s *story) latest() *turn { return s.one(func(*turn) bool { return true }) }

// busy reports whether a turn was accepted and has not ended.
func (s *story) busy() bool {
	t := s.atWork()
	return t != nil && t.accepted
}

func shortened(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w[:min(len(w), 12)]
		}
	}
	return ""
}

// news reports whether a vendor's record tells what the story does not know yet:
// records are read from their beginning by everybody who asks.
func (s *story) news(e event) bool {
	t := s.byVendorTurn(e.VendorTurn)
	switch {
	case e.Kind == prompted:
		return t == nil
	case t != nil:
		return t.open() || t.concluded && e.Kind != interrupted
	}
	return e.VendorTurn == ""
}

// pids are the processes that may be the agent: the one that was started, and the
// vendor's own where that is another.
func (s *story) pids() []int {
	pids := []int{s.pid}
	if s.agentPID != 0 && s.agentPID != s.pid {
		pids = append(pids, s.agentPID)
	}
	return pids
}
