// Package fault names every way in which termpilot refuses or fails.
//
// A [Code] is itself an error, so the word on the wire and the value that
// callers test with [errors.Is] cannot drift apart. An [Error] adds the
// operation, the session and the way out. The meaning of each code, and
// whether a call may be repeated, is in specs/errors.md.
package fault

import (
	"errors"
	"strings"
)

// Code is the name of a refusal or failure. It is an error value: compare with errors.Is.
type Code string

// Error returns the code's name, as it appears on the wire.
func (c Code) Error() string { return string(c) }

// The codes. Each has one row in specs/errors.md.
const (
	InvalidArgument    Code = "invalid_argument"    // a parameter is missing, malformed or out of range
	TooLarge           Code = "too_large"           // an input is over its limit
	SessionNotFound    Code = "session_not_found"   // no session has this id
	SessionEnded       Code = "session_ended"       // the session's program has ended
	NotReady           Code = "session_not_ready"   // the session is not at an empty shell prompt
	Busy               Code = "session_busy"        // another call holds the session
	NoIntegration      Code = "no_integration"      // the shell sends no prompt marks
	Unverified         Code = "prompt_unverified"   // the prompt marks failed the cross-check
	Blocked            Code = "command_blocked"     // the tripwire recognised a destructive command
	NotAllowed         Code = "not_allowed"         // the session or the tool is outside what this server may touch
	NoCurrentSession   Code = "no_current_session"  // no session is current
	RunNotFound        Code = "run_not_found"       // no run has this id
	CursorInvalid      Code = "cursor_invalid"      // the cursor was not made by this server, or belongs to another session
	ProfileNotFound    Code = "profile_not_found"   // no profile has this name
	WindowNotFound     Code = "window_not_found"    // no window has this id
	TabNotFound        Code = "tab_not_found"       // no tab has this id
	NameTaken          Code = "name_taken"          // another live session has the name, or all names are given
	ShellNotFound      Code = "shell_not_found"     // the shell or program to start does not exist
	BackendUnavailable Code = "backend_unavailable" // the terminal backend cannot be reached
	Refused            Code = "backend_refused"     // the backend answered that it will not do this
	Protocol           Code = "protocol_error"      // a peer broke its protocol
	Unsupported        Code = "unsupported"         // this backend cannot do this
	Deadline           Code = "deadline_exceeded"   // no answer came within the deadline, or an unreadable one to what has an effect; whether it happened is unknown
	Storage            Code = "storage_failed"      // a record could not be written; nothing was done
	KeyMissing         Code = "key_missing"         // the reference to the runtime key leads to nothing
	KeyInvalid         Code = "key_invalid"         // what stands where the runtime key should be is none
	KeyRefused         Code = "key_refused"         // the control plane does not take the runtime key
	TunnelNotFound     Code = "tunnel_not_found"    // the control plane knows no such tunnel
	TunnelNotSetUp     Code = "tunnel_not_set_up"   // nothing was set up under this alias
	TunnelBusy         Code = "tunnel_busy"         // another process sets up or supervises this alias
	ClientMissing      Code = "client_missing"      // tunnel-client is not there, does not run or is too old
	Unreachable        Code = "control_plane_down"  // no answer of a control plane came
	RecoveryNotFound   Code = "recovery_not_found"  // no receipt has this id
	AgentMissing       Code = "agent_missing"       // the agent's program is not installed or does not run
	AgentNotFound      Code = "agent_not_found"     // termpilot launched no agent in this session
	AgentEnded         Code = "agent_ended"         // the agent's process is gone
	AgentBusy          Code = "agent_busy"          // the agent works on a turn
	AgentWaiting       Code = "agent_waiting"       // the agent asks something, and nothing but an answer may be typed
	NotLoggedIn        Code = "agent_not_logged_in" // nobody is logged in to the agent
	TypedText          Code = "agent_holds_text"    // the agent's composer is not empty
	ModelUnknown       Code = "model_unknown"       // the agent does not offer this model or effort
	OperationTaken     Code = "operation_taken"     // the operation id was used for something else
	OperationNotFound  Code = "operation_not_found" // no turn has this operation id
	Stale              Code = "digest_stale"        // the agent's question is not the one that was looked at
	Internal           Code = "internal"            // a fault of termpilot's own
)

// Known reports whether c is one of the codes above, and not just any word.
func (c Code) Known() bool {
	switch c {
	case InvalidArgument, TooLarge, SessionNotFound, SessionEnded, NotReady, Busy, NoIntegration, Unverified, Blocked, NotAllowed,
		NoCurrentSession, RunNotFound, CursorInvalid, ProfileNotFound, WindowNotFound, TabNotFound, NameTaken, ShellNotFound, BackendUnavailable, Refused,
		Protocol, Unsupported, Deadline, Storage, KeyMissing, KeyInvalid, KeyRefused, TunnelNotFound, TunnelNotSetUp, TunnelBusy,
		ClientMissing, Unreachable, RecoveryNotFound, AgentMissing, AgentNotFound, AgentEnded, AgentBusy, AgentWaiting, NotLoggedIn, TypedText, ModelUnknown,
		OperationTaken, OperationNotFound, Stale, Internal:
		return true
	}
	return false
}

// Error is a failure with what a caller needs to act on it. Its text is
// "op session: code: detail: cause", leaving out what is empty, lower case and
// without a full stop. Hint is one imperative sentence that says what to do
// next; it is not part of the text.
type Error struct {
	Op      string // the verb that failed: "run", "open"
	Session string // the session concerned, if any
	Code    Code
	Detail  string // what was found, in words: "vim is running"
	Hint    string // what to do next: "quit vim, or use send_keys"
	Err     error  // the cause, if another error is behind this one
}

// Error returns the failure as one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Session != "" {
		b.WriteString(" " + e.Session)
	}
	for _, part := range []string{string(e.Code), e.Detail} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Is reports whether target is this error's code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the outermost [Error] or [Code] in err's chain,
// Internal for any other error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if c, ok := errors.AsType[Code](err); ok {
		return c
	}
	return Internal
}

// HintOf returns the first hint in err's chain, or in those of errors that were
// joined, or "".
func HintOf(err error) string {
	if e, ok := err.(*Error); ok && e.Hint != "" { //nolint:errorlint // the chain is walked here
		return e.Hint
	}
	switch e := err.(type) { //nolint:errorlint // the chain is walked here
	case interface{ Unwrap() error }:
		return HintOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if hint := HintOf(one); hint != "" {
				return hint
			}
		}
	}
	return ""
}
