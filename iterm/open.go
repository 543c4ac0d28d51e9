package iterm

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	before := l.state.focus()
	var made place
	if spec.Place == terminal.InSplit {
		made, err = c.split(ctx, l, spec)
	} else {
		made, err = l.createTab(ctx, spec)
	}
	if err != nil {
		return terminal.Session{}, c.explain(ctx, op, "", err, true)
	}
	s, err := l.settle(ctx, made, spec, before)
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
		return place{}, noWindow("open")
	case api.CreateTabResponse_MISSING_SUBSTITUTION:
		return place{}, refusal("the session could not be started")
	default:
		return place{}, refusedBy("the session", r.GetStatus())
	}
	if !exact(terminal.ID(r.GetSessionId())) {
		return place{}, unnamed("")
	}
	made := place{id: terminal.ID(r.GetSessionId()), window: r.GetWindowId()}
	if r.TabId != nil {
		made.tab = itoa(r.GetTabId())
	}
	return made, nil
}

func (c *Client) split(ctx context.Context, l *link, spec terminal.OpenSpec) (place, error) {
	at, beside, alive := l.state.where(spec.Beside)
	if alive && at.window == "" && at.listed {
		return place{}, buried(spec.Beside)
	}
	if beside.tmux {
		if err := beyondTmux(spec); err != nil {
			return place{}, err
		}
	}
	known := l.state.members(group{tab: at.tab})
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
		return place{}, refusedBy("the split", r.GetStatus())
	}
	if ids := r.GetSessionId(); len(ids) > 0 && exact(terminal.ID(ids[0])) {
		return place{id: terminal.ID(ids[0])}, nil
	}
	if !beside.tmux {
		return place{}, unnamed(spec.Beside)
	}
	return l.newPane(ctx, at.tab, known)
}

// buried is what can be said of a session without a window.
func buried(id terminal.ID) error {
	return &fault.Error{
		Session: string(id), Code: fault.Refused, Detail: "the session is buried: it has no window", Hint: "bring it back with focus_session first",
	}
}

// newPane waits for a pane of tmux -CC, which iTerm2 promises without a name and
// shows when tmux has made it. Of several new ones nobody knows which it is.
func (l *link) newPane(ctx context.Context, tab string, known []terminal.ID) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, l.client.o.Deadline)
	defer cancel()
	var fresh []terminal.ID
	if err := l.until(ctx, func(int) (bool, error) {
		fresh = slices.DeleteFunc(l.state.members(group{tab: tab}), func(id terminal.ID) bool { return slices.Contains(known, id) })
		return len(fresh) > 0, nil
	}); err != nil {
		return place{}, err
	}
	if len(fresh) > 1 {
		return place{}, unnamed("")
	}
	return place{id: fresh[0], tab: tab}, nil
}

// unnamed is a creation that was accepted, of a session that nobody names.
func unnamed(beside terminal.ID) error {
	return &fault.Error{
		Op: "open", Session: string(beside), Code: fault.Deadline, Detail: "it was accepted, but the terminal does not name the new session",
		Hint: "list the sessions to find it",
	}
}

// beyondTmux refuses what a pane of tmux -CC cannot be given: tmux starts it.
func beyondTmux(spec terminal.OpenSpec) error {
	if spec.Command == "" && spec.Cwd == "" && len(spec.Env) == 0 && spec.Profile == "" && spec.Rows == 0 && spec.Columns == 0 {
		return nil
	}
	return &fault.Error{
		Op: "open", Session: string(spec.Beside), Code: fault.Unsupported, Detail: "a pane of tmux starts as tmux starts it",
		Hint: "split it without command, cwd, env, profile and size, then run the command in it",
	}
}

func noProfile(name string) error {
	return &fault.Error{
		Op: "open", Code: fault.ProfileNotFound, Detail: "no profile has the name " + terminal.OneLine(name, 64), Hint: "list the profiles and use one of their names",
	}
}

// settle waits until a new session is in the topology, or has already ended,
// and returns it, with its name, and with the focus where it belongs. Its answer
// can come before the layout that shows it.
func (l *link) settle(ctx context.Context, made place, spec terminal.OpenSpec, before focus) (terminal.Session, error) {
	s := terminal.Session{ID: made.id, Backend: l.client.o.Name, Window: made.window, Tab: made.tab}
	over := false // its program ended at once; it can be addressed as long as the terminal keeps it
	if err := l.until(ctx, func(int) (bool, error) {
		ended, known := l.client.recall(made.id)
		over = known && !ended.IsZero()
		return over || l.state.listed(made.id), nil
	}); over || err != nil {
		return s, err
	}
	calls := []*call{l.askFocus()} // notifications of it may come later
	if spec.Name != "" {
		calls = append(calls, l.askNickname(made.id, spec.Name))
	}
	if err := l.do(ctx, append(calls, l.fetch(made.id))...); err != nil {
		return s, &takenError{err}
	}
	l.finish(ctx, made.id, spec, before)
	if known, ok := l.state.one(l.client.o.Name, made.id); ok {
		s = known
	}
	return s, nil
}

// finish does what no creation does. What fails is not worth the session: it is
// open, and Sessions tells how.
func (l *link) finish(ctx context.Context, id terminal.ID, spec terminal.OpenSpec, before focus) {
	var err error
	if at, _, _ := l.state.where(id); spec.Place == terminal.InSplit {
		want := size{cmp.Or(spec.Rows, at.rows), cmp.Or(spec.Columns, at.columns)}
		if want != (size{at.rows, at.columns}) {
			err = l.resize(ctx, id, want)
		}
	}
	switch f := l.state.focus(); {
	case spec.Focus && (f.window == "" || f.in(f.window) != id):
		err = errors.Join(err, l.focus(ctx, id))
	case !spec.Focus:
		err = errors.Join(err, l.giveBack(ctx, id, before))
	}
	if err != nil {
		l.log.Debug("a session is not quite as asked", "backend", l.client.o.Name, "session", string(id), "cause", err)
	}
}
