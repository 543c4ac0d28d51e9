// Package track follows the prompts of a shell through a terminal emulator:
// [Places] keeps where each prompt, command line and output begins and ends
// while rows scroll, are wrapped anew or are erased; a [Tracker] tells prompts as
// [terminal.Prompt] does.
//
// It serves those who see a program's output as bytes. It has no clock, no
// goroutine and does no I/O.
package track

import (
	"strings"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// Tracker follows the prompts that a shell draws on one emulator. It is not safe
// for concurrent use.
type Tracker struct {
	term    *vt.Terminal
	machine *shellint.Machine
	places  *Places
	o       Options
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
	machine := shellint.NewMachine(o.Nonce)
	return &Tracker{term: term, machine: machine, places: NewPlaces(term, machine), o: o}
}

// Seen reports whether any prompt mark was believed so far.
func (t *Tracker) Seen() bool { return t.machine.Seen() }

// Change is something that a mark changed.
type Change struct {
	Kind   terminal.EventKind // PromptShown, Continued, Started, Ended or Aborted
	Prompt terminal.Prompt
}

// OSC takes an operating system command, inside the emulator's Write, at its
// exact place in the stream. It returns what it changed, oldest first.
func (t *Tracker) OSC(command int, payload []byte) (out []Change) {
	mark, ok := shellint.Parse(command, payload)
	if !ok {
		return nil
	}
	for _, c := range t.places.Mark(mark) {
		p := t.tell(c.Prompt)
		if mark.Kind == shellint.Standing { // something may be typed there already
			p = t.tellLive(c.Prompt, false)
		}
		out = append(out, Change{c.Kind, p})
	}
	return out
}

// Drawn brings positions up to date after output was drawn; see [Places.Drawn].
func (t *Tracker) Drawn() { t.places.Drawn() }

// Touch notes that something is typed at the present prompt.
func (t *Tracker) Touch() { t.places.Touch() }

// Ready reports whether the line editor takes what is typed; see [Places.Ready].
func (t *Tracker) Ready() bool { return t.places.Ready() }

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

// Folder is the directory that the shell told last, and its host; an empty host
// is this machine, or not known.
func (t *Tracker) Folder() (host, dir string) {
	_, host, dir = t.machine.Where()
	return host, dir
}

func (t *Tracker) marks() terminal.Marks {
	if t.machine.Guarded() {
		return terminal.MarksNonce
	}
	return terminal.MarksPlain
}

// tell makes a terminal.Prompt of a prompt: all but how its line stands.
func (t *Tracker) tell(p shellint.Prompt) terminal.Prompt {
	out := terminal.Prompt{
		ID: t.id(p), State: p.State, Marks: t.marks(), Command: p.Command, Exit: p.Exit, Cwd: p.Cwd,
		Typed: terminal.No, Touched: terminal.KnownOf(t.places.Touched()), Paste: terminal.KnownOf(t.term.Modes().BracketedPaste),
	}
	if p.State != terminal.Running && p.State != terminal.Finished {
		return out
	}
	output := t.places.Output(p)
	out.Output, out.Rest, out.Strewn = output.Span, t.places.Rest(p), output.Strewn
	out.Unseen = !output.Known && p.OutputStart == 0 && !p.Aborted
	if output.Silent {
		out.Silent = terminal.Yes
	}
	return out
}

// tellLive is tell for the last prompt.
func (t *Tracker) tellLive(p shellint.Prompt, unread bool) terminal.Prompt {
	out := t.tell(p)
	switch p.State {
	case terminal.Editing:
		out.Typed = t.places.Typed(p, unread)
		if out.Typed == terminal.Yes {
			if t.term.Cursor().Column != 0 { // where only output leaves it
				t.Touch() // by somebody else, too
				out.Touched = terminal.Yes
			}
			out.Command = strings.TrimRight(t.places.Line(p), " \n")
		}
	case terminal.Continuation:
		out.Typed = terminal.Yes
	}
	return out
}
