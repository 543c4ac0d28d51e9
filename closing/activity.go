package closing

import (
	"fmt"
	"slices"

	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// verdict is what closing a session would meet.
type verdict struct {
	seen     pilot.Seen
	census   census
	chats    []Chat
	agents   []process.Entry // the processes of the chats, in their order
	wrappers []int           // processes that do nothing but start another one and wait for it
	unread   int             // a process that could not be looked at, so that it may be an agent; 0 is none
	state    Activity
	reason   string
	evidence []string
	code     string // what keeps it from being closed, whatever force says; "" when nothing does
	over     bool   // it ended with its last program
}

// judgeAll judges sessions by one table of processes.
func (c *Closer) judgeAll(table *process.Table, sessions []pilot.Seen) []verdict {
	list := make([]verdict, len(sessions))
	for i, s := range sessions {
		list[i] = c.judge(table, s)
	}
	c.findOrphans(table, list)
	return list
}

// judge says what a session does, from the gate's verdict on its prompt, the
// processes on its terminal, and what coding agents tell of themselves.
func (c *Closer) judge(table *process.Table, s pilot.Seen) verdict {
	v := verdict{seen: s, census: c.take(table, s), evidence: slices.Clone(s.Readiness.Evidence)}
	if v.census.known {
		v.evidence = append(v.evidence, "processes")
	}
	c.findChats(&v, table)
	v.state, v.reason = v.activity()
	switch code, reason := v.census.forbids(); {
	case code != "":
		v.code, v.state, v.reason = code, Unknown, reason
	case !s.Allowed:
		v.code, v.reason = codeScope, "this server may not touch this session"
	case v.unread != 0:
		v.code, v.reason = codeChat, fmt.Sprintf("process %d cannot be looked at: it may be an agent, with a chat", v.unread)
	default:
		for _, chat := range v.chats {
			if chat.ChatID == "" && chat.Persistence != Empty {
				v.code = codeChat
				v.reason = fmt.Sprintf("%s (process %d) runs, and nothing tells which chat it holds: end it yourself, so that it can be resumed", chat.CLI, chat.PID)
			}
		}
	}
	return v
}

// hidden is why nothing is idle where not all processes are seen.
const hidden = "the system hides processes of other users, which may run in it"

func (v *verdict) activity() (Activity, string) {
	if len(v.chats) > 0 {
		return v.chatActivity()
	}
	r := v.seen.Readiness
	if n := len(v.census.work); n > 0 {
		names := describe(v.census.work)
		front := slices.ContainsFunc(v.census.work, func(e process.Entry) bool { return e.PGID == e.Foreground })
		if front && (r.State == pilot.WaitingInput || r.State == pilot.Password) {
			return Waiting, names + " waits for input"
		}
		return Busy, names + " runs"
	}
	switch r.State {
	case pilot.Ready:
		if !v.census.known {
			return Unknown, "its processes are not of this machine, or could not be read"
		}
		if v.census.hides {
			return Unknown, hidden
		}
		return Idle, "an empty prompt, and nothing runs behind it"
	case pilot.BusyState, pilot.FullScreen:
		return Busy, r.Reason
	case pilot.WaitingInput, pilot.Password, pilot.TypedText, pilot.Continuation:
		return Waiting, r.Reason
	}
	return Unknown, r.Reason
}

// chatActivity is that of a session with coding agents: of what they tell, the
// worst; other work beside them is work too.
func (v *verdict) chatActivity() (Activity, string) {
	rank := map[Activity]int{Idle: 0, Unknown: 1, Waiting: 2, Busy: 3}
	worst, reason := Idle, ""
	for _, chat := range v.chats {
		if reason == "" || rank[chat.State] > rank[worst] {
			worst = chat.State
			reason = map[Activity]string{
				Idle: chat.CLI + " waits for the next message", Unknown: chat.CLI + " runs, and does not tell what it does",
				Waiting: chat.CLI + " waits for an answer", Busy: chat.CLI + " is at work",
			}[chat.State]
		}
	}
	for _, e := range v.census.work {
		if !v.isAgents(e) && rank[worst] < rank[Busy] {
			return Busy, programName(e.Name) + " runs beside " + v.chats[0].CLI
		}
	}
	if front, why := v.shellActivity(); rank[front] > rank[worst] {
		return front, why
	}
	if worst == Idle && v.census.hides {
		return Unknown, hidden
	}
	return worst, reason
}

// shellActivity is that of the shell in whose background all agents are: somebody
// may have typed at its prompt. With an agent in front it is idle.
func (v *verdict) shellActivity() (Activity, string) {
	for _, e := range v.census.work {
		if v.isAgents(e) && e.PGID == e.Foreground {
			return Idle, ""
		}
	}
	r := v.seen.Readiness
	switch r.State {
	case pilot.Ready:
		return Idle, r.Reason
	case pilot.WaitingInput, pilot.Password, pilot.TypedText, pilot.Continuation:
		return Waiting, r.Reason
	case pilot.BusyState, pilot.FullScreen:
		return Busy, r.Reason
	}
	return Unknown, r.Reason
}

// isAgents reports whether a process is an agent, one of its own, or one that
// only waits for it. What else started an agent, as a script does, goes on after it.
func (v *verdict) isAgents(e process.Entry) bool {
	return slices.ContainsFunc(v.agents, func(a process.Entry) bool {
		return e.PID == a.PID || v.under(e, a.PID) || slices.Contains(v.wrappers, e.PID) && v.under(a, e.PID)
	})
}

// under reports whether a process descends from another, within the session.
func (v *verdict) under(e process.Entry, pid int) bool {
	for range len(v.census.work) {
		if e.PPID == pid {
			return true
		}
		i := slices.IndexFunc(v.census.work, func(p process.Entry) bool { return p.PID == e.PPID })
		if i < 0 {
			return false
		}
		e = v.census.work[i]
	}
	return false
}

func describe(work []process.Entry) string {
	first := work[0]
	for _, e := range work {
		if e.PGID == e.Foreground && e.PID == e.PGID {
			first = e
		}
	}
	text := programName(first.Name)
	switch {
	case first.State == process.Stopped:
		text += " (stopped)"
	case first.PGID != first.Foreground:
		text += " (in the background)"
	}
	if n := len(work) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// needsForce is the code with which a session is refused without force.
func (v verdict) needsForce() string {
	return map[Activity]string{Busy: codeBusy, Waiting: codeWaiting, Unknown: codeUnknown}[v.state]
}

// item is the verdict as it is told.
func (v verdict) item() Item {
	s := v.seen
	chats := v.chats
	if chats == nil {
		chats = []Chat{}
	}
	evidence := v.evidence
	if evidence == nil {
		evidence = []string{}
	}
	return Item{
		SessionID: string(s.ID), Backend: s.Session.Backend, WindowID: s.Window, TabID: s.Tab, Name: terminal.OneLine(s.Name, 256), Cwd: terminal.OneLine(s.Cwd, 1024),
		State: v.state, Code: v.code, Reason: v.reason, Evidence: evidence,
		Processes: v.census.programs(v.census.work), Detached: v.census.programs(slices.Concat(v.census.detached, v.census.orphans)), Chats: chats,
		Interruption: notAttempted, Exit: notAttempted, Closure: pending, Survivors: []Program{},
	}
}
