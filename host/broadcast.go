package host

import (
	"slices"

	"termpilot/iterm/api"
)

// trimBroadcasts takes out of the domains who is gone, buried or in another
// window than the domain's first: a copy of what is typed goes to no place
// that the domain did not mean. The server's lock is held.
func (h *server) trimBroadcasts() {
	changed := false
	for i, domain := range h.broadcasts {
		var home *window
		kept := slices.DeleteFunc(slices.Clone(domain), func(id string) bool {
			t := h.layout.inTab[h.sessions[id]]
			if t != nil && home == nil {
				home = t.window
			}
			return t == nil || t.window != home
		})
		changed = changed || len(kept) != len(domain)
		h.broadcasts[i] = kept
	}
	if changed {
		h.broadcasts = slices.DeleteFunc(h.broadcasts, func(d []string) bool { return len(d) == 0 })
		h.tellBroadcasts()
	}
}

// setBroadcasts replaces the domains. While it does, nothing is being copied:
// what is typed after the answer goes where the new domains say.
func (h *server) setBroadcasts(domains [][]string) api.SetBroadcastDomainsResponse_Status {
	h.copying.Lock()
	defer h.copying.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[string]bool{}
	var next [][]string
	for _, domain := range domains {
		var home *window
		for _, id := range domain {
			t := h.layout.inTab[h.sessions[id]]
			switch {
			case t == nil:
				return api.SetBroadcastDomainsResponse_SESSION_NOT_FOUND
			case seen[id]:
				return api.SetBroadcastDomainsResponse_BROADCAST_DOMAINS_NOT_DISJOINT
			case home != nil && t.window != home:
				return api.SetBroadcastDomainsResponse_SESSIONS_NOT_IN_SAME_WINDOW
			}
			seen[id], home = true, t.window
		}
		if len(domain) > 0 {
			next = append(next, slices.Clone(domain))
		}
	}
	if !slices.EqualFunc(h.broadcasts, next, slices.Equal[[]string]) {
		h.broadcasts = next
		h.tellBroadcasts()
	}
	return api.SetBroadcastDomainsResponse_OK
}

// typeInto queues what a person or a client types for a session and, unless it
// is for that one alone, for those of its broadcast domain. false when the
// first has ended or does not read.
func (h *server) typeInto(s *session, text []byte, alone bool) bool {
	if alone {
		return s.send(text)
	}
	h.copying.RLock()
	defer h.copying.RUnlock()
	others := h.copies(s)
	if !s.send(text) {
		return false
	}
	for _, other := range others {
		other.send(text)
	}
	return true
}

// copies lists those that get a copy of a session's input.
func (h *server) copies(s *session) (list []*session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, domain := range h.broadcasts {
		if !slices.Contains(domain, s.id) {
			continue
		}
		for _, id := range domain {
			if other := h.sessions[id]; other != nil && other != s {
				list = append(list, other)
			}
		}
	}
	return list
}

func (h *server) tellBroadcasts() {
	h.hub.publish(general(api.NotificationType_NOTIFY_ON_BROADCAST_CHANGE), func() *api.Notification {
		return &api.Notification{BroadcastDomainsChanged: &api.BroadcastDomainsChangedNotification{
			BroadcastDomains: h.domains(),
		}}
	})
}

// domains tells the broadcast domains. The server's lock is held.
func (h *server) domains() []*api.BroadcastDomain {
	var list []*api.BroadcastDomain
	for _, d := range h.broadcasts {
		list = append(list, &api.BroadcastDomain{SessionIds: slices.Clone(d)})
	}
	return list
}
