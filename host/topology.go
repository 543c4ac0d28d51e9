package host

import (
	"fmt"

	"termpilot/iterm/api"
)

// This file tells the layout as the API does. Frames are made up, in cells of
// a fixed size, and consistent with the sizes of the sessions.

// listSessions tells the layout. The server's lock is held.
func (h *server) listSessions() *api.ListSessionsResponse {
	out := &api.ListSessionsResponse{}
	for _, w := range h.layout.windows {
		win := &api.ListSessionsResponse_Window{
			WindowId: ptr(w.id), Number: ptr(int32(w.number)), Frame: w.bounds().message(),
		}
		if w.selected != nil {
			win.SelectedTabId = ptr(w.selected.name())
		}
		for _, t := range w.tabs {
			win.Tabs = append(win.Tabs, &api.ListSessionsResponse_Tab{
				TabId: ptr(t.name()), Root: t.root.message(), TmuxWindowId: ptr("-1"),
				ActiveSessionId: ptr(t.active.id),
			})
		}
		out.Windows = append(out.Windows, win)
	}
	for _, g := range h.layout.buried {
		out.BuriedSessions = append(out.BuriedSessions, &api.SessionSummary{
			UniqueIdentifier: ptr(g.session.id), Title: ptr(clean(g.session.shownName())),
		})
	}
	return out
}

// message tells a pane's tree: its root has a link even when it is one session.
func (p *pane) message() *api.SplitTreeNode {
	if p.session != nil {
		return &api.SplitTreeNode{Vertical: ptr(false), Links: []*api.SplitTreeNode_SplitTreeLink{p.link(0, 0)}}
	}
	n := &api.SplitTreeNode{Vertical: ptr(p.vertical)}
	x, y := 0, 0
	for _, part := range p.parts {
		n.Links = append(n.Links, part.link(x, y))
		if z := part.extent(); p.vertical {
			x += z.Columns + 1
		} else {
			y += z.Rows + 1
		}
	}
	return n
}

// link tells a pane that lies at a place, in cells, within its row or column.
func (p *pane) link(x, y int) *api.SplitTreeNode_SplitTreeLink {
	if p.session == nil {
		return &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Node{Node: p.message()}}
	}
	columns, rows := p.session.facts.size()
	return &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Session{Session: &api.SessionSummary{
		UniqueIdentifier: ptr(p.session.id),
		Frame:            rect{x * cellWidth, y * cellHeight, columns * cellWidth, rows * cellHeight}.message(),
		GridSize:         &api.Size{Width: ptr(int32(columns)), Height: ptr(int32(rows))},
		Title:            ptr(clean(p.session.shownName())),
	}}}
}

// bounds is the window's frame: the size of its tab, and what is left over of
// the frame that a client set, less than a cell.
func (w *window) bounds() rect {
	if w.selected == nil {
		return w.frame
	}
	b, z := w.frame, w.selected.root.extent()
	if b.width/cellWidth != z.Columns {
		b.width = z.Columns * cellWidth
	}
	if b.height/cellHeight != z.Rows {
		b.height = z.Rows * cellHeight
	}
	return b
}

// reshape gives all tabs of a window the cells that a frame has room for.
func (w *window) reshape(frame rect) {
	w.frame = frame
	for _, t := range w.tabs {
		t.root.fit(Size{frame.width / cellWidth, frame.height / cellHeight})
	}
}

func (r rect) message() *api.Frame {
	return &api.Frame{
		Origin: &api.Point{X: ptr(int32(r.x)), Y: ptr(int32(r.y))},
		Size:   &api.Size{Width: ptr(int32(r.width)), Height: ptr(int32(r.height))},
	}
}

// tellLayout tells the whole layout. The server's lock is held.
func (h *server) tellLayout() {
	h.hub.publish(general(api.NotificationType_NOTIFY_ON_LAYOUT_CHANGE), func() *api.Notification {
		return &api.Notification{LayoutChangedNotification: &api.LayoutChangedNotification{
			ListSessionsResponse: h.listSessions(),
		}}
	})
}

// focusState is who has the focus, for finding out what changed.
type focusState struct {
	key      string
	selected map[string]string // window → tab
	active   map[string]string // tab → session
}

// focusNow is the present focus. The server's lock is held.
func (h *server) focusNow() focusState {
	f := focusState{selected: map[string]string{}, active: map[string]string{}}
	if h.layout.key != nil {
		f.key = h.layout.key.id
	}
	for _, w := range h.layout.windows {
		if w.selected != nil {
			f.selected[w.id] = w.selected.name()
		}
		for _, t := range w.tabs {
			f.active[t.name()] = t.active.id
		}
	}
	return f
}

// tellFocus tells what changed of the focus since it was last told, after the
// layout. The server's lock is held.
func (h *server) tellFocus() {
	before, now := h.layout.told, h.focusNow()
	h.layout.told = now
	tell := func(n *api.FocusChangedNotification) {
		h.hub.publish(general(api.NotificationType_NOTIFY_ON_FOCUS_CHANGE), func() *api.Notification {
			return &api.Notification{FocusChangedNotification: n}
		})
	}
	if now.key != before.key {
		tell(windowFocus(now.key))
	}
	for _, w := range h.layout.windows {
		if id := now.selected[w.id]; id != before.selected[w.id] {
			tell(&api.FocusChangedNotification{Event: &api.FocusChangedNotification_SelectedTab{SelectedTab: id}})
		}
		for _, t := range w.tabs {
			if id := now.active[t.name()]; id != before.active[t.name()] {
				tell(&api.FocusChangedNotification{Event: &api.FocusChangedNotification_Session{Session: id}})
			}
		}
	}
}

func windowFocus(id string) *api.FocusChangedNotification {
	w := &api.FocusChangedNotification_Window{
		WindowStatus: api.FocusChangedNotification_Window_TERMINAL_WINDOW_BECAME_KEY.Enum(), WindowId: ptr(id),
	}
	if id == "" {
		w.WindowStatus = api.FocusChangedNotification_Window_TERMINAL_WINDOW_RESIGNED_KEY.Enum()
		w.WindowId = nil
	}
	return &api.FocusChangedNotification{Event: &api.FocusChangedNotification_Window_{Window: w}}
}

// focusList answers Focus: the application, the window, then for each window
// its tab and the active session of each of its tabs.
func (h *server) focusList() *api.FocusResponse {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := ""
	if h.layout.key != nil {
		key = h.layout.key.id
	}
	list := []*api.FocusChangedNotification{
		{Event: &api.FocusChangedNotification_ApplicationActive{ApplicationActive: h.layout.active}},
		windowFocus(key),
	}
	for _, w := range h.layout.windows {
		if w.selected != nil {
			list = append(list, &api.FocusChangedNotification{
				Event: &api.FocusChangedNotification_SelectedTab{SelectedTab: w.selected.name()},
			})
		}
		for _, t := range w.tabs {
			list = append(list, &api.FocusChangedNotification{
				Event: &api.FocusChangedNotification_Session{Session: t.active.id},
			})
		}
	}
	return &api.FocusResponse{Notifications: list}
}

// termid is the session's place and id: w0t1p0.GUID.
func (h *server) termid(s *session) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.layout.inTab[s]
	if !ok {
		return ""
	}
	tabAt, paneAt, n := 0, 0, 0
	for i, other := range t.window.tabs {
		if other == t {
			tabAt = i
		}
	}
	t.root.each(func(x *session) {
		if x == s {
			paneAt = n
		}
		n++
	})
	return fmt.Sprintf("w%dt%dp%d.%s", t.window.number, tabAt, paneAt, s.id)
}
