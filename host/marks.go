package host

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"termpilot/iterm/api"
	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// marks is what a session knows of its shell's prompts. The session's lock
// guards it. Positions are handles that stand for pins of the emulator.
type marks struct {
	machine *shellint.Machine
	nonce   bool // only marks with the session's nonce count
	pins    map[uint64]vt.Pin
	first   map[uint64]point // where each pin was when it was made, or moved to when its row was erased
	next    uint64
	history int            // length of the scrollback when it was last looked at
	cuts    map[uint64]int // by handle of an output's end: cells of zsh's filler before it
	lost    bool
	silent  time.Time // since when the shell has stood where a mark is due; zero when it does not

	asking    *point // where a further prompt of a command began that is being printed
	continued []continued

	touched bool   // something was sent to the shell since the prompt was shown
	right   string // what stood right of the command's start before the first touch
	pasted  bool   // the line editor took bracketed pastes at a prompt

	named, guid string // the prompt that was last named on the API, and how
}

func newMarks(nonce string) marks {
	return marks{
		machine: shellint.NewMachine(nonce), nonce: nonce != "",
		pins: map[uint64]vt.Pin{}, first: map[uint64]point{}, cuts: map[uint64]int{},
	}
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
	switch mark.Kind {
	case shellint.UserVar:
		s.userVariable(mark)
		return
	case shellint.PromptStart, shellint.PromptEnd, shellint.OutputStart, shellint.CommandEnd:
	default:
		if s.marks.machine.Believes(mark) {
			s.marks.machine.Feed(mark, 0)
		}
		return
	}
	m := &s.marks
	if !m.machine.Believes(mark) {
		return
	}
	m.lost = false
	s.followErasure()
	if mark.Kind == shellint.OutputStart && !m.nonce {
		last := m.machine.Last()
		mark.Blank = strings.TrimSpace(s.commandText(last)) == ""
	}
	m.next++
	m.pins[m.next], m.first[m.next] = s.term.Pin(), s.cursor()
	if mark.Kind == shellint.CommandEnd {
		s.term.Release() // a picture that the command did not finish shows no more than this
	}
	if mark.Kind == shellint.CommandEnd && mark.HasEOL {
		n := s.filler(mark.EOL)
		if n == 0 && mark.Hooked {
			n = s.hookedFiller(mark.EOL)
		}
		if n > 0 {
			m.cuts[m.next] = n
		}
	}
	s.continuation(mark)
	for _, change := range m.machine.Feed(mark, m.next) {
		s.promptChanged(change)
	}
	for _, handle := range m.machine.Released() {
		s.term.Unpin(m.pins[handle])
		delete(m.pins, handle)
		delete(m.first, handle)
		delete(m.cuts, handle)
	}
}

// promptChanged brings the session up to date with a change and tells it.
func (s *session) promptChanged(change shellint.Change) {
	p := change.Prompt
	if change.Kind != terminal.Started {
		s.withheld = nil // what was asked before this belongs to the command before
		s.term.Replies()
	}
	s.tellHeld()
	switch change.Kind {
	case terminal.PromptShown:
		s.marks.touched, s.marks.right = false, ""
		s.held = p.ID
		if s.editorReads() {
			s.tellHeld()
		} else {
			s.holding = time.AfterFunc(editorPatience, s.tellHeldLate)
		}
	case terminal.Started:
		if p.Command == "" {
			p.Command = strings.TrimRight(s.commandText(p), " \n")
			s.marks.machine.SetCommand(p.ID, p.Command)
		}
		s.facts.setLastCommand(p.Command)
		s.tellPrompt(api.PromptMonitorMode_COMMAND_START, p, func(n *api.PromptNotification) {
			n.Event = &api.PromptNotification_CommandStart{
				CommandStart: &api.PromptNotificationCommandStart{Command: ptr(clean(p.Command))},
			}
		})
	case terminal.Ended:
		s.tellVariables() // first, so that who hears of the end knows how it was
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
	s.tellVariables()
}

// editorReads reports whether the shell's line editor is known to be ready.
// zsh prints the prompt before it asks for bracketed pastes, so that a client
// that is told of the prompt at once would find a shell that does not take them. mu is held.
func (s *session) editorReads() bool {
	expects := s.marks.pasted || filepath.Base(s.profile.Shell) == "zsh" && s.shell
	return !expects || s.term.Modes().BracketedPaste
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
	s.tell(prompts(mode, s.id), func() *api.Notification {
		n := &api.PromptNotification{Session: &s.id, UniquePromptId: ptr(s.promptGUID(p.ID))}
		fill(n)
		return &api.Notification{PromptNotification: n}
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

// locate returns where a handle's place is now. A place whose row left the top
// of the scrollback is told as a row that is not kept any more.
func (s *session) locate(handle uint64) (point, bool) {
	pin, ok := s.marks.pins[handle]
	if !ok {
		return point{}, false
	}
	if row, column, ok := s.term.Locate(pin); ok {
		return point{row: row, column: column}, true
	}
	at := s.marks.first[handle]
	switch s.term.Fate(pin) {
	case vt.Scrolled:
		return point{row: max(0, min(at.row, s.term.Dropped()-1))}, true
	case vt.Erased:
		return at, at.moved
	}
	return point{}, false
}

// followErasure finds the start of a running command's output anew when what
// was drawn erased it: clear, or a program that paints from the top. What is
// on the screen then came after. It is called before each mark is fed, and
// after each chunk.
func (s *session) followErasure() {
	before := s.marks.history
	s.marks.history = s.term.History()
	if s.marks.history < before {
		s.renumbered()
	}
	p := s.marks.machine.Last()
	if p.State != terminal.Running || p.OutputStart == 0 || s.marks.first[p.OutputStart].moved ||
		s.term.Fate(s.marks.pins[p.OutputStart]) != vt.Erased {
		return
	}
	top := point{row: s.term.Dropped(), moved: true}
	if s.marks.history >= before { // the scrollback of before is still there
		top.row += int64(s.term.History())
	}
	s.marks.first[p.OutputStart] = top
}

func ptr[T any](v T) *T { return &v }

// clean makes text fit for the wire: valid UTF-8.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// editorPatience is how long a prompt is not told while its line editor gets
// ready: a matter of one write of the shell's.
const editorPatience = 5 * time.Millisecond
