package host

import (
	"errors"

	"termpilot/iterm/api"
)

// errArguments is why a function does nothing with what it was given.
var errArguments = errors.New("an argument of another type, or the object is gone")

// refused is the error of a move that the layout does not allow.
func refused(why string) error { return refuseCall(api.InvokeFunctionResponse_FAILED, "%s", why) }

// layoutFunctions are those that move sessions and tabs about. They are found
// with the others of [functions].
var layoutFunctions = map[string]function{
	"iterm2.move_session":               {arguments: []string{"before", "destination", "session", "vertical"}, call: moveSession},
	"iterm2.move_session_to_new_tab":    {arguments: []string{"session"}, optional: []string{"tab_index", "window_id"}, call: moveToNewTab},
	"iterm2.move_session_to_new_window": {arguments: []string{"session"}, call: moveToNewWindow},
	"iterm2.apply_layout":               {arguments: []string{"spec_json_b64"}, call: applyLayout, slow: true},
	"iterm2.move_tab_to_window":         {call: moveTabToWindow},
	"iterm2.select_pane_in_direction":   {on: []string{"tab"}, arguments: []string{"direction"}, call: selectPane},
}

// session reads an argument that names a live session.
func (call invocation) session(h *server, name string) (*session, bool) {
	var id string
	if !call.get(name, &id) {
		return nil, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	return s, s != nil
}

// moving runs a change of the layout for a function. The change returns a reason
// when it does nothing.
func (h *server) moving(change func(*layout) string) error {
	why := ""
	h.arrange(func(l *layout) bool {
		why = change(l)
		return why == ""
	})
	if why != "" {
		return refused(why)
	}
	return nil
}

func moveSession(h *server, _ string, call invocation) (any, error) {
	var vertical, before bool
	s, ok := call.session(h, "session")
	beside, there := call.session(h, "destination")
	if !ok || !there || !call.get("vertical", &vertical) || !call.get("before", &before) {
		return nil, errArguments
	}
	return nil, h.moving(func(l *layout) string { return l.moveBeside(s, beside, vertical, before) })
}

// moveToNewTab moves a session into a tab of its own, behind its old one or
// last in another window, and returns the tab's id.
func moveToNewTab(h *server, _ string, call invocation) (any, error) {
	window, index := "", -1
	s, ok := call.session(h, "session")
	if !ok || call.has("window_id") && !call.get("window_id", &window) || call.has("tab_index") && (!call.get("tab_index", &index) || index < 0) {
		return nil, errArguments
	}
	id := ""
	err := h.moving(func(l *layout) string {
		from := l.inTab[s]
		if from == nil {
			return "the session is buried"
		}
		w := from.window
		if window != "" {
			w = l.bySerial[window]
		}
		if w == nil {
			return "no such window"
		}
		if index < 0 && w == from.window {
			index = from.index() + 1
		}
		t, moved := l.moveOut(s, w, index)
		if !moved {
			return "the session is alone in its tab"
		}
		id = t.name()
		return ""
	})
	return id, err
}

// moveToNewWindow moves a session, or the tab in which it is alone, into a
// window of its own, and returns that one's id.
func moveToNewWindow(h *server, _ string, call invocation) (any, error) {
	s, ok := call.session(h, "session")
	if !ok {
		return nil, errArguments
	}
	id := ""
	err := h.moving(func(l *layout) string {
		from := l.inTab[s]
		switch {
		case from == nil:
			return "the session is buried"
		case manyPanes(from):
			w := l.addWindow()
			l.moveOut(s, w, 0)
			id = w.id
		case manyTabs(from):
			w := l.addWindow()
			l.moveTab(from, w, 0)
			id = w.id
		default:
			return "the session is alone in its window"
		}
		return ""
	})
	return id, err
}

// moveTabToWindow moves the tab in which it is called into a window of its own.
func moveTabToWindow(h *server, tab string, _ invocation) (any, error) {
	id := ""
	err := h.moving(func(l *layout) string {
		t := l.tab(tab)
		switch {
		case t == nil:
			return "it is not called in a tab"
		case !manyTabs(t):
			return "the tab is alone in its window"
		}
		w := l.addWindow()
		l.moveTab(t, w, 0)
		id = w.id
		return ""
	})
	return id, err
}

// selectPane makes the neighbour of a tab's active pane the active one, and
// returns its id; null when there is none.
func selectPane(h *server, tab string, call invocation) (any, error) {
	var direction string
	if !call.get("direction", &direction) {
		return nil, errArguments
	}
	var id any
	h.refocus(func(l *layout) bool {
		t := l.tab(tab)
		if t == nil {
			return false
		}
		s := t.root.neighbour(t.active, direction)
		if s != nil {
			t.active, id = s, s.id
		}
		return s != nil
	})
	return id, nil
}
