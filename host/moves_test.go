package host

import (
	"slices"
	"strings"
	"testing"

	"termpilot/iterm/api"
)

func TestTabsAreReorderedWithinAndBetweenWindows(t *testing.T) { // HOST-106, HOST-122
	c := newHost(t).connect()
	a := c.open("sh")
	b, bTab := c.tabIn(a)
	d := c.open("sh") // a window of its own, which has the focus
	wa, aTab := c.tabOf(a)
	wd, dTab := c.tabOf(d)
	reorder := func(list ...*api.ReorderTabsRequest_Assignment) api.ReorderTabsResponse_Status {
		return c.call(&api.ReorderTabsRequest{Assignments: list}).GetReorderTabsResponse().GetStatus()
	}
	assign := func(w *api.ListSessionsResponse_Window, tabs ...string) *api.ReorderTabsRequest_Assignment {
		return &api.ReorderTabsRequest_Assignment{WindowId: w.WindowId, TabIds: tabs}
	}
	order := func(w *api.ListSessionsResponse_Window) (ids []string) {
		for _, x := range c.list().GetWindows() {
			if x.GetWindowId() == w.GetWindowId() {
				for _, t := range x.GetTabs() {
					ids = append(ids, t.GetTabId())
				}
			}
		}
		return ids
	}
	for _, test := range []struct {
		list []*api.ReorderTabsRequest_Assignment
		want api.ReorderTabsResponse_Status
	}{
		{[]*api.ReorderTabsRequest_Assignment{assign(wa, bTab), assign(wd, bTab)}, api.ReorderTabsResponse_INVALID_ASSIGNMENT},
		{[]*api.ReorderTabsRequest_Assignment{assign(wa, bTab), assign(wa)}, api.ReorderTabsResponse_INVALID_ASSIGNMENT},
		{[]*api.ReorderTabsRequest_Assignment{assign(wa, bTab, "77")}, api.ReorderTabsResponse_INVALID_TAB_ID},
		{[]*api.ReorderTabsRequest_Assignment{{WindowId: ptr("pty-x")}}, api.ReorderTabsResponse_INVALID_WINDOW_ID},
	} {
		if got := reorder(test.list...); got != test.want {
			t.Errorf("got %v, want %v", got, test.want)
		}
	}
	if got := order(wa); !slices.Equal(got, []string{aTab.GetTabId(), bTab}) {
		t.Fatalf("after what was refused: %v", got)
	}
	if got := reorder(assign(wa, bTab)); got != api.ReorderTabsResponse_OK || !slices.Equal(order(wa), []string{bTab, aTab.GetTabId()}) {
		t.Errorf("within a window: %v %v", got, order(wa))
	}
	// Two windows exchange what they have, and neither closes meanwhile.
	if got := reorder(assign(wa, dTab.GetTabId()), assign(wd, aTab.GetTabId(), bTab)); got != api.ReorderTabsResponse_OK {
		t.Error(got)
	}
	if got := append(order(wa), order(wd)...); !slices.Equal(got, []string{dTab.GetTabId(), aTab.GetTabId(), bTab}) {
		t.Errorf("exchanged: %v", got)
	}
	if got := c.focused(); got != d {
		t.Errorf("the focus did not stay with its session: %s", got)
	}
	if got := reorder(assign(wa, aTab.GetTabId(), bTab)); got != api.ReorderTabsResponse_OK || len(c.list().GetWindows()) != 1 {
		t.Errorf("an empty window stays: %v", c.list())
	}
	c.send(b, "echo alive\r")
	c.awaitScreen(b, "alive")
}

func TestABuriedSessionLivesOnAndComesBackToItsPlace(t *testing.T) { // HOST-109
	c := newHost(t).connect()
	c.subscribeTopology()
	a := c.open("sh", "Columns", "81", "Rows", "25")
	b := c.split(a, true)
	d, _ := c.tabIn(a)
	if got := c.set(a, "buried", "true"); got != api.SetPropertyResponse_OK {
		t.Fatal(got)
	}
	list := c.list()
	if got := list.GetBuriedSessions(); len(got) != 1 || got[0].GetUniqueIdentifier() != a || got[0].GridSize != nil {
		t.Errorf("buried: %v", got)
	}
	if got := c.size(b); got != "81x25" {
		t.Errorf("its room went to %s", got)
	}
	buried := func(id string) string {
		return c.call(&api.GetPropertyRequest{Identifier: &api.GetPropertyRequest_SessionId{SessionId: id}, Name: ptr("buried")}).GetGetPropertyResponse().GetJsonValue()
	}
	if got := buried(a) + buried(b); got != "truefalse" {
		t.Error(got)
	}
	c.call(&api.SendTextRequest{Session: ptr("all"), Text: ptr("x"), SuppressBroadcast: ptr(true)})
	c.awaitScreen(b, "x")
	c.send(a, "echo alive\r")
	c.awaitScreen(a, "alive")
	if strings.Contains(c.screen(a), "x") {
		t.Error("all sessions, the buried one among them")
	}
	if got := c.call(&api.SplitPaneRequest{Session: &a}).GetSplitPaneResponse().GetStatus(); got != api.SplitPaneResponse_SESSION_NOT_FOUND {
		t.Errorf("dividing it: %v", got)
	}
	if got := c.set(a, "buried", "false"); got != api.SetPropertyResponse_OK {
		t.Fatal(got)
	}
	_, tab := c.tabOf(a)
	if links := tab.GetRoot().GetLinks(); links[0].GetSession().GetUniqueIdentifier() != a || links[1].GetSession().GetUniqueIdentifier() != b {
		t.Errorf("it came back to %v", tab)
	}
	// A tab that went with its session comes back in its window, at its place; a
	// window that did not outlive it is another one.
	before, _ := c.tabOf(d)
	c.set(d, "buried", "true")
	activate := &api.ActivateRequest{Identifier: &api.ActivateRequest_SessionId{SessionId: d}, SelectTab: ptr(true), SelectSession: ptr(true), OrderWindowFront: ptr(true)}
	if got := c.call(activate).GetActivateResponse().GetStatus(); got != api.ActivateResponse_OK || c.focused() != d {
		t.Errorf("activating it: %v", got)
	}
	if after, _ := c.tabOf(d); after.GetWindowId() != before.GetWindowId() || after.GetTabs()[1].GetActiveSessionId() != d {
		t.Errorf("its tab: %v", after)
	}
	lone := c.open("sh")
	before, _ = c.tabOf(lone)
	c.set(lone, "buried", "true")
	c.set(lone, "buried", "true")
	c.set(lone, "buried", "false")
	if after, _ := c.tabOf(lone); after.GetWindowId() == before.GetWindowId() {
		t.Error("a window that had closed is back")
	}
	for value, want := range map[string]api.SetPropertyResponse_Status{"null": api.SetPropertyResponse_INVALID_VALUE, "1": api.SetPropertyResponse_INVALID_VALUE} {
		if got := c.set(lone, "buried", value); got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
	c.set(lone, "buried", "true")
	c.send(lone, "exit\r")
	c.awaitTerminated(lone)
	waitUntil(t, "it leaves", func() bool { return len(c.list().GetBuriedSessions()) == 0 })
}

func TestActivationDoesWhatIsAskedAndNoMore(t *testing.T) { // HOST-108
	c := newHost(t).connect()
	c.subscribeTopology()
	a := c.open("sh")
	b := c.split(a, true)
	d, dTab := c.tabIn(a)
	e := c.open("sh")
	w, _ := c.tabOf(a)
	c.seen = nil
	for len(c.note) > 0 { // what the creation brought
		<-c.note
	}
	for _, test := range []struct {
		r    *api.ActivateRequest
		want api.ActivateResponse_Status
		then string
	}{
		{&api.ActivateRequest{Identifier: &api.ActivateRequest_SessionId{SessionId: a}, SelectSession: ptr(true)}, api.ActivateResponse_OK, e},
		{&api.ActivateRequest{Identifier: &api.ActivateRequest_WindowId{WindowId: w.GetWindowId()}, OrderWindowFront: ptr(true)}, api.ActivateResponse_OK, a},
		{&api.ActivateRequest{Identifier: &api.ActivateRequest_TabId{TabId: dTab}, SelectTab: ptr(true)}, api.ActivateResponse_OK, d},
		{&api.ActivateRequest{Identifier: &api.ActivateRequest_SessionId{SessionId: b}, SelectTab: ptr(true)}, api.ActivateResponse_OK, a},
		{&api.ActivateRequest{ActivateApp: &api.ActivateRequest_App{RaiseAllWindows: ptr(true)}}, api.ActivateResponse_OK, a},
		{&api.ActivateRequest{OrderWindowFront: ptr(true)}, api.ActivateResponse_INVALID_OPTION, a},
		{&api.ActivateRequest{Identifier: &api.ActivateRequest_TabId{TabId: dTab}, SelectSession: ptr(true)}, api.ActivateResponse_INVALID_OPTION, a},
		{&api.ActivateRequest{Identifier: &api.ActivateRequest_SessionId{SessionId: "x"}}, api.ActivateResponse_BAD_IDENTIFIER, a},
	} {
		if got := c.call(test.r).GetActivateResponse().GetStatus(); got != test.want || c.focused() != test.then {
			t.Errorf("%v: %v, then the focus is at %s, want %s", test.r, got, c.focused(), test.then)
		}
	}
	c.await("the window's focus", func(n *api.Notification) bool {
		return n.GetFocusChangedNotification().GetWindow().GetWindowId() == w.GetWindowId()
	})
	c.await("the tab's", func(n *api.Notification) bool { return n.GetFocusChangedNotification().GetSelectedTab() == dTab })
	for _, n := range c.seen {
		if n.GetLayoutChangedNotification() != nil {
			t.Error("a layout is told that did not change")
		}
	}
}
