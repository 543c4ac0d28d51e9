// Package track follows the prompts of a shell through a terminal emulator: it
// keeps where each prompt, command line and output begins and ends while rows
// scroll, are wrapped anew or are erased, and tells prompts as
// [terminal.Prompt] does.
//
// It serves backends that see a program's output as bytes. It has no clock, no
// goroutine and does no I/O; a [Tracker] is not safe for concurrent use.
package track

import (
	"strings"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// Tracker follows the prompts that a shell draws on one emulator.
type Tracker struct {
	term    *vt.Terminal
	machine *shellint.Machine
	nonce   bool
	o       Options

	pins    map[uint64]vt.Pin
	first   map[uint64]place // where each pin was when it was made, or moved to when its row was erased
	next    uint64
	history int            // rows of the scrollback when it was last looked at
	cuts    map[uint64]int // by handle of an output's end: cells of zsh's filler before it

	held    *line  // how the line stood when the shell said that it holds text
	touched bool   // something was typed since the prompt was shown
	right   string // what stood right of the command's start before the first touch
	pasted  bool   // the line editor took bracketed pastes at a prompt
}

// place is where a pin was. moved is of a pin whose row was erased: where its
// text would begin now.
type place struct {
	terminal.Point
	moved bool
}

// Options says whose prompts a Tracker follows, and how it names them.
type Options struct {
	Nonce string // with it, only marks that carry it count
	// Session begins the ids of prompts that carry the nonce: with the shell's own
	// name for the prompt behind it, another tracker of the session gives the same.
	Session string
	// Own begins the ids of all others. No other tracker has the same.
	Own string
}

// New returns a tracker of what is drawn on term from now on.
func New(term *vt.Terminal, o Options) *Tracker {
	return &Tracker{
		term: term, machine: shellint.NewMachine(o.Nonce), nonce: o.Nonce != "", o: o,
		pins: map[uint64]vt.Pin{}, first: map[uint64]place{}, cuts: map[uint64]int{},
	}
}

// Seen reports whether any prompt mark was believed so far.
func (t *Tracker) Seen() bool { return t.machine.Seen() }

// OSC takes an operating system command, inside the emulator's Write, at its
// exact place in the stream. It returns what it changed, oldest first.
func (t *Tracker) OSC(command int, payload []byte) []Change {
	mark, ok := shellint.Parse(command, payload)
	if !ok || !t.machine.Believes(mark) {
		return nil
	}
	switch mark.Kind {
	case shellint.PromptStart, shellint.PromptEnd, shellint.OutputStart, shellint.CommandEnd, shellint.Standing:
	default:
		return t.changes(t.machine.Feed(mark, 0))
	}
	t.Drawn()
	if mark.Kind == shellint.OutputStart && !t.nonce {
		line := t.textBetween(t.machine.Last().CommandStart, t.term.Cursor())
		mark.Blank = strings.TrimSpace(line) == ""
	}
	t.next++
	t.pins[t.next], t.first[t.next] = t.term.Pin(), place{Point: t.cursor()}
	if mark.Kind == shellint.CommandEnd {
		t.term.Release() // a picture that the command did not finish shows no more than this
		t.cutFiller(mark)
	}
	out := t.changes(t.machine.Feed(mark, t.next))
	if mark.Kind == shellint.Standing {
		t.stands(mark, out)
	}
	for _, handle := range t.machine.Released() {
		t.term.Unpin(t.pins[handle])
		delete(t.pins, handle)
		delete(t.first, handle)
		delete(t.cuts, handle)
	}
	return out
}

func (t *Tracker) changes(told []shellint.Change) (out []Change) {
	for _, c := range told {
		out = append(out, t.change(c))
	}
	return out
}

// Change is something that a mark changed.
type Change struct {
	Kind   terminal.EventKind // PromptShown, Continued, Started, Ended or Aborted
	Prompt terminal.Prompt
}

func (t *Tracker) change(c shellint.Change) Change {
	switch c.Kind {
	case terminal.PromptShown:
		t.touched, t.right, t.held = false, "", nil
	case terminal.Started:
		if c.Prompt.Command == "" {
			c.Prompt.Command = strings.TrimRight(t.textBetween(c.Prompt.CommandStart, t.term.Cursor()), " \n")
			t.machine.SetCommand(c.Prompt.ID, c.Prompt.Command)
		}
	}
	return Change{c.Kind, t.tell(c.Prompt)}
}

// Drawn brings positions up to date after output was drawn. When what was drawn
// erased where a running command's output began (clear, or a program that
// paints from the top), what is on the screen then came after.
func (t *Tracker) Drawn() {
	before := t.history
	t.history = t.term.History()
	p := t.machine.Last()
	if p.State == terminal.Editing && t.term.Modes().BracketedPaste {
		t.pasted = true
	}
	if p.State != terminal.Running || p.OutputStart == 0 || t.first[p.OutputStart].moved ||
		t.term.Fate(t.pins[p.OutputStart]) != vt.Erased {
		return
	}
	top := place{Point: terminal.Point{Row: t.term.Dropped()}, moved: true}
	if t.history >= before { // the scrollback of before is still there
		top.Row += int64(t.term.History())
	}
	t.first[p.OutputStart] = top
}

// Touch notes that something is typed at the present prompt.
func (t *Tracker) Touch() {
	if !t.touched {
		t.touched, t.right = true, t.rightOfCursor()
	}
}

// Last returns the prompt that was shown last; the zero Prompt before the
// first. unread says that what was typed may not have been answered yet.
func (t *Tracker) Last(unread bool) terminal.Prompt {
	p := t.machine.Last()
	if p.ID == "" {
		return terminal.Prompt{}
	}
	return t.tellLive(p, unread)
}

// Prompt returns the prompt of an id that this tracker, or another of the same
// session, gave. A prompt that is not kept, or never was, is in state Lost.
func (t *Tracker) Prompt(id string, unread bool) terminal.Prompt {
	last := t.machine.Last()
	if last.ID != "" && t.id(last) == id {
		return t.tellLive(last, unread)
	}
	if p, kept := t.find(id); kept {
		return t.tell(p)
	}
	return terminal.Prompt{ID: id, State: terminal.Lost}
}

// Ready reports whether the line editor at the last prompt takes what is typed.
// A shell whose editor asks for bracketed pastes may print its prompt before.
func (t *Tracker) Ready() bool { return !t.pasted || t.term.Modes().BracketedPaste }

// Folder is the directory that the shell told last, and its host; an empty host
// is this machine, or not known.
func (t *Tracker) Folder() (host, dir string) {
	_, host, dir = t.machine.Where()
	return host, dir
}

func (t *Tracker) marks() terminal.Marks {
	if t.nonce {
		return terminal.MarksNonce
	}
	return terminal.MarksPlain
}

// tell makes a terminal.Prompt of a prompt: all but how its line stands.
func (t *Tracker) tell(p shellint.Prompt) terminal.Prompt {
	out := terminal.Prompt{
		ID: t.id(p), State: p.State, Marks: t.marks(), Command: p.Command, Exit: p.Exit, Cwd: p.Cwd,
		Typed: terminal.No, Touched: terminal.KnownOf(t.touched), Paste: terminal.KnownOf(t.term.Modes().BracketedPaste),
	}
	if p.State != terminal.Running && p.State != terminal.Finished {
		return out
	}
	start, ok := t.locate(p.OutputStart)
	if !ok {
		out.Unseen = p.OutputStart == 0 && !p.Aborted
		return out
	}
	out.Output = terminal.Span{Start: start.Point, End: later(start.Point, t.cursor())}
	if p.State == terminal.Finished {
		out.Output.End = start.Point
		if end, ok := t.outputEnd(p.OutputEnd); ok {
			out.Output.End = later(start.Point, end)
			if !start.moved && end == start.Point {
				out.Silent = terminal.Yes
			}
		}
	}
	return out
}

// tellLive is tell for the last prompt.
func (t *Tracker) tellLive(p shellint.Prompt, unread bool) terminal.Prompt {
	out := t.tell(p)
	switch p.State {
	case terminal.Editing:
		out.Typed = t.typed(p.CommandStart, unread)
		if out.Typed == terminal.Yes {
			if t.cursor().Column != 0 { // where only output leaves it
				t.Touch() // by somebody else, too
				out.Touched = terminal.Yes
			}
			out.Command = strings.TrimRight(t.textBetween(p.CommandStart, t.term.Cursor()), " \n")
		}
	case terminal.Continuation:
		out.Typed = terminal.Yes
	}
	return out
}

// typed tells whether the command line that begins at a handle's place holds
// anything: the cursor has left its start, or what was typed is not answered
// yet, or something new stands right of the cursor. Unknown when the start is
// gone, or a change right of the cursor might be the shell's own.
func (t *Tracker) typed(start uint64, unread bool) terminal.Known {
	at, ok := t.locate(start)
	switch {
	case !ok:
		return t.holds()
	case t.cursor() != at.Point:
		return terminal.Yes
	case !t.touched:
		return terminal.No
	case unread:
		return terminal.Yes
	}
	switch right := t.rightOfCursor(); {
	case right == t.right, strings.TrimSpace(right) == "":
		return terminal.No
	case strings.TrimSpace(t.right) == "":
		return terminal.Yes
	}
	return terminal.Unknown
}
