package main

import (
	"errors"

	"termpilot/fault"
)

// The exit codes: the table of specs/cli.md.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitTimeout = 3
	exitGone    = 4
	exitRunning = 5
	exitLimited = 6
	exitRefused = 7
)

// outcome is an error that decides the exit code by itself. Without a cause
// everything was said already, and only the code is left to give.
type outcome struct {
	code  int
	cause error
	hint  string // in place of the cause's own
}

func (o *outcome) Error() string {
	if o.cause == nil {
		return ""
	}
	return o.cause.Error()
}

func (o *outcome) Unwrap() error { return o.cause }

// usage marks an error of the command line itself.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &outcome{code: exitUsage, cause: err}
}

// exitCode says with which code err ends the program.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if o, ok := errors.AsType[*outcome](err); ok {
		return o.code
	}
	switch fault.CodeOf(err) {
	case fault.NotReady, fault.Busy, fault.NoIntegration, fault.Unverified, fault.Blocked, fault.NotAllowed, fault.NameTaken, fault.Refused, fault.TunnelBusy,
		fault.KeyMissing, fault.KeyInvalid, fault.KeyRefused, fault.AgentBusy, fault.AgentWaiting, fault.TypedText, fault.NotLoggedIn,
		fault.ModelUnknown, fault.OperationTaken, fault.Stale:
		return exitRefused
	case fault.SessionNotFound, fault.SessionEnded, fault.RunNotFound, fault.WindowNotFound, fault.TabNotFound, fault.NoCurrentSession,
		fault.ProfileNotFound, fault.RecoveryNotFound, fault.AgentNotFound, fault.AgentEnded, fault.OperationNotFound, fault.TunnelNotFound, fault.TunnelNotSetUp:
		return exitGone
	case fault.Deadline:
		return exitTimeout
	case fault.InvalidArgument, fault.TooLarge:
		return exitUsage
	}
	return exitFailed
}
