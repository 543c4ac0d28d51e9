package shellint

import (
	"slices"

	"termpilot/terminal"
)

// What is told of prompts to one who comes after they were shown.

// Resume takes a CurrentDir mark that tells how a shell stands of which no mark
// was seen yet: its running command or the line that goes on, and how the command before ended. It reports
// whether the mark is believed and tells that. A prompt that is edited shows when its Standing mark comes.
func (m *Machine) Resume(mark Mark) bool {
	if mark.Kind != CurrentDir || mark.AID == "" || !m.Guarded() || !m.Believes(mark) || m.seen {
		return false
	}
	m.seen = true
	m.moved(mark)
	if mark.HasExit {
		exit := mark.Exit
		m.ended = &Prompt{AID: mark.Before, State: terminal.Finished, Exit: &exit}
	}
	switch {
	case mark.Runs:
		m.show(&Prompt{AID: mark.AID, State: terminal.Running})
	case mark.Secondary:
		m.show(&Prompt{AID: mark.AID, State: terminal.Continuation})
	}
	return true
}

// standing: the shell tells of the prompt at which it edits. That is news when
// the prompt is not known, or not where its line begins.
func (m *Machine) standing(mark Mark, at uint64) []Change {
	m.seen = true
	empty := !mark.Holds && !mark.Drawn
	if top := m.top(); top != nil && top.AID == mark.AID && top.State == terminal.Editing && top.CommandStart == 0 && empty {
		top.CommandStart = at
		return nil
	}
	_, known := m.Named(mark.AID, 0)
	if known || m.pending != nil || len(m.open) > 0 {
		m.free(at)
		return nil
	}
	p := &Prompt{AID: mark.AID, State: terminal.Editing}
	if empty {
		p.CommandStart = at
	} else {
		m.free(at)
	}
	m.show(p)
	return []Change{{terminal.PromptShown, *p}}
}

// moved takes over a directory; the prompt being edited is in it, too. Where it
// tells the end of the command that runs, the end mark was not seen.
func (m *Machine) moved(mark Mark) (changes []Change) {
	m.cwd, m.host = mark.Text, mark.Host
	if top := m.top(); top != nil && top.State == terminal.Running && mark.HasExit && mark.Before == top.AID && m.Believes(mark) {
		exit := mark.Exit
		top.Exit = &exit
		changes = m.closeFrom(len(m.open) - 1)
	}
	if top := m.top(); top != nil && top.State == terminal.Editing && m.pending == nil {
		top.Cwd, top.Host = m.cwd, m.host
	}
	return changes
}

// Named returns the prompt that the shell named so, if it is still kept or was
// told by Resume.
func (m *Machine) Named(aid string, repeat int) (Prompt, bool) {
	for _, p := range slices.Backward(m.history) {
		if p.AID == aid && p.Repeat == repeat {
			return *p, true
		}
	}
	if p := m.ended; p != nil && p.AID == aid && repeat == 0 {
		return *p, true
	}
	return Prompt{}, false
}
