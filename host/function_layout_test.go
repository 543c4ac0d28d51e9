package host

import (
	"strings"
	"testing"

	"termpilot/iterm/api"
)

// arrange runs a function; the context is the application, or a tab that is called
// in, or that has the method.
func (c *apiClient) arrange(invocation, tab string, method bool) (result, failure string) {
	c.t.Helper()
	r := &api.InvokeFunctionRequest{Invocation: &invocation, Context: &api.InvokeFunctionRequest_App_{App: &api.InvokeFunctionRequest_App{}}}
	if method {
		r.Context = &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: &tab}}
	} else if tab != "" {
		r.Context = &api.InvokeFunctionRequest_Tab_{Tab: &api.InvokeFunctionRequest_Tab{TabId: &tab}}
	}
	answer := c.call(r).GetInvokeFunctionResponse()
	return strings.Trim(answer.GetSuccess().GetJsonResult(), `"`), answer.GetError().GetErrorReason()
}

func TestSessionsAndTabsAreMovedByFunctions(t *testing.T) { // HOST-121, HOST-122
	c := newHost(t).connect()
	c.subscribeTopology()
	a := c.open("sh", "Columns", "81", "Rows", "25")
	b := c.split(a, true)
	d, _ := c.tabIn(a)
	w, tab := c.tabOf(a)
	move := func(s, to string, rest string) (string, string) {
		return c.arrange("iterm2.move_session(session: "+quote(s)+", destination: "+quote(to)+rest+")", "", false)
	}
	if got, why := move(b, d, ", vertical: false, before: true"); got != "null" {
		t.Fatal(why)
	}
	if got := c.size(a) + " " + c.size(b) + " " + c.size(d); got != "81x25 81x12 81x12" {
		t.Errorf("sizes: %s", got)
	}
	// b had the keyboard and has it still, in its new tab.
	if got := c.focused(); got != b {
		t.Errorf("the focus is at %s", got)
	}
	_, second := c.tabOf(d)
	if got, why := c.arrange("iterm2.select_pane_in_direction(direction: \"below\")", second.GetTabId(), true); got != d || c.focused() != d {
		t.Errorf("below: %s %s", got, why)
	}
	if got, why := c.arrange("iterm2.select_pane_in_direction(direction: \"left\")", second.GetTabId(), true); got != "null" || why != "" || c.focused() != d {
		t.Errorf("left: %s %s", got, why)
	}
	third, why := c.arrange("iterm2.move_session_to_new_tab(session: "+quote(d)+", tab_index: 0)", "", false)
	if after, at := c.tabOf(d); at.GetTabId() != third || after.GetTabs()[0].GetTabId() != third || c.focused() != d {
		t.Errorf("a tab of its own: %q %s", third, why)
	}
	window, why := c.arrange("iterm2.move_tab_to_window()", third, false)
	if after, _ := c.tabOf(d); after.GetWindowId() != window || c.focused() != d {
		t.Errorf("a window of its own: %q %s", window, why)
	}
	if got := c.size(b) + " " + c.size(d); got != "81x25 81x25" {
		t.Errorf("sizes: %s", got)
	}
	move(b, a, ", vertical: true, before: false")
	window, why = c.arrange("iterm2.move_session_to_new_window(session: "+quote(b)+")", "", false)
	if after, _ := c.tabOf(b); after.GetWindowId() != window || window == w.GetWindowId() {
		t.Errorf("a window for a pane: %q %s", window, why)
	}
	back, why := c.arrange("iterm2.move_session_to_new_tab(session: "+quote(b)+", window_id: "+quote(w.GetWindowId())+")", "", false)
	if back != "" || !strings.Contains(why, "alone in its tab") {
		t.Errorf("a session that is alone in its tab: %q %s", back, why)
	}
	c.set(b, "buried", "true")
	small := c.open("sh", "Columns", "4", "Rows", "2")
	before := c.list().String()
	for _, refused := range []string{
		"iterm2.move_session(session: " + quote(a) + ", destination: " + quote(a) + ", vertical: true, before: true)",
		"iterm2.move_session(session: " + quote(a) + ", destination: " + quote(b) + ", vertical: true, before: true)",
		"iterm2.move_session(session: " + quote(a) + ", destination: " + quote(small) + ", vertical: true, before: true)",
		"iterm2.move_session(session: " + quote(a) + ", destination: \"active\", vertical: true, before: true)",
		"iterm2.move_session(session: " + quote(a) + ", destination: " + quote(d) + ", vertical: 1, before: true)",
		"iterm2.move_session(session: " + quote(a) + ")",
		"iterm2.move_session_to_new_window(session: " + quote(a) + ")",
		"iterm2.move_session_to_new_tab(session: " + quote(a) + ", tab_index: -1)",
		"iterm2.move_session_to_new_tab(session: " + quote(a) + ", window_id: \"pty-x\")",
		"iterm2.move_tab_to_window()",
		"iterm2.select_pane_in_direction(direction: \"left\")",
	} {
		if got, why := c.arrange(refused, "", false); got != "" || why == "" {
			t.Errorf("%s: %s", refused, got)
		}
	}
	if got, _ := c.arrange("iterm2.move_tab_to_window()", tab.GetTabId(), false); got != "" {
		t.Errorf("the only tab of a window went to %s", got)
	}
	if after := c.list().String(); after != before {
		t.Errorf("what was refused changed\n%s\nto\n%s", before, after)
	}
	c.send(a, "stty size\r")
	c.awaitScreen(a, "25 81")
}

// arrangingRequests are seeds for what takes any message.
func arrangingRequests() []*api.ClientOriginatedMessage {
	active := "active"
	node := &api.SplitTreeNode{Links: []*api.SplitTreeNode_SplitTreeLink{{Child: &api.SplitTreeNode_SplitTreeLink_Session{Session: &api.SessionSummary{UniqueIdentifier: &active, GridSize: &api.Size{Width: ptr(int32(9)), Height: ptr(int32(9))}}}}}}
	window := func(name, value string) *api.SetPropertyRequest {
		return &api.SetPropertyRequest{Identifier: &api.SetPropertyRequest_WindowId{WindowId: "pty-x"}, Name: &name, JsonValue: &value}
	}
	return []*api.ClientOriginatedMessage{
		{Submessage: &api.ClientOriginatedMessage_SetTabLayoutRequest{SetTabLayoutRequest: &api.SetTabLayoutRequest{TabId: ptr("1"), Root: node}}},
		{Submessage: &api.ClientOriginatedMessage_ReorderTabsRequest{ReorderTabsRequest: &api.ReorderTabsRequest{Assignments: []*api.ReorderTabsRequest_Assignment{{WindowId: ptr("pty-x"), TabIds: []string{"1", "1"}}}}}},
		{Submessage: &api.ClientOriginatedMessage_SetBroadcastDomainsRequest{SetBroadcastDomainsRequest: &api.SetBroadcastDomainsRequest{BroadcastDomains: []*api.BroadcastDomain{{SessionIds: []string{"active", ""}}, {}}}}},
		{Submessage: &api.ClientOriginatedMessage_TransactionRequest{TransactionRequest: &api.TransactionRequest{Begin: ptr(true)}}},
		{Submessage: &api.ClientOriginatedMessage_TransactionRequest{TransactionRequest: &api.TransactionRequest{}}},
		{Submessage: &api.ClientOriginatedMessage_ActivateRequest{ActivateRequest: &api.ActivateRequest{Identifier: &api.ActivateRequest_TabId{TabId: "1"}, SelectTab: ptr(true), SelectSession: ptr(true), OrderWindowFront: ptr(true)}}},
		{Submessage: &api.ClientOriginatedMessage_SetPropertyRequest{SetPropertyRequest: window("frame", `{"origin":{"x":1,"y":2},"size":{"width":3,"height":4}}`)}},
		{Submessage: &api.ClientOriginatedMessage_SetPropertyRequest{SetPropertyRequest: window("fullscreen", "true")}},
		{Submessage: &api.ClientOriginatedMessage_SetPropertyRequest{SetPropertyRequest: &api.SetPropertyRequest{Identifier: &api.SetPropertyRequest_SessionId{SessionId: "active"}, Name: ptr("buried"), JsonValue: ptr("true")}}},
		{Submessage: &api.ClientOriginatedMessage_InvokeFunctionRequest{InvokeFunctionRequest: &api.InvokeFunctionRequest{
			Invocation: ptr(`iterm2.move_session_to_new_tab(session: "x", tab_index: 99999999999)`), Context: &api.InvokeFunctionRequest_App_{App: &api.InvokeFunctionRequest_App{}},
		}}},
		{Submessage: &api.ClientOriginatedMessage_InvokeFunctionRequest{InvokeFunctionRequest: &api.InvokeFunctionRequest{
			Invocation: ptr(`iterm2.select_pane_in_direction(direction: "left")`), Context: &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: ptr("1")}},
		}}},
	}
}
