package host

import (
	"slices"

	"termpilot/iterm/api"
)

// menuEntry is a menu item that means something without a menu. It acts on the
// session in focus, which do gets.
type menuEntry struct {
	enabled func(*layout) bool // the server's lock is held
	checked func(*server) bool // likewise; nil is never
	do      func(*server, *session) error
}

// menu are the items by their identifiers. What the API's own server has and
// is not here would show something, ask somebody or end the host.
var menu map[string]menuEntry

func init() {
	always := func(*layout) bool { return true }
	some := func(l *layout) bool { return l.current() != nil }
	menu = map[string]menuEntry{
		"New Window": {enabled: always, do: func(h *server, _ *session) error { return h.openLike(nil, request{}) }},
		"New Tab": {enabled: always, do: func(h *server, s *session) error {
			return h.openLike(nil, request{window: h.windowOf(s)})
		}},
		"New Window with Current Profile": {enabled: some, do: func(h *server, s *session) error { return h.openLike(s, request{}) }},
		"New Tab with Current Profile": {enabled: some, do: func(h *server, s *session) error {
			return h.openLike(s, request{window: h.windowOf(s)})
		}},
		"Split Vertically with Current Profile":   {enabled: divisible(true), do: divideCurrent(true)},
		"Split Horizontally with Current Profile": {enabled: divisible(false), do: divideCurrent(false)},
		"Close": {enabled: some, do: func(h *server, s *session) error {
			h.closeSessions([]*session{s}, false)
			return nil
		}},
		"Close All Panes in Tab": {enabled: some, do: func(h *server, s *session) error {
			h.closeSessions(h.besideIn(s, func(t *tab) []*tab { return []*tab{t} }), false)
			return nil
		}},
		"Close Terminal Window": {enabled: some, do: func(h *server, s *session) error {
			h.closeSessions(h.besideIn(s, func(t *tab) []*tab { return t.window.tabs }), false)
			return nil
		}},
		"Restart Session": {enabled: some, do: (*server).restart},
		"Bury Session": {enabled: some, do: func(h *server, s *session) error {
			h.setBuried(s, true)
			return nil
		}},
		"Select Next Tab":     onTab(manyTabs, func(_ *layout, t *tab) { t.window.step(1) }),
		"Select Previous Tab": onTab(manyTabs, func(_ *layout, t *tab) { t.window.step(-1) }),
		"Move Tab Left": onTab(func(t *tab) bool { return t.index() > 0 }, func(l *layout, t *tab) {
			l.moveTab(t, t.window, t.index()-1)
		}),
		"Move Tab Right": onTab(func(t *tab) bool { return t.index() < len(t.window.tabs)-1 }, func(l *layout, t *tab) {
			l.moveTab(t, t.window, t.index()+1)
		}),
		"Move Tab to New Window":          onTab(manyTabs, func(l *layout, t *tab) { l.moveTab(t, l.addWindow(), 0) }),
		"Select Split Pane.Next Pane":     onTab(manyPanes, func(_ *layout, t *tab) { t.step(1) }),
		"Select Split Pane.Previous Pane": onTab(manyPanes, func(_ *layout, t *tab) { t.step(-1) }),
		"Toggle Full Screen": {
			enabled: some, checked: func(h *server) bool { return h.layout.key != nil && h.layout.key.fullscreen },
			do: onTab(nil, func(_ *layout, t *tab) { t.window.fullscreen = !t.window.fullscreen }).do,
		},
	}
	for name, direction := range map[string]string{"Above": "above", "Below": "below", "Left": "left", "Right": "right"} {
		menu["Select Split Pane.Select Pane "+name] = onTab(
			func(t *tab) bool { return t.root.neighbour(t.active, direction) != nil },
			func(_ *layout, t *tab) { t.active = t.root.neighbour(t.active, direction) },
		)
	}
}

// menuItem tells of a menu item, or does what it stands for.
func menuItem(c *client, in *api.MenuItemRequest) (*api.MenuItemResponse, error) {
	h := c.host
	entry, ok := menu[in.GetIdentifier()]
	if !ok {
		return &api.MenuItemResponse{Status: api.MenuItemResponse_BAD_IDENTIFIER.Enum()}, nil
	}
	h.mu.Lock()
	current, enabled := h.layout.current(), entry.enabled(h.layout)
	checked := entry.checked != nil && entry.checked(h)
	h.mu.Unlock()
	out := &api.MenuItemResponse{Status: api.MenuItemResponse_OK.Enum(), Enabled: &enabled, Checked: &checked}
	switch {
	case in.GetQueryOnly():
	case !enabled:
		out.Status = api.MenuItemResponse_DISABLED.Enum()
	default:
		if err := entry.do(h, current); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// onTab is an item that changes the layout around the selected tab, if that is fit for it.
func onTab(fit func(*tab) bool, change func(*layout, *tab)) menuEntry {
	return menuEntry{
		enabled: func(l *layout) bool { return l.current() != nil && fit(l.key.selected) },
		do: func(h *server, s *session) error {
			h.arrange(func(l *layout) bool {
				t := l.inTab[s]
				if t == nil || fit != nil && !fit(t) {
					return false // it has changed meanwhile
				}
				change(l, t)
				return true
			})
			return nil
		},
	}
}

// step makes another pane the active one, in order and around the end.
func (t *tab) step(by int) {
	all := t.sessions()
	t.active = all[(slices.Index(all, t.active)+by+len(all))%len(all)]
}

func divisible(vertical bool) func(*layout) bool {
	return func(l *layout) bool {
		s := l.current()
		if s == nil {
			return false
		}
		_, _, ok := l.inTab[s].root.leaf(s).size.halves(vertical)
		return ok
	}
}

func divideCurrent(vertical bool) func(*server, *session) error {
	return func(h *server, s *session) error {
		size, _ := h.sizeOf(s)
		_, second, _ := size.halves(vertical)
		return h.openLike(s, request{beside: s, vertical: vertical, columns: second.Columns, rows: second.Rows})
	}
}

// openLike opens a session in the focus, with the profile of another, or the default one.
func (h *server) openLike(s *session, r request) error {
	r.index, r.focus = -1, true
	r.profile, _ = findProfile(h.env, "")
	if s != nil {
		r.profile = s.profile
	}
	if w, ok := h.windowNow(r.window); ok && r.beside == nil && r.window != "" {
		r.columns, r.rows = w.size.Columns, w.size.Rows
	}
	_, err := h.open(r)
	return err
}

func (h *server) windowOf(s *session) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.layout.inTab[s]; t != nil {
		return t.window.id
	}
	return ""
}

// besideIn lists the sessions of the tabs that belong to the one of a session.
func (h *server) besideIn(s *session, belonging func(*tab) []*tab) (list []*session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.layout.inTab[s]; t != nil {
		for _, x := range belonging(t) {
			list = append(list, x.sessions()...)
		}
	}
	return list
}

// step moves the selection among the tabs of a window by steps, around the end.
func (w *window) step(by int) {
	at := slices.Index(w.tabs, w.selected) + by
	w.selected = w.tabs[(at+len(w.tabs))%len(w.tabs)]
}
