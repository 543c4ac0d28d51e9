package host

import (
	"strings"
	"testing"

	"termpilot/iterm/api"
)

func (c *apiClient) menu(identifier string, query bool) *api.MenuItemResponse {
	c.t.Helper()
	r := c.call(&api.MenuItemRequest{Identifier: &identifier, QueryOnly: &query})
	if r.GetError() != "" {
		c.t.Fatalf("%s: %s", identifier, r.GetError())
	}
	return r.GetMenuItemResponse()
}

func TestMenuItemsDoWhatTheySay(t *testing.T) { // HOST-120
	c := newHost(t).connect()
	c.subscribeTopology()
	does := func(identifier string) {
		t.Helper()
		if got := c.menu(identifier, false); got.GetStatus() != api.MenuItemResponse_OK {
			t.Fatalf("%s: %v", identifier, got)
		}
	}
	for _, none := range []string{"", "Quit iTerm2", "Hide iTerm2", "About iTerm2", "new window"} {
		if got := c.menu(none, false).GetStatus(); got != api.MenuItemResponse_BAD_IDENTIFIER {
			t.Errorf("%q: %v", none, got)
		}
	}
	for identifier := range menu { // what there is nothing for is disabled, and does nothing
		if q := c.menu(identifier, true); q.GetEnabled() != strings.HasPrefix(identifier, "New ") && !strings.Contains(identifier, "Current Profile") {
			t.Errorf("%s in an empty host: %v", identifier, q)
		} else if !q.GetEnabled() && c.menu(identifier, false).GetStatus() != api.MenuItemResponse_DISABLED {
			t.Errorf("%s was done", identifier)
		}
	}
	does("New Window")
	first := c.focused()
	does("Split Vertically with Current Profile")
	right := c.focused()
	does("Split Horizontally with Current Profile")
	below := c.focused()
	if got := c.size(first) + " " + c.size(right) + " " + c.size(below); got != "40x24 39x12 39x11" {
		t.Errorf("sizes: %s", got)
	}
	for _, step := range []struct{ item, want string }{
		{"Select Split Pane.Select Pane Above", right},
		{"Select Split Pane.Select Pane Left", first},
		{"Select Split Pane.Next Pane", right},
		{"Select Split Pane.Previous Pane", first},
		{"Select Split Pane.Previous Pane", below},
	} {
		does(step.item)
		if got := c.focused(); got != step.want {
			t.Errorf("%s: %s", step.item, got)
		}
	}
	does("New Tab")
	second := c.focused()
	if w, _ := c.tabOf(second); len(w.GetTabs()) != 2 || c.size(second) != "80x24" {
		t.Errorf("a new tab: %v, %s", w, c.size(second))
	}
	does("Move Tab Left")
	if w, _ := c.tabOf(second); w.GetTabs()[0].GetActiveSessionId() != second || c.menu("Move Tab Left", true).GetEnabled() {
		t.Errorf("moved: %v", w)
	}
	does("Select Next Tab")
	if got := c.focused(); got != below {
		t.Errorf("the next tab: %s", got)
	}
	if c.menu("Toggle Full Screen", true).GetChecked() {
		t.Error("it is full screen")
	}
	does("Toggle Full Screen")
	if !c.menu("Toggle Full Screen", true).GetChecked() {
		t.Error("it is not full screen")
	}
	does("Bury Session")
	if got := c.list().GetBuriedSessions(); len(got) != 1 || got[0].GetUniqueIdentifier() != below {
		t.Errorf("buried: %v", got)
	}
	does("Move Tab to New Window")
	if got := c.list().GetWindows(); len(got) != 2 || c.focused() != first {
		t.Errorf("windows: %v", got)
	}
	does("Restart Session")
	c.awaitTerminated(first)
	does("Close")
	does("Close Terminal Window")
	if got := c.focused(); got != second {
		t.Errorf("what is left: %s", got)
	}
	does("Close All Panes in Tab")
	if got := c.list().GetWindows(); len(got) != 0 {
		t.Errorf("windows: %v", got)
	}
}
