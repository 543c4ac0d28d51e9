package pilot

import (
	"context"
	"path/filepath"
	"strings"

	"termpilot/shellwords"
	"termpilot/terminal"
)

// Processes tells who runs on a terminal of this machine. Its methods are
// cheap: a few reads of kernel state, no walk over all processes unless said.
type Processes interface {
	// Front returns the terminal's foreground process group, found through the
	// shell that the terminal started, and its leader's name: "" when that is gone.
	Front(shellPID int) (pgid int, name string, err error)
	// Name returns a process's program name, without path or login dash.
	Name(pid int) (string, error)
	// Flags returns a terminal device's echo and canonical flags.
	Flags(tty string) (echo, canonical bool, err error)
	// Reads says whether a process of the group waits for input from the
	// terminal. Unknown where the machine does not tell.
	Reads(pgid int, tty string) terminal.Known
}

// stage is what the machine knows of a session's foreground at one moment.
type stage struct {
	front     front
	name      string
	pgid      int
	echo      terminal.Known
	canonical terminal.Known
}

// stageOf looks at a session's foreground. Processes are asked only for a
// session of this machine; elsewhere the terminal's word for the job is taken.
func (p *Pilot) stageOf(s terminal.Session) stage {
	if !s.Local || s.ShellPID == 0 {
		return stage{front: frontByName(programName(s.Job)), name: programName(s.Job)}
	}
	var st stage
	pgid, name, err := p.processes.Front(s.ShellPID)
	if err == nil {
		st.pgid, st.name = pgid, name
		switch {
		case pgid == s.ShellPID:
			st.front = frontShell
		case st.name != "":
			st.front = frontByName(st.name)
		default:
			st.front = frontOther // a group without a leader that can be named is not the shell
		}
		if st.front == frontNested && p.startedByLogin(s.ShellPID) {
			st.front = frontShell
		}
	}
	if s.TTY != "" {
		if echo, canonical, err := p.processes.Flags(s.TTY); err == nil {
			st.echo, st.canonical = terminal.KnownOf(echo), terminal.KnownOf(canonical)
		}
	}
	return st
}

// startedByLogin reports whether the process that the terminal started is
// login(1), whose child is the session's shell, as iTerm2 does on macOS.
func (p *Pilot) startedByLogin(shellPID int) bool {
	name, err := p.processes.Name(shellPID)
	return err == nil && name == "login"
}

func frontByName(name string) front {
	switch {
	case name == "":
		return frontUnknown
	case shellwords.IsShell(name):
		return frontNested
	case isCarrier(name):
		return frontCarrier
	}
	return frontOther
}

// programName is the program's name in a job name or argv[0].
func programName(job string) string {
	return oneLine(strings.TrimPrefix(filepath.Base(strings.TrimPrefix(job, "-")), "-"))
}

// factsOf gathers what the gate looks at. deep also asks whether a running
// program waits for input.
func (p *Pilot) factsOf(ctx context.Context, t target, prompt terminal.Prompt, deep bool) facts {
	if t.ended {
		return facts{ended: true, exit: t.exit, prompt: prompt}
	}
	st := p.stageOf(t.session)
	f := facts{
		marks: t.session.Marks, prompt: prompt, alternate: t.session.Alternate,
		front: st.front, name: st.name, echo: st.echo, canonical: st.canonical, broadcast: terminal.No,
	}
	if b, ok := t.backend.(terminal.Broadcaster); ok {
		yes, err := b.Broadcasts(ctx, t.id())
		f.broadcast = terminal.KnownOf(yes)
		if err != nil {
			f.broadcast = terminal.Unknown
		}
	}
	idle := prompt.State == terminal.Running || prompt.State == terminal.NoPrompt
	if deep && idle && st.canonical == terminal.Yes && st.pgid != 0 {
		f.reads = p.processes.Reads(st.pgid, t.session.TTY)
	}
	return f
}
