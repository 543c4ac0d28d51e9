package host

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"termpilot/iterm/api"
)

func (c *apiClient) list() *api.ListSessionsResponse {
	c.t.Helper()
	return c.call(&api.ListSessionsRequest{}).GetListSessionsResponse()
}

// tabOf returns the window and tab in which a session is.
func (c *apiClient) tabOf(session string) (*api.ListSessionsResponse_Window, *api.ListSessionsResponse_Tab) {
	c.t.Helper()
	for _, w := range c.list().GetWindows() {
		for _, t := range w.GetTabs() {
			if strings.Contains(t.String(), session) {
				return w, t
			}
		}
	}
	c.t.Fatalf("%s is in no tab", session)
	return nil, nil
}

func (c *apiClient) split(of string, vertical bool) string {
	c.t.Helper()
	direction := api.SplitPaneRequest_HORIZONTAL
	if vertical {
		direction = api.SplitPaneRequest_VERTICAL
	}
	r := c.call(&api.SplitPaneRequest{Session: &of, SplitDirection: &direction, ProfileName: ptr("sh")}).GetSplitPaneResponse()
	if len(r.GetSessionId()) != 1 {
		c.t.Fatalf("split: %v", r)
	}
	return r.GetSessionId()[0]
}

// tabIn opens a tab in a session's window, in the background.
func (c *apiClient) tabIn(session string, properties ...string) (id, tab string) {
	c.t.Helper()
	w, _ := c.tabOf(session)
	r := &api.CreateTabRequest{WindowId: w.WindowId, SelectTab: ptr(false), ProfileName: ptr("sh")}
	for i := 0; i < len(properties); i += 2 {
		r.CustomProfileProperties = append(r.CustomProfileProperties, &api.ProfileProperty{Key: &properties[i], JsonValue: &properties[i+1]})
	}
	answer := c.call(r).GetCreateTabResponse()
	if answer.GetStatus() != api.CreateTabResponse_OK {
		c.t.Fatalf("a tab: %v", answer)
	}
	return answer.GetSessionId(), strconv.Itoa(int(answer.GetTabId()))
}

func (c *apiClient) set(session, name, value string) api.SetPropertyResponse_Status {
	c.t.Helper()
	return c.call(&api.SetPropertyRequest{
		Identifier: &api.SetPropertyRequest_SessionId{SessionId: session}, Name: &name, JsonValue: &value,
	}).GetSetPropertyResponse().GetStatus()
}

func (c *apiClient) setWindow(window, name, value string) api.SetPropertyResponse_Status {
	c.t.Helper()
	return c.call(&api.SetPropertyRequest{
		Identifier: &api.SetPropertyRequest_WindowId{WindowId: window}, Name: &name, JsonValue: &value,
	}).GetSetPropertyResponse().GetStatus()
}

func (c *apiClient) windowProperty(window, name string) string {
	c.t.Helper()
	return c.call(&api.GetPropertyRequest{
		Identifier: &api.GetPropertyRequest_WindowId{WindowId: window}, Name: &name,
	}).GetGetPropertyResponse().GetJsonValue()
}

// size is what the program of a session is told, not what the layout says.
func (c *apiClient) size(session string) string {
	c.t.Helper()
	return c.variable(session, "columns") + "x" + c.variable(session, "rows")
}

func TestATabHasTheSizeOfItsWindow(t *testing.T) { // HOST-101
	c := newHost(t).connect()
	first := c.open("sh", "Columns", "100", "Rows", "31")
	c.split(first, true)
	second, _ := c.tabIn(first)
	third, _ := c.tabIn(first, "Rows", "7")
	if got := c.size(second) + " " + c.size(third); got != "100x31 100x7" {
		t.Error(got)
	}
	narrow := c.call(&api.SplitPaneRequest{Session: &third, CustomProfileProperties: []*api.ProfileProperty{{Key: ptr("Columns"), JsonValue: ptr("77")}}})
	if got := c.size(narrow.GetSplitPaneResponse().GetSessionId()[0]); got != "49x7" {
		t.Errorf("a division's part: %s", got)
	}
	every := c.call(&api.SplitPaneRequest{Session: ptr("all"), ProfileName: ptr("sh")}).GetSplitPaneResponse()
	if every.GetStatus() != api.SplitPaneResponse_OK || len(every.GetSessionId()) != 5 {
		t.Errorf("every session divided: %v", every)
	}
}

func TestAProfilesPropertiesDecideFolderShellAndFirstInput(t *testing.T) { // HOST-100
	h := newHost(t)
	c := h.connect()
	dir := filepath.Join(h.home, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first := c.open("sh", "Custom Directory", `"Yes"`, "Working Directory", quote(dir), "Badge Text", `"mine"`)
	again, _ := c.tabIn(first, "Custom Directory", `"Recycle"`)
	other, _ := c.tabIn(first, "Custom Directory", `"No"`, "Working Directory", quote(dir))
	if got := c.variable(again, "path") + c.variable(other, "path"); got != quote(dir)+quote(h.home) {
		t.Errorf("folders: %s", got)
	}
	if got := c.call(&api.GetProfilePropertyRequest{Session: &first, Keys: []string{"Badge Text"}}).GetGetProfilePropertyResponse().GetProperties(); len(got) != 1 || got[0].GetJsonValue() != `"mine"` {
		t.Errorf("a property that means nothing here: %v", got)
	}
	shell := c.open("", "Custom Command", `"Custom Shell"`, "Command", `"/bin/sh"`, "Initial Text", `"echo $((6*7)) by $0"`)
	c.awaitScreen(shell, "42 by -sh")
	if got := c.create("", "Custom Command", `"Custom Shell"`, "Command", `"/no/such"`).GetError(); !strings.HasPrefix(got, "shell_not_found: ") {
		t.Errorf("no such shell: %s", got)
	}
}

func TestASessionsSizeIsFollowedByItsNeighbours(t *testing.T) { // HOST-103
	c := newHost(t).connect()
	left := c.open("sh", "Columns", "81", "Rows", "25")
	right := c.split(left, true)
	below := c.split(right, false)
	if got := c.set(left, "grid_size", `{"width":60,"height":40}`); got != api.SetPropertyResponse_OK {
		t.Fatal(got)
	}
	c.send(below, "stty size\r")
	c.awaitScreen(below, "19 40")
	if got := c.size(left) + " " + c.size(right) + " " + c.size(below); got != "60x40 40x20 40x19" {
		t.Error(got)
	}
	if got := c.set(left, "grid_size", `{"width":60,"height":2}`); got != api.SetPropertyResponse_IMPOSSIBLE {
		t.Error(got)
	}
	w, tab := c.tabOf(left)
	if got := tab.GetRoot().GetLinks()[1].GetNode().GetLinks()[1].GetSession().GetFrame().GetOrigin(); got.GetX() != 0 || got.GetY() != 21*cellHeight {
		t.Errorf("the lower pane is at %v", got)
	}
	if got := c.windowProperty(w.GetWindowId(), "frame"); got != `{"origin":{"x":0,"y":0},"size":{"width":808,"height":640}}` {
		t.Errorf("the window: %s", got)
	}
	if got := c.setWindow(w.GetWindowId(), "fullscreen", "true"); got != api.SetPropertyResponse_OK || c.windowProperty(w.GetWindowId(), "fullscreen") != "true" {
		t.Errorf("fullscreen: %v", got)
	}
	if got := c.set(left, "grid_size", `{"width":50,"height":30}`); got != api.SetPropertyResponse_IMPOSSIBLE {
		t.Errorf("in a fullscreen window: %v", got)
	}
}

func TestAWindowsFrameIsSharedOutAmongItsTabs(t *testing.T) { // HOST-104
	c := newHost(t).connect()
	left := c.open("sh", "Columns", "81", "Rows", "24")
	right := c.split(left, true)
	other, _ := c.tabIn(left)
	w, _ := c.tabOf(left)
	id := w.GetWindowId()
	const frame = `{"origin":{"x":10,"y":-20},"size":{"width":971,"height":485}}`
	if got := c.setWindow(id, "frame", frame); got != api.SetPropertyResponse_OK {
		t.Fatal(got)
	}
	if got := c.size(left) + " " + c.size(right) + " " + c.size(other); got != "60x30 60x30 121x30" {
		t.Error(got)
	}
	if got := c.windowProperty(id, "frame"); got != frame {
		t.Error(got)
	}
	c.set(left, "grid_size", `{"width":10,"height":30}`)
	if got := c.windowProperty(id, "frame"); got != `{"origin":{"x":10,"y":-20},"size":{"width":568,"height":485}}` {
		t.Errorf("after its tab was resized: %s", got)
	}
	if got := c.setWindow(id, "frame", `{"origin":{"x":0,"y":0},"size":{"width":1,"height":1}}`); got != api.SetPropertyResponse_OK || c.size(left) != "2x1" {
		t.Errorf("a tiny frame: %v, %s", got, c.size(left))
	}
	for _, bad := range []string{`{`, `null`, `{"size":{"width":0,"height":1}}`, `{"origin":{"x":1e300,"y":0},"size":{"width":9,"height":9}}`, `{"size":{"width":1e9,"height":9}}`} {
		if got := c.setWindow(id, "frame", bad); got != api.SetPropertyResponse_INVALID_VALUE {
			t.Errorf("%s: %v", bad, got)
		}
	}
	if got := c.setWindow(id, "colour", `1`); got != api.SetPropertyResponse_UNRECOGNIZED_NAME {
		t.Error(got)
	}
	if got := c.setWindow("pty-none", "frame", frame); got != api.SetPropertyResponse_INVALID_TARGET {
		t.Error(got)
	}
}

func TestATabsLayoutIsSetByATreeLikeIt(t *testing.T) { // HOST-105
	c := newHost(t).connect()
	left := c.open("sh", "Columns", "81", "Rows", "25")
	right := c.split(left, true)
	below := c.split(right, false)
	_, tab := c.tabOf(left)
	set := func(root *api.SplitTreeNode) api.SetTabLayoutResponse_Status {
		return c.call(&api.SetTabLayoutRequest{TabId: tab.TabId, Root: root}).GetSetTabLayoutResponse().GetStatus()
	}
	root := tab.GetRoot()
	column := root.GetLinks()[1].GetNode()
	root.GetLinks()[0].GetSession().GridSize = &api.Size{Width: ptr(int32(50)), Height: ptr(int32(25))}
	column.GetLinks()[0].GetSession().GridSize = &api.Size{Width: ptr(int32(20)), Height: ptr(int32(20))}
	if got := set(root); got != api.SetTabLayoutResponse_OK {
		t.Fatal(got)
	}
	// The column needs 33 rows and keeps the wider one's 40 columns.
	if got := c.size(left) + " " + c.size(right) + " " + c.size(below); got != "50x33 40x20 40x12" {
		t.Error(got)
	}
	c.send(below, "stty size\r")
	c.awaitScreen(below, "12 40")

	column.GetLinks()[0].GetSession().GridSize = &api.Size{Width: ptr(int32(1)), Height: ptr(int32(20))}
	if got := set(root); got != api.SetTabLayoutResponse_INVALID_SIZE {
		t.Errorf("a column of one: %v", got)
	}
	column.GetLinks()[0].GetSession().GridSize = nil
	if got := set(root); got != api.SetTabLayoutResponse_INVALID_SIZE {
		t.Errorf("no size: %v", got)
	}
	column.Vertical = ptr(true)
	if got := set(root); got != api.SetTabLayoutResponse_WRONG_TREE {
		t.Errorf("another direction: %v", got)
	}
	deep := &api.SplitTreeNode{}
	for range 1000 {
		deep = &api.SplitTreeNode{Links: []*api.SplitTreeNode_SplitTreeLink{{Child: &api.SplitTreeNode_SplitTreeLink_Node{Node: deep}}}}
	}
	for _, wrong := range []*api.SplitTreeNode{nil, {}, deep, {Vertical: ptr(true), Links: root.GetLinks()[:1]}} {
		if got := set(wrong); got != api.SetTabLayoutResponse_WRONG_TREE {
			t.Errorf("another tree: %v", got)
		}
	}
	tab.TabId = ptr("99")
	if got := set(root); got != api.SetTabLayoutResponse_BAD_TAB_ID {
		t.Error(got)
	}
	if got := c.size(left); got != "50x33" {
		t.Errorf("after what was refused: %s", got)
	}
}

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

func TestClosingAnswersForEachInOrder(t *testing.T) { // HOST-107
	c := newHost(t).connect()
	c.subscribeTopology()
	a := c.open("sh")
	b := c.split(a, true)
	d, dTab := c.tabIn(a)
	e := c.open("sh")
	w, _ := c.tabOf(e)
	tabs := c.call(&api.CloseRequest{Target: &api.CloseRequest_Tabs{Tabs: &api.CloseRequest_CloseTabs{TabIds: []string{"99", dTab, dTab}}}, Force: ptr(true)}).GetCloseResponse().GetStatuses()
	if !slices.Equal(tabs, []api.CloseResponse_Status{api.CloseResponse_NOT_FOUND, api.CloseResponse_OK, api.CloseResponse_OK}) || strings.Contains(c.list().String(), d) {
		t.Errorf("tabs: %v", tabs)
	}
	windows := c.call(&api.CloseRequest{Target: &api.CloseRequest_Windows{Windows: &api.CloseRequest_CloseWindows{WindowIds: []string{w.GetWindowId(), "pty-x"}}}}).GetCloseResponse().GetStatuses()
	if !slices.Equal(windows, []api.CloseResponse_Status{api.CloseResponse_OK, api.CloseResponse_NOT_FOUND}) || strings.Contains(c.list().String(), e) {
		t.Errorf("windows: %v", windows)
	}
	c.set(b, "buried", "true")
	sessions := c.call(&api.CloseRequest{Target: &api.CloseRequest_Sessions{Sessions: &api.CloseRequest_CloseSessions{SessionIds: []string{b, a}}}, Force: ptr(true)}).GetCloseResponse().GetStatuses()
	if !slices.Equal(sessions, []api.CloseResponse_Status{api.CloseResponse_OK, api.CloseResponse_OK}) {
		t.Errorf("sessions: %v", sessions)
	}
	if list := c.list(); len(list.GetWindows())+len(list.GetBuriedSessions()) != 0 {
		t.Errorf("left: %v", list)
	}
	for _, id := range []string{a, b, d, e} {
		c.awaitTerminated(id)
	}
	if got := c.call(&api.CloseRequest{}).GetCloseResponse().GetStatuses(); len(got) != 0 {
		t.Errorf("nothing to close: %v", got)
	}
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

func TestManyClientsArrangeAtOnce(t *testing.T) { // HOST-102, HOST-71
	h := newHost(t)
	c := h.connect()
	first := c.open("sh", "Columns", "300", "Rows", "100")
	for range 5 {
		c.open("sh", "Columns", "200", "Rows", "80")
	}
	var wg sync.WaitGroup
	for n := range 4 {
		client, dice := h.connect(), rand.New(rand.NewPCG(7, uint64(n)))
		wg.Go(func() {
			for range 60 {
				client.arrangeSomething(dice)
			}
		})
	}
	wg.Wait()
	list := c.list()
	for _, w := range list.GetWindows() {
		for _, tab := range w.GetTabs() {
			if z := c.extentOf(tab.GetRoot()); z.Columns < 1 {
				t.Errorf("sizes that do not add up: %v", tab.GetRoot())
			}
		}
	}
	for _, s := range list.GetBuriedSessions() {
		c.set(s.GetUniqueIdentifier(), "buried", "false")
	}
	if list = c.list(); len(list.GetBuriedSessions()) != 0 {
		t.Errorf("some stay buried: %v", list.GetBuriedSessions())
	}
	if !strings.Contains(list.String(), first) {
		first = list.GetWindows()[0].GetTabs()[0].GetActiveSessionId()
	}
	c.send(first, "stty size; echo fine\r")
	c.awaitScreen(first, "fine")
}

// arrangeSomething sends one request that arranges, whatever comes of it.
func (c *apiClient) arrangeSomething(dice *rand.Rand) {
	var ids, tabs, windows []string
	for _, w := range c.list().GetWindows() {
		windows = append(windows, w.GetWindowId())
		for _, t := range w.GetTabs() {
			tabs = append(tabs, t.GetTabId())
			ids = append(ids, t.GetActiveSessionId())
		}
	}
	if len(ids) == 0 {
		c.open("sh")
		return
	}
	any := func(list []string) string { return list[dice.IntN(len(list))] }
	s := any(ids)
	switch dice.IntN(10) {
	case 0, 1, 2:
		c.call(&api.SplitPaneRequest{Session: &s, SplitDirection: api.SplitPaneRequest_SplitDirection(dice.IntN(2)).Enum(), ProfileName: ptr("sh")})
	case 3:
		c.call(&api.CloseRequest{Target: &api.CloseRequest_Sessions{Sessions: &api.CloseRequest_CloseSessions{SessionIds: []string{s}}}, Force: ptr(true)})
	case 4:
		c.set(s, "buried", "true")
	case 5:
		c.set(s, "grid_size", fmt.Sprintf(`{"width":%d,"height":%d}`, 2+dice.IntN(200), 1+dice.IntN(80)))
	case 6:
		c.setWindow(any(windows), "frame", fmt.Sprintf(`{"size":{"width":%d,"height":%d}}`, 1+dice.IntN(2000), 1+dice.IntN(2000)))
	case 7:
		c.arrange("iterm2.move_session(session: "+quote(s)+", destination: "+quote(any(ids))+", vertical: true, before: false)", "", false)
	case 8:
		c.call(&api.ReorderTabsRequest{Assignments: []*api.ReorderTabsRequest_Assignment{{WindowId: ptr(any(windows)), TabIds: []string{any(tabs)}}}})
	case 9:
		c.restart(s, false)
	}
}

// extentOf is the size of a tree as it is told, or nothing when that does not
// add up, or is not what the sessions' terminals have.
func (c *apiClient) extentOf(n *api.SplitTreeNode) Size {
	along, across := len(n.GetLinks())-1, 0
	for _, l := range n.GetLinks() {
		z := Size{int(l.GetSession().GetGridSize().GetWidth()), int(l.GetSession().GetGridSize().GetHeight())}
		if l.GetNode() != nil {
			z = c.extentOf(l.GetNode())
		} else if id := l.GetSession().GetUniqueIdentifier(); c.size(id) != fmt.Sprintf("%dx%d", z.Columns, z.Rows) {
			return Size{}
		}
		if across != 0 && across != z.along(!n.GetVertical()) {
			return Size{}
		}
		along, across = along+z.along(n.GetVertical()), z.along(!n.GetVertical())
	}
	return sized(n.GetVertical(), along, across)
}
