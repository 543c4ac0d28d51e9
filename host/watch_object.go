package host

import (
	"sync"

	"termpilot/iterm/api"
)

// objectVariable is a variable of a tab, of a window, or of the application,
// whose identifier is "".
type objectVariable struct {
	scope api.VariableScope
	id    string // may be everySession in a subscription: every window
	name  string
}

// objects are the watched variables of tabs, windows and the application, as
// last told. What clients set is told at once; what follows from the sessions
// in them is looked at once a tick.
type objects struct {
	looking sync.Mutex // one look at a time; it is taken before any other lock

	mu   sync.Mutex
	told map[objectVariable]string
}

// watchedObjects lists what is watched, "all" spelled out.
func (h *server) watchedObjects() []objectVariable {
	var list []objectVariable
	for _, v := range h.hub.objects() {
		if v.id != everySession {
			list = append(list, v)
			continue
		}
		h.mu.Lock()
		for _, w := range h.layout.windows {
			list = append(list, objectVariable{v.scope, w.id, v.name})
		}
		h.mu.Unlock()
	}
	return list
}

// value returns the variable as JSON. false when its object is gone.
func (h *server) value(v objectVariable) (string, bool) {
	scopes := []variableScope{h.appScope()}
	switch v.scope {
	case api.VariableScope_TAB:
		scopes = h.tabScopes(v.id)
	case api.VariableScope_WINDOW:
		scopes = h.windowScopes(v.id)
	}
	if len(scopes) != 1 {
		return "", false
	}
	return scopes[0].get(v.name), true
}

// watchAnew counts anew what is watched after a variable has been subscribed to,
// or no more, and remembers the present values of what nobody watched before.
func (h *server) watchAnew(s subscription, on bool) {
	h.objects.looking.Lock()
	defer h.objects.looking.Unlock()
	before := h.hub.watching()
	h.hub.recount()
	h.compareObjects(false)
	if on && s.scope == api.VariableScope_SESSION {
		for _, session := range h.watchedBy(s) {
			session.remember(s.name, before)
		}
	}
}

// watchedBy are the sessions that a subscription is about.
func (h *server) watchedBy(s subscription) []*session {
	if s.session == everySession {
		return h.everyone()
	}
	return h.chosen(s.session)
}

// lookAtObjects tells the changes of what is watched.
func (h *server) lookAtObjects() {
	h.objects.looking.Lock()
	defer h.objects.looking.Unlock()
	h.compareObjects(true)
}

// compareObjects is lookAtObjects. What nobody has looked at before belongs to a
// new object and is a change, or is newly watched and only remembered.
func (h *server) compareObjects(newObjects bool) {
	watched := map[objectVariable]string{}
	for _, v := range h.watchedObjects() {
		if value, ok := h.value(v); ok {
			watched[v] = value
		}
	}
	h.objects.mu.Lock()
	for v := range h.objects.told {
		if _, still := watched[v]; !still {
			delete(h.objects.told, v)
		}
	}
	var changed []objectVariable
	for v, value := range watched {
		before, known := h.objects.told[v]
		if h.objects.told[v] = value; known && before != value || !known && newObjects && value != "null" {
			changed = append(changed, v)
		}
	}
	h.objects.mu.Unlock()
	for _, v := range changed {
		h.tellVariable(v.scope, v.id, v.name, watched[v])
	}
}

// tellObject tells a variable that a client changed, at once.
func (h *server) tellObject(v objectVariable, value string) {
	h.objects.mu.Lock()
	before, known := h.objects.told[v]
	if known {
		h.objects.told[v] = value
	}
	h.objects.mu.Unlock()
	if !known || before != value {
		h.tellVariable(v.scope, v.id, v.name, value)
	}
}
