package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"termpilot/pilot"
)

// runFlags is what the flags of run say.
type runFlags struct {
	session string
	backend string // where a session of its own opens; "" is the first that can
	profile string
	cwd     string
	keep    bool
	raw     bool
	timeout time.Duration
}

func (a *app) runCommand() *cobra.Command {
	var s settings
	var f runFlags
	var r pilot.RunRequest
	cmd := &cobra.Command{
		Use:        "run [flags] -- COMMAND [WORD…]",
		Short:      "Run a command at a session's prompt and print its output",
		SuggestFor: []string{"exec"},
		Long: "Run a command at a session's prompt and print its output.\n\n" +
			"One word is a line for the shell, as typed; several are quoted, so that the shell sees the same words.\n" +
			"Without --session it opens a session for the command, and closes it after the command has ended.\n" +
			"Exit codes: 0 the command's was 0, 1 it was another or is not known, 3 the time was over or the waiting interrupted,\n" +
			"4 the session ended, 5 it goes on or waits for input, 7 refused.",
		Example: "  termpilot run -- git status\n" +
			"  termpilot run --session acorn --timeout 5m -- 'make test | tail'",
		Args:                  cobra.MinimumNArgs(1),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Command, r.Reduce, r.Timeout = shellLine(args), !f.raw, f.timeout
			if s.maxWait = f.timeout; f.timeout <= 0 {
				return usage(errors.New("--timeout must be longer than 0; --no-wait does not wait"))
			}
			err := limited("run", 0, r.MaxChars)
			if err != nil {
				return err
			}
			if f.cwd, err = filepath.Abs(f.cwd); err != nil { // the host's own folder says nothing to whoever types this
				return err
			}
			if len(s.backends) == 0 {
				f.backend = "host" // no window opens in front of a person who asked for none
			}
			d, err := a.deck(s)
			if err != nil {
				return err
			}
			defer d.close()
			return a.runIn(cmd.Context(), d, f, r)
		},
	}
	s.flags(cmd)
	s.maskFlag(cmd)
	s.tripwireFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "the session to run it in; otherwise one of its own")
	flags.StringVar(&f.profile, "profile", "", "without --session: the shell, such as zsh (default: the login shell)")
	flags.StringVar(&f.cwd, "cwd", "", "without --session: the folder to start in (default: this one)")
	flags.BoolVar(&f.keep, "keep", false, "without --session: leave the session open")
	timeVar(flags, &f.timeout, "timeout", 30*time.Second, "longest time to wait, such as 90s or 5m; the command goes on after it")
	flags.BoolVar(&r.NoWait, "no-wait", false, "return when the command was submitted")
	flags.BoolVar(&r.Force, "force", false, "run it although it looks destructive")
	flags.IntVar(&r.MaxChars, "max-chars", 0, "most characters of output (default 32768)")
	flags.BoolVar(&f.raw, "raw", false, "leave nothing out of long output but by --max-chars")
	return a.withJSON(cmd)
}

// runIn runs the command in the session that f names or in a new one, prints
// what came of it and returns the outcome.
func (a *app) runIn(ctx context.Context, d *deck, f runFlags, r pilot.RunRequest) error {
	var own pilot.SessionInfo
	var err error
	if f.session != "" {
		if r.SessionID, err = d.pilot.Named(ctx, f.session); err != nil {
			return err
		}
	} else {
		if own, err = openReady(ctx, d.pilot, f); err != nil {
			return errors.Join(err, d.end(ctx, own))
		}
		r.SessionID = own.SessionID
	}
	result, err := d.pilot.Run(ctx, r)
	if f.session == "" {
		over := err != nil && ctx.Err() == nil || result.Status == pilot.Completed || result.Status == pilot.Rejected
		switch {
		case result.Status == pilot.SessionEnded:
		case over && !f.keep:
			err = errors.Join(err, d.end(ctx, own))
		default:
			a.note("the session is %s", own.SessionID)
		}
	}
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(result)
	} else {
		err = a.printText(result.Output)
	}
	return errors.Join(err, a.outcomeOf(result))
}

// openReady opens a session and waits until its shell can be typed at. With an
// error and a session, that is there all the same.
func openReady(ctx context.Context, p *pilot.Pilot, f runFlags) (pilot.SessionInfo, error) {
	opened, err := p.Open(ctx, pilot.OpenRequest{Backend: f.backend, Profile: f.profile, Cwd: f.cwd})
	if err != nil || opened.Session.Readiness.State == pilot.Ready {
		return opened.Session, err
	}
	_, err = p.Wait(ctx, pilot.WaitRequest{SessionIDs: []string{opened.SessionID}, Until: pilot.UntilPrompt, Timeout: f.timeout})
	return opened.Session, err
}

// hintFor says what may be behind an exit code of a shell's own.
func hintFor(code int) string {
	if code == 127 {
		return "the session's shell finds no such program: its PATH is what its startup files make it, not the one of here"
	}
	return ""
}

// outcomeOf says with which code a run ends, and tells why when that is not
// plain from its output.
func (a *app) outcomeOf(r pilot.RunResult) error {
	if r.TruncatedHead {
		a.note("the first lines are no longer kept by the terminal")
	}
	if r.Omitted.Lines > 0 {
		a.note("%s left out; see --max-chars and --raw", plural(r.Omitted.Lines, "line"))
	}
	if r.Status == pilot.Completed && r.ExitCode != nil && r.ExitReason != "" { // of an output that is not told, or not all of it
		a.note("%s", r.ExitReason)
	}
	goOn := "go on with termpilot call wait_session run_id=" + r.RunID
	told := func(code int, format string, args ...any) error {
		return &outcome{code: code, cause: fmt.Errorf(format, args...)}
	}
	switch r.Status {
	case pilot.Completed:
		switch {
		case r.ExitCode == nil:
			return told(exitFailed, "run: the exit code is not known: %s", r.ExitReason)
		case *r.ExitCode != 0:
			return &outcome{code: exitFailed, cause: fmt.Errorf("run: the command ended with exit code %d", *r.ExitCode), hint: hintFor(*r.ExitCode)}
		}
		return nil
	case pilot.Submitted:
		a.note("submitted as run %s; %s", r.RunID, goOn)
		return &outcome{code: exitRunning}
	case pilot.StillRunning:
		return &outcome{code: exitTimeout, cause: fmt.Errorf("run: the command still runs, as run %s", r.RunID), hint: goOn}
	case pilot.WaitsInput:
		return &outcome{code: exitRunning, cause: fmt.Errorf("run: the command waits for input (%s), as run %s", r.Kind, r.RunID), hint: "answer it with termpilot send, then " + goOn}
	case pilot.Continues:
		return told(exitFailed, "run: the shell wants more: the command is not complete")
	case pilot.Rejected:
		return told(exitFailed, "run: the shell refused the line")
	case pilot.SessionEnded:
		return told(exitGone, "run: %s", cmp.Or(r.ExitReason, "the session ended"))
	}
	return told(exitFailed, "run: what became of it is not known: %s", r.ExitReason)
}
