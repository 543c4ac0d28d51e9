package pilot

import (
	"context"
	"strings"
	"time"

	"termpilot/terminal"
)

const (
	// quietForInput is how long a terminal must be still before a program that
	// could be reading counts as waiting for input.
	quietForInput = 700 * time.Millisecond
	// quietForPassword is shorter: echo off in line mode has no other use.
	quietForPassword = 300 * time.Millisecond
	// quietForShell is how long the shell must be back and still before its end
	// mark counts as lost.
	quietForShell = time.Second
)

// probe is when and what was seen of the processes of a running command.
type probe struct {
	shell string    // the shell's name when the command was typed
	began time.Time // when the command started
	last  time.Time
	full  int // how many times in a row a full-screen program showed

	// suspect is the verdict of the last look. It counts only when a second look
	// finds the same and no event came in between: the processes may be ahead of
	// the events.
	suspect verdict
}

// due is when the next look is worth its price: often at first, for programs
// that ask at once, then every second.
func (p *probe) due(now time.Time) time.Time {
	if p.last.IsZero() {
		return now.Add(-1)
	}
	every := 150 * time.Millisecond
	if p.suspect == (verdict{}) && !p.began.IsZero() && p.last.Sub(p.began) > 3*time.Second {
		every = time.Second
	}
	return p.last.Add(every)
}

func (p *probe) kind() string {
	if p.full > 0 {
		return KindFullScreen
	}
	return ""
}

// sight is what one look found.
type sight struct {
	front     front
	name      string
	echo      terminal.Known
	canonical terminal.Known
	reads     terminal.Known
	alternate bool
	paste     terminal.Known
	quiet     time.Duration
	nested    bool // a prompt was shown while the command runs
	replaced  bool // the shell's process runs another program now
}

// verdict is what a look at a running command decides; the zero verdict is:
// it runs.
type verdict struct {
	status RunStatus
	kind   string
	reason string
}

// diagnose says what a running command does, seen from its terminal. A
// terminal in line mode is also the state of a silent `sleep`, so there only a
// process that is seen blocked in a read of the terminal counts as reading. A
// shell that edits a line again has lost its marks, or a builtin edits one (bash's
// read -e, zsh's vared); only of fish, whose read does so, is the latter likelier.
func diagnose(s sight) verdict {
	raw := s.canonical == terminal.No
	switch {
	case s.echo == terminal.No && s.canonical == terminal.Yes:
		if s.quiet >= quietForPassword {
			return verdict{WaitsInput, KindPassword, s.who() + " asks for a password"}
		}
	case s.front == frontUnknown:
	case s.front == frontShell && s.nested && !s.alternate:
		if s.quiet >= quietForPassword {
			return verdict{RunUnknown, "", "the shell showed a prompt without an end mark"}
		}
	case s.front == frontShell && raw:
		if s.quiet < quietForShell {
			break
		}
		if s.paste == terminal.Yes && s.name != "fish" || s.replaced {
			return verdict{RunUnknown, "", "the shell reads a line again but sent no end mark: its prompt marks are lost"}
		}
		return verdict{WaitsInput, KindProgram, "the shell itself reads"}
	case s.front == frontShell && s.replaced:
		if s.quiet >= quietForShell && s.reads != terminal.No {
			return verdict{RunUnknown, "", "the shell was replaced by " + s.who() + ", which sends no prompt marks"}
		}
	case s.quiet < quietForInput, s.alternate:
	case raw && s.nested:
		return verdict{WaitsInput, KindProgram, s.who() + " shows a prompt inside the session's shell"}
	case raw && s.front == frontNested:
		return verdict{WaitsInput, KindProgram, s.who() + " runs inside the session's shell and sends no prompt marks"}
	case raw, s.reads == terminal.Yes:
		return verdict{WaitsInput, KindProgram, s.who() + " reads"}
	}
	return verdict{}
}

func (s sight) who() string {
	if s.name == "" {
		return "a program"
	}
	return s.name
}

// probeRunning looks at a command that has started.
func (a *awaiting) probeRunning(ctx context.Context, now time.Time) {
	a.probe.last = now
	s := a.see(ctx, now)
	if s.alternate && s.front != frontShell {
		a.probe.full++
		if a.probe.full > 1 { // twice: programs also blink through the alternate screen
			a.settle(StillRunning, KindFullScreen, s.who()+" shows full screen")
			return
		}
	} else {
		a.probe.full = 0
	}
	v := diagnose(s)
	if v.status != "" && v == a.probe.suspect {
		a.settle(v.status, v.kind, v.reason)
	}
	a.probe.suspect = v
}

// see gathers a sight.
func (a *awaiting) see(ctx context.Context, now time.Time) sight {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if t, err := a.p.find(ctx, "run", string(a.t.id())); err == nil && !t.ended {
		a.t = t
	}
	st := a.p.stageOf(a.t.session)
	s := sight{
		front: st.front, name: st.name, echo: st.echo, canonical: st.canonical, alternate: a.t.session.Alternate,
		quiet: now.Sub(a.activity), nested: !a.nested.IsZero(),
	}
	if !a.t.session.Local {
		if s.front != frontCarrier && s.front != frontOther {
			s.front = frontUnknown // a name alone does not say that the shell is back
		}
		return s
	}
	s.replaced = s.front == frontShell && a.probe.shell != "" && s.name != "" && s.name != a.probe.shell
	if s.quiet < quietForPassword {
		return s
	}
	if s.canonical == terminal.Yes && s.quiet >= quietForInput {
		s.reads = a.p.processes.Reads(st.pgid, a.t.session.TTY)
	}
	if s.front == frontShell && s.canonical == terminal.No {
		if p, err := a.t.backend.Prompt(ctx, a.t.id(), ""); err == nil {
			s.paste = p.Paste
		}
	}
	return s
}

// probeTyped looks at a session in which our text was typed and nothing has
// started yet. That the shell wants more is said only on proof that it has taken
// what was typed: on a busy machine it may come to that later than any patience.
func (a *awaiting) probeTyped(ctx context.Context, now time.Time) {
	a.probe.last = now
	before := a.probe.suspect
	a.probe.suspect = verdict{}
	patience, quiet := silentPatience, silentPatience/2
	if a.probe.shell == "fish" {
		patience, quiet = fishOpenPatience, quietForInput
	}
	if now.Sub(a.sent) < patience || now.Sub(a.activity) < quiet {
		return
	}
	ctx, cancel := afterwards(ctx)
	defer cancel()
	p, err := a.t.backend.Prompt(ctx, a.t.id(), "")
	if err != nil {
		return
	}
	if p.ID != a.current() || p.State == terminal.Running || p.State == terminal.Finished {
		a.look(ctx)
		return
	}
	switch v, sure := a.untaken(ctx, p); {
	case !sure && now.Sub(a.sent) < tracePatience:
	case v != before:
		a.probe.suspect = v
	case v.status == Continues && len(a.untyped) > 0:
		a.sent = now
		a.typeNext(ctx)
	default:
		a.settle(v.status, v.kind, v.reason)
	}
}

// untaken says why nothing has started at our prompt, which stands. It is not
// sure where the shell may only be slow.
func (a *awaiting) untaken(ctx context.Context, p terminal.Prompt) (v verdict, sure bool) {
	more := verdict{Continues, "", "the shell has not taken the line: it wants more of an unfinished command"}
	if p.State == terminal.Continuation {
		return more, true
	}
	if p.Typed == terminal.No && p.Command == "" {
		return verdict{RunUnknown, "", "the shell shows an empty prompt and no trace of the command"}, false
	}
	typed := strings.Join(a.lines[:max(0, len(a.lines)-len(a.untyped))], "\n")
	if a.p.stageOf(a.t.session).canonical == terminal.Yes || !a.onFurtherLine(ctx, typed) {
		return verdict{RunUnknown, "", "the command was typed, but the shell has not begun it"}, false
	}
	return more, endsAlike(p.Command, typed) // otherwise the line editor may still take the text in
}

// onFurtherLine reports whether the cursor has left the line in which what was
// typed ends, for one that holds something else: the line editor has taken the
// Enter.
func (a *awaiting) onFurtherLine(ctx context.Context, typed string) bool {
	s, err := a.t.backend.Screen(ctx, a.t.id(), terminal.Range{Kind: terminal.Visible})
	rows := int(s.Cursor.Row-s.First) + 1
	if err != nil || rows < 2 || rows > len(s.Rows) {
		return false
	}
	above := s.Rows[:rows]
	above[rows-1].Text = prefix(above[rows-1].Text, s.Cursor.Column) // behind it may stand what the shell suggests
	lines := linesFrom(above, s.First, true)
	here := squash(lines[len(lines)-1].text)
	end := squash(typed[strings.LastIndexByte(typed, '\n')+1:])
	return len(lines) > 1 && (here == "" || !strings.Contains(here, end))
}

// endsAlike reports whether a command line, as a terminal shows it, ends as the
// text that was typed. Blanks do not count: line editors indent and wrap.
func endsAlike(shown, typed string) bool {
	const enough = 64
	i, j := len(shown), len(typed)
	for n := 0; n < enough; n++ {
		i, j = skipBlanks(shown, i), skipBlanks(typed, j)
		if j == 0 {
			return true
		}
		if i == 0 || shown[i-1] != typed[j-1] {
			return false
		}
		i, j = i-1, j-1
	}
	return true
}

// skipBlanks returns where text[:end] ends without the blanks at its end.
func skipBlanks(text string, end int) int {
	return len(strings.TrimRight(text[:end], " \t\r\n"))
}
