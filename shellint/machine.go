package shellint

import (
	"cmp"
	"crypto/subtle"
	"slices"
	"strconv"

	"termpilot/terminal"
)

const (
	maxPrompts = 1000 // prompts kept; the oldest closed ones go first
	maxOpen    = 32   // shells inside shells; the outermost is given up first
	maxDrained = 4096 // released handles kept for an owner that does not ask
)

// Prompt is one prompt and the command typed at it, by value. The positions
// are the handles that were given to [Machine.Feed]; 0 is none.
type Prompt struct {
	ID    string // "p1", "p2", …: never used again by the same Machine
	State terminal.PromptState
	AID   string // the shell's own name for it

	// Aborted is set when the prompt was left without a command: an empty line,
	// Ctrl-C, or a line that the shell refused. State is Finished then, and Exit
	// is what the shell gave as status, if anything.
	Aborted bool
	Exit    *int // 0..255; nil when not known

	// Repeat counts the prompts before this one that had the same name: bash
	// shows one again, as another, when it refuses a line.
	Repeat int

	Start        uint64 // where the prompt begins
	CommandStart uint64 // where the command line begins
	OutputStart  uint64 // where the output begins
	OutputEnd    uint64 // where the shell said that the command ended

	// EOL is zsh's end-of-line text. When HasEOL is set, zsh printed EOL and
	// blanks before the place of OutputEnd, unless its option prompt_sp is off;
	// they are not the command's.
	EOL    string
	HasEOL bool

	Command string // as the shell told it; "" when it does not
	Cwd     string // the directory in which the prompt was shown
	Host    string // the host of Cwd, when it is not this machine
}

// Change is one thing that a mark changed.
type Change struct {
	Kind   terminal.EventKind // PromptShown, Continued, Started, Ended or Aborted
	Prompt Prompt
}

// Machine keeps the state that marks tell. It has no clock and does no I/O.
// It is not safe for concurrent use.
//
// The owner hands one position to each Feed, and gets it back exactly once
// from Released when it has no more use (at once for a mark not believed).
type Machine struct {
	nonce   []byte
	count   uint64
	history []*Prompt
	pending *Prompt   // its start was seen, its end not yet
	redraw  uint64    // a start seen again while the last prompt is edited
	open    []*Prompt // prompts that have not finished, outermost shell first
	blank   *Prompt   // an open prompt at which an empty line was entered
	freed   []uint64
	command string // the last CommandLine mark, for the next OutputStart
	seen    bool
	ended   *Prompt // a prompt of before the first mark, of which the end is known
	cwd     string
	host    string
	user    string
}

// NewMachine returns a machine that believes only marks which carry the nonce,
// or any mark when nonce is "".
func NewMachine(nonce string) *Machine { return &Machine{nonce: []byte(nonce)} }

// Guarded reports whether only marks with a nonce are believed.
func (m *Machine) Guarded() bool { return len(m.nonce) > 0 }

// Believes reports whether Feed would take the mark as the shell's own. An
// owner may ask before it makes a position for the mark.
func (m *Machine) Believes(mark Mark) bool {
	return !m.Guarded() || subtle.ConstantTimeCompare([]byte(mark.Nonce), m.nonce) == 1
}

// Seen reports whether any prompt mark was believed so far.
func (m *Machine) Seen() bool { return m.seen }

// Feed takes a mark that was found at position at (0: no position) and returns
// what it changed, oldest first. A mark that is not believed, or that fits
// nothing, changes nothing.
func (m *Machine) Feed(mark Mark, at uint64) []Change {
	if !m.Believes(mark) {
		m.free(at)
		return nil
	}
	switch mark.Kind {
	case PromptStart:
		return m.promptStart(mark, at)
	case PromptEnd:
		return m.promptEnd(mark, at)
	case OutputStart:
		return m.outputStart(mark, at)
	case CommandEnd:
		return m.commandEnd(mark, at)
	case CommandLine:
		m.command = mark.Text
	case CurrentDir:
		m.free(at)
		return m.moved(mark)
	case Standing:
		return m.standing(mark, at)
	case RemoteHost:
		m.user, m.host = mark.User, mark.Host
	}
	m.free(at)
	return nil
}

// Last returns the prompt that was shown last, or the zero Prompt. A prompt
// counts as shown when its end mark came, so that between the end of a
// command and the next complete prompt the finished one is the last.
func (m *Machine) Last() Prompt {
	if len(m.history) == 0 {
		return Prompt{}
	}
	return *m.history[len(m.history)-1]
}

// Prompt returns the prompt with the given id, if it is still kept.
func (m *Machine) Prompt(id string) (Prompt, bool) {
	for i := len(m.history) - 1; i >= 0; i-- {
		if m.history[i].ID == id {
			return *m.history[i], true
		}
	}
	return Prompt{}, false
}

// Prompts returns all prompts that are kept, oldest first.
func (m *Machine) Prompts() []Prompt {
	all := make([]Prompt, len(m.history))
	for i, p := range m.history {
		all[i] = *p
	}
	return all
}

// Where returns the user, host and directory that the shell told last. An
// empty host is this machine, or not known.
func (m *Machine) Where() (user, host, dir string) { return m.user, m.host, m.cwd }

// SetCommand records a command line that the owner read from the screen. It
// does nothing when the shell told one, or the prompt is not kept.
func (m *Machine) SetCommand(id, command string) {
	for _, p := range slices.Backward(m.history) { // most often it is the last
		if p.ID == id {
			p.Command = cmp.Or(p.Command, command)
			return
		}
	}
}

// Released returns the handles that are no longer needed since the last call.
func (m *Machine) Released() []uint64 {
	freed := m.freed
	m.freed = nil
	return freed
}

// promptStart: a new prompt begins, or the present one is drawn again.
func (m *Machine) promptStart(mark Mark, at uint64) []Change {
	m.seen = true
	top := m.top()
	switch {
	case mark.Right:
		m.free(at)
		return nil
	case mark.Secondary:
		m.free(at)
		if top == nil || m.pending != nil || top.State == terminal.Running || foreign(mark, top) {
			return nil
		}
		top.State = terminal.Continuation
		return []Change{{terminal.Continued, *top}}
	}

	if p := m.pending; p != nil {
		switch {
		case mark.AID == "" && p.AID != "":
			m.free(at) // another integration's mark for the same prompt
			return nil
		case mark.AID == p.AID || p.AID == "":
			p.AID = mark.AID // drawn twice: it began at the first mark
			m.free(at)
			return nil
		}
		m.drop(p)
	}
	if top != nil && top.State != terminal.Running && (mark.AID == "" || mark.AID == top.AID) {
		m.free(m.redraw)
		m.redraw = at
		return nil
	}
	var changes []Change
	if top != nil && (top.State != terminal.Running || sameShell(mark.AID, top.AID)) {
		// The same shell is at a prompt again: the end mark was lost. Nothing is known of the end.
		changes = m.closeFrom(len(m.open) - 1)
	}
	m.pending = &Prompt{AID: mark.AID, Start: at, State: terminal.Editing}
	return changes
}

// promptEnd: the prompt stands.
func (m *Machine) promptEnd(mark Mark, at uint64) []Change {
	m.seen = true
	if mark.Secondary {
		m.free(at)
		return nil
	}
	if p := m.pending; p != nil {
		if foreign(mark, p) {
			m.free(at)
			return nil
		}
		p.CommandStart = at
		m.show(p)
		return []Change{{terminal.PromptShown, *p}}
	}
	top := m.top()
	if top == nil || top.State != terminal.Editing || foreign(mark, top) {
		m.free(at) // the end of a continuation prompt, or of nothing
		return nil
	}
	m.free(top.CommandStart)
	top.CommandStart = at
	if m.redraw != 0 {
		m.free(top.Start)
		top.Start, m.redraw = m.redraw, 0
	}
	return nil
}

// outputStart: the shell accepted a command.
func (m *Machine) outputStart(mark Mark, at uint64) []Change {
	m.seen = true
	blank := mark.Blank && !m.Guarded()
	if p := m.pending; p != nil && !foreign(mark, p) && !blank {
		m.show(p) // an integration that marks no prompt ends, such as fish's own
	}
	top := m.top()
	if top == nil || top.State == terminal.Running || m.pending != nil || foreign(mark, top) {
		m.free(at) // before any prompt, or a second integration's
		return nil
	}
	if blank {
		m.blank = top
		m.free(at)
		return nil
	}
	m.endRedraw()
	top.State, top.OutputStart = terminal.Running, at
	if top.Command = mark.Text; top.Command == "" {
		top.Command = m.command
	}
	m.command = ""
	return []Change{{terminal.Started, *top}}
}

// commandEnd: the command that the mark belongs to ended, or its line was given up.
func (m *Machine) commandEnd(mark Mark, at uint64) []Change {
	m.seen = true
	if p := m.pending; p != nil && mark.AID == p.AID {
		m.drop(p)
		m.free(at)
		return nil
	}
	i := m.find(mark.AID)
	if i < 0 {
		m.free(at) // of the time before the first prompt, of another integration, or a repetition
		return nil
	}
	if mark.HasExit && m.open[i] != m.blank {
		exit := mark.Exit
		m.open[i].Exit = &exit
	}
	m.open[i].OutputEnd, m.open[i].EOL, m.open[i].HasEOL = at, mark.EOL, mark.HasEOL
	m.command = ""
	return m.closeFrom(i)
}

// find returns the index in open of the innermost prompt that an end mark with
// this aid ends, or -1. A mark without an aid ends only a prompt without one.
func (m *Machine) find(aid string) int {
	if aid == "" {
		if top := m.top(); top == nil || top.AID != "" {
			return -1
		}
		return len(m.open) - 1
	}
	for i, p := range slices.Backward(m.open) {
		if p.AID == aid {
			return i
		}
	}
	return -1
}

// closeFrom finishes the open prompts from index i on, the innermost first.
// Those without a status keep none: their shell went away.
func (m *Machine) closeFrom(i int) []Change {
	var changes []Change
	m.endRedraw()
	for _, p := range slices.Backward(m.open[i:]) {
		kind := terminal.Ended
		if p.State != terminal.Running {
			kind, p.Aborted = terminal.Aborted, true
		}
		p.State = terminal.Finished
		changes = append(changes, Change{kind, *p})
	}
	m.open = slices.Delete(m.open, i, len(m.open))
	m.blank = nil
	return changes
}

// show makes the pending prompt the last one.
func (m *Machine) show(p *Prompt) {
	m.pending = nil
	m.count++
	p.ID, p.Cwd, p.Host = "p"+strconv.FormatUint(m.count, 10), m.cwd, m.host
	if before := m.Last(); before.AID == p.AID && before.ID != "" {
		p.Repeat = before.Repeat + 1
	}
	m.history = append(m.history, p)
	m.open = append(m.open, p)
	if len(m.open) > maxOpen {
		m.open[0].State = terminal.Lost
		m.open = slices.Delete(m.open, 0, 1)
	}
	if len(m.history) > maxPrompts {
		m.evict()
	}
}

// evict forgets the oldest prompt that is not open. There is one, because
// fewer prompts can be open than are kept.
func (m *Machine) evict() {
	for i, p := range m.history {
		if p.State >= terminal.Finished {
			m.drop(p)
			m.history = slices.Delete(m.history, i, i+1)
			return
		}
	}
}

func (m *Machine) top() *Prompt {
	if len(m.open) == 0 {
		return nil
	}
	return m.open[len(m.open)-1]
}

func (m *Machine) endRedraw() {
	m.free(m.redraw)
	m.redraw = 0
}

// drop releases the positions of a prompt that is not kept any more.
func (m *Machine) drop(p *Prompt) {
	m.free(p.Start)
	m.free(p.CommandStart)
	m.free(p.OutputStart)
	m.free(p.OutputEnd)
	if m.pending == p {
		m.pending = nil
	}
}

func (m *Machine) free(handle uint64) {
	if handle != 0 && len(m.freed) < maxDrained {
		m.freed = append(m.freed, handle)
	}
}
