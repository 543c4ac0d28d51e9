package host

import (
	"testing"

	"termpilot/iterm/api"
)

// monitor subscribes to a variable of one session, or takes that back.
func (c *apiClient) monitor(on bool, session, name string) {
	c.t.Helper()
	r := c.call(&api.NotificationRequest{
		Session: &session, Subscribe: &on, NotificationType: api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE.Enum(),
		Arguments: &api.NotificationRequest_VariableMonitorRequest{VariableMonitorRequest: &api.VariableMonitorRequest{
			Name: &name, Scope: api.VariableScope_SESSION.Enum(), Identifier: &session,
		}},
	})
	if got := r.GetNotificationResponse().GetStatus(); got != api.NotificationResponse_OK {
		c.t.Fatalf("%s: %v", name, r)
	}
}

func (c *apiClient) setVariable(session, name, value string) {
	c.t.Helper()
	r := c.call(&api.VariableRequest{
		Scope: &api.VariableRequest_SessionId{SessionId: session}, Set: []*api.VariableRequest_Set{{Name: &name, Value: &value}},
	})
	if got := r.GetVariableResponse().GetStatus(); got != api.VariableResponse_OK {
		c.t.Fatalf("%s: %v", name, r)
	}
}

func (c *apiClient) awaitVariable(session, name, value string) {
	c.t.Helper()
	c.await(name+" is "+value, func(n *api.Notification) bool {
		v := n.GetVariableChangedNotification()
		return v.GetIdentifier() == session && v.GetName() == name && v.GetJsonNewValue() == value
	})
}

func TestVariablesThatLeadElsewhereAreWatchedLikeOthers(t *testing.T) { // HOST-85
	h := newHost(t)
	c := h.connect()
	id := c.openReady("bash")
	for _, name := range []string{
		"session.path", "session.termpilot.prompt", "session.selection", "iterm2.termpilot.prompts", "session.iterm2.termpilot.prompts",
		"tab.currentSession.termpilot.prompt", "tab.window.currentTab.currentSession.session.path", "session.user.x", "tab.title",
	} {
		c.monitor(true, id, name)
	}
	c.setVariable(id, "user.x", "7")
	c.run(id, "cd /")
	c.awaitVariable(id, "session.user.x", "7")
	c.awaitVariable(id, "session.path", `"/"`)
	c.awaitVariable(id, "tab.window.currentTab.currentSession.session.path", `"/"`)
}

func TestAChangeBackToWhatWasToldLongAgoIsTold(t *testing.T) { // HOST-85
	c := newHost(t).connect()
	id := c.openReady("bash")
	for _, name := range []string{"user.x", nicknameVariable} {
		c.monitor(true, id, name)
		c.setVariable(id, name, `"one"`)
		c.awaitVariable(id, name, `"one"`)
		c.monitor(false, id, name)
		c.setVariable(id, name, `"two"`)
		c.monitor(true, id, name)
		c.setVariable(id, name, `"one"`)
		c.awaitVariable(id, name, `"one"`)
		c.setVariable(id, name, `"three"`)
		c.awaitVariable(id, name, `"three"`)
	}
}

func TestAWindowThatClosesWhileItIsAskedHasNoVariables(t *testing.T) { // HOST-87
	h := &server{layout: newLayout()}
	s := &session{id: "a", host: h}
	w := h.layout.addWindow()
	h.layout.addTab(w, &pane{session: s, size: Size{80, 24}}, -1)
	scope := h.windowScopes(w.id)[0]
	h.layout.remove(s)
	for _, name := range []string{"title", "currentTab.id", "id"} {
		if got := scope.get(name); got != "null" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
