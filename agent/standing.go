package agent

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"termpilot/changes"
	"termpilot/fault"
	"termpilot/private"
	"termpilot/shellwords"
	"termpilot/terminal"
)

const (
	standingSchema = "termpilot.agent-standing.v1"
	// MaxListed is the most agents that run of [Agents.Standings], and maxEnded the
	// most of the others.
	MaxListed = 32
	maxEnded  = 8
)

// Standing is how the agent of a session and its last turn stand, as far as what
// was recorded proves it. A screen is read for it only where nothing else tells.
type Standing struct {
	Schema string `json:"schema"` // termpilot.agent-standing.v1
	Waited
	State string `json:"state"` // starting, idle, working, waiting_approval, unknown or ended
	Waits bool   `json:"waits_for_approval"`
	Next  string `json:"next"` // the call that tells more
}

// The words of Standing.State.
const (
	Starting        = "starting" // its program has not told that it can be used
	Idle            = "idle"     // no turn is at work
	Working         = "working"
	WaitingApproval = "waiting_approval"
	Unsure          = "unknown" // a prompt was typed, and that the agent took it is not known
	Ended           = "ended"   // its process is gone
)

// Listed is the last agent that was launched in a session.
type Listed struct {
	SessionID string
	LaunchID  string
	Provider  string
	Cwd       string
	Runs      bool // its process is there, or may be about to be
}

// List returns the last agent of every session that this server shows, the newest
// first, also those that have ended.
func (a *Agents) List() ([]Listed, error) {
	all, err := a.newest()
	if err != nil {
		return nil, err
	}
	list := make([]Listed, 0, len(all))
	for _, l := range all {
		list = append(list, Listed{SessionID: l.Session, LaunchID: l.ID, Provider: l.Provider, Cwd: l.Cwd, Runs: a.runs(l)})
	}
	return list, nil
}

// newest is the last launch of every session that may be touched.
func (a *Agents) newest() ([]Launch, error) {
	all, err := a.launches()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{"": true} // of a launch that is under way the session is not known yet
	return slices.DeleteFunc(all, func(l Launch) bool {
		old := seen[l.Session]
		seen[l.Session] = true
		return old || !a.pilot.MayTouch(terminal.ID(l.Session))
	}), nil
}

// runs reports whether the process of a launch is there, or may be about to be.
func (a *Agents) runs(l Launch) bool {
	r, ran := a.shelf.process(a.folder(l.ID))
	if !ran {
		return time.Since(l.At) < toStart
	}
	return r.alive()
}

func (a *Agents) mayTouch(op, session string) error {
	if a.pilot.MayTouch(terminal.ID(session)) {
		return nil
	}
	return refused(op, session, fault.NotAllowed, "the session is outside this server's allowlist", "use a session that list_sessions shows")
}

// newestIn is the last launch in a session. No terminal is asked. NotAllowed for a
// session that this server does not show, AgentNotFound where there is none.
func (a *Agents) newestIn(op, session string) (Launch, error) {
	if err := a.mayTouch(op, session); err != nil {
		return Launch{}, err
	}
	all, err := a.newest()
	if err != nil {
		return Launch{}, err
	}
	if i := slices.IndexFunc(all, func(l Launch) bool { return l.Session == session }); i >= 0 {
		return all[i], nil
	}
	return Launch{}, refused(op, session, fault.AgentNotFound, "termpilot launched no agent in this session", "launch one, with claude_agent for example")
}

// Standing says how the agent of a session stands. It changes nothing in any session.
func (a *Agents) Standing(ctx context.Context, sessionID string) (Standing, error) {
	l, err := a.newestIn("standing", sessionID)
	if err != nil {
		return Standing{}, err
	}
	return a.stands(ctx, l)
}

// stands reads the records of a launch, and adds what the vendor and the system tell now.
func (a *Agents) stands(ctx context.Context, l Launch) (Standing, error) {
	s, err := a.tale(ctx, l)
	if err != nil {
		return Standing{}, err
	}
	a.observe(ctx, s)
	return (&waiter{a: a, launch: l, s: s}).standing(), nil
}

// Standings says how the agents stand that this server shows: of those that run the
// newest MaxListed, then of those that have ended the last few. One whose records
// cannot be read is left out.
func (a *Agents) Standings(ctx context.Context) ([]Standing, error) {
	all, err := a.newest()
	if err != nil {
		return nil, err
	}
	var running, ended []Standing
	for _, l := range all {
		list, most := &ended, maxEnded
		if a.runs(l) {
			list, most = &running, MaxListed
		}
		if len(*list) >= most {
			continue
		}
		one, err := a.stands(ctx, l)
		if err != nil {
			a.log.Warn("an agent's records cannot be read", "launch", l.ID, "error", terminal.OneLine(err.Error(), 200))
			continue
		}
		*list = append(*list, one)
	}
	return append(running, ended...), nil
}

// standing words the story.
func (w *waiter) standing() Standing {
	now := Standing{Schema: standingSchema, Waited: w.verdict(), State: Idle}
	open := now.At == ""
	session := " session_id=" + shellwords.Quote(now.SessionID)
	now.Next = "agent_turn action=status" + session
	switch {
	case w.s.gone:
		now.State = Ended
	case now.Outcome == Waiting:
		now.State, now.Waits = WaitingApproval, true
		now.Next = "agent_approval action=inspect" + session
	case now.Outcome == Pending, now.Outcome == RateLimited && open: // it tries again by itself
		now.State = Working
		now.Next = "wait_session until=turn session_ids=[" + shellwords.Quote(now.SessionID) + "]"
	case now.Outcome == Unknown && open:
		now.State = Unsure
	case now.Outcome == None && !w.s.ready:
		now.State = Starting
	}
	if now.TurnID != "" && !open {
		now.Next = "agent_turn action=result" + session
		if now.OperationID != "" {
			now.Next += " operation_id=" + shellwords.Quote(now.OperationID)
		}
	}
	return now
}

// tells reports whether this is other news than what was told last. That a prompt
// is on its way is none: it is accepted in a moment, or its sender is told.
func (s Standing) tells(last Standing) bool {
	return s.State != Unsure &&
		(s.LaunchID != last.LaunchID || s.TurnID != last.TurnID || s.Outcome != last.Outcome || s.State != last.State)
}

// Follow says how the last agent of a session stands, and then anew whenever a turn
// of it has begun or ended, an approval is asked for or is not any more, or it is
// gone, as soon as that is told. It ends when the agent has ended, without an error
// when ctx ends, and after an error.
func (a *Agents) Follow(ctx context.Context, sessionID string) iter.Seq2[Standing, error] {
	return func(yield func(Standing, error) bool) {
		l, err := a.newestIn("follow", sessionID)
		if err != nil {
			yield(Standing{}, err)
			return
		}
		w := &waiter{a: a, launch: l}
		var last Standing
		left := false
		err = w.follow(ctx, func() bool {
			now := w.standing()
			if last.LaunchID == "" || now.tells(last) {
				last = now
				left = !yield(now, nil)
			}
			return !left && now.State != Ended
		})
		if err != nil && !left {
			yield(Standing{}, err)
		}
	}
}

// launchedFile is touched in the folder of launches when one has its session, for
// those who watch that folder.
const launchedFile = "launched"

// announce wakes those who wait for launches.
func (a *Agents) announce() {
	if f, err := os.OpenFile(filepath.Join(a.dir, launchedFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600); err == nil {
		_, _ = f.WriteString("\n") // it is the change that counts
		_ = f.Close()
	}
}

// Launches gives a token when an agent may have been launched, by this process or
// another, or a launch been removed, and makes the folder of launches where there
// is none. The caller calls stop. An error means that this system cannot tell.
func (a *Agents) Launches() (c <-chan struct{}, stop func(), err error) {
	if err := private.Folder(a.dir); err != nil {
		return nil, nil, err
	}
	folder, err := changes.Watch(a.dir)
	if err != nil {
		return nil, nil, &fault.Error{Op: "follow", Code: fault.Storage, Detail: "the folder of launches cannot be watched", Hint: "raise the system's limit of watches", Err: err}
	}
	return folder.C, folder.Close, nil
}
