package agent

import (
	"context"
	"errors"
	"strings"

	"termpilot/fault"
	"termpilot/journal"
	"termpilot/process"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// Status says how the agent of a session and its last turn stand, or the turn of
// an operation. It types nothing.
func (a *Agents) Status(ctx context.Context, sessionID, operation string) (TurnReceipt, error) {
	return a.recall(ctx, "status", sessionID, operation, nil)
}

// Recover says what became of an operation whose receipt was lost. It never types
// anything: where it is not known, it says that.
func (a *Agents) Recover(ctx context.Context, sessionID, operation string) (TurnReceipt, error) {
	if operation == "" {
		return TurnReceipt{}, refused("recover", sessionID, fault.InvalidArgument, "operation_id is missing", "pass the operation_id of the turn")
	}
	return a.recall(ctx, "recover", sessionID, operation, nil)
}

// ResultRequest asks for an answer.
type ResultRequest struct {
	SessionID   string
	OperationID string // "" is the last turn that ended
	Offset      int    // in characters
	MaxChars    int    // 0 is all
}

// Result returns the answer to a turn, in full or by part, as the vendor told it.
func (a *Agents) Result(ctx context.Context, r ResultRequest) (TurnReceipt, error) {
	return a.recall(ctx, "result", r.SessionID, r.OperationID, func(t *turn, receipt *TurnReceipt) error {
		if t == nil || t.open() {
			return refused("result", r.SessionID, fault.NotReady, "the turn has not ended", "wait for it with termpilot wait or agent_turn action=status")
		}
		text := []rune(t.text)
		if r.Offset < 0 || r.Offset > len(text) {
			return refused("result", r.SessionID, fault.InvalidArgument, "offset is behind the end of the answer", "pass next_offset as the last part gave it")
		}
		text = text[r.Offset:]
		if r.MaxChars > 0 && len(text) > r.MaxChars {
			text = text[:r.MaxChars]
			receipt.NextOffset = r.Offset + r.MaxChars
		}
		receipt.Text = string(text)
		return nil
	})
}

// recall reads the records, adds what the vendor and the system tell now, and
// words the turn that is asked for.
func (a *Agents) recall(ctx context.Context, op, sessionID, operation string, add func(*turn, *TurnReceipt) error) (TurnReceipt, error) {
	l, err := a.find(ctx, op, sessionID)
	if err != nil {
		return TurnReceipt{}, err
	}
	s, err := a.tale(ctx, l)
	if err != nil {
		return TurnReceipt{}, err
	}
	a.observe(ctx, s)
	t := s.latest()
	switch {
	case operation != "":
		if s, t, err = a.operation(ctx, s, operation); err != nil {
			return TurnReceipt{}, err
		}
		if t == nil {
			return TurnReceipt{}, refused(op, sessionID, fault.OperationNotFound, "no turn of an agent of this session has this operation_id", "it was never sent: send it")
		}
	case op == "result":
		if last := s.one(func(t *turn) bool { return !t.open() }); last != nil {
			t = last
		}
	}
	receipt := a.receipt(ctx, s, t)
	if add != nil {
		if err := add(t, &receipt); err != nil {
			return TurnReceipt{}, err
		}
	}
	return receipt, nil
}

// observe adds to a story what its vendor's record and the system know by now.
func (a *Agents) observe(ctx context.Context, s *story) {
	a.catchUp(ctx, s)
	if !s.gone && s.pid != 0 && !a.alive(s) {
		a.note(ctx, s, event{Kind: gone, Source: fromProcess, Reason: "its process has ended"})
	}
	if s.waiting { // a person may have answered while nobody looked
		a.lookForQuestions(ctx, s)
	}
	if a.rewound(ctx, s) {
		a.note(ctx, s, event{
			Kind: interrupted, Chat: s.chat, VendorTurn: s.atWork().vendorTurn, Source: fromScreen, Concluded: true,
			Reason: "its prompt is back in the composer: it was interrupted before an answer began",
		})
	}
}

// rewound reports whether the prompt at work stands in the composer again, with
// nothing at work: where the vendor does that, and tells nothing of it.
func (a *Agents) rewound(ctx context.Context, s *story) bool {
	v := vendorOf(s.launch.Provider)
	t := s.atWork()
	if !v.rewinds || t == nil || !t.accepted || !t.leftScreen { // it may not have left yet
		return false
	}
	seen, err := a.pilot.SeeOne(ctx, "status", terminal.ID(s.launch.Session))
	if err != nil {
		return false
	}
	h := &hands{a: a, op: "status", launch: s.launch, vendor: v, seen: seen}
	back := func(l look) bool { return l.state == stateReady && !l.empty && looseDigest(l.composer) == t.loose }
	if now, err := h.look(ctx); err != nil || !back(now) {
		return false
	}
	_, came, err := h.await(ctx, 2*rewoundFor, rewoundFor, back)
	return came && err == nil
}

// alive reports whether the agent's process still runs.
func (a *Agents) alive(s *story) bool {
	p, err := a.machine.Lookup(s.pid)
	return process.Runs(p, err, s.start)
}

// receipt words a turn; nil is none.
func (a *Agents) receipt(ctx context.Context, s *story, t *turn) TurnReceipt {
	l := s.launch
	r := TurnReceipt{
		Schema: turnSchema, SessionID: l.Session, LaunchID: l.ID, Provider: l.Provider, ChatID: s.chat, Outcome: None,
		Resume: resumeOf(s),
	}
	from := s.last
	if t != nil {
		r.TurnID, r.Residue = t.id, t.residue
		r.Outcome, r.Reason = t.state()
		from = t.from
	}
	state, why := a.state(ctx, s)
	r.State = string(state)
	if t != nil && t.open() && (s.asks() || state == stateDialog) {
		r.Outcome, r.Reason = Waiting, "it waits for an answer; see agent_approval"
	}
	if r.Reason == "" {
		r.Reason = why
	}
	r.Cursor = cursorOf(l, from)
	r.WaitCommand = a.waitCommand(l, from)
	return r
}

// state is a turn's outcome, and the reason in words.
func (t *turn) state() (Outcome, string) {
	reason := t.reason
	if t.err != "" {
		reason = strings.TrimSuffix(t.err+"; "+reason, "; ")
	}
	switch {
	case !t.open():
		return t.outcome, reason
	case t.accepted && t.limited:
		return RateLimited, t.held + "; it tries again by itself"
	case t.accepted && t.held != "":
		return Pending, "it tries again after: " + t.held
	case t.accepted:
		return Pending, ""
	case t.entered && t.residue != nil && *t.residue:
		return Unknown, "its text was last seen in the composer: that the agent took it is not known"
	case t.entered && t.residue == nil:
		return Unknown, "its text stood in the composer; that Enter was pressed, and that the agent took it, is not known yet"
	case t.entered:
		return Pending, "the composer emptied; the agent has not said that it took the text"
	}
	return Unknown, "it was begun, and that Enter was pressed is not known"
}

// What no screen shows of an agent.
const (
	stateEnded   state = "ended"   // its process is gone, or its session before it had one
	stateUnknown state = "unknown" // it cannot be looked at
)

// state says how the agent stands: by its process, its turns, and its screen
// where that can be read.
func (a *Agents) state(ctx context.Context, s *story) (state, string) {
	if s.gone || s.pid != 0 && !a.alive(s) {
		return stateEnded, "the agent has ended"
	}
	if s.launch.Session == "" {
		return stateStarting, "who launched it has not told its session yet, or was killed before: list_sessions shows whether one was opened"
	}
	seen, err := a.pilot.SeeOne(ctx, "status", terminal.ID(s.launch.Session))
	if over := errors.Is(err, fault.SessionEnded) || errors.Is(err, fault.SessionNotFound); over && s.pid == 0 {
		return stateEnded, "its session has ended"
	} else if over {
		return stateUnknown, "its process runs, and its session is not there"
	}
	if err != nil {
		return stateUnknown, terminal.OneLine(err.Error(), 200)
	}
	h := &hands{a: a, op: "status", launch: s.launch, vendor: vendorOf(s.launch.Provider), seen: seen}
	now, err := h.look(ctx)
	if err == nil && !s.busy() {
		now, err = h.works(ctx, s, now)
	}
	switch {
	case err != nil:
		return stateUnknown, terminal.OneLine(err.Error(), 200)
	case now.state == stateReady && s.busy():
		return stateBusy, ""
	case now.state == stateDialog:
		return stateDialog, "it asks: " + terminal.OneLine(strings.Join(now.dialog.question, " "), 300)
	}
	return now.state, ""
}

// asks reports whether the vendor says that an approval is open.
func (s *story) asks() bool {
	if v := vendorOf(s.launch.Provider); v.waits != nil {
		if open, known := v.waits(s); known {
			return open
		}
	}
	return s.waiting
}

// resumeOf is how the chat of a launch is taken up again.
func resumeOf(s *story) Resume {
	r := Resume{Cwd: s.launch.Cwd, Argv: []string{}}
	if s.chat != "" {
		v := vendorOf(s.launch.Provider)
		r.Argv = append(append([]string{v.programs[0]}, v.resume...), s.chat)
	}
	return r
}

// waitCommand is "" while it is not known where the agent is.
func (a *Agents) waitCommand(l Launch, from journal.Position) string {
	if l.Session == "" {
		return ""
	}
	return shellwords.Quote(a.self) + " wait --session " + shellwords.Quote(l.Session) + " --cursor " + cursorOf(l, from) + " --timeout 600"
}

// launchReceipt words a launch. sent is its prompt's turn, if it was sent.
func (a *Agents) launchReceipt(ctx context.Context, l Launch, reason string, sent *TurnReceipt) (LaunchReceipt, error) {
	s, err := a.tale(ctx, l)
	if err != nil {
		return LaunchReceipt{}, err
	}
	if s.chat == "" {
		a.catchUp(ctx, s)
	}
	r := LaunchReceipt{
		Schema: launchSchema, SessionID: l.Session, LaunchID: l.ID, Provider: l.Provider, ChatID: s.chat,
		Reason: reason, Resume: resumeOf(s),
		Cursor: cursorOf(l, s.last), WaitCommand: a.waitCommand(l, s.last),
	}
	if l.WriteScope == readOnlyScope {
		r.WriteScope = readOnlyScope + ": " + vendorOf(l.Provider).readOnly
	}
	state, why := a.state(ctx, s)
	r.State = string(state)
	if r.Reason == "" {
		r.Reason = why
	}
	if sent != nil {
		r.TurnID, r.Residue, r.Cursor, r.WaitCommand = sent.TurnID, sent.Residue, sent.Cursor, sent.WaitCommand
	}
	return r, nil
}
