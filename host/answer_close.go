package host

import (
	"sync"

	"termpilot/iterm/api"
)

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
	var all []*session
	for _, id := range ids {
		list := find(id)
		status := api.CloseResponse_OK
		if len(list) == 0 {
			status = api.CloseResponse_NOT_FOUND
		}
		out.Statuses = append(out.Statuses, status)
		all = append(all, list...)
	}
	h.closeSessions(all, in.GetForce())
	return out, nil
}

// closeSessions closes sessions all at once, each once, and returns when they are gone.
func (h *server) closeSessions(list []*session, force bool) {
	var wg sync.WaitGroup
	closing := map[*session]bool{}
	for _, s := range list {
		if !closing[s] {
			closing[s] = true
			wg.Go(func() { h.closeSession(s, force) })
		}
	}
	wg.Wait()
}

func (h *server) closeSession(s *session, force bool) {
	h.giveUp(s)
	s.close(force)
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
