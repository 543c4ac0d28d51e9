package terminaltest

import (
	"context"
	"strings"
	"time"

	"termpilot/terminal"
)

func firstIsPresent(r *rig) { // TERM-20
	s := r.open()
	first := func() terminal.Event {
		w := r.watch(s.ID)
		defer w.cancel()
		e, ok := w.next()
		if !ok || e.Kind != terminal.State {
			r.Fatalf("the first event is %d (%v)", e.Kind, w.err)
		}
		p, err := r.b.Prompt(r.ctx(), s.ID, "")
		r.must(err)
		if e.Prompt.ID != p.ID || e.Prompt.State != p.State {
			r.Errorf("State tells %q in %d, Prompt tells %q in %d", e.Prompt.ID, e.Prompt.State, p.ID, p.State)
		}
		return e
	}
	editing := first()
	if editing.Prompt.State != terminal.Editing || editing.Prompt.ID == "" {
		r.Errorf("at a prompt: %+v", editing.Prompt)
	}
	r.begin(s.ID, "sleep 60")
	if running := first(); running.Prompt.State != terminal.Running || running.Prompt.ID != editing.Prompt.ID {
		r.Errorf("while a command runs: %+v", running.Prompt)
	}
}

func nothingIsMissed(r *rig) { // TERM-21
	s := r.open()
	for range 5 {
		ctx, cancel := context.WithTimeout(r.Context(), r.can.Patience)
		events, err := r.b.Watch(ctx, s.ID)
		r.must(err)
		r.run(s.ID, "true") // all of it happens before anybody ranges over events
		var kinds []terminal.EventKind
		for e, err := range events {
			r.must(err)
			if e.Kind != terminal.Output {
				kinds = append(kinds, e.Kind)
			}
			if e.Kind == terminal.PromptShown {
				break
			}
		}
		cancel()
		want := []terminal.EventKind{terminal.State, terminal.Started, terminal.Ended, terminal.PromptShown}
		if len(kinds) != len(want) {
			r.Fatalf("got the events %v, want %v", kinds, want)
		}
		for i := range want {
			if kinds[i] != want[i] {
				r.Fatalf("got the events %v, want %v", kinds, want)
			}
		}
	}
}

func commandHasOnePrompt(r *rig) { // TERM-22
	s := r.open()
	w := r.watch(s.ID)
	prompt := w.prompt()
	for _, c := range []struct {
		command string
		exit    int
	}{{"true", 0}, {"false", 1}, {"(exit 7)", 7}, {"echo a; echo b", 0}} {
		r.must(r.b.Send(r.ctx(), s.ID, []byte(c.command+"\r")))
		started := w.until(terminal.Started).Prompt
		ended := w.until(terminal.Ended).Prompt
		if started.ID != prompt.ID || ended.ID != prompt.ID {
			r.Errorf("%s: prompt %q, started %q, ended %q", c.command, prompt.ID, started.ID, ended.ID)
		}
		if started.State != terminal.Running || ended.State != terminal.Finished {
			r.Errorf("%s: states %d and %d", c.command, started.State, ended.State)
		}
		if !strings.Contains(started.Command, c.command) {
			r.Errorf("%s: started as %q", c.command, started.Command)
		}
		if ended.Exit == nil || *ended.Exit != c.exit {
			r.Errorf("%s: exit is %v, want %d", c.command, ended.Exit, c.exit)
		}
		prints := strings.HasPrefix(c.command, "echo")
		if prints && ended.Silent == terminal.Yes || !prints && ended.Silent == terminal.No { // TERM-51
			r.Errorf("%s: silent is %d", c.command, ended.Silent)
		}
		prompt = w.until(terminal.PromptShown).Prompt
		if prompt.State != terminal.Editing || prompt.Exit != nil {
			r.Errorf("%s: the next prompt is %+v", c.command, prompt)
		}
	}
}

func promptsAreNew(r *rig) { // TERM-23
	s, other := r.open(), r.open()
	seen := map[string]bool{}
	for range 5 {
		for _, id := range []terminal.ID{s.ID, other.ID} {
			p := r.run(id, "true")
			if p.ID == "" || seen[p.ID] {
				r.Fatalf("prompt id %q is empty or was used before", p.ID)
			}
			seen[p.ID] = true
		}
	}
}

func unfinishedInput(r *rig) { // TERM-24
	s := r.open()
	w := r.watch(s.ID)
	prompt := w.prompt()
	r.must(r.b.Send(r.ctx(), s.ID, []byte("echo 'abc\r")))
	more := w.until(terminal.Continued).Prompt
	if more.ID != prompt.ID || more.State != terminal.Continuation {
		r.Errorf("after an open quote: %+v, want prompt %q in Continuation", more, prompt.ID)
	}
	r.must(r.b.Send(r.ctx(), s.ID, []byte("def'\r")))
	ended := w.until(terminal.Ended).Prompt
	if ended.ID != prompt.ID || ended.Exit == nil || *ended.Exit != 0 {
		r.Errorf("after the closing quote: %+v", ended)
	}
	p, err := r.b.Prompt(r.ctx(), s.ID, prompt.ID)
	r.must(err)
	if got := strings.TrimSuffix(r.text(s.ID, p.Output), "\n"); got != "abc\ndef" {
		r.Errorf("output is %q", got)
	}
}

func goneIsLast(r *rig) { // TERM-25
	s := r.open()
	w := r.watch(s.ID)
	w.prompt()
	r.must(r.b.Send(r.ctx(), s.ID, []byte("exit 5\r")))
	w.until(terminal.Gone)
	if e, ok := w.next(); ok {
		r.Errorf("event %d after Gone", e.Kind)
	}
	if w.err != nil {
		r.Errorf("an error after Gone: %v", w.err)
	}
}

func watchingEnds(r *rig) { // TERM-26
	s := r.open()
	w := r.watch(s.ID)
	w.prompt()
	w.cancel()
	for {
		if _, ok := w.next(); !ok {
			break
		}
	}
	if w.err != nil {
		r.Errorf("got the error %v", w.err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), r.can.Patience)
	defer cancel()
	events, err := r.b.Watch(ctx, s.ID)
	r.must(err)
	for range events {
		break // leaving the loop unsubscribes
	}
	r.run(s.ID, "true")
}

func severalWatch(r *rig) { // TERM-27
	s := r.open()
	var all []*feed
	for range 4 {
		w := r.watch(s.ID)
		w.prompt()
		all = append(all, w)
	}
	all[0].cancel()
	r.run(s.ID, "(exit 9)")
	for i, w := range all[1:] {
		if p := w.until(terminal.Ended).Prompt; p.Exit == nil || *p.Exit != 9 {
			r.Errorf("watcher %d: %+v", i+1, p)
		}
	}
}

func slowWatcher(r *rig) { // TERM-28
	if r.can.Overflow == 0 {
		r.Skip("not known what overflows a watcher here")
	}
	s := r.open()
	ctx, cancel := context.WithTimeout(r.Context(), 20*r.can.Patience)
	defer cancel()
	events, err := r.b.Watch(ctx, s.ID)
	r.must(err)
	for range r.can.Overflow {
		r.run(s.ID, "true")
	}
	p := r.run(s.ID, "(exit 8)")
	go func() { // ends the sequence
		time.AfterFunc(r.can.Patience/10, func() { _ = r.b.Close(ctx, s.ID, terminal.Force) })
	}()
	first, resyncs, last := terminal.EventKind(0), 0, terminal.Event{}
	for e, err := range events {
		r.must(err)
		if first == 0 {
			first = e.Kind
		}
		if e.Kind == terminal.Resync {
			resyncs++
		}
		last = e
	}
	if first != terminal.State || resyncs != 1 || last.Kind != terminal.Gone {
		r.Errorf("first event %d, %d Resync, last event %d", first, resyncs, last.Kind)
	}
	if p.Exit == nil || *p.Exit != 8 {
		r.Errorf("another watcher missed the end: %+v", p)
	}
}

func promptTellsTyped(r *rig) { // TERM-29
	s := r.open()
	r.takesPastes(s.ID)
	fresh, err := r.b.Prompt(r.ctx(), s.ID, "")
	r.must(err)
	if fresh.Typed == terminal.Yes || fresh.Touched == terminal.Yes {
		r.Errorf("an untouched prompt: %+v", fresh)
	}
	r.must(r.b.Send(r.ctx(), s.ID, []byte("half")))
	r.shows(s.ID, "half")
	r.eventually(s.ID, "Typed and Touched are not No", func() bool {
		p, err := r.b.Prompt(r.ctx(), s.ID, fresh.ID)
		r.must(err)
		return p.Typed != terminal.No && p.Touched != terminal.No
	})
	r.must(r.b.Send(r.ctx(), s.ID, []byte("\x15"))) // Ctrl-U
	r.eventually(s.ID, "Typed is not Yes", func() bool {
		p, err := r.b.Prompt(r.ctx(), s.ID, fresh.ID)
		r.must(err)
		return p.Typed != terminal.Yes && p.Touched != terminal.No && p.State == terminal.Editing
	})
}

func promptIsLost(r *rig) { // TERM-30
	s := r.open()
	for _, id := range []string{"nosuch", "0", "-1", strings.Repeat("x", 1000)} {
		p, err := r.b.Prompt(r.ctx(), s.ID, id)
		r.must(err)
		if p.State != terminal.Lost {
			r.Errorf("prompt %q is in state %d", id, p.State)
		}
	}
}

func noPrompt(r *rig) { // TERM-31
	s := r.openSpec(terminal.OpenSpec{Profile: r.can.Profile, Command: "sleep 60"})
	p, err := r.b.Prompt(r.ctx(), s.ID, "")
	r.must(err)
	if p != (terminal.Prompt{}) {
		r.Errorf("got %+v", p)
	}
	w := r.watch(s.ID)
	if e, _ := w.next(); e.Kind != terminal.State || e.Prompt != (terminal.Prompt{}) {
		r.Errorf("got %+v", e)
	}
}
