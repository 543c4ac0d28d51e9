package iterm

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// startPause is how long Open waits between attempts to reach a terminal that
// was just started.
const startPause = 20 * time.Millisecond

// Open starts a session, and the terminal itself if need be and Options.Start
// can. It returns when the session is in the topology. A creation is asked for
// once: when its answer is lost, the error says that nobody knows.
func (c *Client) Open(ctx context.Context, spec terminal.OpenSpec) (terminal.Session, error) {
	const op = "open"
	if err := badSpec(spec); err != nil {
		return terminal.Session{}, err
	}
	ctx, cancel := c.patience(ctx)
	defer cancel()
	l, err := c.start(ctx)
	if err == nil {
		err = l.knowDetails(ctx)
	}
	if err != nil {
		return terminal.Session{}, c.explain(ctx, op, "", err, false)
	}
	var made place
	if spec.Place == terminal.InSplit {
		made, err = c.split(ctx, l, spec)
	} else {
		made, err = l.createTab(ctx, spec)
	}
	if err != nil {
		return terminal.Session{}, c.explain(ctx, op, "", err, true)
	}
	s, err := l.settle(ctx, made)
	return s, c.explain(ctx, op, made.id, err, true)
}

// place is where a new session is, as far as the answer to its creation tells.
type place struct {
	id          terminal.ID
	window, tab string
}

// start connects, and starts the terminal when nobody listens.
func (c *Client) start(ctx context.Context) (*link, error) {
	l, err := c.connect(ctx)
	var nobody *unreachable
	if err == nil || c.o.Start == nil || !errors.As(err, &nobody) || !errors.Is(err, fault.BackendUnavailable) {
		return l, err // it runs, or something else than its absence is in the way
	}
	if err := c.o.Start(ctx); err != nil {
		var known *fault.Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, &fault.Error{
			Code: fault.BackendUnavailable, Detail: c.o.Name + " cannot be started", Hint: "see what termpilot host start says", Err: err,
		}
	}
	for {
		l, err = c.connect(ctx)
		if err == nil || !errors.As(err, &nobody) {
			return l, err
		}
		timer := time.NewTimer(startPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

func (l *link) createTab(ctx context.Context, spec terminal.OpenSpec) (place, error) {
	request := &api.CreateTabRequest{
		SelectTab:               proto.Bool(spec.Focus),
		CustomProfileProperties: profileProperties(spec, l.state.isOurs()),
	}
	if spec.Profile != "" {
		request.ProfileName = proto.String(spec.Profile)
	}
	if spec.Place == terminal.InTab {
		request.WindowId = proto.String(spec.Window)
	}
	ask := &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_CreateTabRequest{CreateTabRequest: request},
	}}
	if err := l.within(ctx, l.client.o.SlowDeadline, ask); err != nil {
		return place{}, err
	}
	r, err := answerOf(ask, (*api.ServerOriginatedMessage).GetCreateTabResponse)
	if err != nil {
		return place{}, err
	}
	switch r.GetStatus() {
	case api.CreateTabResponse_OK, api.CreateTabResponse_INVALID_TAB_INDEX: // the tab is made all the same
	case api.CreateTabResponse_INVALID_PROFILE_NAME:
		return place{}, noProfile(spec.Profile)
	case api.CreateTabResponse_INVALID_WINDOW_ID:
		return place{}, &fault.Error{
			Op: "open", Code: fault.WindowNotFound, Detail: "no window has this id", Hint: "list the sessions and use a window id from there",
		}
	default:
		return place{}, refusal("the session could not be started")
	}
	if !exact(terminal.ID(r.GetSessionId())) {
		return place{}, violation("a new tab has no session")
	}
	made := place{id: terminal.ID(r.GetSessionId()), window: r.GetWindowId()}
	if r.TabId != nil {
		made.tab = itoa(r.GetTabId())
	}
	return made, nil
}

func (c *Client) split(ctx context.Context, l *link, spec terminal.OpenSpec) (place, error) {
	request := &api.SplitPaneRequest{
		Session: proto.String(string(spec.Beside)), SplitDirection: api.SplitPaneRequest_VERTICAL.Enum(),
		Before:                  proto.Bool(spec.Direction == terminal.Left || spec.Direction == terminal.Above),
		CustomProfileProperties: profileProperties(spec, l.state.isOurs()),
	}
	if spec.Direction == terminal.Below || spec.Direction == terminal.Above {
		request.SplitDirection = api.SplitPaneRequest_HORIZONTAL.Enum() // stacked: the divider is horizontal
	}
	if spec.Profile != "" {
		request.ProfileName = proto.String(spec.Profile)
	}
	ask := &call{request: &api.ClientOriginatedMessage{
		Submessage: &api.ClientOriginatedMessage_SplitPaneRequest{SplitPaneRequest: request},
	}}
	if err := l.within(ctx, c.o.SlowDeadline, ask); err != nil {
		return place{}, err
	}
	r, err := answerOf(ask, (*api.ServerOriginatedMessage).GetSplitPaneResponse)
	if err != nil {
		return place{}, err
	}
	switch r.GetStatus() {
	case api.SplitPaneResponse_OK:
	case api.SplitPaneResponse_SESSION_NOT_FOUND:
		return place{}, c.notFound(ctx, l, "open", spec.Beside)
	case api.SplitPaneResponse_INVALID_PROFILE_NAME:
		return place{}, noProfile(spec.Profile)
	case api.SplitPaneResponse_CANNOT_SPLIT:
		return place{}, &fault.Error{
			Op: "open", Session: string(spec.Beside), Code: fault.Refused, Detail: "the session is too small to be divided",
			Hint: "open a tab or a window instead",
		}
	default:
		return place{}, refusal("the split was refused: " + r.GetStatus().String())
	}
	if ids := r.GetSessionId(); len(ids) > 0 && exact(terminal.ID(ids[0])) {
		return place{id: terminal.ID(ids[0])}, nil
	}
	// A pane of tmux -CC appears later, and nothing says which one it is.
	return place{}, &fault.Error{
		Op: "open", Session: string(spec.Beside), Code: fault.Deadline, Detail: "the split was accepted, but the terminal does not name the new session",
		Hint: "list the sessions to find it",
	}
}

func noProfile(name string) error {
	return &fault.Error{
		Op: "open", Code: fault.ProfileNotFound, Detail: "no profile has the name " + terminal.OneLine(name, 64), Hint: "list the profiles and use one of their names",
	}
}

// settle waits until a new session is in the topology, or has already ended,
// and returns it. Its answer can come before the layout that shows it.
func (l *link) settle(ctx context.Context, made place) (terminal.Session, error) {
	s := terminal.Session{ID: made.id, Backend: l.client.o.Name, Window: made.window, Tab: made.tab}
	for {
		changed := l.state.next()
		if ended, known := l.client.recall(made.id); known && !ended.IsZero() {
			return s, nil // its program ended at once; it can be addressed as long as the terminal keeps it
		}
		if l.state.listed(made.id) {
			break
		}
		if _, err := l.awaitChange(ctx, changed); err != nil {
			return s, err
		}
	}
	vars := l.fetch(made.id)
	if err := l.do(ctx, vars); err != nil {
		return s, err
	}
	if known, ok := l.state.one(l.client.o.Name, made.id); ok {
		s = known
	}
	return s, nil
}
