package host

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

func (c *apiClient) subscribeTopology() {
	c.t.Helper()
	for _, kind := range []api.NotificationType{
		api.NotificationType_NOTIFY_ON_NEW_SESSION, api.NotificationType_NOTIFY_ON_TERMINATE_SESSION,
		api.NotificationType_NOTIFY_ON_LAYOUT_CHANGE, api.NotificationType_NOTIFY_ON_FOCUS_CHANGE, api.NotificationType_NOTIFY_ON_BROADCAST_CHANGE,
	} {
		c.subscribe(kind, "all")
	}
}

func (c *apiClient) focused() string {
	c.t.Helper()
	var windowID, tab, session string
	tabs := map[string]string{}
	list := c.call(&api.ListSessionsRequest{}).GetListSessionsResponse()
	for _, n := range c.call(&api.FocusRequest{}).GetFocusResponse().GetNotifications() {
		switch e := n.GetEvent().(type) {
		case *api.FocusChangedNotification_Window_:
			windowID = e.Window.GetWindowId()
		case *api.FocusChangedNotification_SelectedTab:
			tabs[e.SelectedTab] = ""
		case *api.FocusChangedNotification_Session:
			session = e.Session
			if !strings.Contains(list.String(), session) {
				c.t.Errorf("the focus tells of %s, the list does not", session)
			}
		}
	}
	for _, w := range list.GetWindows() {
		if w.GetWindowId() != windowID {
			continue
		}
		for _, t := range w.GetTabs() {
			if _, ok := tabs[t.GetTabId()]; ok {
				tab = t.GetActiveSessionId()
			}
		}
	}
	return tab
}

func TestCreationIsToldInOrderAndListedWhenAnswered(t *testing.T) { // HOST-78
	c := newHost(t).connect()
	c.subscribeTopology()
	if got := c.call(&api.FocusRequest{}).GetFocusResponse().GetNotifications(); len(got) != 2 || got[1].GetWindow().WindowId != nil {
		t.Errorf("the focus of an empty host: %v", got)
	}
	id := c.open("sh")
	if list := c.call(&api.ListSessionsRequest{}).GetListSessionsResponse(); !strings.Contains(list.String(), id) {
		t.Errorf("not listed: %v", list)
	}
	if got := c.focused(); got != id {
		t.Errorf("focused: %s", got)
	}
	var order []string
	for len(order) < 3 {
		n := c.await("topology", func(*api.Notification) bool { return true })
		switch {
		case n.GetNewSessionNotification() != nil:
			order = append(order, "new")
		case n.GetLayoutChangedNotification() != nil:
			order = append(order, "layout")
		case n.GetFocusChangedNotification() != nil:
			order = append(order, "focus")
		}
	}
	if got := strings.Join(order, " "); got != "new layout focus" {
		t.Errorf("order: %s", got)
	}
}

func TestFocusMovesOnlyWhenAsked(t *testing.T) { // HOST-79
	c := newHost(t).connect()
	first := c.open("sh")
	w := c.call(&api.ListSessionsRequest{}).GetListSessionsResponse().GetWindows()[0].GetWindowId()
	quiet := c.call(&api.CreateTabRequest{SelectTab: ptr(false)}).GetCreateTabResponse()
	tab := c.call(&api.CreateTabRequest{WindowId: &w, SelectTab: ptr(false), TabIndex: ptr(uint32(0))}).GetCreateTabResponse()
	if got := c.focused(); got != first || quiet.GetWindowId() == w || tab.GetWindowId() != w {
		t.Errorf("focused %s, want %s; %v %v", got, first, quiet, tab)
	}
	activate := func(r *api.ActivateRequest) api.ActivateResponse_Status {
		return c.call(r).GetActivateResponse().GetStatus()
	}
	id := quiet.GetSessionId()
	if got := activate(&api.ActivateRequest{Identifier: &api.ActivateRequest_SessionId{SessionId: id}, OrderWindowFront: ptr(true), SelectTab: ptr(true), SelectSession: ptr(true)}); got != api.ActivateResponse_OK {
		t.Error(got)
	}
	if got := c.focused(); got != id {
		t.Errorf("focused %s, want %s", got, id)
	}
	if got := activate(&api.ActivateRequest{Identifier: &api.ActivateRequest_WindowId{WindowId: w}, SelectTab: ptr(true)}); got != api.ActivateResponse_INVALID_OPTION {
		t.Error(got)
	}
	if got := activate(&api.ActivateRequest{Identifier: &api.ActivateRequest_TabId{TabId: "99"}}); got != api.ActivateResponse_BAD_IDENTIFIER {
		t.Error(got)
	}
	c.closeSession(id, true)
	if got := c.focused(); got != first {
		t.Errorf("after it is gone: focused %s, want %s", got, first)
	}
	late := c.call(&api.CreateTabRequest{WindowId: &w, SelectTab: ptr(false), TabIndex: ptr(uint32(9))}).GetCreateTabResponse()
	if late.GetStatus() != api.CreateTabResponse_INVALID_TAB_INDEX || late.GetSessionId() == "" {
		t.Errorf("a tab index out of range: %v", late)
	}
}

func TestASplitDividesASession(t *testing.T) { // HOST-83
	c := newHost(t).connect()
	first := c.open("sh", "Columns", "81", "Rows", "25")
	split := func(of string, d api.SplitPaneRequest_SplitDirection, before bool) *api.SplitPaneResponse {
		return c.call(&api.SplitPaneRequest{Session: &of, SplitDirection: d.Enum(), Before: &before, ProfileName: ptr("sh")}).GetSplitPaneResponse()
	}
	right := split(first, api.SplitPaneRequest_VERTICAL, false).GetSessionId()[0]
	below := split(right, api.SplitPaneRequest_HORIZONTAL, false).GetSessionId()[0]
	left := split(first, api.SplitPaneRequest_VERTICAL, true).GetSessionId()[0]
	root := c.call(&api.ListSessionsRequest{}).GetListSessionsResponse().GetWindows()[0].GetTabs()[0].GetRoot()
	var shape func(n *api.SplitTreeNode) string
	shape = func(n *api.SplitTreeNode) string {
		sep := "/"
		if n.GetVertical() {
			sep = "|"
		}
		var parts []string
		for _, l := range n.GetLinks() {
			if l.GetNode() != nil {
				parts = append(parts, "("+shape(l.GetNode())+")")
			} else {
				parts = append(parts, map[string]string{first: "first", right: "right", below: "below", left: "left"}[l.GetSession().GetUniqueIdentifier()])
			}
		}
		return strings.Join(parts, sep)
	}
	if got, want := shape(root), "left|first|(right/below)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := c.variable(right, "columns") + "x" + c.variable(right, "rows"); got != "40x12" {
		t.Errorf("right is %s", got)
	}
	if got := c.variable(below, "columns") + "x" + c.variable(below, "rows"); got != "40x12" {
		t.Errorf("below is %s", got)
	}
	c.closeSession(right, true)
	c.closeSession(first, true)
	root = c.call(&api.ListSessionsRequest{}).GetListSessionsResponse().GetWindows()[0].GetTabs()[0].GetRoot()
	if got := shape(root); got != "left|below" {
		t.Errorf("after closing two: %s", got)
	}
	tiny := c.open("sh", "Columns", "3", "Rows", "1")
	if got := split(tiny, api.SplitPaneRequest_VERTICAL, false).GetStatus(); got != api.SplitPaneResponse_CANNOT_SPLIT {
		t.Errorf("a tiny one: %v", got)
	}
	if got := split("nobody", api.SplitPaneRequest_VERTICAL, false).GetStatus(); got != api.SplitPaneResponse_SESSION_NOT_FOUND {
		t.Errorf("nobody: %v", got)
	}
}

func TestSizesAreTrue(t *testing.T) { // HOST-82
	c := newHost(t).connect()
	c.subscribeTopology()
	id := c.open("sh")
	set := func(value string) api.SetPropertyResponse_Status {
		return c.call(&api.SetPropertyRequest{Identifier: &api.SetPropertyRequest_SessionId{SessionId: id}, Name: ptr("grid_size"), JsonValue: &value}).GetSetPropertyResponse().GetStatus()
	}
	if got := set(`{"width":100,"height":30}`); got != api.SetPropertyResponse_OK {
		t.Fatal(got)
	}
	c.await("the new size", func(n *api.Notification) bool {
		return strings.Contains(n.GetLayoutChangedNotification().String(), "width:100")
	})
	c.send(id, "stty size\r")
	c.awaitScreen(id, "30 100")
	get := func(name string) string {
		return c.call(&api.GetPropertyRequest{Identifier: &api.GetPropertyRequest_SessionId{SessionId: id}, Name: &name}).GetGetPropertyResponse().GetJsonValue()
	}
	if got := get("grid_size"); got != `{"width":100,"height":30}` {
		t.Error(got)
	}
	if got := get("number_of_lines"); got != `{"first_visible":0,"grid":30,"history":0,"overflow":0}` {
		t.Error(got)
	}
	for _, bad := range []string{`{"width":0,"height":3}`, `{"width":1e9,"height":3}`, `7`, `{`} {
		if got := set(bad); got != api.SetPropertyResponse_INVALID_VALUE {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

func TestSubscriptionsAreKeptOnce(t *testing.T) { // HOST-77
	c := newHost(t).connect()
	id := c.open("bash")
	ask := func(on bool, modes ...api.PromptMonitorMode) api.NotificationResponse_Status {
		r := &api.NotificationRequest{Session: &id, Subscribe: &on, NotificationType: api.NotificationType_NOTIFY_ON_PROMPT.Enum()}
		if on {
			r.Arguments = &api.NotificationRequest_PromptMonitorRequest{PromptMonitorRequest: &api.PromptMonitorRequest{Modes: modes}}
		}
		return c.call(r).GetNotificationResponse().GetStatus()
	}
	for i, want := range []api.NotificationResponse_Status{
		ask(false), ask(true, api.PromptMonitorMode_COMMAND_END), ask(true, api.PromptMonitorMode_PROMPT),
	} {
		if expect := []api.NotificationResponse_Status{api.NotificationResponse_NOT_SUBSCRIBED, api.NotificationResponse_OK, api.NotificationResponse_ALREADY_SUBSCRIBED}[i]; want != expect {
			t.Errorf("step %d: %v", i, want)
		}
	}
	c.send(id, "true\r")
	n := c.await("any", func(n *api.Notification) bool { return n.GetPromptNotification() != nil }).GetPromptNotification()
	if n.GetCommandEnd() == nil {
		t.Errorf("the first modes did not stay: %v", n)
	}
	if got := ask(false); got != api.NotificationResponse_OK {
		t.Error(got)
	}
	for _, r := range []*api.NotificationRequest{{}, {Session: ptr("x"), Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_PROMPT.Enum()}} {
		if got := c.call(r).GetNotificationResponse().GetStatus(); got == api.NotificationResponse_OK {
			t.Errorf("%v: %v", r, got)
		}
	}
}

func TestScreenUpdatesComeAtOnceAndTheLastOneAlways(t *testing.T) { // HOST-80
	c := newHost(t).connect()
	id := c.open("", "Termpilot Shell Command", quote("printf up; exec cat")) // which prints nothing of its own from then on
	c.awaitScreen(id, "up")
	c.subscribe(api.NotificationType_NOTIFY_ON_SCREEN_UPDATE, id)
	update := func() {
		c.await("an update", func(n *api.Notification) bool { return n.GetScreenUpdateNotification().GetSession() == id })
	}
	began := time.Now()
	for i := range 20 { // injection is drawn when it is answered
		c.call(&api.InjectRequest{SessionId: []string{id}, Data: []byte{byte('a' + i)}})
	}
	took := time.Since(began)
	update()
	update() // of what came after the first
	waitUntil(t, "no more come", func() bool { return time.Since(began) > took+200*time.Millisecond })
	count := 2
	for len(c.note) > 0 {
		if n := <-c.note; n.GetScreenUpdateNotification() != nil {
			count++
		}
	}
	if most := 2 + int((took+frame)/frame); count > most {
		t.Errorf("%d updates in %v", count, took)
	}
}

func TestAClientThatDoesNotReadIsDroppedAndHoldsNobodyUp(t *testing.T) { // HOST-81
	h := newHost(t)
	c := h.connect()
	id := c.openReady("bash")
	lazy := h.lazyClient(t, ofLayouts(), ofVariable("name"), ofVariable("presentationName"), ofVariable("user.goals_iterm_mcp_nickname"))
	// Each renaming is four messages; the lazy client reads none of them.
	name := strings.Repeat("n", 900)
	for i := 0; ; i++ {
		value := quote(name + string(rune('a'+i%26)))
		c.call(&api.InvokeFunctionRequest{Context: &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: &id}}, Invocation: ptr("iterm2.set_name(name: " + value + ")")})
		if i%100 == 0 {
			if status, err := inspect(context.Background(), h.loc); err == nil && status.Clients == 1 {
				break
			}
		}
		if i > 50000 {
			t.Fatal("the lazy client is still there")
		}
	}
	_ = lazy.Close()
	if exit, out := c.run(id, "echo fine"); exit != 0 || out != "fine" {
		t.Errorf("%d %q", exit, out)
	}
}

func TestAClientThatLeavesMuchUnreadIsLetGo(t *testing.T) { // HOST-81
	h := newHost(t)
	c := h.connect()
	id := c.openReady("bash")
	lazy := h.lazyClient(t, ofLayouts())
	name := strings.Repeat("n", 900)
	for i := range 2500 { // more than may wait before the next request is read
		value := quote(name + string(rune('a'+i%26)))
		c.call(&api.InvokeFunctionRequest{Context: &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: &id}}, Invocation: ptr("iterm2.set_name(name: " + value + ")")})
	}
	if err := lazy.WriteMessage(websocket.TextMessage, []byte("anything: it is read, and then there is no room")); err != nil {
		t.Fatal(err)
	}
	_ = lazy.Close()
	waitUntil(t, "the client is gone", func() bool {
		status, err := inspect(context.Background(), h.loc)
		return err == nil && status.Clients == 1
	})
}

// lazyClient is a client that subscribed and reads no more than the answers.
func (h *testHost) lazyClient(t *testing.T, requests ...*api.NotificationRequest) *websocket.Conn {
	t.Helper()
	ws := dialAPI(t, h.loc.Socket)
	t.Cleanup(func() { _ = ws.Close() })
	for _, r := range requests {
		data, err := proto.Marshal(&api.ClientOriginatedMessage{
			Id: ptr(int64(1)), Submessage: &api.ClientOriginatedMessage_NotificationRequest{NotificationRequest: r},
		})
		if err == nil {
			err = ws.WriteMessage(websocket.BinaryMessage, data)
		}
		if err == nil {
			_, _, err = ws.ReadMessage()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return ws
}

// ofLayouts and ofVariable subscribe to changes of layouts, and of a variable of any session.
func ofLayouts() *api.NotificationRequest {
	return &api.NotificationRequest{Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_LAYOUT_CHANGE.Enum()}
}

func ofVariable(name string) *api.NotificationRequest {
	return &api.NotificationRequest{
		Session: ptr("all"), Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE.Enum(),
		Arguments: &api.NotificationRequest_VariableMonitorRequest{VariableMonitorRequest: &api.VariableMonitorRequest{
			Name: &name, Scope: api.VariableScope_SESSION.Enum(), Identifier: ptr("all"),
		}},
	}
}

func TestWatchedVariablesAreTold(t *testing.T) { // HOST-85, HOST-89
	c := newHost(t).connect()
	for _, name := range []string{"termpilot.marks", "termpilot.prompt", "termpilot.exit", "termpilot.cursor_keys", "jobName", "user.x", "name"} {
		r := ofVariable(name)
		if got := c.call(r).GetNotificationResponse().GetStatus(); got != api.NotificationResponse_OK {
			t.Fatal(got)
		}
	}
	id := c.openReady("bash")
	told := func(name, value string) {
		t.Helper()
		c.await(name+" "+value, func(n *api.Notification) bool {
			v := n.GetVariableChangedNotification()
			return v.GetIdentifier() == id && v.GetName() == name && strings.Contains(v.GetJsonNewValue(), value)
		})
	}
	told("termpilot.marks", "nonce")
	c.send(id, "cat\r")
	told("termpilot.prompt", "running")
	told("jobName", "cat")
	c.seen = nil // what told of the time before it
	c.send(id, "\x04")
	told("jobName", "bash")
	told("termpilot.prompt", "editing")
	c.call(&api.VariableRequest{Scope: &api.VariableRequest_SessionId{SessionId: id}, Set: []*api.VariableRequest_Set{{Name: ptr("user.x"), Value: ptr("5")}}})
	told("user.x", "5")
	c.send(id, `printf '\033[?1h'`+"\r")
	told("termpilot.cursor_keys", "application")
	c.send(id, "exit 6\r")
	told("termpilot.exit", `"code":6`)
}
