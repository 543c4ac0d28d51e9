package pilot

import (
	"context"
	"fmt"
	"time"

	"termpilot/fault"
	"termpilot/shellwords"
	"termpilot/terminal"
)

const (
	// settle is how long the gate gives a session that is between two states: a
	// shell that has printed its prompt but not yet set its terminal, text on
	// its way.
	settle = 300 * time.Millisecond
	// typedSettle is the same for a command line that seems to hold text: keys
	// that show nothing count as text for a while.
	typedSettle = 2 * settle
	// promptPatience is how long a shell may take from the end of a command to its
	// next prompt: people's prompts ask version control and more.
	promptPatience = 5 * time.Second
	// freshPatience is how long a Ctrl-C may take to bring a new prompt. fish
	// shows none when its line was empty already.
	freshPatience = 500 * time.Millisecond
	// startPatience is how long a start that only needs to be submitted is
	// waited for.
	startPatience = time.Second
	// mutePatience is how long a shell that reads a line without ever having
	// sent a mark counts as starting.
	mutePatience = 3 * time.Second
)

// gate waits at a session for the moment in which a command may be typed.
type gate struct {
	p      *Pilot
	t      target
	w      *watcher
	run    string          // the id of the run that waits
	prompt terminal.Prompt // the last that was seen
	fresh  bool            // a Ctrl-C was sent to get a fresh prompt
	shell  string          // the name of the session's shell, when it was seen in front
	swept  string          // the prompt at which it was sent to sweep away noise or a line of ours
	muted  time.Time       // since when the shell has been seen to read without a mark
}

// judge is the gate for what was seen last. fish shows no new prompt at Ctrl-C:
// its line is empty then, although what was printed over it still stands there.
func (g *gate) judge(ctx context.Context) Readiness {
	f := g.p.factsOf(ctx, g.t, g.prompt, true)
	g.shell = ""
	if f.front == frontShell && shellwords.IsShell(f.name) {
		g.shell = f.name
	}
	if g.fresh && g.swept == f.prompt.ID && f.prompt.State == terminal.Editing {
		f.prompt.Typed, f.prompt.Command = terminal.No, ""
	}
	return judge(f)
}

// pass returns when the gate is open, with g.prompt the prompt to type at, or
// the refusal. It waits for a shell that starts, briefly for one that is
// between two states, and for nothing else.
//
// Looking and typing are two steps. What happens between them that matters is
// either ours (the type lock), or a person's own key at this very moment, which
// the start event's text will show.
func (g *gate) pass(ctx context.Context, deadline time.Time) (Readiness, error) {
	began := time.Now()
	for {
		r := g.judge(ctx)
		waited := time.Since(began)
		switch {
		case r.State == Ready && g.prompt.Touched == terminal.Yes && !g.fresh:
			// What touched the line may still be on its way to the shell: an Enter
			// that was just sent must not be followed by a Ctrl-C.
			if waited < settle {
				break
			}
			if err := g.interrupt(ctx); err != nil {
				return r, err
			}
			began = time.Now()
			continue
		case r.State == Ready:
			return r, nil
		case (r.State == TypedText || r.State == Continuation) && !g.fresh && (g.ours() || g.noise(ctx)):
			g.swept = g.prompt.ID
			if err := g.interrupt(ctx); err != nil {
				return r, err
			}
			began = time.Now()
			continue
		case r.State == Starting, r.State == Unverified && g.prompt.State == terminal.NoPrompt:
			if g.mute() && waited >= mutePatience {
				if g.t.backend.Name() == "host" { // which has seen the shell from its start
					r = readiness(NoIntegration, "the shell reads a line but has sent no prompt marks", r.Evidence...)
				}
				return r, g.refuse(r)
			}
		case r.State == BusyState && g.prompt.State == terminal.Running,
			r.State == FullScreen, r.State == EndedState:
			return r, g.refuse(r)
		case r.State == BusyState && g.prompt.State == terminal.Finished:
			if waited >= promptPatience {
				return r, g.refuse(r)
			}
		case r.State == TypedText:
			if waited >= typedSettle {
				return r, g.refuse(r)
			}
		default:
			if waited >= settle {
				return r, g.refuse(r)
			}
		}
		if ctx.Err() != nil || !time.Now().Before(deadline) {
			return r, g.refuse(r)
		}
		if err := g.next(ctx, min(settle/6, time.Until(deadline))); err != nil {
			return r, err
		}
	}
}

// refuse is the refusal, naming the run that keeps the session busy. The host
// integrates its shells by itself, so there nothing installed would help.
func (g *gate) refuse(r Readiness) error {
	e := refusal("run", g.t.id(), r)
	switch {
	case r.State == NoIntegration && g.t.backend.Name() == "host":
		e.Hint = "open a session with profile bash, zsh or fish, or use send_text and read_terminal"
	case r.State == Unverified && g.prompt.State == terminal.NoPrompt:
		e.Hint = "if its command line is empty, press enter there once with send_keys, and call again; if no prompt is seen then, run `termpilot shell install SHELL` (bash, zsh or fish) once and open a new shell"
	}
	if one, ok := g.p.runs.last(g.t.id()); ok && one.ID != g.run && r.State == BusyState && len(one.Prompts) > 0 && one.Prompts[len(one.Prompts)-1] == g.prompt.ID {
		e.Detail += " (" + one.ID + ")"
		e.Hint = fmt.Sprintf("wait with wait_session run_id=%s, or interrupt it with send_keys ctrl_c", one.ID)
	}
	return e
}

// ours reports whether the line is what a run of ours left there: an unfinished
// command, or one that fish refused and keeps on the line.
func (g *gate) ours() bool {
	one, ok := g.p.runs.last(g.t.id())
	return ok && one.Left != "" && one.Left == g.prompt.ID
}

// mute reports whether a shell waits in its line editor without marks, and has
// done so for a while: the terminal is set before the prompt is shown.
func (g *gate) mute() bool {
	st := g.p.stageOf(g.t.session)
	switch {
	case st.front != frontShell || st.canonical != terminal.No:
		g.muted = time.Time{}
	case g.muted.IsZero():
		g.muted = time.Now()
	}
	return !g.muted.IsZero() && time.Since(g.muted) >= settle
}

// interrupt sends Ctrl-C to the line editor and waits for the fresh prompt. A
// line editor that waits for the rest of an escape sequence (readline's
// keyseq-timeout) acts on it only at the next key, so what still holds text then
// gets a second one.
func (g *gate) interrupt(ctx context.Context) error {
	g.fresh = true
	old := g.prompt.ID
	for range 2 {
		sending, cancel := afterwards(ctx)
		err := g.t.backend.Send(sending, g.t.id(), []byte{0x03})
		cancel()
		if err != nil {
			return g.p.dead(ctx, "run", g.t, err)
		}
		for end := time.Now().Add(freshPatience); time.Now().Before(end) && ctx.Err() == nil; {
			if err := g.next(ctx, time.Until(end)); err != nil {
				return err
			}
			if g.prompt.ID != old && g.prompt.State == terminal.Editing {
				return nil
			}
		}
		if err := g.look(ctx); err != nil {
			return err
		}
		if g.prompt.ID != old || g.prompt.State > terminal.Continuation || g.prompt.State == terminal.Editing && g.prompt.Typed == terminal.No {
			return nil
		}
	}
	return nil
}

// noise reports whether what stands on the command line was printed there, by
// a background job, and not typed: nothing was sent since the prompt was shown,
// and the cursor is at the beginning of a row, where no text that was typed ahead
// leaves it.
func (g *gate) noise(ctx context.Context) bool {
	if g.prompt.Touched != terminal.No || g.prompt.State != terminal.Editing {
		return false
	}
	ctx, cancel := afterwards(ctx)
	defer cancel()
	s, err := g.t.backend.Screen(ctx, g.t.id(), terminal.Range{Kind: terminal.Visible})
	return err == nil && s.Cursor.Column == 0 && !s.Alternate
}

// next takes in one event, or lets d pass and looks.
func (g *gate) next(ctx context.Context, d time.Duration) error {
	e, got, closed := g.w.pause(ctx, max(d, time.Millisecond))
	switch {
	case closed:
		return g.p.dead(ctx, "run", g.t, g.lost())
	case !got, e.Kind == terminal.Resync, e.Kind == terminal.Output:
		return g.look(ctx)
	case e.Kind == terminal.Gone:
		return target{backend: g.t.backend, session: g.t.session, ended: true, exit: e.Exit}.alive("run")
	}
	g.prompt = e.Prompt
	return g.session(ctx)
}

func (g *gate) lost() error {
	if g.w.err != nil {
		return g.w.err
	}
	return &fault.Error{
		Op: "run", Session: string(g.t.id()), Code: fault.SessionEnded, Detail: "the session ended",
		Hint: "read its last screen with read_terminal, or open another session",
	}
}

// look asks for the present prompt and session.
func (g *gate) look(ctx context.Context) error {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	prompt, err := g.t.backend.Prompt(ctx, g.t.id(), "")
	if err != nil {
		return g.p.dead(ctx, "run", g.t, err)
	}
	g.prompt = prompt
	return g.session(ctx)
}

// session renews what is known of the session itself.
func (g *gate) session(ctx context.Context) error {
	t, err := g.p.find(ctx, "run", string(g.t.id()))
	if err != nil {
		return err
	}
	g.t = t
	return t.alive("run")
}
