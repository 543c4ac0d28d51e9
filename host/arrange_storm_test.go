package host

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"termpilot/iterm/api"
)

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
