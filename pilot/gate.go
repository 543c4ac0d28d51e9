package pilot

import (
	"slices"

	"termpilot/fault"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// front is what runs in the foreground of a session's terminal.
type front uint8

const (
	frontUnknown front = iota
	frontShell         // the process that the terminal started
	frontNested        // another shell
	frontCarrier       // a program that carries a remote or inner shell
	frontOther         // any other program
)

// facts is all that the gate looks at.
type facts struct {
	ended     bool
	exit      terminal.Exit
	marks     terminal.Marks // the session's, when the prompt has none of its own
	prompt    terminal.Prompt
	alternate bool
	broadcast terminal.Known // input is copied to other sessions
	front     front
	name      string // of the foreground program
	echo      terminal.Known
	canonical terminal.Known
	reads     terminal.Known // the foreground waits for input from the terminal
}

// marksOf returns whose marks the prompt stands on. Lost marks stay lost
// whatever the last prompt once carried.
func (f facts) marksOf() terminal.Marks {
	if f.marks == terminal.MarksLost || f.prompt.State == terminal.NoPrompt || f.prompt.Marks == terminal.MarksUnknown {
		return f.marks
	}
	return f.prompt.Marks
}

// program names the foreground program in a sentence.
func (f facts) program() string {
	if f.name == "" {
		return "a program"
	}
	return f.name
}

// judge is the gate: it says whether a command could be typed, and why.
//
// A password question, an ended session and a full-screen program are seen
// without marks. For everything else the marks say what the shell does and the
// foreground process and the terminal's flags must agree with them: any program
// can print marks. Marks with the session's secret are the shell's own, so for
// them line mode of the terminal is no objection (a shell without a line editor).
func judge(f facts) Readiness {
	if f.ended {
		return readiness(EndedState, describeExit(f.exit))
	}
	if f.front == frontShell && f.marksOf() == terminal.MarksNone && f.name != "" && !shellwords.IsShell(f.name) {
		f.front = frontOther // the session was opened for a program
	}
	evidence := f.evidence()
	is := func(s ReadyState, reason string) Readiness { return readiness(s, reason, evidence...) }
	if f.echo == terminal.No && f.canonical == terminal.Yes {
		return is(Password, f.program()+" asks for a password: echo is off in line mode")
	}
	inFront := f.front == frontOther || f.front == frontNested || f.front == frontCarrier
	if f.alternate && (f.front == frontOther || f.prompt.State == terminal.Running && f.front != frontShell) {
		return is(FullScreen, f.program()+" shows full screen")
	}
	if f.marksOf() == terminal.MarksLost {
		return is(NoIntegration, "the prompt marks are lost: the shell no longer sends them")
	}
	switch f.prompt.State {
	case terminal.NoPrompt:
		return judgeNoPrompt(f, is)
	case terminal.Running:
		return judgeRunning(f, is, inFront)
	case terminal.Continuation:
		return is(Continuation, "the shell wants more lines of an unfinished command")
	case terminal.Finished:
		// fish is in its line editor's mode while its prompt is still being made.
		if f.front == frontShell && f.canonical == terminal.No && f.name != "fish" {
			return is(NoIntegration, "the shell reads a line but has shown no prompt mark: its prompt marks are lost")
		}
		return is(BusyState, "the shell prepares its prompt")
	case terminal.Editing:
		return judgeEditing(f, is, inFront)
	}
	return is(UnknownState, "the last prompt is no longer kept")
}

func judgeNoPrompt(f facts, is func(ReadyState, string) Readiness) Readiness {
	switch {
	case f.front == frontOther && f.marksOf() == terminal.MarksNone && f.canonical == terminal.No:
		return is(WaitingInput, f.program()+" reads")
	case f.front == frontOther && f.marksOf() == terminal.MarksNone && f.reads != terminal.Yes:
		return is(BusyState, f.program()+" runs")
	case f.reads == terminal.Yes && f.front == frontOther:
		return is(WaitingInput, f.program()+" reads")
	case f.marksOf() == terminal.MarksNone:
		return is(NoIntegration, "the shell sends no prompt marks")
	case f.reads == terminal.Yes && f.canonical != terminal.No:
		return is(WaitingInput, f.program()+" reads before the first prompt")
	}
	switch {
	case f.front == frontShell && f.canonical == terminal.No:
		return is(Unverified, "the shell seems to read a line, but termpilot has seen no prompt since it first looked: if the line is empty, Enter brings one")
	case f.front == frontShell, f.front == frontUnknown:
		return is(Starting, "the shell has shown no prompt since termpilot first looked")
	}
	return is(Starting, f.program()+" runs, and the shell has shown no prompt since termpilot first looked")
}

func judgeRunning(f facts, is func(ReadyState, string) Readiness, inFront bool) Readiness {
	raw := f.canonical == terminal.No
	switch {
	case f.front == frontShell && raw && f.prompt.Paste == terminal.Yes && f.name != "fish":
		return is(NoIntegration, "the shell reads a line again without an end mark: its prompt marks are lost")
	case f.front == frontShell && raw:
		return is(WaitingInput, "the shell itself reads")
	case f.front == frontNested && raw:
		return is(WaitingInput, f.program()+" runs inside and sends no prompt marks of its own")
	case inFront && raw, f.reads == terminal.Yes:
		return is(WaitingInput, f.program()+" reads")
	}
	return is(BusyState, f.program()+" runs")
}

func judgeEditing(f facts, is func(ReadyState, string) Readiness, inFront bool) Readiness {
	switch f.marksOf() {
	case terminal.MarksNonce:
		if inFront {
			return is(BusyState, f.program()+" runs in front of the prompt")
		}
	case terminal.MarksPlain:
		switch {
		case f.front == frontUnknown:
			return is(Unverified, "any program could have printed these prompt marks, and the foreground program is not known")
		case f.front == frontOther:
			return is(Unverified, "the marks say prompt, but "+f.program()+" runs in front")
		case f.canonical == terminal.Yes:
			return is(Unverified, "the marks say prompt, but the terminal is in line mode: a program reads")
		}
	default:
		return is(Unverified, "it is not known who printed the prompt marks")
	}
	switch {
	case f.broadcast == terminal.Yes:
		return is(Unverified, "what is typed here is also typed into other sessions")
	case f.broadcast == terminal.Unknown:
		return is(Unverified, "it is not known whether what is typed here is also typed into other sessions")
	case f.prompt.Typed == terminal.Yes, f.prompt.Command != "":
		return is(TypedText, "the command line already holds text")
	case f.prompt.Typed == terminal.Unknown:
		return is(Unverified, "it is not known whether the command line is empty")
	}
	if f.front == frontCarrier {
		return is(Ready, "the shell that "+f.program()+" carries is at an empty prompt")
	}
	return is(Ready, "the shell is at an empty prompt")
}

// evidence lists the checks that held.
func (f facts) evidence() []string {
	var held []string
	m := f.marksOf()
	if f.prompt.State != terminal.NoPrompt && (m == terminal.MarksPlain || m == terminal.MarksNonce) {
		held = append(held, "marks")
		if m == terminal.MarksNonce {
			held = append(held, "nonce")
		}
	}
	switch f.front {
	case frontShell:
		held = append(held, "foreground")
	case frontNested, frontCarrier:
		held = append(held, "foreground: "+f.program())
	}
	if f.canonical == terminal.No {
		held = append(held, "tty")
	}
	return held
}

func readiness(s ReadyState, reason string, evidence ...string) Readiness {
	return Readiness{State: s, Reason: reason, Evidence: append([]string{}, evidence...)}
}

// refusal is the error for a command that the gate keeps out.
func refusal(op string, id terminal.ID, r Readiness) *fault.Error {
	e := &fault.Error{Op: op, Session: string(id), Code: fault.NotReady, Detail: r.Reason}
	switch r.State {
	case NoIntegration:
		e.Code = fault.NoIntegration
		e.Hint = "run `termpilot shell install SHELL` (bash, zsh or fish) once and open a new shell, or use send_text and read_terminal"
	case Unverified:
		e.Code = fault.Unverified
		e.Hint = "read the screen; use send_text if typing is right all the same"
	case EndedState:
		e.Code = fault.SessionEnded
		e.Hint = "read its last screen with read_terminal, or open another session"
	case TypedText:
		e.Hint = "ask the person, or clear the line with send_keys ctrl_c"
	case Continuation:
		e.Hint = "finish the command with send_text, or leave it with send_keys ctrl_c"
	case Password:
		e.Hint = "ask the person to type the password, or leave it with send_keys ctrl_c"
	case WaitingInput:
		e.Hint = "answer it with send_text, or leave it with send_keys ctrl_c or ctrl_d"
	case FullScreen:
		e.Hint = "read the screen, and quit the program with send_keys"
	case BusyState:
		e.Hint = "wait with wait_session, or interrupt it with send_keys ctrl_c"
	default:
		e.Hint = "read the screen, or wait with wait_session until=prompt"
	}
	return e
}

// carriers are programs in whose terminal another machine's or user's shell may run.
var carriers = []string{
	"ssh", "mosh-client", "et", "autossh", "sshpass", "telnet", "docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "incus",
	"machinectl", "nsenter", "chroot", "su", "sudo", "doas", "run0", "wsl.exe", "vagrant", "distrobox", "toolbox", "gcloud", "aws", "fly",
}

func isCarrier(name string) bool { return slices.Contains(carriers, name) }
