package host

import (
	"encoding/json"
	"strconv"
	"sync"

	"termpilot/fault"
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

// customize reads the profile properties that a client sets for one session.
// Those that mean nothing here are ignored, as by the API's own server; a
// value that is not JSON of the right type is an error.
func customize(r *request, properties []*api.ProfileProperty) error {
	values := map[string]json.RawMessage{}
	for _, p := range properties {
		if !json.Valid([]byte(p.GetJsonValue())) {
			return malformed(p.GetKey())
		}
		values[p.GetKey()] = json.RawMessage(p.GetJsonValue())
	}
	read := func(key string, into any) error {
		value, ok := values[key]
		if !ok {
			return nil
		}
		if err := json.Unmarshal(value, into); err != nil {
			return malformed(key)
		}
		return nil
	}
	var custom, command, customDir, dir string
	for key, into := range map[string]any{
		"Custom Command": &custom, "Command": &command, "Custom Directory": &customDir, "Working Directory": &dir,
		"Rows": &r.rows, "Columns": &r.columns, "Scrollback Lines": &r.scrollback, "Name": &r.name,
		"Termpilot Environment": &r.env, "Termpilot Shell Command": &r.shellLine,
	} {
		if err := read(key, into); err != nil {
			return err
		}
	}
	if custom == "Yes" && command != "" {
		words, err := splitWords(command)
		if err != nil {
			return err
		}
		r.command = words
	}
	if dir != "" && customDir != "No" {
		r.dir = dir
	}
	return r.check()
}

func malformed(key string) error {
	return &fault.Error{
		Op: "open", Code: fault.InvalidArgument, Detail: "malformed value of the profile property " + strconv.Quote(key),
		Hint: "give the value as JSON of the property's type",
	}
}

func createTab(c *client, in *api.CreateTabRequest) (*api.CreateTabResponse, error) {
	h := c.host
	failed := func(status api.CreateTabResponse_Status) (*api.CreateTabResponse, error) {
		return &api.CreateTabResponse{Status: status.Enum()}, nil
	}
	p, ok := findProfile(h.env, in.GetProfileName())
	if !ok {
		return failed(api.CreateTabResponse_INVALID_PROFILE_NAME)
	}
	r := request{profile: p, window: in.GetWindowId(), index: -1, focus: in.SelectTab == nil || in.GetSelectTab()}
	if err := customize(&r, in.GetCustomProfileProperties()); err != nil {
		return nil, err
	}
	status := api.CreateTabResponse_OK
	if r.window != "" {
		h.mu.Lock()
		w := h.layout.bySerial[r.window]
		tabs := 0
		if w != nil {
			tabs = len(w.tabs)
		}
		h.mu.Unlock()
		if w == nil {
			return failed(api.CreateTabResponse_INVALID_WINDOW_ID)
		}
		if in.TabIndex != nil {
			r.index = int(in.GetTabIndex())
			if r.index >= tabs {
				status = api.CreateTabResponse_INVALID_TAB_INDEX // the tab is made all the same
			}
		}
	}
	s, err := h.open(r)
	if fault.CodeOf(err) == fault.WindowNotFound {
		return failed(api.CreateTabResponse_INVALID_WINDOW_ID)
	}
	if err != nil {
		return nil, err
	}
	window, tab := h.placeOf(s)
	return &api.CreateTabResponse{
		Status: status.Enum(), WindowId: ptr(window), TabId: ptr(int32(tab)), SessionId: ptr(s.id),
	}, nil
}

// placeOf tells where a session is, or was: it may have ended already.
func (h *server) placeOf(s *session) (window string, tab int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.placed.window, s.placed.tab
}

func splitPane(c *client, in *api.SplitPaneRequest) (*api.SplitPaneResponse, error) {
	h := c.host
	failed := func(status api.SplitPaneResponse_Status) (*api.SplitPaneResponse, error) {
		return &api.SplitPaneResponse{Status: status.Enum()}, nil
	}
	beside, ok := h.live(in.GetSession())
	if !ok {
		return failed(api.SplitPaneResponse_SESSION_NOT_FOUND)
	}
	p, ok := findProfile(h.env, in.GetProfileName())
	if !ok {
		return failed(api.SplitPaneResponse_INVALID_PROFILE_NAME)
	}
	r := request{
		profile: p, beside: beside, before: in.GetBefore(),
		vertical: in.GetSplitDirection() == api.SplitPaneRequest_VERTICAL,
	}
	if err := customize(&r, in.GetCustomProfileProperties()); err != nil {
		return failed(api.SplitPaneResponse_MALFORMED_CUSTOM_PROFILE_PROPERTY)
	}
	columns, rows := beside.facts.size()
	left, right := columns, columns
	top, bottom := rows, rows
	if r.vertical {
		left, right = columns/2, columns-columns/2-1 // a column goes to the divider
	} else {
		top, bottom = rows/2, rows-rows/2-1
	}
	if min(left, right) < 2 || min(top, bottom) < 1 {
		return failed(api.SplitPaneResponse_CANNOT_SPLIT)
	}
	if r.columns == 0 {
		r.columns = right
	}
	if r.rows == 0 {
		r.rows = bottom
	}
	s, err := h.open(r)
	if fault.CodeOf(err) == fault.SessionNotFound {
		return failed(api.SplitPaneResponse_SESSION_NOT_FOUND)
	}
	if err != nil {
		return nil, err
	}
	if err := beside.resize(left, top); err == nil {
		h.mu.Lock()
		h.tellLayout()
		h.mu.Unlock()
	}
	return &api.SplitPaneResponse{Status: api.SplitPaneResponse_OK.Enum(), SessionId: []string{s.id}}, nil
}

// closeThings closes sessions, tabs or windows. There is nobody to ask, so
// nothing is declined; force only shortens the patience. It answers when what
// was closed is gone.
func closeThings(c *client, in *api.CloseRequest) (*api.CloseResponse, error) {
	h := c.host
	var ids []string
	var find func(id string) []*session
	switch {
	case in.GetSessions() != nil:
		ids, find = in.GetSessions().GetSessionIds(), h.sessionNamed
	case in.GetTabs() != nil:
		ids, find = in.GetTabs().GetTabIds(), h.sessionsOfTab
	case in.GetWindows() != nil:
		ids, find = in.GetWindows().GetWindowIds(), h.sessionsOfWindow
	}
	out := &api.CloseResponse{}
	var wg sync.WaitGroup
	for _, id := range ids {
		list := find(id)
		if len(list) == 0 {
			out.Statuses = append(out.Statuses, api.CloseResponse_NOT_FOUND)
			continue
		}
		out.Statuses = append(out.Statuses, api.CloseResponse_OK)
		for _, s := range list {
			wg.Go(func() { s.close(in.GetForce()) })
		}
	}
	wg.Wait()
	return out, nil
}

func (h *server) sessionNamed(id string) []*session {
	if s, ok := h.live(id); ok {
		return []*session{s}
	}
	return nil
}

func (h *server) sessionsOfTab(id string) []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.layout.tab(id)
	if t == nil {
		return nil
	}
	return t.sessions()
}

func (h *server) sessionsOfWindow(id string) []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.layout.bySerial[id]
	if w == nil {
		return nil
	}
	var list []*session
	for _, t := range w.tabs {
		list = append(list, t.sessions()...)
	}
	return list
}

func (t *tab) sessions() (list []*session) {
	t.root.each(func(s *session) { list = append(list, s) })
	return list
}

// activate moves the focus in the model: there is no window to raise.
func activate(c *client, in *api.ActivateRequest) (*api.ActivateResponse, error) {
	h := c.host
	answer := func(status api.ActivateResponse_Status) (*api.ActivateResponse, error) {
		return &api.ActivateResponse{Status: status.Enum()}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var w *window
	var t *tab
	var s *session
	switch id := in.GetIdentifier().(type) {
	case *api.ActivateRequest_WindowId:
		w = h.layout.bySerial[id.WindowId]
	case *api.ActivateRequest_TabId:
		t = h.layout.tab(id.TabId)
	case *api.ActivateRequest_SessionId:
		if s = h.sessions[id.SessionId]; s != nil {
			t = h.layout.inTab[s]
		}
	}
	if t != nil {
		w = t.window
	}
	if in.GetIdentifier() != nil && w == nil {
		return answer(api.ActivateResponse_BAD_IDENTIFIER)
	}
	if in.GetSelectTab() && t == nil || in.GetSelectSession() && s == nil || in.GetOrderWindowFront() && w == nil {
		return answer(api.ActivateResponse_INVALID_OPTION)
	}
	before := h.focusNow()
	if in.GetSelectSession() {
		t.active = s
	}
	if in.GetSelectTab() {
		w.selected = t
	}
	if in.GetOrderWindowFront() {
		h.layout.key = w
	}
	h.tellFocus(before)
	return answer(api.ActivateResponse_OK)
}
