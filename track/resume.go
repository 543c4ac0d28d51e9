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
	case !t.machine.Guarded() || p.AID == "":
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
	if !ok || !t.machine.Guarded() {
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

// Unplaced reports whether of the prompt that the shell names so it is not known
// whether its line holds text, and no later one was shown.
func (t *Tracker) Unplaced(aid string) bool {
	last := t.machine.Last()
	if last.ID == "" {
		return true
	}
	if _, placed := t.places.Locate(last.CommandStart); placed || last.AID != aid || last.State != terminal.Editing {
		return false
	}
	return t.places.holds() == terminal.Unknown
}
