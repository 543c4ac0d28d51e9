package host

import (
	"slices"

	"termpilot/fault"
	"termpilot/iterm/api"
)

// aboutSessions are the kinds of events that are told of one session, or of all.
var aboutSessions = []api.NotificationType{
	api.NotificationType_NOTIFY_ON_SCREEN_UPDATE,
	api.NotificationType_NOTIFY_ON_PROMPT,
	api.NotificationType_NOTIFY_ON_KEYSTROKE, // of people who attached
	api.NotificationType_KEYSTROKE_FILTER,
	api.NotificationType_NOTIFY_ON_CUSTOM_ESCAPE_SEQUENCE,
}

// generalKinds are the kinds of events that are not about one session.
var generalKinds = []api.NotificationType{
	api.NotificationType_NOTIFY_ON_NEW_SESSION,
	api.NotificationType_NOTIFY_ON_TERMINATE_SESSION,
	api.NotificationType_NOTIFY_ON_LAYOUT_CHANGE,
	api.NotificationType_NOTIFY_ON_FOCUS_CHANGE,
	api.NotificationType_NOTIFY_ON_BROADCAST_CHANGE,
}

// notification subscribes and unsubscribes. A subscription stands when it is answered.
func notification(c *client, in *api.NotificationRequest) (*api.NotificationResponse, error) {
	answer := func(status api.NotificationResponse_Status) (*api.NotificationResponse, error) {
		return &api.NotificationResponse{Status: status.Enum()}, nil
	}
	if in.Subscribe == nil || in.NotificationType == nil {
		return answer(api.NotificationResponse_REQUEST_MALFORMED)
	}
	s := subscription{kind: in.GetNotificationType()}
	switch {
	case slices.Contains(generalKinds, s.kind):
	case slices.Contains(aboutSessions, s.kind):
		if s.session = in.GetSession(); s.session != everySession {
			found, ok := c.host.live(s.session)
			if !ok {
				return answer(api.NotificationResponse_SESSION_NOT_FOUND)
			}
			s.session = found.id
		}
	case s.kind == api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE:
		if !c.host.monitored(&s, in.GetVariableMonitorRequest()) {
			return answer(api.NotificationResponse_INVALID_IDENTIFIER)
		}
	case s.kind == api.NotificationType_NOTIFY_ON_PROFILE_CHANGE:
		// The official client names the profile as the session when it unsubscribes.
		if s.session = in.GetProfileChangeRequest().GetGuid(); s.session == "" {
			s.session = in.GetSession()
		}
		if !c.host.hasProfile(s.session) {
			return answer(api.NotificationResponse_INVALID_IDENTIFIER)
		}
	case s.kind == api.NotificationType_NOTIFY_ON_SERVER_ORIGINATED_RPC:
		return answer(c.host.calls.register(c, in.GetRpcRegistrationRequest(), in.GetSubscribe()))
	default:
		return answer(api.NotificationResponse_REQUEST_MALFORMED)
	}
	var wanted modes
	if s.kind == api.NotificationType_NOTIFY_ON_PROMPT {
		for _, mode := range in.GetPromptMonitorRequest().GetModes() {
			wanted |= 1 << mode
		}
		if wanted == 0 {
			wanted = 1 << api.PromptMonitorMode_PROMPT
		}
	}
	patterns, ok := patternsOf(in)
	if !ok {
		return answer(api.NotificationResponse_REQUEST_MALFORMED)
	}
	status, err := c.subscribe(s, wanted, in.GetSubscribe(), patterns)
	if err != nil {
		return nil, err
	}
	if status == api.NotificationResponse_OK && s.scope != 0 {
		c.host.watchAnew(s, in.GetSubscribe())
	}
	return answer(status)
}

func (c *client) subscribe(s subscription, wanted modes, on bool, patterns []*api.KeystrokePattern) (api.NotificationResponse_Status, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, has := c.subscriptions[s]
	switch {
	case on && has: // the first modes stay
		return api.NotificationResponse_ALREADY_SUBSCRIBED, nil
	case on && len(c.subscriptions) >= maxSubscriptions:
		return 0, &fault.Error{
			Op: "subscribe", Code: fault.Refused, Detail: "too many subscriptions", Hint: "subscribe to all sessions at once",
		}
	case on:
		c.subscriptions[s] = wanted
		if len(patterns) > 0 {
			c.patterns[s] = patterns
		}
	case has:
		delete(c.subscriptions, s)
		delete(c.patterns, s)
	default:
		return api.NotificationResponse_NOT_SUBSCRIBED, nil
	}
	return api.NotificationResponse_OK, nil
}

// monitored completes the subscription to a variable. false when its object
// does not exist.
func (h *server) monitored(s *subscription, m *api.VariableMonitorRequest) bool {
	if m == nil || m.GetName() == "" || len(m.GetName()) > maxName {
		return false
	}
	s.name, s.scope, s.session = m.GetName(), m.GetScope(), m.GetIdentifier()
	if s.session == everySession {
		return s.scope == api.VariableScope_SESSION || s.scope == api.VariableScope_WINDOW
	}
	switch s.scope {
	case api.VariableScope_SESSION:
		found, ok := h.live(s.session)
		if ok {
			s.session = found.id
		}
		return ok
	case api.VariableScope_TAB:
		return h.tabScopes(s.session) != nil
	case api.VariableScope_WINDOW:
		return h.windowScopes(s.session) != nil
	case api.VariableScope_APP:
		s.session = ""
		return true
	}
	return false
}
