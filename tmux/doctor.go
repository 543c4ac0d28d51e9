package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"termpilot/doctor"
	"termpilot/fault"
	"termpilot/terminal"
)

// Checks are the questions about tmux's health. They start no server.
func (b *Backend) Checks() []doctor.Check {
	return []doctor.Check{
		{ID: "tmux.program", Run: b.checkProgram},
		{ID: "tmux.server", Run: b.checkServer},
	}
}

func (b *Backend) checkProgram(ctx context.Context) doctor.Result {
	program, err := b.program()
	if err != nil {
		return doctor.Result{State: doctor.Skipped, Summary: "tmux is not installed", Evidence: "it is not on PATH"}
	}
	v, err := b.versionOf(ctx, program)
	if err != nil {
		explained := b.explain("doctor", "", err)
		return doctor.Result{State: doctor.Fail, Summary: "tmux cannot be used", Evidence: explained.Error(), Next: fault.HintOf(explained)}
	}
	return doctor.Result{State: doctor.Pass, Summary: "tmux is installed", Evidence: program + ", version " + oneLine(v.text)}
}

func (b *Backend) checkServer(ctx context.Context) doctor.Result {
	list, err := b.Sessions(ctx)
	switch {
	case err == nil:
		return doctor.Result{State: doctor.Pass, Summary: "the tmux server answers", Evidence: fmt.Sprintf("%d panes, socket %s", len(list), b.socket)}
	case isAway(err):
		return doctor.Result{State: doctor.Skipped, Summary: "no tmux server runs", Evidence: "socket " + b.socket}
	}
	return doctor.Result{State: doctor.Fail, Summary: "the tmux server cannot be reached", Evidence: err.Error(), Next: fault.HintOf(err)}
}

// isAway reports whether there is nothing to be checked: no tmux, or no server.
func isAway(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && (e.Detail == noServer || e.Detail == noTmux)
}

// AttachCommand is the command that shows a session to a person: to be run in a
// terminal, and inside of tmux when it runs there on the same server.
func (b *Backend) AttachCommand(ctx context.Context, id terminal.ID) ([]string, error) {
	const op = "attach"
	p, err := b.live(ctx, op, id)
	if err != nil {
		return nil, err
	}
	program, err := b.program()
	if err != nil {
		return nil, b.explain(op, id, err)
	}
	show := "attach-session"
	if socket, _, ok := strings.Cut(variable(b.o.Env, "TMUX"), ","); ok && socket == b.socket {
		show = "switch-client"
	}
	return []string{program, "-S", b.socket, show, "-t", p.session(), ";", "select-window", "-t", p.target(), ";", "select-pane", "-t", p.target()}, nil
}
