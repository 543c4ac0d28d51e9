package iterm

import (
	"context"
	"slices"
	"time"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// relist is how long an effect is waited for before the topology is read anew.
const relist = 500 * time.Millisecond

// group is what one close request ends: a session, or all of a tab or window.
// One of the fields is set.
type group struct {
	session terminal.ID
	tab     string
	window  string
}

// has reports whether a session belongs to a tab or window.
func (g group) has(r *record) bool {
	return g.tab != "" && r.tab == g.tab || g.window != "" && r.window == g.window
}

// Close ends a session, and returns when the terminal's topology is without it.
// Without Force the terminal may ask its user first, as long as the deadline lets it.
func (c *Client) Close(ctx context.Context, id terminal.ID, how terminal.CloseMode) error {
	const op = "close"
	if !exact(id) {
		return unknown(op, id)
	}
	return c.close(ctx, op, group{session: id}, how)
}

// CloseTab ends all sessions of a tab in one request, and returns when none of
// them is in the tab any more.
func (c *Client) CloseTab(ctx context.Context, tab string, how terminal.CloseMode) error {
	const op = "close tab"
	if tab == "" {
		return noTab(op)
	}
	return c.close(ctx, op, group{tab: tab}, how)
}

// CloseWindow does the same for a window.
func (c *Client) CloseWindow(ctx context.Context, window string, how terminal.CloseMode) error {
	const op = "close window"
	if window == "" {
		return noWindow(op)
	}
	return c.close(ctx, op, group{window: window}, how)
}

func (c *Client) close(ctx context.Context, op string, of group, how terminal.CloseMode) error {
	id := of.session
	ctx, cancel := c.patience(ctx)
	defer cancel()
	l, err := c.connect(ctx)
	if err == nil {
		err = l.knowTopology(ctx)
	}
	ids := []terminal.ID{id}
	if err == nil && id == "" {
		ids, err = l.membersNow(ctx, of)
	}
	if err != nil {
		return c.explain(ctx, op, id, err, false)
	}
	if len(ids) == 0 {
		return noGroup(op, of)
	}
	ask := askClose(of, how == terminal.Force)
	if err := l.within(ctx, c.o.SlowDeadline, ask); err != nil {
		return c.explain(ctx, op, id, err, true)
	}
	r, err := answerOf(ask, (*api.ServerOriginatedMessage).GetCloseResponse)
	if err != nil {
		return c.explain(ctx, op, id, err, true)
	}
	if len(r.GetStatuses()) != 1 {
		return c.explain(ctx, op, id, violation("a close of one thing has not one status"), true)
	}
	switch status := r.GetStatuses()[0]; status {
	case api.CloseResponse_OK:
		return c.explain(ctx, op, id, l.awaitGone(ctx, of, ids), true)
	case api.CloseResponse_NOT_FOUND:
		if id == "" {
			return noGroup(op, of)
		}
		return c.explain(ctx, op, id, c.notFound(ctx, l, op, id), false)
	case api.CloseResponse_USER_DECLINED:
		return &fault.Error{
			Op: op, Session: string(id), Code: fault.Refused, Detail: "the user declined to close it",
			Hint: "ask the user, or pass force",
		}
	default:
		return c.explain(ctx, op, id, refusedBy("the close", status), true)
	}
}

// membersNow lists the sessions of a group; when none is known, the terminal is
// asked, so that only what it lists is ever named to it.
func (l *link) membersNow(ctx context.Context, of group) ([]terminal.ID, error) {
	if ids := l.state.members(of); len(ids) > 0 {
		return ids, nil
	}
	if err := l.readTopology(ctx); err != nil {
		return nil, err
	}
	return l.state.members(of), nil
}

func noGroup(op string, of group) error {
	if of.tab != "" {
		return noTab(op)
	}
	return noWindow(op)
}

func noTab(op string) error {
	return &fault.Error{
		Op: op, Code: fault.TabNotFound, Detail: "no tab has this id", Hint: "list the sessions and use a tab id from there",
	}
}

func noWindow(op string) error {
	return &fault.Error{
		Op: op, Code: fault.WindowNotFound, Detail: "no window has this id", Hint: "list the sessions and use a window id from there",
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

// awaitGone returns when sessions are in the topology no more, or not in their
// group: one that was moved out in time lives.
func (l *link) awaitGone(ctx context.Context, of group, ids []terminal.ID) error {
	return l.until(ctx, func(reads int) (bool, error) {
		left := slices.ContainsFunc(ids, func(id terminal.ID) bool { return l.state.remains(id, of, reads > 0) })
		return !left, nil
	})
}

// remains reports whether a session is still in its group. One that no layout
// has shown is taken for gone once the topology was read again without it.
func (s *state) remains(id terminal.ID, of group, relisted bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	if r == nil || relisted && !r.listed {
		return false
	}
	return of.session != "" || of.has(r)
}

// until waits for the effect of a request that the terminal has taken: done is
// asked at once, after every change of the state, and after each reading of the
// topology, which is read anew every relist, whatever else changes meanwhile.
// reads is how often it was.
func (l *link) until(ctx context.Context, done func(reads int) (bool, error)) error {
	timer := time.NewTimer(relist)
	defer timer.Stop()
	for reads := 0; ; {
		changed := l.state.next()
		if yes, err := done(reads); yes || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-l.lost:
			return &lostError{sent: true, cause: l.cause}
		case <-ctx.Done():
			return &lateError{sent: true, cause: context.Cause(ctx)}
		case <-timer.C:
			if err := l.readTopology(ctx); err != nil {
				return &takenError{err}
			}
			reads++
			timer.Reset(relist)
		}
	}
}

// readTopology reads the layout and the focus once more.
func (l *link) readTopology(ctx context.Context) error {
	list, focus := l.askLayout(), l.askFocus()
	if err := l.do(ctx, list, focus); err != nil {
		return err
	}
	if err := expect(focus, (*api.ServerOriginatedMessage).GetFocusResponse); err != nil {
		return err
	}
	return expect(list, (*api.ServerOriginatedMessage).GetListSessionsResponse)
}
