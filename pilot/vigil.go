package pilot

import (
	"context"
	"time"

	"termpilot/reduce"
	"termpilot/terminal"
)

// vigil waits for one session.
type vigil struct {
	p      *Pilot
	t      target
	c      condition
	w      *watcher
	prompt terminal.Prompt
	result WaitSession
	final  bool // matched, or can never match

	command string    // the prompt whose command is waited for
	missed  bool      // how that stands could not be asked
	printed time.Time // the last output
	scanned time.Time // the last look at the text
	dirty   bool      // there is output that was not looked at
	row     int64     // text before this row has been looked at
	looked  bool      // the screen has been
	gate    time.Time // the last look at the gate
	probe   probe
}

func (v *vigil) matched(reason string) {
	v.result.Matched, v.result.Reason, v.final = true, reason, true
}

// keep waits until the condition holds, cannot hold any more, or ctx ends.
func (v *vigil) keep(ctx context.Context) {
	v.result.SessionID = string(v.t.id())
	if v.t.ended {
		v.gone(v.t.exit)
		return
	}
	w, err := watch(ctx, v.t)
	if err != nil {
		after, cancel := afterwards(ctx)
		defer cancel()
		if ended, ok := v.p.findEnded(after, v.t.id()); ok {
			v.gone(ended.exit)
			return
		}
		v.result.Reason, v.final = "it cannot be watched: "+oneLine(err.Error()), ctx.Err() == nil
		return
	}
	defer w.stop()
	v.w, v.prompt, v.printed, v.dirty = w, w.first, time.Now(), true
	v.begin()
	for !v.final {
		v.tick(ctx, time.Now())
		if v.final {
			return
		}
		if ctx.Err() != nil {
			v.result.Reason = "not yet"
			return
		}
		e, got, closed := v.w.pause(ctx, v.rest(time.Now()))
		switch {
		case closed && !got:
			v.closed(ctx)
		case got:
			v.take(ctx, e)
		}
	}
}

// begin looks at the present before anything happens.
func (v *vigil) begin() {
	if v.c.until != UntilCommand {
		return
	}
	switch v.prompt.State {
	case terminal.Running:
		v.command = v.prompt.ID
		v.probe.began = time.Now()
		v.probe.shell = v.p.shellName(v.t.session)
	case terminal.NoPrompt:
		if v.t.session.Marks != terminal.MarksNone && v.t.session.Marks != terminal.MarksLost {
			return
		}
		v.result.Reason, v.final = "the shell sends no prompt marks: the end of a command cannot be seen", true
	default:
		v.result.ExitCode = v.prompt.Exit
		v.matched("no command runs")
	}
}

func (v *vigil) gone(exit terminal.Exit) {
	v.result.ExitCode = exit.Code
	if v.c.until == UntilExit || v.c.until == UntilCommand && v.command != "" {
		v.matched(describeExit(exit))
		return
	}
	v.result.Reason, v.final = describeExit(exit), true
}

func (v *vigil) closed(ctx context.Context) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if ended, ok := v.p.findEnded(ctx, v.t.id()); ok {
		v.gone(ended.exit)
		return
	}
	v.result.Reason, v.final = "the terminal went away", true
	if v.w.err != nil {
		v.result.Reason += ": " + oneLine(v.w.err.Error())
	}
}

func (v *vigil) take(ctx context.Context, e terminal.Event) {
	now := time.Now()
	v.probe.suspect = verdict{}
	switch e.Kind {
	case terminal.Gone:
		if v.c.until == UntilText {
			v.scan(ctx, now)
		}
		if !v.final {
			v.gone(e.Exit)
		}
		return
	case terminal.Output, terminal.Resync, terminal.State:
		v.printed, v.dirty = now, true
		if e.Kind == terminal.Output {
			return
		}
		if p, err := v.t.backend.Prompt(ctx, v.t.id(), ""); err == nil {
			v.prompt = p
		}
		if v.command != "" && v.prompt.ID != v.command {
			v.commandOver(ctx)
		}
		return
	}
	v.prompt, v.gate = e.Prompt, time.Time{}
	if e.Kind == terminal.Started && v.c.until == UntilCommand && v.command == "" {
		v.command = e.Prompt.ID
	}
	if e.Kind == terminal.Ended && e.Prompt.ID == v.command && v.command != "" {
		v.result.ExitCode = e.Prompt.Exit
		v.matched("the command ended")
		v.awaitPrompt(ctx)
	}
}

// awaitPrompt waits briefly for the prompt after an end, so that the session is
// told as it is and the next call is not refused.
func (v *vigil) awaitPrompt(ctx context.Context) {
	for end := time.Now().Add(nextPatience); ctx.Err() == nil && time.Now().Before(end); {
		e, _, closed := v.w.pause(ctx, time.Until(end))
		if closed || e.Kind == terminal.PromptShown || e.Kind == terminal.Gone {
			return
		}
	}
}

// commandOver looks for the end of the awaited command after events were missed. A
// prompt that stands may be one inside of it.
func (v *vigil) commandOver(ctx context.Context) {
	p, err := v.t.backend.Prompt(ctx, v.t.id(), v.command)
	v.missed = err != nil
	switch {
	case v.missed || p.State == terminal.Running:
	case p.State == terminal.Finished:
		v.result.ExitCode = p.Exit
		v.matched("the command ended")
	default:
		v.matched("the command ended: the terminal no longer keeps its prompt")
	}
}

// rest is how long nothing needs to be looked at, if no event comes.
func (v *vigil) rest(now time.Time) time.Duration {
	switch {
	case v.c.until == UntilQuiet:
		return max(v.printed.Add(quietFor).Sub(now), time.Millisecond)
	case v.c.until == UntilText && v.dirty:
		return max(v.scanned.Add(scanEvery).Sub(now), time.Millisecond)
	case v.c.until == UntilPrompt:
		return settle
	case v.c.until == UntilCommand && v.command != "":
		return max(v.probe.due(now).Sub(now), time.Millisecond)
	}
	return time.Minute
}

// tick decides what looking decides.
func (v *vigil) tick(ctx context.Context, now time.Time) {
	switch v.c.until {
	case UntilQuiet:
		if now.Sub(v.printed) >= quietFor {
			v.matched("nothing was printed for " + quietFor.String())
		}
	case UntilText:
		if v.dirty && now.Sub(v.scanned) >= scanEvery {
			v.scan(ctx, now)
		}
	case UntilPrompt:
		if v.gate.IsZero() || now.Sub(v.gate) >= settle {
			v.lookAtGate(ctx, now)
		}
	case UntilCommand:
		if v.command != "" && !now.Before(v.probe.due(now)) {
			v.lookAtCommand(ctx, now)
		}
	}
}

func (v *vigil) lookAtGate(ctx context.Context, now time.Time) {
	v.gate = now
	t, err := v.p.find(ctx, "wait", string(v.t.id()))
	if err != nil {
		return
	}
	v.t = t
	r := v.p.readinessNow(ctx, t)
	switch {
	case r.State == Ready:
		v.matched(r.Reason)
	case r.State == NoIntegration && (t.session.Marks == terminal.MarksNone || t.session.Marks == terminal.MarksLost):
		v.result.Reason, v.final = r.Reason, true
	}
}

// lookAtCommand ends the wait for a command whose end mark will not come, or
// that waits for input: nobody would ever answer it.
func (v *vigil) lookAtCommand(ctx context.Context, now time.Time) {
	v.probe.last = now
	if v.missed {
		if v.commandOver(ctx); v.final {
			return
		}
	}
	a := &awaiting{p: v.p, t: v.t, activity: v.printed, probe: v.probe}
	d := diagnose(a.see(ctx, now))
	switch {
	case d != v.probe.suspect:
	case d.status == RunUnknown:
		v.matched(d.reason)
	case d.status == WaitsInput:
		v.result.Reason, v.final = d.reason, true
	}
	v.probe.suspect = d
}

// scan looks for the pattern in what was printed since the last scan, and at
// first on the whole screen.
func (v *vigil) scan(ctx context.Context, now time.Time) {
	v.scanned, v.dirty = now, false
	want := terminal.Range{Kind: terminal.Visible}
	if v.looked {
		want = terminal.Range{Kind: terminal.Rows, First: v.row, Count: terminal.MaxRows}
	}
	s, err := v.p.ask(ctx, v.t, want)
	if err != nil {
		return
	}
	if v.looked && s.Top < v.row { // rows were numbered anew, or another screen shows
		if s, err = v.p.ask(ctx, v.t, terminal.Range{Kind: terminal.Visible}); err != nil {
			return
		}
	}
	lines := screenLines(s)
	for i, l := range lines {
		if v.c.pattern.MatchString(l.text) {
			if v.p.findSecrets(ctx, v.t, s, lines, i, i+1) != nil {
				return // it is looked at again
			}
			v.result.Text = shorten(reduce.Cut(lines[i].marked(), reduce.Options{Mask: !v.p.noMask, Marked: true}).Text)
			v.matched("the pattern was found")
			return
		}
	}
	// What shows may still change, so the next scan begins at the screen's top;
	// what has scrolled by is not looked at again.
	v.row, v.looked = s.Top, true
	if read := s.First + int64(len(s.Rows)); read < s.Top {
		v.row, v.dirty = read, true
	}
}
