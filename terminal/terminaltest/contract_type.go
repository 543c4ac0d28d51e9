package terminaltest

import (
	"errors"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// typer is the backend as a terminal.Typer, if what is connected can do that.
func (r *rig) typer() terminal.Typer {
	r.Helper()
	b, ok := r.b.(terminal.Typer)
	if !ok {
		r.Skip("this backend looks and types in two steps")
	}
	s := r.open()
	if _, err := b.TypeAt(r.ctx(), s.ID, "none", []byte("x")); errors.Is(err, fault.Unsupported) {
		r.Skip("this terminal looks and types in two steps")
	}
	return b
}

// typed checks what TypeAt answers.
func (r *rig) typed(b terminal.Typer, id terminal.ID, prompt, text string, want bool) {
	r.Helper()
	if want { // a line editor may show its prompt before it takes pastes
		r.eventually(id, "the prompt takes pastes", func() bool {
			p, err := r.b.Prompt(r.ctx(), id, "")
			return err == nil && p.Paste == terminal.Yes
		})
	}
	if got, err := b.TypeAt(r.ctx(), id, prompt, []byte(text)); got != want || err != nil {
		r.Errorf("at %q: got %v, %v, want %v", prompt, got, err, want)
	}
}

func typesAtAFreshPrompt(r *rig) { // TERM-70
	b := r.typer()
	s := r.open()
	w := r.watch(s.ID)
	fresh := w.prompt()
	r.typed(b, s.ID, fresh.ID, "false\r", true)
	if e := w.until(terminal.Ended); e.Prompt.ID != fresh.ID || e.Prompt.Exit == nil || *e.Prompt.Exit != 1 {
		r.Errorf("got %+v", e.Prompt)
	}
	next := w.until(terminal.PromptShown).Prompt
	r.typed(b, s.ID, fresh.ID, "true\r", false) // it is over
	r.typed(b, s.ID, "no prompt", "true\r", false)
	r.typed(b, s.ID, next.ID, "true\r", true)
	if e := w.until(terminal.Started); e.Prompt.ID != next.ID || e.Prompt.Command != "true" {
		r.Errorf("got %+v: what was refused was typed", e.Prompt)
	}
}

func typesAtNoOtherPrompt(r *rig) { // TERM-70
	b := r.typer()
	for name, disturb := range map[string]func(id terminal.ID){
		"touched": func(id terminal.ID) { r.must(r.b.Send(r.ctx(), id, []byte("\x01"))) },
		"typed":   func(id terminal.ID) { r.must(r.b.Send(r.ctx(), id, []byte("abc"))) },
		"busy":    func(id terminal.ID) { r.begin(id, "sleep 0.3") },
	} {
		s := r.open()
		w := r.watch(s.ID)
		fresh := w.prompt()
		disturb(s.ID)
		r.typed(b, s.ID, fresh.ID, "echo never\r", false)
		if name == "busy" {
			w.until(terminal.PromptShown)
		}
		r.must(r.b.Send(r.ctx(), s.ID, []byte("\x15true\r"))) // all that is sent arrives in order
		for started := (terminal.Event{}); started.Prompt.Command != "true"; {
			if started = w.until(terminal.Started); strings.Contains(started.Prompt.Command, "never") {
				r.Errorf("%s: it was typed", name)
			}
		}
	}
	nested := r.open()
	fresh := r.watch(nested.ID).prompt()
	r.begin(nested.ID, "bash --norc")
	r.typed(b, nested.ID, fresh.ID, "echo never\r", false)
}

func typesAtNoSessionThatIsNotThere(r *rig) { // TERM-70
	b := r.typer()
	_, err := b.TypeAt(r.ctx(), "00000000-0000-4000-8000-000000000000", "p", []byte("x"))
	r.code("TypeAt of no session", err, fault.SessionNotFound)
	s := r.open()
	fresh := r.watch(s.ID).prompt()
	r.must(r.b.Close(r.ctx(), s.ID, terminal.Force))
	_, err = b.TypeAt(r.ctx(), s.ID, fresh.ID, []byte("x"))
	r.code("TypeAt of an ended session", err, fault.SessionEnded)
}

func followsWhatWasTold(r *rig) { // TERM-71
	b := r.typer()
	s := r.open()
	for range 5 {
		events, err := b.Follow(r.ctx(), s.ID)
		for end := time.Now().Add(r.can.Patience); errors.Is(err, fault.Unsupported) && time.Now().Before(end); {
			_, err = r.b.Prompt(r.ctx(), s.ID, "") // what it is to tell may still be on its way
			r.must(err)
			events, err = b.Follow(r.ctx(), s.ID)
		}
		r.must(err)
		fresh := terminal.Prompt{}
		for e, err := range events {
			r.must(err)
			if e.Kind == terminal.State {
				if fresh = e.Prompt; fresh.State != terminal.Editing || fresh.Typed != terminal.No || fresh.Touched != terminal.No || fresh.Marks != terminal.MarksNonce || fresh.Paste != terminal.Yes {
					r.Errorf("got %+v", fresh)
				}
				r.typed(b, s.ID, fresh.ID, "true\r", true)
			}
			if (e.Kind == terminal.Started || e.Kind == terminal.Ended) && e.Prompt.ID != fresh.ID {
				r.Errorf("got %+v, want the prompt %q", e, fresh.ID)
			}
			if e.Kind == terminal.PromptShown {
				break
			}
		}
	}
	r.begin(s.ID, "sleep 60")
	if _, err := b.Follow(r.ctx(), s.ID); !errors.Is(err, fault.Unsupported) {
		r.Errorf("while a command runs: got %v", err)
	}
}
