package iterm

import (
	"context"
	"time"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// relist is how long Close waits for a notification before it looks for itself.
const relist = 500 * time.Millisecond

// Close ends a session, and returns when the terminal's topology is without it.
// Without Force the terminal may ask its user first, as long as the deadline lets it.
func (c *Client) Close(ctx context.Context, id terminal.ID, how terminal.CloseMode) error {
	const op = "close"
	if !exact(id) {
		return unknown(op, id)
	}
	ctx, cancel := c.patience(ctx)
	defer cancel()
	l, err := c.connect(ctx)
	if err == nil {
		err = l.knowTopology(ctx)
	}
	if err != nil {
		return c.explain(ctx, op, id, err, false)
	}
	ask := askClose(id, how == terminal.Force)
	if err := l.within(ctx, c.o.SlowDeadline, ask); err != nil {
		return c.explain(ctx, op, id, err, true)
	}
	r, err := answerOf(ask, (*api.ServerOriginatedMessage).GetCloseResponse)
	if err != nil {
		return c.explain(ctx, op, id, err, true)
	}
	if len(r.GetStatuses()) != 1 {
		return c.explain(ctx, op, id, violation("a close of one session has not one status"), true)
	}
	switch status := r.GetStatuses()[0]; status {
	case api.CloseResponse_OK:
		return c.explain(ctx, op, id, l.awaitGone(ctx, id), true)
	case api.CloseResponse_NOT_FOUND:
		return c.explain(ctx, op, id, c.notFound(ctx, l, op, id), false)
	case api.CloseResponse_USER_DECLINED:
		return &fault.Error{
			Op: op, Session: string(id), Code: fault.Refused, Detail: "the user declined to close the session",
			Hint: "ask the user, or pass force",
		}
	default:
		return c.explain(ctx, op, id, refusal("the close was refused: "+status.String()), true)
	}
}

// patience bounds a call that may wait for a person: the context's deadline, or
// the client's own where it has none.
func (c *Client) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.o.SlowDeadline)
}

// awaitGone returns when a session is in the topology no more. Notifications
// tell; when none comes, the topology is read again.
func (l *link) awaitGone(ctx context.Context, id terminal.ID) error {
	for relisted := false; ; {
		changed := l.state.next()
		if !l.state.alive(id) || relisted && !l.state.listed(id) {
			return nil
		}
		var err error
		if relisted, err = l.awaitChange(ctx, changed); err != nil {
			return err
		}
	}
}

// awaitChange waits for the state to change, and reads the topology anew when
// it has not for a while; it says which.
func (l *link) awaitChange(ctx context.Context, changed <-chan struct{}) (relisted bool, err error) {
	timer := time.NewTimer(relist)
	defer timer.Stop()
	select {
	case <-changed:
		return false, nil
	case <-l.lost:
		return false, &lostError{sent: true, cause: l.cause}
	case <-ctx.Done():
		return false, &lateError{sent: true, cause: context.Cause(ctx)}
	case <-timer.C:
		return true, l.readTopology(ctx)
	}
}

// readTopology reads the layout once more.
func (l *link) readTopology(ctx context.Context) error {
	list := askSessions()
	list.apply = func(m *api.ServerOriginatedMessage) {
		if r := m.GetListSessionsResponse(); r != nil {
			l.state.setLayout(r)
		}
	}
	if err := l.do(ctx, list); err != nil {
		return err
	}
	return expect(list, (*api.ServerOriginatedMessage).GetListSessionsResponse)
}
