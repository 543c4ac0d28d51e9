package tmux

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"

	"termpilot/fault"
	"termpilot/terminal"
)

// What there is nothing to be done about.
const (
	noTmux   = "tmux is not installed"
	noServer = "no tmux server runs"
)

// explain makes a fault.Error of what went wrong on the way to the server.
func (b *Backend) explain(op string, id terminal.ID, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	e := &fault.Error{Op: op, Session: string(id), Code: fault.BackendUnavailable, Err: err}
	var refused refusal
	switch {
	case errors.As(err, &refused):
		e.Code, e.Detail, e.Err = fault.Refused, oneLine(string(refused)), nil
	case errors.Is(err, errHangs):
		e.Detail, e.Hint = "tmux hangs", "see what `tmux -V` does in a terminal"
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e.Code, e.Err = fault.Deadline, errSilent
		e.Detail = "socket " + b.socket
		e.Hint = "see with `tmux list-sessions` in a terminal whether the server lives"
	case errors.Is(err, errUnsure):
		e.Code, e.Detail, e.Hint = fault.Deadline, "whether it happened is unknown", "look at the session before trying again"
	case errors.Is(err, errSpeech), errors.Is(err, errUnread):
		e.Code, e.Hint = fault.Protocol, "see with `tmux -V` and `tmux display-message -p '#{version}'` whether the tmux program and the server are of one version"
	case errors.Is(err, errOld):
		e.Hint = "install tmux 3.0 or newer"
	case errors.Is(err, exec.ErrNotFound):
		e.Detail, e.Hint = noTmux, "install tmux, or use another backend"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		e.Detail, e.Hint = noServer, "start one with `tmux`, or open a session on tmux"
	case errors.Is(err, errAlien):
		e.Detail, e.Hint = "socket "+b.socket, "use a server of your own"
	case strings.Contains(err.Error(), "protocol version mismatch"):
		e.Detail = "the tmux server is of another version than the tmux program"
		e.Hint = "run the server's own tmux, or restart the server when its sessions can end"
	}
	return e
}

// maxWords is how many characters of tmux's own words are passed on.
const maxWords = 200

// oneLine makes one line of words from elsewhere.
func oneLine(text string) string { return terminal.OneLine(text, maxWords) }
