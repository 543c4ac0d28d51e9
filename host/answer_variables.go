package host

import (
	"encoding/json"
	"strings"

	"termpilot/fault"
	"termpilot/iterm/api"
)

// variables sets, then gets, variables of one scope.
func variables(c *client, in *api.VariableRequest) (*api.VariableResponse, error) {
	h := c.host
	answer := func(status api.VariableResponse_Status, values ...string) (*api.VariableResponse, error) {
		return &api.VariableResponse{Status: status.Enum(), Values: values}, nil
	}
	if len(in.GetGet()) > maxAsked {
		return nil, tooMuchAsked("get")
	}
	for _, set := range in.GetSet() {
		name, ok := strings.CutPrefix(set.GetName(), "user.")
		if !ok || name == "" || strings.Contains(name, ".") || !json.Valid([]byte(set.GetValue())) {
			return answer(api.VariableResponse_INVALID_NAME)
		}
	}
	var scopes []variableScope
	switch scope := in.GetScope().(type) {
	case *api.VariableRequest_SessionId:
		if scope.SessionId == everySession && len(in.GetGet()) > 0 {
			return answer(api.VariableResponse_MULTI_GET_DISALLOWED)
		}
		scopes = h.sessionScopes(scope.SessionId, len(in.GetSet()) > 0)
		if scopes == nil {
			return answer(api.VariableResponse_SESSION_NOT_FOUND)
		}
	case *api.VariableRequest_TabId:
		if scope.TabId == everySession && len(in.GetGet()) > 0 {
			return answer(api.VariableResponse_MULTI_GET_DISALLOWED)
		}
		if scopes = h.tabScopes(scope.TabId); scopes == nil {
			return answer(api.VariableResponse_TAB_NOT_FOUND)
		}
	case *api.VariableRequest_WindowId:
		if scopes = h.windowScopes(scope.WindowId); scopes == nil {
			return answer(api.VariableResponse_WINDOW_NOT_FOUND)
		}
	case *api.VariableRequest_App:
		scopes = []variableScope{h.appScope()}
	default:
		return answer(api.VariableResponse_MISSING_SCOPE)
	}
	for _, scope := range scopes {
		for _, set := range in.GetSet() {
			if !scope.set(set.GetName(), set.GetValue()) {
				return nil, &fault.Error{
					Op: "set", Code: fault.TooLarge, Detail: "a user variable of more than 64 KiB, or more than 512 of one object",
					Hint: "keep large things in files",
				}
			}
		}
	}
	var values []string
	for _, name := range in.GetGet() {
		values = append(values, scopes[0].get(name))
	}
	return answer(api.VariableResponse_OK, values...)
}

// maxAsked is how many values one request may ask for: each may be long.
const maxAsked = 1024

func tooMuchAsked(op string) error {
	return &fault.Error{Op: op, Code: fault.TooLarge, Detail: "more than 1024 values asked for at once", Hint: "ask for them in several requests"}
}

// variableScope reads and writes the variables of one object.
type variableScope struct {
	get func(name string) string
	set func(name, value string) bool // false when it is over a limit
}

func (h *server) sessionScopes(id string, writing bool) []variableScope {
	list := h.chosen(id)
	if len(list) == 0 && !writing {
		if s, ok := h.readable(id); ok {
			list = []*session{s}
		}
	}
	var scopes []variableScope
	for _, s := range list {
		scopes = append(scopes, variableScope{
			get: func(name string) string {
				if name == "*" {
					return s.all()
				}
				return s.variable(name)
			},
			set: func(name, value string) bool {
				if name == nicknameVariable {
					h.nickname(s, value)
					return true
				}
				s.facts.mu.Lock()
				taken := setUser(s.facts.user, name, value, maxUserVariables)
				s.facts.mu.Unlock()
				s.mu.Lock()
				defer s.mu.Unlock()
				s.tellVariables()
				return taken
			},
		})
	}
	return scopes
}

func (h *server) tabScopes(id string) []variableScope {
	h.mu.Lock()
	defer h.mu.Unlock()
	var tabs []*tab
	if id == everySession {
		for _, w := range h.layout.windows {
			tabs = append(tabs, w.tabs...)
		}
	} else if id == "active" && h.layout.key != nil {
		tabs = append(tabs, h.layout.key.selected)
	} else if t := h.layout.tab(id); t != nil {
		tabs = append(tabs, t)
	}
	var scopes []variableScope
	for _, t := range tabs {
		scopes = append(scopes, h.scopeOf(api.VariableScope_TAB, t.name(), t.user, func(name string) string { return h.tabVariable(t, name) }))
	}
	return scopes
}

func (h *server) windowScopes(id string) []variableScope {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.layout.bySerial[id]
	if id == "active" {
		w = h.layout.key
	}
	if w == nil {
		return nil
	}
	return []variableScope{h.scopeOf(api.VariableScope_WINDOW, w.id, w.user, func(name string) string { return h.windowVariable(w, name) })}
}

func (h *server) appScope() variableScope {
	return h.scopeOf(api.VariableScope_APP, "", h.user, h.variable)
}

// scopeOf is the scope of an object whose user variables the server's lock guards.
func (h *server) scopeOf(scope api.VariableScope, id string, user map[string]string, get func(string) string) variableScope {
	return variableScope{
		get: func(name string) string {
			if name != "*" {
				return get(name)
			}
			m := map[string]string{}
			for _, known := range scopeNames[scope] {
				flatten(m, known, get(known))
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			for name, value := range user {
				flatten(m, name, value)
			}
			return encode(m)
		},
		set: func(name, value string) bool {
			h.mu.Lock()
			before := orNull(user[name])
			taken := setUser(user, name, value, maxUserVariables)
			h.mu.Unlock()
			if taken && before != value {
				h.tellObject(objectVariable{scope, id, name}, value)
			}
			return taken
		},
	}
}

var scopeNames = map[api.VariableScope][]string{
	api.VariableScope_TAB:    {"id", "title", "titleOverride", "titleOverrideFormat"},
	api.VariableScope_WINDOW: {"id", "title", "titleOverride", "titleOverrideFormat", "number", "style", "isHotkeyWindow", "frame"},
	api.VariableScope_APP:    {"pid", "localhostName", "effectiveTheme", "termpilot.version", "termpilot.protocol"},
}

// tabVariable returns a variable of a tab as JSON; currentSession.X and
// window.X follow the references.
func (h *server) tabVariable(t *tab, name string) string {
	h.mu.Lock()
	active, w, title, value := t.active, t.window, t.title, t.user[name]
	h.mu.Unlock()
	if rest, ok := strings.CutPrefix(name, "currentSession."); ok {
		return active.variable(rest)
	}
	if rest, ok := strings.CutPrefix(name, "window."); ok {
		return h.windowVariable(w, rest)
	}
	if rest, ok := strings.CutPrefix(name, "iterm2."); ok {
		return h.variable(rest)
	}
	switch name {
	case "id":
		return encode(t.name())
	case "title":
		if title == "" {
			title = active.name()
		}
		return encode(title)
	case "titleOverride", "titleOverrideFormat":
		return encode(textOrNil(title))
	}
	return orNull(value)
}

// tabVariableOf is tabVariable of the tab in which a session is.
func (h *server) tabVariableOf(s *session, name string) string {
	h.mu.Lock()
	t := h.layout.inTab[s]
	h.mu.Unlock()
	if t == nil {
		return "null"
	}
	return h.tabVariable(t, name)
}

func (h *server) windowVariable(w *window, name string) string {
	h.mu.Lock()
	selected, title, value, frame := w.selected, w.title, w.user[name], w.bounds()
	h.mu.Unlock()
	if selected == nil {
		return "null" // it has closed meanwhile
	}
	if rest, ok := strings.CutPrefix(name, "currentTab."); ok {
		return h.tabVariable(selected, rest)
	}
	if rest, ok := strings.CutPrefix(name, "iterm2."); ok {
		return h.variable(rest)
	}
	switch name {
	case "id":
		return encode(w.id)
	case "number":
		return encode(w.number)
	case "style":
		return encode("normal")
	case "isHotkeyWindow":
		return "0"
	case "frame":
		return encode([]int{frame.x, frame.y, frame.width, frame.height})
	case "title":
		if title == "" {
			return h.tabVariable(selected, "title")
		}
		return encode(title)
	case "titleOverride", "titleOverrideFormat":
		return encode(textOrNil(title))
	}
	return orNull(value)
}
