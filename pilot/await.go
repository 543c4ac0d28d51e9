package pilot

import (
	"context"
	"errors"
	"slices"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

const (
	// rejectPatience is how long a prompt that replaced ours may still turn out
	// to be a repaint of it, as themes do when a line is accepted.
	rejectPatience = 300 * time.Millisecond
	// openPatience is how long a continuation prompt must stand before the
	// command counts as unfinished: typed lines pass through several.
	openPatience = 500 * time.Millisecond
	// fishOpenPatience is how long fish, which marks no continuation, may stay
	// at the prompt with our text before the command counts as unfinished.
	fishOpenPatience = 800 * time.Millisecond
	// silentPatience is the same for a shell that marks them, or is not known.
	silentPatience = 3 * time.Second
	// tracePatience is how long a shell may show nothing at all of what was typed.
	tracePatience = 10 * time.Second
	// nextPatience is how long the prompt after an end is waited for, so that
	// the next call is not refused.
	nextPatience = 500 * time.Millisecond
	// morePatience is how long the next of several typed lines may take to start.
	morePatience = time.Second
)

// awaiting follows one run from its typing to its end. It is fed with events
// and with the passing of time, and looks at the machine's processes in between.
type awaiting struct {
	p         *Pilot
	t         target
	w         *watcher
	run       run
	lines     []string // of our text, those that no command has started with yet
	pasted    bool     // they were one paste
	untyped   []string // lines to type when the shell asks for them
	startOnly bool     // return as soon as the command has started
	progress  *ticker

	started  bool // the shell runs our text
	named    bool // the terminal saw exactly our text typed
	unseen   bool // the end was found later: when it was is not known
	ended    bool // our last prompt has its end mark
	ids      []string
	silent   []string  // those of ids that printed nothing
	other    string    // a prompt that replaced ours before a start
	otherAt  time.Time // when it came
	openAt   time.Time // when a continuation prompt came
	endedAt  time.Time
	nested   time.Time // when a prompt came while our command runs
	sent     time.Time
	activity time.Time // of the last output or mark
	probe    probe
	exit     *int
	gone     *terminal.Exit
	lastSeen terminal.Prompt

	status RunStatus // set once the waiting is over
	kind   string
	reason string
}

func (p *Pilot) awaiting(t target, w *watcher, one run) *awaiting {
	now := time.Now()
	if one.shell == "" {
		one.shell = p.shellName(t.session)
	}
	return &awaiting{
		p: p, t: t, w: w, run: one, lines: linesOf(one.Command), pasted: one.pasted, untyped: one.untyped,
		ids: one.Prompts, sent: one.Began, activity: now,
		probe: probe{shell: one.shell},
	}
}

func (a *awaiting) current() string { return a.ids[len(a.ids)-1] }

func (a *awaiting) settle(s RunStatus, kind, reason string) {
	if a.status != "" {
		return
	}
	rest := ""
	switch {
	case len(a.untyped) > 0:
		rest = "not typed: " + count(len(a.untyped), "line") + " of the command"
	case a.run.unsent > 0:
		rest = "not typed, as far as is on record: " + count(a.run.unsent, "line") + " of the command"
	}
	if rest != "" {
		reason = joinReasons(reason, rest)
		if s == Completed { // what was typed has ended, but that is not the command
			s, a.exit = RunUnknown, nil
		}
	}
	a.status, a.kind, a.reason = s, kind, reason
}

// wait follows the run until its outcome is known or ctx ends.
func (a *awaiting) wait(ctx context.Context) {
	for a.status == "" {
		now := time.Now()
		a.tick(ctx, now)
		if a.status != "" {
			return
		}
		if ctx.Err() != nil {
			a.giveUp()
			return
		}
		a.progress.tell(now, "the command runs")
		e, got, closed := a.w.pause(ctx, a.rest(now))
		switch {
		case closed && a.gone == nil:
			a.lost(ctx)
		case got:
			a.take(ctx, e)
		}
	}
}

// giveUp is the outcome when the waiting ends before the command does.
func (a *awaiting) giveUp() {
	switch {
	case a.ended && len(a.lines) == 0:
		a.settle(Completed, "", "")
	case a.startOnly:
		a.settle(Submitted, "", "not waited for")
	default:
		a.settle(StillRunning, a.probe.kind(), "it has not ended")
	}
}

// lost is the outcome when the subscription broke.
func (a *awaiting) lost(ctx context.Context) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if ended, ok := a.p.findEnded(ctx, a.t.id()); ok {
		a.over(ended.exit)
		return
	}
	reason := "the terminal went away"
	if a.w.err != nil {
		reason += ": " + oneLine(a.w.err.Error())
	}
	a.settle(StillRunning, "", reason)
}

// over is the outcome when the session ended.
func (a *awaiting) over(exit terminal.Exit) {
	a.gone = &exit
	if !a.ended || exit.Code != nil {
		a.exit = exit.Code // fish also sends an end mark for its exit
	}
	a.settle(SessionEnded, "", describeExit(exit))
}

// take feeds one event.
func (a *awaiting) take(ctx context.Context, e terminal.Event) {
	now := time.Now()
	a.activity, a.probe.suspect = now, verdict{}
	if e.Prompt.ID != "" {
		a.lastSeen = e.Prompt
	}
	switch e.Kind {
	case terminal.Gone:
		a.over(e.Exit)
	case terminal.Started:
		a.start(e.Prompt)
	case terminal.Ended:
		if e.Prompt.ID == a.current() && a.started {
			a.end(e.Prompt.Exit, now)
			if e.Prompt.Silent == terminal.Yes {
				a.silent = append(a.silent, e.Prompt.ID)
			}
		}
	case terminal.Continued:
		if e.Prompt.ID == a.current() || e.Prompt.ID == a.other {
			a.openAt = now
			a.typeNext(ctx)
		}
	case terminal.Aborted:
		if e.Prompt.ID == a.current() && !a.started && a.otherAt.IsZero() {
			a.otherAt = now
		}
	case terminal.PromptShown:
		a.shown(ctx, e.Prompt, now)
	case terminal.State, terminal.Resync:
		a.look(ctx)
	}
}

// start is a command that begins. It is ours when it begins at the prompt at
// which we typed, or names our text.
func (a *awaiting) start(p terminal.Prompt) {
	if a.started && !a.ended {
		return // inside our command: a nested shell's, or a forged mark
	}
	here := p.ID == a.current() && !a.started || a.other != "" && p.ID == a.other
	rest, named := after(a.lines, p.Command)
	switch {
	case named:
		a.lines, a.named = rest, true
	case !here:
		return
	case a.pasted, p.Command != "", len(a.lines) == 0:
		a.lines = nil // the text came back changed: it is taken as one command
	default:
		a.lines = a.lines[1:]
	}
	if p.ID != a.current() {
		if a.started {
			a.ids = append(a.ids, p.ID)
		} else {
			a.ids = []string{p.ID} // the prompt was repainted under a new id
		}
	}
	a.started, a.ended, a.exit = true, false, nil
	a.openAt, a.otherAt, a.other, a.nested = time.Time{}, time.Time{}, "", time.Time{}
	a.probe.began = time.Now()
	if a.startOnly {
		a.settle(Submitted, "", "not waited for")
	}
}

// end is our command's own end mark.
func (a *awaiting) end(exit *int, now time.Time) {
	a.ended, a.exit, a.endedAt = true, exit, now
	a.openAt, a.nested = time.Time{}, time.Time{}
}

// shown is a prompt that stands.
func (a *awaiting) shown(ctx context.Context, p terminal.Prompt, now time.Time) {
	switch {
	case p.ID == a.current():
	case a.ended && len(a.lines) == 0:
		a.settle(Completed, "", "")
	case a.ended:
		a.other, a.endedAt = p.ID, now // the next of our lines may start here
		a.typeNext(ctx)
	case a.started:
		a.nested = now
	default:
		a.other = p.ID
		if a.otherAt.IsZero() {
			a.otherAt = now
		}
	}
}

// typeNext types the next line, where the shell takes them one by one.
func (a *awaiting) typeNext(ctx context.Context) {
	if len(a.untyped) == 0 || ctx.Err() != nil {
		return
	}
	line := a.untyped[0]
	a.untyped = a.untyped[1:]
	sending, cancel := afterwards(ctx)
	defer cancel()
	release, err := a.p.locks.acquire(sending, "run", a.t.id(), lockType, "run "+a.run.ID, typePatience)
	if err == nil {
		defer release()
		err = a.t.backend.Send(sending, a.t.id(), []byte(line+"\r"))
		a.p.locks.sent(a.t.id())
	}
	if errors.Is(err, fault.Deadline) {
		a.settle(RunUnknown, "", "whether a line was typed is not known: "+oneLine(err.Error()))
		return
	}
	if err != nil {
		a.untyped = append([]string{line}, a.untyped...)
		a.settle(RunUnknown, "", "a line could not be typed: "+oneLine(err.Error()))
		return
	}
	one := a.run
	one.Prompts, one.untyped = slices.Clone(a.ids), a.untyped
	if a.ended && a.other != "" {
		one.Prompts = append(one.Prompts, a.other) // where the line was typed
	}
	if err := a.p.runs.save("run", one); err != nil { // then the record says that it was not typed
		a.p.log.Warn("a further line is not on record", "run", one.ID, "error", err)
	}
}

// look asks the terminal how our prompt stands, after events were missed.
func (a *awaiting) look(ctx context.Context) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	p, err := a.t.backend.Prompt(ctx, a.t.id(), a.current())
	if err != nil {
		return // Gone or the end of the subscription will tell
	}
	switch p.State {
	case terminal.Running:
		if !a.started {
			a.start(p)
		}
	case terminal.Continuation:
		if a.openAt.IsZero() {
			a.openAt = time.Now()
		}
	case terminal.Finished:
		a.found(ctx, p)
	case terminal.Lost, terminal.NoPrompt:
		a.settle(RunUnknown, "", "the terminal no longer keeps this prompt")
	}
}

// found is our prompt, finished while nobody looked.
func (a *awaiting) found(ctx context.Context, p terminal.Prompt) {
	last, err := a.t.backend.Prompt(ctx, a.t.id(), "")
	now := time.Now()
	if p.Exit == nil && p.Output.Empty() && !a.started {
		a.otherAt, a.other = now, last.ID
		return
	}
	if !a.started {
		a.start(p)
	}
	if !a.ended {
		a.end(p.Exit, now)
		a.unseen = true
	}
	if err == nil && last.ID != p.ID && len(a.lines) == 0 {
		a.settle(Completed, "", "")
	}
}

// rest is how long nothing needs to be looked at, if no event comes.
func (a *awaiting) rest(now time.Time) time.Duration {
	next := now.Add(time.Second)
	at := func(t time.Time, d time.Duration) {
		if !t.IsZero() && t.Add(d).Before(next) {
			next = t.Add(d)
		}
	}
	at(a.openAt, openPatience)
	at(a.otherAt, rejectPatience)
	if a.ended {
		at(a.endedAt, nextPatience)
	} else {
		next = minTime(next, a.probe.due(now))
	}
	at(a.progress.last(), progressEvery)
	return max(next.Sub(now), time.Millisecond)
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// tick decides what the passing of time decides.
func (a *awaiting) tick(ctx context.Context, now time.Time) {
	since := func(t time.Time, d time.Duration) bool { return !t.IsZero() && now.Sub(t) >= d }
	switch {
	case a.ended && len(a.lines) == 0 && since(a.endedAt, nextPatience),
		a.ended && since(a.endedAt, morePatience) && a.openAt.IsZero():
		a.settle(Completed, "", "")
	case since(a.openAt, openPatience):
		a.settle(Continues, "", "the shell wants more lines of an unfinished command")
	case !a.started && since(a.otherAt, rejectPatience):
		a.reject()
	case a.ended:
	case now.Before(a.probe.due(now)):
	case a.started:
		a.probeRunning(ctx, now)
	default:
		a.probeTyped(ctx, now)
	}
}

func (a *awaiting) reject() {
	if onlyComments(a.run.Command) {
		a.settle(Completed, "", "a comment: the shell ran nothing")
		return
	}
	a.settle(Rejected, "", "the shell showed its next prompt without running the line")
}
