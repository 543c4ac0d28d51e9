package host

import (
	"termpilot/iterm/api"
)

func listSessions(c *client, _ *api.ListSessionsRequest) (*api.ListSessionsResponse, error) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	return c.host.listSessions(), nil
}

func focus(c *client, _ *api.FocusRequest) (*api.FocusResponse, error) {
	return c.host.focusList(), nil
}

func getBroadcastDomains(c *client, _ *api.GetBroadcastDomainsRequest) (*api.GetBroadcastDomainsResponse, error) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	return &api.GetBroadcastDomainsResponse{BroadcastDomains: c.host.domains()}, nil
}

func setBroadcastDomains(c *client, in *api.SetBroadcastDomainsRequest) (*api.SetBroadcastDomainsResponse, error) {
	var domains [][]string
	for _, d := range in.GetBroadcastDomains() {
		domains = append(domains, d.GetSessionIds())
	}
	return &api.SetBroadcastDomainsResponse{Status: c.host.setBroadcasts(domains).Enum()}, nil
}

// transaction begins or ends the client's hold on everything else.
func transaction(c *client, in *api.TransactionRequest) (*api.TransactionResponse, error) {
	status := api.TransactionResponse_OK
	switch {
	case in.GetBegin() && !c.host.frozen.begin(c):
		status = api.TransactionResponse_ALREADY_IN_TRANSACTION
	case !in.GetBegin() && !c.host.frozen.end(c):
		status = api.TransactionResponse_NO_TRANSACTION
	}
	return &api.TransactionResponse{Status: status.Enum()}, nil
}

// activate moves the focus in the model: there is no window to raise. A buried
// session comes back first.
func activate(c *client, in *api.ActivateRequest) (*api.ActivateResponse, error) {
	h, status, buried := c.host, api.ActivateResponse_OK, false
	activate := func(l *layout) bool {
		status = h.activateIn(l, in)
		return status == api.ActivateResponse_OK
	}
	h.refocus(func(l *layout) bool {
		buried = l.grave(h.sessions[in.GetSessionId()]) != nil
		return !buried && activate(l)
	})
	if buried {
		h.arrange(activate)
	}
	return &api.ActivateResponse{Status: status.Enum()}, nil
}

func (h *server) activateIn(l *layout, in *api.ActivateRequest) api.ActivateResponse_Status {
	var w *window
	var t *tab
	var s *session
	switch id := in.GetIdentifier().(type) {
	case *api.ActivateRequest_WindowId:
		w = l.bySerial[id.WindowId]
	case *api.ActivateRequest_TabId:
		t = l.tab(id.TabId)
	case *api.ActivateRequest_SessionId:
		s = h.sessions[id.SessionId]
	}
	wants := in.GetOrderWindowFront() || in.GetSelectTab() || in.GetSelectSession()
	switch {
	case in.GetIdentifier() != nil && w == nil && t == nil && s == nil:
		return api.ActivateResponse_BAD_IDENTIFIER
	case in.GetSelectSession() && s == nil, in.GetSelectTab() && s == nil && t == nil, wants && in.GetIdentifier() == nil:
		return api.ActivateResponse_INVALID_OPTION
	}
	if s != nil {
		l.restore(s)
		t = l.inTab[s]
	}
	if t != nil {
		w = t.window
	}
	if in.GetSelectSession() {
		t.active = s
	}
	if in.GetSelectTab() {
		w.selected = t
	}
	if in.GetOrderWindowFront() {
		l.key = w
	}
	if in.GetActivateApp() != nil {
		l.active = true
	}
	return api.ActivateResponse_OK
}

// setTabLayout gives the sessions of a tab the sizes in a tree like the tab's
// own. What does not add up gives way: panes of a row get the height of the
// highest, and the tab becomes as large as its parts need.
func setTabLayout(c *client, in *api.SetTabLayoutRequest) (*api.SetTabLayoutResponse, error) {
	status := api.SetTabLayoutResponse_OK
	c.host.arrange(func(l *layout) bool {
		t := l.tab(in.GetTabId())
		if t == nil {
			status = api.SetTabLayoutResponse_BAD_TAB_ID
			return false
		}
		next := t.root.clone()
		if status = next.shape(rootOf(in.GetRoot())); status != api.SetTabLayoutResponse_OK {
			return false
		}
		t.root = next
		next.mend()
		return true
	})
	return &api.SetTabLayoutResponse{Status: status.Enum()}, nil
}

// rootOf is the tree itself: a root may hold a single link.
func rootOf(n *api.SplitTreeNode) *api.SplitTreeNode_SplitTreeLink {
	if len(n.GetLinks()) == 1 {
		return n.GetLinks()[0]
	}
	return &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Node{Node: n}}
}

// shape takes over the sizes of a tree that has the same nodes and sessions.
func (p *pane) shape(link *api.SplitTreeNode_SplitTreeLink) api.SetTabLayoutResponse_Status {
	n := link.GetNode()
	if p.session != nil {
		told := link.GetSession()
		if told == nil || told.GetUniqueIdentifier() != p.session.id {
			return api.SetTabLayoutResponse_WRONG_TREE
		}
		z := Size{int(told.GetGridSize().GetWidth()), int(told.GetGridSize().GetHeight())}
		if z != z.within(Size{minColumns, minRows}, Size{maxColumns, maxRows}) {
			return api.SetTabLayoutResponse_INVALID_SIZE
		}
		p.size = z
		return api.SetTabLayoutResponse_OK
	}
	if n == nil || n.GetVertical() != p.vertical || len(n.GetLinks()) != len(p.parts) {
		return api.SetTabLayoutResponse_WRONG_TREE
	}
	for i, part := range p.parts {
		if status := part.shape(n.GetLinks()[i]); status != api.SetTabLayoutResponse_OK {
			return status
		}
	}
	return api.SetTabLayoutResponse_OK
}

// reorderTabs puts tabs first in their windows, in the order given, wherever
// they were; windows that lose all theirs close. All is checked before anything moves.
func reorderTabs(c *client, in *api.ReorderTabsRequest) (*api.ReorderTabsResponse, error) {
	status := api.ReorderTabsResponse_OK
	c.host.arrange(func(l *layout) bool {
		status = reorderIn(l, in.GetAssignments())
		return status == api.ReorderTabsResponse_OK
	})
	return &api.ReorderTabsResponse{Status: status.Enum()}, nil
}

func reorderIn(l *layout, list []*api.ReorderTabsRequest_Assignment) api.ReorderTabsResponse_Status {
	tabs, windows := map[*tab]bool{}, map[*window]bool{}
	for _, a := range list {
		w := l.bySerial[a.GetWindowId()]
		if w == nil {
			return api.ReorderTabsResponse_INVALID_WINDOW_ID
		}
		if windows[w] {
			return api.ReorderTabsResponse_INVALID_ASSIGNMENT
		}
		windows[w] = true
		for _, id := range a.GetTabIds() {
			t := l.tab(id)
			if t == nil {
				return api.ReorderTabsResponse_INVALID_TAB_ID
			}
			if tabs[t] {
				return api.ReorderTabsResponse_INVALID_ASSIGNMENT
			}
			tabs[t] = true
		}
	}
	var moves []move
	for _, a := range list {
		m := move{to: l.bySerial[a.GetWindowId()]}
		for _, id := range a.GetTabIds() {
			m.tabs = append(m.tabs, l.tab(id))
		}
		moves = append(moves, m)
	}
	l.reorder(moves)
	return api.ReorderTabsResponse_OK
}
