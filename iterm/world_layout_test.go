package iterm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

// This file is the world's windows, tabs, panes and focus. The lock is held in
// all of it.

func (s *worldSession) summary() *api.SessionSummary {
	x := &api.SessionSummary{UniqueIdentifier: proto.String(s.id), Title: proto.String("summary")}
	if s.columns > 0 {
		x.GridSize = &api.Size{Width: proto.Int32(s.columns), Height: proto.Int32(s.rows)}
	}
	return x
}

// layout groups the sessions by window and tab, in the order of their first.
func (w *world) layout() *api.ListSessionsResponse {
	r := &api.ListSessionsResponse{}
	windows := map[string]*api.ListSessionsResponse_Window{}
	tabs := map[int]*api.ListSessionsResponse_Tab{}
	for _, s := range w.sessions {
		switch {
		case s.late:
			continue
		case s.buried:
			r.BuriedSessions = append(r.BuriedSessions, &api.SessionSummary{UniqueIdentifier: proto.String(s.id), Title: proto.String("summary")})
			continue
		}
		if windows[s.window] == nil {
			windows[s.window] = &api.ListSessionsResponse_Window{WindowId: proto.String(s.window)}
			r.Windows = append(r.Windows, windows[s.window])
		}
		if tabs[s.tab] == nil {
			tmux := "-1"
			if w.tmux[s.tab] {
				tmux = "3"
			}
			tabs[s.tab] = &api.ListSessionsResponse_Tab{
				TabId: proto.String(fmt.Sprint(s.tab)), TmuxWindowId: proto.String(tmux),
				Root: &api.SplitTreeNode{Vertical: proto.Bool(!w.stacked[s.tab])},
			}
			windows[s.window].Tabs = append(windows[s.window].Tabs, tabs[s.tab])
		}
		t := tabs[s.tab]
		if s.minimized {
			t.MinimizedSessions = append(t.MinimizedSessions, s.summary())
			continue
		}
		t.Root.Links = append(t.Root.Links, &api.SplitTreeNode_SplitTreeLink{
			Child: &api.SplitTreeNode_SplitTreeLink_Session{Session: s.summary()},
		})
	}
	return r
}

// tabsOf lists a window's tabs.
func (w *world) tabsOf(window string) []int {
	var list []int
	for _, s := range w.sessions {
		if s.window == window && !s.buried && !slices.Contains(list, s.tab) {
			list = append(list, s.tab)
		}
	}
	return list
}

func (w *world) windows() []string {
	var list []string
	for _, s := range w.sessions {
		if !s.buried && !slices.Contains(list, s.window) {
			list = append(list, s.window)
		}
	}
	return list
}

// activeOf is the active session of a tab: the one that was activated, or its first.
func (w *world) activeOf(tab int) string {
	first := ""
	for _, s := range w.sessions {
		if s.tab == tab && !s.buried {
			if w.active[tab] == s.id {
				return s.id
			}
			if first == "" {
				first = s.id
			}
		}
	}
	return first
}

func (w *world) selectedOf(window string) int {
	tabs := w.tabsOf(window)
	if slices.Contains(tabs, w.selected[window]) || len(tabs) == 0 {
		return w.selected[window]
	}
	return tabs[0]
}

// focusOn gives a session the focus, as far as told.
func (w *world) focusOn(s *worldSession, front, tab, session bool) {
	if session {
		w.active[s.tab] = s.id
	}
	if tab {
		w.selected[s.window] = s.tab
	}
	if front {
		w.key = s.window
	}
}

// focused is the answer to Focus: for each window its selected tab, followed by
// the active session of each of its tabs.
func (w *world) focused() *api.FocusResponse {
	r := &api.FocusResponse{Notifications: []*api.FocusChangedNotification{
		{Event: &api.FocusChangedNotification_ApplicationActive{ApplicationActive: w.key != ""}},
		{Event: &api.FocusChangedNotification_Window_{Window: &api.FocusChangedNotification_Window{
			WindowStatus: api.FocusChangedNotification_Window_TERMINAL_WINDOW_RESIGNED_KEY.Enum(),
		}}},
	}}
	if w.key != "" {
		r.Notifications[1] = &api.FocusChangedNotification{
			Event: &api.FocusChangedNotification_Window_{Window: &api.FocusChangedNotification_Window{WindowId: proto.String(w.key)}},
		}
	}
	for _, window := range w.windows() {
		r.Notifications = append(r.Notifications, &api.FocusChangedNotification{
			Event: &api.FocusChangedNotification_SelectedTab{SelectedTab: fmt.Sprint(w.selectedOf(window))},
		})
		for _, tab := range w.tabsOf(window) {
			r.Notifications = append(r.Notifications, &api.FocusChangedNotification{
				Event: &api.FocusChangedNotification_Session{Session: w.activeOf(tab)},
			})
		}
	}
	return r
}

// tell says what changed, unless the world keeps it to itself.
func (w *world) tell(list ...*api.Notification) {
	if !w.mute {
		w.told = append(w.told, list...)
	}
}

func (w *world) tellLayout() {
	w.tell(&api.Notification{LayoutChangedNotification: &api.LayoutChangedNotification{ListSessionsResponse: w.layout()}})
}

func (w *world) tellFocus() {
	for _, n := range w.focused().GetNotifications() {
		w.tell(&api.Notification{FocusChangedNotification: n})
	}
}

func (w *world) activate(q *api.ActivateRequest) *api.ActivateResponse {
	s := w.find(q.GetSessionId())
	if s == nil {
		return &api.ActivateResponse{Status: api.ActivateResponse_BAD_IDENTIFIER.Enum()}
	}
	if s.buried {
		s.buried = false
		w.tellLayout()
	}
	w.focusOn(s, q.GetOrderWindowFront(), q.GetSelectTab(), q.GetSelectSession())
	w.tellFocus()
	return &api.ActivateResponse{}
}

func (w *world) createTab(q *api.CreateTabRequest) *api.CreateTabResponse {
	if q.WindowId != nil && !slices.Contains(w.windows(), q.GetWindowId()) {
		return &api.CreateTabResponse{Status: api.CreateTabResponse_INVALID_WINDOW_ID.Enum()}
	}
	s := w.add()
	if q.WindowId != nil {
		s.window = q.GetWindowId()
	}
	if q.GetSelectTab() || w.old {
		w.focusOn(s, true, true, true)
	}
	w.tell(created(s.id))
	w.tellLayout()
	w.tellFocus()
	return &api.CreateTabResponse{WindowId: proto.String(s.window), TabId: proto.Int32(int32(s.tab)), SessionId: proto.String(s.id)}
}

func (w *world) splitPane(q *api.SplitPaneRequest) *api.SplitPaneResponse {
	beside := w.find(q.GetSession())
	if beside == nil || beside.buried {
		return &api.SplitPaneResponse{Status: api.SplitPaneResponse_SESSION_NOT_FOUND.Enum()}
	}
	s := w.add()
	s.window, s.tab = beside.window, beside.tab
	w.stacked[s.tab] = q.GetSplitDirection() == api.SplitPaneRequest_HORIZONTAL
	i := slices.Index(w.sessions, beside)
	if !q.GetBefore() {
		i++
	}
	w.sessions = slices.Insert(w.sessions[:len(w.sessions)-1], i, s)
	if w.stacked[s.tab] {
		s.rows, beside.rows = beside.rows/2, beside.rows-beside.rows/2
	} else {
		s.columns, beside.columns = beside.columns/2, beside.columns-beside.columns/2
	}
	w.focusOn(s, false, false, true)
	w.tell(created(s.id))
	w.tellLayout()
	w.tellFocus()
	if w.tmux[s.tab] {
		return &api.SplitPaneResponse{}
	}
	return &api.SplitPaneResponse{SessionId: []string{s.id}}
}

func (w *world) close(q *api.CloseRequest) *api.CloseResponse {
	var of func(*worldSession) bool
	switch t := q.GetTarget().(type) {
	case *api.CloseRequest_Sessions:
		of = func(s *worldSession) bool { return slices.Contains(t.Sessions.GetSessionIds(), s.id) }
	case *api.CloseRequest_Tabs:
		of = func(s *worldSession) bool { return slices.Contains(t.Tabs.GetTabIds(), strconv.Itoa(s.tab)) }
	case *api.CloseRequest_Windows:
		of = func(s *worldSession) bool { return slices.Contains(t.Windows.GetWindowIds(), s.window) }
	}
	r := &api.CloseResponse{Statuses: []api.CloseResponse_Status{api.CloseResponse_NOT_FOUND}}
	w.sessions = slices.DeleteFunc(w.sessions, func(s *worldSession) bool {
		if of(s) {
			r.Statuses[0] = api.CloseResponse_OK
			w.tell(terminated(s.id))
		}
		return of(s)
	})
	w.tellLayout()
	return r
}

// setProperty knows grid_size: the size of a session that is alone in its tab.
func (w *world) setProperty(q *api.SetPropertyRequest) *api.SetPropertyResponse {
	s := w.find(q.GetSessionId())
	if s == nil {
		return &api.SetPropertyResponse{Status: api.SetPropertyResponse_INVALID_TARGET.Enum()}
	}
	var size struct{ Width, Height int32 }
	if q.GetName() != "grid_size" || json.Unmarshal([]byte(q.GetJsonValue()), &size) != nil {
		return &api.SetPropertyResponse{Status: api.SetPropertyResponse_UNRECOGNIZED_NAME.Enum()}
	}
	if w.refuseSize != 0 {
		return &api.SetPropertyResponse{Status: w.refuseSize.Enum()}
	}
	s.columns, s.rows = min(size.Width, w.widest), size.Height
	w.tellLayout()
	return &api.SetPropertyResponse{}
}

// setTabLayout takes the sizes of a tree of the same shape, if they fit.
func (w *world) setTabLayout(q *api.SetTabLayoutRequest) *api.SetTabLayoutResponse {
	var panes []*worldSession
	for _, s := range w.sessions {
		if strconv.Itoa(s.tab) == q.GetTabId() && !s.buried && !s.minimized {
			panes = append(panes, s)
		}
	}
	if len(panes) == 0 {
		return &api.SetTabLayoutResponse{Status: api.SetTabLayoutResponse_BAD_TAB_ID.Enum()}
	}
	var want []*api.SessionSummary
	eachSession(q.GetRoot(), 0, func(x *api.SessionSummary) { want = append(want, x) })
	if len(want) != len(panes) || q.GetRoot().GetVertical() == w.stacked[panes[0].tab] {
		return &api.SetTabLayoutResponse{Status: api.SetTabLayoutResponse_WRONG_TREE.Enum()}
	}
	for i, s := range panes {
		s.columns, s.rows = want[i].GetGridSize().GetWidth(), want[i].GetGridSize().GetHeight()
	}
	w.tellLayout()
	return &api.SetTabLayoutResponse{}
}
