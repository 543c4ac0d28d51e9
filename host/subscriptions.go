package host

import (
	"slices"
	"sync"
	"sync/atomic"

	"termpilot/iterm/api"
)

// subscription names what a client wants to be told. Session is an id, "all", or
// "" for kinds that are not about sessions; a profile's id for its changes; and
// with scope and name, which are those of a variable, the id of its object.
type subscription struct {
	kind    api.NotificationType
	session string
	scope   api.VariableScope
	name    string
}

// modes is a set of PromptMonitorMode values, as bits.
type modes uint8

func (m modes) has(mode api.PromptMonitorMode) bool { return m&(1<<mode) != 0 }

const everySession = "all"

// maxSubscriptions is how many one client may hold.
const maxSubscriptions = 4096

// hub passes events on to the clients that subscribed. Publishing never waits.
type hub struct {
	mu      sync.RWMutex
	clients map[*client]struct{}
	watches atomic.Pointer[watches]
	others  atomic.Pointer[[]objectVariable] // monitored ones of tabs, windows and the application
}

// watches are the variables of sessions that anybody monitors, by session or "all".
type watches map[string][]string

// of lists those of a session, for it or for all.
func (w watches) of(session string) []string {
	own, all := w[session], w[everySession]
	if len(own) == 0 {
		return all
	}
	names := slices.Concat(own, all)
	slices.Sort(names)
	return slices.Compact(names)
}

func (h *hub) add(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[c] = struct{}{}
}

func (h *hub) remove(c *client) {
	h.mu.Lock()
	delete(h.clients, c)
	h.mu.Unlock()
	h.recount()
}

func (h *hub) count() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.clients)
}

// publish sends a notification to every client that wants it.
func (h *hub) publish(wants func(*client) bool, build func() *api.Notification) {
	if h.later(wants, func() message { return notice(build()) }) {
		h.hurry()
		h.wake()
	}
}

// hurry has what is queued for anybody wait for nothing more.
func (h *hub) hurry() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.out.hurry()
	}
}

// wake sends what was left for later.
func (h *hub) wake() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.out.wake()
	}
}

// later queues a notification for every client that wants it. It is built and
// encoded once, and only when somebody does: then it is true, and wake is owed.
func (h *hub) later(wants func(*client) bool, build func() message) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var m message
	for c := range h.clients {
		if !wants(c) {
			continue
		}
		if m.data == nil {
			m = build()
		}
		c.out.later(m)
	}
	return m.data != nil
}

// crowded reports whether many messages wait for any client.
func (h *hub) crowded() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		if c.out.crowded() {
			return true
		}
	}
	return false
}

// wanted reports whether any client wants it.
func (h *hub) wanted(wants func(*client) bool) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		if wants(c) {
			return true
		}
	}
	return false
}

// forget drops the subscriptions to one session, which is gone.
func (h *hub) forget(session string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.forget(session)
	}
}

// watching is what anybody monitors of sessions.
func (h *hub) watching() watches {
	if w := h.watches.Load(); w != nil {
		return *w
	}
	return nil
}

// watched lists the variables of a session that anybody monitors.
func (h *hub) watched(session string) []string { return h.watching().of(session) }

// objects lists the variables of tabs, windows and the application that
// anybody monitors.
func (h *hub) objects() []objectVariable {
	if others := h.others.Load(); others != nil {
		return *others
	}
	return nil
}

// recount makes the list of watched variables anew, after subscriptions changed.
func (h *hub) recount() {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[objectVariable]struct{}{}
	for c := range h.clients {
		c.mu.Lock()
		for s := range c.subscriptions {
			if s.scope != 0 {
				all[objectVariable{s.scope, s.session, s.name}] = struct{}{}
			}
		}
		c.mu.Unlock()
	}
	sessions := watches{}
	var others []objectVariable
	for v := range all {
		if v.scope == api.VariableScope_SESSION {
			sessions[v.id] = append(sessions[v.id], v.name)
		} else {
			others = append(others, v)
		}
	}
	h.watches.Store(&sessions)
	h.others.Store(&others)
}

// general wants a kind of event that is not about one session.
func general(kind api.NotificationType) func(*client) bool {
	return func(c *client) bool {
		_, ok := c.subscribed(subscription{kind: kind})
		return ok
	}
}

// about wants a kind of event of one session.
func about(kind api.NotificationType, session string) func(*client) bool {
	return func(c *client) bool {
		_, one := c.subscribed(subscription{kind: kind, session: session})
		_, all := c.subscribed(subscription{kind: kind, session: everySession})
		return one || all
	}
}

// prompts wants one mode of prompt events of one session.
func prompts(mode api.PromptMonitorMode, session string) func(*client) bool {
	return func(c *client) bool {
		kind := api.NotificationType_NOTIFY_ON_PROMPT
		one, _ := c.subscribed(subscription{kind: kind, session: session})
		all, _ := c.subscribed(subscription{kind: kind, session: everySession})
		return one.has(mode) || all.has(mode)
	}
}

// variable wants the changes of one variable.
func variable(scope api.VariableScope, identifier, name string) func(*client) bool {
	return func(c *client) bool {
		s := subscription{kind: api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE, scope: scope, name: name, session: identifier}
		if _, ok := c.subscribed(s); ok {
			return true
		}
		s.session = everySession
		_, ok := c.subscribed(s)
		return ok
	}
}

func (c *client) subscribed(s subscription) (modes, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.subscriptions[s]
	return m, ok
}

func (c *client) forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.subscriptions {
		if s.session == session && session != everySession {
			delete(c.subscriptions, s)
			delete(c.patterns, s)
		}
	}
}
