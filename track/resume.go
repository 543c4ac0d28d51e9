package track

import (
	"strconv"
	"strings"

	"termpilot/shellint"
	"termpilot/terminal"
)

// id names a prompt. The shell's own name for it is the same for whoever
// watches; that is a proof only with the nonce.
func (t *Tracker) id(p shellint.Prompt) string {
	switch {
	case !t.nonce || p.AID == "":
		return t.o.Own + p.ID
	case p.Repeat > 0:
		return t.o.Session + p.AID + "+" + strconv.Itoa(p.Repeat)
	}
	return t.o.Session + p.AID
}

// find returns the prompt of an id.
func (t *Tracker) find(id string) (shellint.Prompt, bool) {
	if own, ok := strings.CutPrefix(id, t.o.Own); ok {
		return t.machine.Prompt(own)
	}
	name, ok := strings.CutPrefix(id, t.o.Session)
	if !ok || !t.nonce {
		return shellint.Prompt{}, false
	}
	aid, count, _ := strings.Cut(name, "+")
	repeat, _ := strconv.Atoi(count)
	return t.machine.Named(aid, repeat)
}

// Resume takes what a terminal keeps of the directory that a shell told, with
// which our scripts tell how they stand. It reports whether the shell then edits a
// line and answers [shellint.Question], and its name for the prompt: that
// prompt is known when the answer came.
func (t *Tracker) Resume(url string) (asks string) {
	mark, ok := shellint.Parse(7, []byte(url))
	if !ok || !t.machine.Resume(mark) || mark.Runs || mark.Secondary || !mark.Tells {
		return ""
	}
	return mark.AID
}

// line is how the row of the cursor looked.
type line struct {
	at   terminal.Point
	text string
}

func (t *Tracker) line() line {
	at := t.cursor()
	l := line{at: at}
	for _, r := range t.term.Rows(at.Row, 1) {
		l.text = textOf(r.Cells)
	}
	return l
}

// stands takes what the shell tells of a line of which nothing was known.
func (t *Tracker) stands(mark shellint.Mark, changes []Change) {
	last := t.machine.Last()
	if last.AID != mark.AID || last.State != terminal.Editing {
		return
	}
	if _, placed := t.locate(last.CommandStart); mark.Holds && !mark.Drawn && !placed {
		now := t.line()
		t.held = &now
	}
	if !mark.Holds && !mark.Drawn {
		t.right = t.rightOfCursor() // all of it is the shell's own
	}
	if len(changes) > 0 && (mark.Holds || mark.Mode) {
		t.Touch()
	}
	for i := range changes {
		changes[i].Prompt = t.tellLive(last, false)
	}
}

// holds says whether a line of which the beginning is not known holds text: as
// long as it looks as it did when the shell said so.
func (t *Tracker) holds() terminal.Known {
	if t.held != nil && *t.held == t.line() {
		return terminal.Yes
	}
	return terminal.Unknown
}

// Unplaced reports whether of the prompt that the shell names so it is not known
// whether its line holds text, and no later one was shown.
func (t *Tracker) Unplaced(aid string) bool {
	last := t.machine.Last()
	if last.ID == "" {
		return true
	}
	if _, placed := t.locate(last.CommandStart); placed || last.AID != aid || last.State != terminal.Editing {
		return false
	}
	return t.holds() == terminal.Unknown
}
