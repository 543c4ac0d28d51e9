package track

import (
	"strings"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// Places keeps where the prompts of a [shellint.Machine] stand on an emulator,
// and how the line at the last of them does. The handles in a [shellint.Prompt]
// are its. It is not safe for concurrent use.
type Places struct {
	term    *vt.Terminal
	machine *shellint.Machine

	pins       map[uint64]vt.Pin
	first      map[uint64]terminal.Point // where each pin was when it was made
	next       uint64
	history    int  // rows of the scrollback when it was last looked at
	columns    int  // of the screen, likewise
	renumbered bool // rows have other numbers than when Drawn was called last
	cuts       map[uint64]int
	tail       tail
	rests      map[uint64]string  // what Rest tells, by the handle of the output's end
	painted    map[uint64]painted // of commands that have ended, by their output's start
	strewn     []shellint.Prompt  // those of which a part of the output is told, oldest first

	asking  *terminal.Point // where a further prompt of a command began that is being printed
	further []further

	standing *line  // how the line stood when the shell said that it holds text
	touched  bool   // something was typed since the prompt was shown
	right    string // what stood right of the command's start before the first touch
	pasted   bool   // the line editor took bracketed pastes at a prompt
}

// NewPlaces returns the places of the prompts that are drawn on term from now
// on. It feeds the machine: nobody else does.
func NewPlaces(term *vt.Terminal, machine *shellint.Machine) *Places {
	columns, _ := term.Size()
	return &Places{
		term: term, machine: machine, columns: columns,
		pins: map[uint64]vt.Pin{}, first: map[uint64]terminal.Point{}, cuts: map[uint64]int{}, rests: map[uint64]string{}, painted: map[uint64]painted{},
	}
}

// Mark takes a mark inside the emulator's Write, at its exact place in the
// stream, and returns what it changed, oldest first. A command that starts has
// its text, read from the screen where the shell does not tell it.
func (s *Places) Mark(mark shellint.Mark) []shellint.Change {
	if !s.machine.Believes(mark) {
		return nil
	}
	switch mark.Kind {
	case shellint.PromptStart, shellint.PromptEnd, shellint.OutputStart, shellint.CommandEnd, shellint.Standing:
	default:
		return s.machine.Feed(mark, 0)
	}
	s.drawn()
	if mark.Kind == shellint.OutputStart && !s.machine.Guarded() {
		mark.Blank = strings.TrimSpace(s.Line(s.machine.Last())) == ""
	}
	s.next++
	s.pins[s.next], s.first[s.next] = s.term.Pin(), s.cursor()
	if mark.Kind == shellint.CommandEnd {
		s.term.Release() // a picture that the command did not finish shows no more than this
		s.cutFiller(mark)
	}
	s.asked(mark)
	changes := s.machine.Feed(mark, s.next)
	for i := range changes {
		s.change(&changes[i])
		s.keepTail(changes[i], mark)
	}
	if mark.Kind == shellint.PromptEnd && s.machine.Last().CommandStart == s.next {
		s.term.Trace(s.pins[s.next])
	}
	if mark.Kind == shellint.Standing {
		s.stands(mark, len(changes) > 0)
	}
	for _, handle := range s.machine.Released() {
		s.term.Unpin(s.pins[handle])
		delete(s.pins, handle)
		delete(s.first, handle)
		delete(s.cuts, handle)
		delete(s.rests, handle)
		s.forgetPainted(handle)
	}
	return changes
}

func (s *Places) change(c *shellint.Change) {
	switch p := &c.Prompt; c.Kind {
	case terminal.PromptShown:
		s.touched, s.right, s.standing = false, "", nil
	case terminal.Ended:
		s.settle(*p)
	case terminal.Aborted:
		s.endTrace(s.pins[p.CommandStart], painted{})
	case terminal.Started:
		if p.Command == "" {
			p.Command = strings.TrimRight(s.Line(*p), " \n")
			s.machine.SetCommand(p.ID, p.Command)
		}
		s.endTrace(s.pins[p.CommandStart], painted{})
		s.term.Trace(s.pins[p.OutputStart])
	}
}

// Drawn brings places up to date after output was drawn or the size was changed.
// It reports whether rows have other numbers than at the last call.
func (s *Places) Drawn() (renumbered bool) {
	s.drawn()
	renumbered, s.renumbered = s.renumbered, false
	return renumbered
}

func (s *Places) drawn() {
	before := s.history
	s.history = s.term.History()
	columns, _ := s.term.Size()
	if s.tail.of.OutputEnd != 0 {
		s.watchTail()
	}
	if s.history < before || columns != s.columns {
		s.renumbered, s.columns, s.further = true, columns, nil
	}
	p := s.machine.Last()
	if p.State == terminal.Editing && s.term.Modes().BracketedPaste {
		s.pasted = true
	}
}

// Touch notes that something is typed at the present prompt. To be called before
// the text can reach the shell, so that no prompt that it changed counts as
// untouched.
func (s *Places) Touch() {
	if !s.touched {
		s.touched, s.right = true, s.rightOfCursor()
	}
}

// Touched reports whether anything was typed since the last prompt was shown.
func (s *Places) Touched() bool { return s.touched }

// Ready reports whether the line editor at the last prompt takes what is typed.
// A shell whose editor asks for bracketed pastes may print its prompt before.
func (s *Places) Ready() bool { return !s.pasted || s.term.Modes().BracketedPaste }

// Locate returns where a handle's place is now; ok is false when that is not
// known. A place whose row left the top of the scrollback is told as a row that
// is not kept any more.
func (s *Places) Locate(handle uint64) (at terminal.Point, ok bool) {
	pin, ok := s.pins[handle]
	if !ok {
		return at, false
	}
	if at, ok = s.pinned(pin); ok && at.Row < s.term.Dropped() {
		at.Row = min(at.Row, s.first[handle].Row)
	}
	return at, ok
}

// pinned returns where a pin is, as Locate does.
func (s *Places) pinned(pin vt.Pin) (at terminal.Point, ok bool) {
	if row, column, ok := s.term.Locate(pin); ok {
		return terminal.Point{Row: row, Column: column}, true
	}
	lost := terminal.Point{Row: max(0, s.term.Dropped()-1)}
	return lost, s.term.Fate(pin) == vt.Scrolled
}

// Command returns the cells of a prompt's command line; ok is false when it is
// not known where they begin.
func (s *Places) Command(p shellint.Prompt) (line terminal.Span, ok bool) {
	start, ok := s.Locate(p.CommandStart)
	if !ok {
		return line, false
	}
	end := s.cursor()
	if p.State >= terminal.Running {
		output, _ := s.Locate(p.OutputStart)
		end = s.textEnd(output)
	}
	return terminal.Span{Start: start, End: later(start, end)}, true
}

// Typed tells whether the command line of the last prompt, which is Editing,
// holds anything: the cursor has left its start, or what was typed is not
// answered yet (unread), or something new stands right of the cursor. Unknown
// when the start is gone, or a change right of the cursor might be the shell's
// own (a clock in a right prompt).
func (s *Places) Typed(p shellint.Prompt, unread bool) terminal.Known {
	at, ok := s.Locate(p.CommandStart)
	switch {
	case !ok:
		return s.holds()
	case s.cursor() != at:
		return terminal.Yes
	case !s.touched:
		return terminal.No
	case unread:
		return terminal.Yes
	}
	switch right := s.rightOfCursor(); {
	case right == s.right, strings.TrimSpace(right) == "":
		return terminal.No
	case strings.TrimSpace(s.right) == "":
		return terminal.Yes
	}
	return terminal.Unknown
}

func (s *Places) cursor() terminal.Point {
	c := s.term.Cursor()
	return terminal.Point{Row: c.Row, Column: c.Column}
}

func later(a, b terminal.Point) terminal.Point {
	if b.Row < a.Row || b.Row == a.Row && b.Column < a.Column {
		return a
	}
	return b
}
