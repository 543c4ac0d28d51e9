package iterm

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// maxText is the longest text that one Send takes: a request must fit the
// write buffer whole, with the id and what surrounds it.
const maxText = maxMessage - 1024

// Send types text into one session, without broadcasting it. The protocol
// carries text, so bytes that are not UTF-8 are refused. A text is never sent
// twice: when the answer is lost, the error says that nobody knows.
func (c *Client) Send(ctx context.Context, id terminal.ID, text []byte) error {
	const op = "send"
	if !exact(id) {
		return unknown(op, id)
	}
	if !utf8.Valid(text) {
		return notUTF8(op, id)
	}
	if len(text) > maxText {
		return &fault.Error{
			Op: op, Session: string(id), Code: fault.TooLarge,
			Detail: fmt.Sprintf("the text has %d bytes, of at most %d", len(text), maxText), Hint: "send it in parts",
		}
	}
	l, err := c.connect(ctx)
	if err == nil {
		if err = l.knowReader(ctx, id); errors.Is(err, errNotFound) {
			err = c.notFound(ctx, l, op, id)
		}
	}
	if err != nil {
		return c.explain(ctx, op, id, err, false)
	}
	ask := askSend(id, string(text))
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetSendTextResponse)
	if err != nil {
		return c.explain(ctx, op, id, err, true)
	}
	switch r.GetStatus() {
	case api.SendTextResponse_OK:
		return nil
	case api.SendTextResponse_SESSION_NOT_FOUND:
		return c.explain(ctx, op, id, c.notFound(ctx, l, op, id), false)
	default:
		return c.explain(ctx, op, id, refusedBy("the text", r.GetStatus()), true)
	}
}

func notUTF8(op string, id terminal.ID) error {
	return &fault.Error{
		Op: op, Session: string(id), Code: fault.InvalidArgument, Detail: "the text is not UTF-8", Hint: "send valid UTF-8",
	}
}

// knowReader refuses the sessions of iTerm2 in which no program would read a
// text as it is meant. What a session is, is asked once, then told by notification.
func (l *link) knowReader(ctx context.Context, id terminal.ID) error {
	if err := l.knowDetails(ctx); err != nil {
		return err
	}
	if l.state.isOurs() {
		return nil
	}
	if known, err := l.state.misreads(id); known {
		return err
	}
	ask := l.fetch(id)
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetVariableResponse)
	switch {
	case err != nil:
		return err
	case r.GetStatus() == api.VariableResponse_SESSION_NOT_FOUND:
		return errNotFound
	case r.GetStatus() != api.VariableResponse_OK:
		return refusedBy("its variables", r.GetStatus())
	}
	if known, err := l.state.misreads(id); known {
		return err
	}
	vars, err := ask.variables() // of a session that no layout has shown yet
	if err != nil {
		return err
	}
	return (&record{vars: vars}).misreads()
}

// misreads is why a text would not be read as it is meant, if what the session
// is is known.
func (s *state) misreads(id terminal.ID) (known bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	if r == nil || !r.fetched {
		return false, nil
	}
	return true, r.misreads()
}

func (r *record) misreads() error {
	if r.vars[varTmuxRole] == "gateway" { // it carries the protocol of tmux -CC, which any text would break
		return &fault.Error{
			Code: fault.NotAllowed, Detail: "the session is the gateway of a tmux client", Hint: "send to one of the tmux panes instead",
		}
	}
	if r.hasNoCells() {
		return noCells()
	}
	return nil
}

func (r *record) hasNoCells() bool {
	x := r.session("", false)
	return x.Rows == 0 && x.Columns == 0
}

// noCells is what can be said of a session of iTerm2 that is a web browser: it
// takes every text and reads none, and has no rows.
func noCells() error {
	return &fault.Error{
		Code: fault.Unsupported, Detail: "the session has no cells: it is a web browser, or not yet shown", Hint: "choose a session with a shell",
	}
}

func (s *state) hasNoCells(id terminal.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	return !s.ours && r != nil && r.fetched && r.hasNoCells()
}

// ApplicationCursor reports whether the session's program wants cursor keys in
// their application form. iTerm2 does not tell: then it is false.
func (c *Client) ApplicationCursor(ctx context.Context, id terminal.ID) (bool, error) {
	const op = "cursor keys"
	if !exact(id) {
		return false, unknown(op, id)
	}
	var application bool
	err := c.read(ctx, op, id, func(l *link) error {
		ask := askVariables(id, []string{varCursorKeys})
		r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetVariableResponse)
		if err != nil {
			return err
		}
		if r.GetStatus() == api.VariableResponse_SESSION_NOT_FOUND {
			return errNotFound
		}
		vars, err := ask.variables()
		application = vars[varCursorKeys] == "application"
		return err
	})
	return application, err
}
