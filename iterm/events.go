package iterm

import (
	"cmp"
	"time"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// notified takes one notification. An error means that it cannot be understood.
func (s *state) notified(n *api.Notification) error {
	if x := n.GetLayoutChangedNotification(); x != nil {
		return s.setLayout(x.GetListSessionsResponse())
	}
	if x := n.GetBroadcastDomainsChanged(); x != nil {
		s.setDomains(x.GetBroadcastDomains())
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := n.GetNewSessionNotification(); x != nil {
		if id := terminal.ID(x.GetSessionId()); exact(id) {
			s.record(id)
			s.client.remember(id, time.Time{})
		}
	}
	if x := n.GetTerminateSessionNotification(); x != nil {
		s.end(terminal.ID(x.GetSessionId()))
	}
	if x := n.GetFocusChangedNotification(); x != nil {
		s.focusChanged(x)
	}
	if x := n.GetVariableChangedNotification(); x != nil {
		if err := s.variableChanged(x); err != nil {
			return err
		}
	}
	if x := n.GetPromptNotification(); x != nil {
		s.promptChanged(x)
	}
	if x := n.GetScreenUpdateNotification(); x != nil {
		s.push(terminal.ID(x.GetSession()), terminal.Event{Kind: terminal.Output})
		return nil // nobody waits for the state to change with it
	}
	s.touch()
	return nil
}

// push gives an event to the watchers of a session. The lock is held.
func (s *state) push(id terminal.ID, e terminal.Event) {
	for _, w := range s.watchers[id] {
		w.Push(e)
	}
}

func (s *state) variableChanged(n *api.VariableChangedNotification) error {
	r := s.sessions[terminal.ID(n.GetIdentifier())]
	if r == nil || n.GetScope() != api.VariableScope_SESSION {
		return nil
	}
	value, ok, err := plain(n.GetJsonNewValue())
	if err != nil {
		return err
	}
	if !ok {
		delete(r.vars, n.GetName())
	} else {
		r.vars[n.GetName()] = value
	}
	if n.GetName() != varPrompt {
		return nil
	}
	before := r.prompt
	r.prompt, _ = parseLivePrompt(value)
	if r.prompt.State == "continuation" && (before.State != "continuation" || before.ID != r.prompt.ID) {
		s.push(r.id, terminal.Event{Kind: terminal.Continued, Prompt: r.complete(terminal.Prompt{
			ID: r.prompt.ID, State: terminal.Continuation,
		})})
	}
	return nil
}

// promptChanged turns a prompt notification into an event. It carries the
// prompt's id wherever the terminal gives one, so that a reader can tell the
// end of its own command from any other.
func (s *state) promptChanged(n *api.PromptNotification) {
	r := s.sessions[terminal.ID(n.GetSession())]
	if r == nil { // no layout has shown it yet, but it may be watched
		r = &record{id: terminal.ID(n.GetSession())}
	}
	r.sawPrompt = true
	id := n.GetUniquePromptId()
	switch e := n.GetEvent().(type) {
	case *api.PromptNotification_Prompt:
		told := e.Prompt.GetPrompt()
		if told.GetUniquePromptId() == "" && told != nil {
			told.UniquePromptId = &id
		}
		p := promptFrom(told)
		p.ID = cmp.Or(p.ID, id)
		p.State = terminal.Editing
		s.push(r.id, terminal.Event{Kind: terminal.PromptShown, Prompt: r.complete(p)})
	case *api.PromptNotification_CommandStart:
		if id == "" || id == r.prompt.ID {
			r.prompt = livePrompt{} // the variable tells of the moment before, until it changes
		}
		if id == "" && e.CommandStart.GetCommand() == "" { // left without a command
			s.push(r.id, terminal.Event{Kind: terminal.Aborted, Prompt: r.complete(terminal.Prompt{})})
			return
		}
		r.commandID, r.command = id, e.CommandStart.GetCommand()
		s.push(r.id, terminal.Event{Kind: terminal.Started, Prompt: r.complete(terminal.Prompt{
			ID: id, State: terminal.Running, Command: r.command,
		})})
	case *api.PromptNotification_CommandEnd:
		p := terminal.Prompt{ID: id, State: terminal.Finished}
		if status := int(e.CommandEnd.GetStatus()); e.CommandEnd.Status != nil && status != unknownStatus {
			p.Exit = &status
		}
		if id == r.commandID {
			p.Command = r.command
		}
		s.push(r.id, terminal.Event{Kind: terminal.Ended, Prompt: r.complete(p)})
	}
}

// unknownStatus is what our host tells in COMMAND_END, which has to tell one,
// of a command whose end mark had no status. No shell has it: theirs are 0 to 255.
const unknownStatus = -1

// complete adds to a prompt what the variables of its session tell of it.
func (r *record) complete(p terminal.Prompt) terminal.Prompt {
	p.Marks = marks(r.vars[varMarks], true)
	if p.ID == "" || r.prompt.ID != p.ID {
		return p
	}
	return withLive(p, r.prompt)
}

// withLive adds what termpilot.prompt tells, if it tells of the same moment.
func withLive(p terminal.Prompt, live livePrompt) terminal.Prompt {
	if p.State == terminal.Editing && promptStates[live.State] == terminal.Continuation {
		p.State = terminal.Continuation
	}
	if promptStates[live.State] != p.State { // the prompt moved on between the two answers
		p.Typed = terminal.Unknown
		return p
	}
	p.Touched, p.Paste = terminal.KnownOf(live.Touched), terminal.KnownOf(live.Paste)
	if p.State == terminal.Editing || p.State == terminal.Continuation {
		p.Typed = terminal.Unknown
		if live.Typed != nil {
			p.Typed = terminal.KnownOf(*live.Typed)
		}
	}
	if p.State == terminal.Finished && live.Silent != nil {
		p.Silent = terminal.KnownOf(*live.Silent)
	}
	return p
}
