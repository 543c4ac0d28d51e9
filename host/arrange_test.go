package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
