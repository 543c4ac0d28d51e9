package host

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"termpilot/iterm/api"
	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/track"
)

// marks is what a session knows of its shell's prompts. The session's lock
// guards it.
type marks struct {
	machine *shellint.Machine
	places  *track.Places
	lost    bool
	silent  time.Time // since when the shell has stood where a mark is due; zero when it does not

	named, guid string // the prompt that was last named on the API, and how
}

// osc handles an operating system command at its exact place in the stream.
// It is called by the emulator inside Write, so the session's lock is held.
func (s *session) osc(command int, payload []byte) {
	if command == 1337 && s.tellCustom(payload) {
		return
	}
	mark, ok := shellint.Parse(command, payload)
	if !ok {
		return
	}
	m := &s.marks
	switch mark.Kind {
	case shellint.UserVar:
		s.userVariable(mark)
		return
	case shellint.PromptStart, shellint.PromptEnd, shellint.OutputStart, shellint.CommandEnd:
		m.lost = m.lost && !m.machine.Believes(mark)
		if mark.Kind == shellint.PromptStart && s.promptAsks(mark) && !s.atPrompt() {
			s.dropAnswers() // of a hook's questions
		}
	}
	for _, change := range m.places.Mark(mark) {
		s.promptChanged(change)
	}
}

// promptAsks reports whether what is asked behind a mark is the line editor's
// question: fish asks within its prompt, and waits for the answer. mu is held.
func (s *session) promptAsks(mark shellint.Mark) bool {
	return s.marks.machine.Guarded() && s.marks.machine.Believes(mark) && !mark.Secondary
}

// dropAnswers drops the answers that nobody has read yet. mu is held.
func (s *session) dropAnswers() {
	s.withheld = nil
	s.term.Replies()
}

// promptChanged brings the session up to date with a change and tells it.
func (s *session) promptChanged(change shellint.Change) {
	p := change.Prompt
	if change.Kind != terminal.Started && (change.Kind != terminal.PromptShown || !s.marks.machine.Guarded()) {
		s.dropAnswers() // what was asked before this belongs to the command before
	}
	s.tellHeld()
	switch change.Kind {
	case terminal.PromptShown:
		s.held = p.ID
		if s.editorReads() {
			s.tellHeld()
		} else {
			s.holding = time.AfterFunc(editorPatience, s.tellHeldLate)
		}
	case terminal.Started:
		s.facts.setLastCommand(p.Command)
		s.tellPrompt(api.PromptMonitorMode_COMMAND_START, p, func(n *api.PromptNotification) {
			n.Event = &api.PromptNotification_CommandStart{
				CommandStart: &api.PromptNotificationCommandStart{Command: ptr(clean(p.Command))},
			}
		})
	case terminal.Ended:
		s.tellPromptState() // before the end, which fixes it
		// An end whose status is not known says -1: the prompt has no exit_status then.
		status := int32(-1)
		if p.Exit != nil {
			status = int32(*p.Exit)
		}
		s.tellPrompt(api.PromptMonitorMode_COMMAND_END, p, func(n *api.PromptNotification) {
			n.Event = &api.PromptNotification_CommandEnd{
				CommandEnd: &api.PromptNotificationCommandEnd{Status: &status},
			}
		})
	case terminal.Aborted:
		// The API tells an abort as a start with neither command nor prompt.
		s.tellPrompt(api.PromptMonitorMode_COMMAND_START, p, func(n *api.PromptNotification) {
			n.UniquePromptId = nil
			n.Event = &api.PromptNotification_CommandStart{
				CommandStart: &api.PromptNotificationCommandStart{Command: ptr("")},
			}
		})
	}
	if !s.drawing { // what is drawn is told when all of it is
		s.tellVariables()
	}
}

// editorReads reports whether the shell's line editor is known to be ready.
// zsh prints the prompt before it asks for bracketed pastes, so that a client
// that is told of the prompt at once would find a shell that does not take them. mu is held.
func (s *session) editorReads() bool {
	late := s.shell && filepath.Base(s.profile.Shell) == "zsh"
	return s.marks.places.Ready() && (!late || s.term.Modes().BracketedPaste)
}

// tellHeld tells of the prompt that was shown, if that is still to be done. mu is held.
func (s *session) tellHeld() {
	if s.holding != nil {
		s.holding.Stop()
		s.holding = nil
	}
	p, ok := s.marks.machine.Prompt(s.held)
	s.held = ""
	if !ok {
		return
	}
	s.tellPrompt(api.PromptMonitorMode_PROMPT, p, func(n *api.PromptNotification) {
		n.Event = &api.PromptNotification_Prompt{Prompt: &api.PromptNotificationPrompt{
			Placeholder: ptr(""), Prompt: s.promptMessage(p),
		}}
	})
	s.host.hub.hurry() // with the prompt, a command is over
	if s.owed = s.drawing; !s.drawing {
		s.host.hub.wake()
	}
}

func (s *session) tellHeldLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellHeld()
}

func (s *session) tellPrompt(mode api.PromptMonitorMode, p shellint.Prompt, fill func(*api.PromptNotification)) {
	s.tellMessage(prompts(mode, s.id), func() message {
		n := &api.PromptNotification{Session: &s.id, UniquePromptId: ptr(s.promptGUID(p.ID))}
		fill(n)
		m := notice(&api.Notification{PromptNotification: n})
		m.fixes = mode == api.PromptMonitorMode_COMMAND_END // who hears of the end knows how it was
		return m
	})
}

// promptGUID is a prompt's id on the API: a GUID, never used for another.
// mu is held.
func (s *session) promptGUID(id string) string {
	if s.marks.named != id {
		s.marks.named, s.marks.guid = id, strings.ToUpper(uuid.NewSHA1(s.space, []byte(id)).String())
	}
	return s.marks.guid
}

// promptBy finds a kept prompt by its id on the API; the last one for "".
func (s *session) promptBy(guid string) (shellint.Prompt, bool) {
	if guid == "" {
		p := s.marks.machine.Last()
		return p, p.ID != ""
	}
	all := s.marks.machine.Prompts()
	for i := len(all) - 1; i >= 0; i-- {
		if s.promptGUID(all[i].ID) == strings.ToUpper(guid) {
			return all[i], true
		}
	}
	return shellint.Prompt{}, false
}

func ptr[T any](v T) *T { return &v }

// clean makes text fit for the wire: valid UTF-8.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// editorPatience is how long a prompt is not told while its line editor gets
// ready: a matter of one write of the shell's.
const editorPatience = 5 * time.Millisecond
