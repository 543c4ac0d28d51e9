package iterm

import (
	"context"
	"slices"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// stage is a part of what a link knows that is set up once, by whoever needs
// it first. An attempt that failed is made again by the next.
type stage struct {
	turn chan struct{}
	done chan struct{}
}

func newStage() stage { return stage{turn: make(chan struct{}, 1), done: make(chan struct{})} }

func (s *stage) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *stage) run(ctx context.Context, f func() error) error {
	if s.isDone() {
		return nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-s.done:
		return nil
	case <-ctx.Done():
		return &lateError{cause: context.Cause(ctx)}
	}
	if s.isDone() {
		return nil
	}
	if err := f(); err != nil {
		return err
	}
	close(s.done)
	return nil
}

// layoutEvents are what keeps the topology true.
var layoutEvents = []api.NotificationType{
	api.NotificationType_NOTIFY_ON_NEW_SESSION, api.NotificationType_NOTIFY_ON_TERMINATE_SESSION,
	api.NotificationType_NOTIFY_ON_LAYOUT_CHANGE, api.NotificationType_NOTIFY_ON_FOCUS_CHANGE,
	api.NotificationType_NOTIFY_ON_BROADCAST_CHANGE,
}

// knowTopology subscribes to the topology and reads it, in one burst: the
// terminal takes requests in order, so nothing can change unseen in between.
func (l *link) knowTopology(ctx context.Context) error {
	return l.topology.run(ctx, func() error {
		var calls []*call
		for _, kind := range layoutEvents {
			calls = append(calls, subscribe(kind, everywhere, true))
		}
		list, focus, domains := l.askLayout(), l.askFocus(), askBroadcastDomains()
		domains.apply = func(m *api.ServerOriginatedMessage) error {
			l.state.setDomains(m.GetGetBroadcastDomainsResponse().GetBroadcastDomains())
			return nil
		}
		app := askAppVariables([]string{appProtocol})
		if err := l.do(ctx, append(calls, app, list, focus, domains)...); err != nil {
			return err
		}
		for _, c := range calls {
			if err := subscribed(c); err != nil {
				return err
			}
		}
		if r := app.answer.GetVariableResponse(); r != nil { // an old iTerm2 knows no variables of the application
			vars, err := app.variables()
			if err != nil {
				return err
			}
			l.state.setOurs(vars[appProtocol] != "")
		}
		for _, err := range []error{
			expect(list, (*api.ServerOriginatedMessage).GetListSessionsResponse),
			expect(focus, (*api.ServerOriginatedMessage).GetFocusResponse),
			expect(domains, (*api.ServerOriginatedMessage).GetGetBroadcastDomainsResponse),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// knowDetails subscribes to the variables and prompts of all sessions.
func (l *link) knowDetails(ctx context.Context) error {
	if err := l.knowTopology(ctx); err != nil {
		return err
	}
	return l.details.run(ctx, func() error {
		prompts := subscribePrompts()
		calls := []*call{prompts}
		for _, name := range watchedVariables {
			calls = append(calls, subscribeVariable(name))
		}
		if err := l.do(ctx, calls...); err != nil {
			return err
		}
		// A terminal may not know a variable: it is then not followed, and reads as unset.
		return subscribed(prompts)
	})
}

// subscribed checks the answer to a subscription.
func subscribed(c *call) error {
	r, err := answerOf(c, (*api.ServerOriginatedMessage).GetNotificationResponse)
	if err != nil {
		return err
	}
	switch r.GetStatus() {
	case api.NotificationResponse_OK, api.NotificationResponse_ALREADY_SUBSCRIBED:
		return nil
	case api.NotificationResponse_SESSION_NOT_FOUND:
		return errNotFound
	default:
		return refusedBy("a subscription", r.GetStatus())
	}
}

// expect checks that a call was answered in kind.
func expect[R any](c *call, get func(*api.ServerOriginatedMessage) *R) error {
	_, err := answerOf(c, get)
	return err
}

func (s *state) setOurs(ours bool) {
	s.mu.Lock()
	s.ours = ours
	s.mu.Unlock()
}

func (s *state) isOurs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ours
}

// Sessions lists the live sessions from what is kept: it asks the terminal only
// for what no notification has told, which is nothing once warm.
func (c *Client) Sessions(ctx context.Context) ([]terminal.Session, error) {
	var list []terminal.Session
	err := c.read(ctx, "sessions", "", func(l *link) error {
		if err := l.fetchMissing(ctx); err != nil {
			return err
		}
		list = l.state.list(c.o.Name)
		return nil
	})
	return list, err
}

// Find returns one live session.
func (c *Client) Find(ctx context.Context, id terminal.ID) (terminal.Session, error) {
	const op = "find"
	if !exact(id) {
		return terminal.Session{}, unknown(op, id)
	}
	var found terminal.Session
	err := c.read(ctx, op, id, func(l *link) error {
		if err := l.fetchMissing(ctx); err != nil {
			return err
		}
		var alive bool
		if found, alive = l.state.one(c.o.Name, id); !alive {
			return errNotFound
		}
		return nil
	})
	return found, err
}

// together is how many sessions are asked for their variables in one burst. A
// terminal that takes long for each must not make all of them late: what is
// known of some stays known.
const together = 64

// fetchMissing reads the variables of sessions not yet known, of which there are
// more where the terminal is known to be our host.
func (l *link) fetchMissing(ctx context.Context) error {
	if err := l.knowDetails(ctx); err != nil {
		return err
	}
	for ids := range slices.Chunk(l.state.unfetched(), together) {
		calls := make([]*call, len(ids))
		for i, id := range ids {
			calls[i] = l.fetch(id)
		}
		if err := l.do(ctx, calls...); err != nil {
			return err
		}
		for _, call := range calls {
			if err := expect(call, (*api.ServerOriginatedMessage).GetVariableResponse); err != nil {
				return err
			}
		}
	}
	return nil
}

// Broadcasts reports whether typing into id also types elsewhere.
func (c *Client) Broadcasts(ctx context.Context, id terminal.ID) (bool, error) {
	var yes bool
	err := c.read(ctx, "broadcasts", id, func(l *link) error {
		if err := l.knowTopology(ctx); err != nil {
			return err
		}
		if !l.state.alive(id) {
			return c.notFound(ctx, l, "broadcasts", id)
		}
		yes = l.state.broadcasts(id)
		return nil
	})
	return yes, err
}

// Profiles lists the names of the profiles, the default first.
func (c *Client) Profiles(ctx context.Context) ([]string, error) {
	var names []string
	err := c.read(ctx, "profiles", "", func(l *link) error {
		ask, askDefault := askProfiles(), askDefaultProfile()
		if err := l.do(ctx, ask, askDefault); err != nil {
			return err
		}
		r, err := answerOf(ask, (*api.ServerOriginatedMessage).GetListProfilesResponse)
		if err != nil {
			return err
		}
		// Old terminals do not know the second question; then the order says nothing.
		standard := ""
		if results := askDefault.answer.GetPreferencesResponse().GetResults(); len(results) == 1 {
			standard = results[0].GetGetDefaultProfileResult().GetGuid()
		}
		names = profileNames(r, standard)
		return nil
	})
	return names, err
}

func profileNames(r *api.ListProfilesResponse, standard string) []string {
	names := []string{}
	for _, p := range r.GetProfiles() {
		var name, guid string
		for _, property := range p.GetProperties() {
			switch property.GetKey() {
			case "Name":
				name, _, _ = plain(property.GetJsonValue())
			case "Guid":
				guid, _, _ = plain(property.GetJsonValue())
			}
		}
		switch {
		case name == "":
		case guid == standard && guid != "":
			names = append([]string{name}, names...)
		default:
			names = append(names, name)
		}
	}
	return names
}
