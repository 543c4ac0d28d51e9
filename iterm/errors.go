package iterm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"termpilot/fault"
	"termpilot/terminal"
)

// lostError says that the connection ended before the answer came.
type lostError struct {
	sent  bool // the request had been handed to the connection
	cause error
}

func (e *lostError) Error() string { return "connection lost: " + e.cause.Error() }
func (e *lostError) Unwrap() error { return e.cause }

// lateError says that the caller's patience ended before the answer came.
type lateError struct {
	sent  bool
	cause error
}

func (e *lateError) Error() string { return e.cause.Error() }
func (e *lateError) Unwrap() error { return e.cause }

// takenError is what went wrong after the terminal had taken a request with an
// effect. It hides its cause from errors.Is: a refusal to tell is no refusal.
type takenError struct{ cause error }

func (e *takenError) Error() string { return e.cause.Error() }

// refusal is the text of a response that is an error.
type refusal string

func (e refusal) Error() string { return string(e) }

// hostFault reads the text with which termpilot's host answers a request that
// it refuses: a fault's code, what was found, and what to do about it, as
// "shell_not_found: no such program: /bin/x (install it)". Any other text is ok=false.
func hostFault(text string) (f *fault.Error, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(text)
	}
	code, detail := fault.Code(text[:end]), text[end:]
	if !code.Known() {
		return nil, false
	}
	detail, hint := cutHint(strings.TrimPrefix(detail, ": "))
	return &fault.Error{Code: code, Detail: terminal.OneLine(detail, maxReason), Hint: terminal.OneLine(hint, maxReason)}, true
}

// maxReason is how many characters of a terminal's own words are passed on.
const maxReason = 200

// cutHint cuts the last bracketed part off a text that ends with one.
func cutHint(text string) (rest, hint string) {
	if !strings.HasSuffix(text, ")") {
		return text, ""
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			return strings.TrimSuffix(text[:i], " "), text[i+1 : len(text)-1]
		}
	}
	return text, ""
}

// violation says how the terminal broke the protocol.
type violation string

func (e violation) Error() string { return string(e) }

// refusedBy is what a status other than OK says of a request for something. Of one
// that this client does not know, nobody knows what it says.
func refusedBy(what string, status protoreflect.Enum) error {
	if name := nameOf(status); name != "" {
		return refusal("the terminal refused " + what + ": " + name)
	}
	return violation(fmt.Sprintf("the status of %s is %d, which is none", what, status.Number()))
}

// nameOf is what the protocol calls a value; "" when it is one that it does not have.
func nameOf(value protoreflect.Enum) string {
	if known := value.Descriptor().Values().ByNumber(value.Number()); known != nil {
		return string(known.Name())
	}
	return ""
}

// errNotFound says that the terminal does not know the session.
var errNotFound = errors.New("the terminal does not know the session")

// isLost reports whether a connection ended under a call.
func isLost(err error) bool {
	var lost *lostError
	return errors.As(err, &lost)
}

// explain turns an error of a link into a fault. With effect set, an answer
// that never came, or cannot be read, leaves open whether the terminal acted.
func (c *Client) explain(ctx context.Context, op string, id terminal.ID, err error, effect bool) error {
	if err == nil {
		return nil
	}
	out := &fault.Error{Op: op, Session: string(id), Err: err}
	var (
		taken  *takenError
		known  *fault.Error
		lost   *lostError
		late   *lateError
		no     refusal
		broken violation
	)
	const lookFirst = "look at the session before trying again"
	switch {
	case errors.As(err, &taken):
		out.Code, out.Detail, out.Hint = fault.Deadline, "it was accepted; whether it happened is unknown", lookFirst
	case errors.As(err, &known):
		var failed *unreachable
		if known.Op != "" && !errors.As(err, &failed) {
			return known
		}
		named := *known // what was tried is the caller's verb, not the connecting
		named.Op, named.Session = op, string(id)
		return &named
	case errors.As(err, &lost) && lost.sent && effect:
		out.Code, out.Detail = fault.Deadline, "the connection was lost before the answer came; whether it happened is unknown"
		out.Hint = lookFirst
	case errors.As(err, &broken) && effect:
		out.Code, out.Detail, out.Hint = fault.Deadline, "the answer cannot be read; whether it happened is unknown", lookFirst
	case errors.As(err, &broken):
		out.Code, out.Hint = fault.Protocol, "check that the socket is "+c.o.Name+"'s, and its version"
	case errors.As(err, &lost):
		out.Code, out.Detail, out.Hint = fault.BackendUnavailable, "the connection was lost", c.reachHint()
	case errors.As(err, &late) && !late.sent:
		out.Code, out.Detail, out.Hint = fault.Deadline, "the request was not sent", "try again"
	case errors.As(err, &late) && effect:
		out.Code, out.Detail, out.Hint = fault.Deadline, "no answer came in time; whether it happened is unknown", lookFirst
	case errors.As(err, &late), ctx.Err() != nil:
		out.Code, out.Detail, out.Hint = fault.Deadline, "no answer came in time", "try again, or check that the terminal shows no dialog"
	case errors.As(err, &no):
		out.Code, out.Detail, out.Err = fault.Refused, terminal.OneLine(string(no), maxReason), nil
		out.Hint = "update the terminal, or use another way"
		if out.Detail == "" {
			out.Detail = "the terminal gave no reason"
		}
	default:
		out.Code = fault.Internal
	}
	return out
}

// reachHint is what to do when the terminal cannot be reached.
func (c *Client) reachHint() string {
	if c.o.Start != nil {
		return "open a session, which starts it"
	}
	if c.o.Name == "iterm2" {
		return "start iTerm2 and enable its Python API in Settings > General > Magic"
	}
	return "start the terminal and try again"
}
