package host

import (
	"slices"

	"termpilot/fault"
	"termpilot/iterm/api"
)

// restartSession runs a session's program anew, in the same place and under
// the same id. One that has ended and is still remembered comes back in its window,
// or in one of its own.
func restartSession(c *client, in *api.RestartSessionRequest) (*api.RestartSessionResponse, error) {
	h := c.host
	answer := func(status api.RestartSessionResponse_Status) (*api.RestartSessionResponse, error) {
		return &api.RestartSessionResponse{Status: status.Enum()}, nil
	}
	s, ok := h.readable(in.GetSessionId())
	switch {
	case !ok:
		return answer(api.RestartSessionResponse_SESSION_NOT_FOUND)
	case in.GetOnlyIfExited() && s.facts.ended() == nil:
		return answer(api.RestartSessionResponse_SESSION_NOT_RESTARTABLE)
	}
	if err := h.restart(s); err != nil {
		return nil, err
	}
	return answer(api.RestartSessionResponse_OK)
}

// again is the request that makes a session's program anew: what it was made
// from, and what it has become.
func (s *session) again() request {
	r := s.request
	r.name, r.focus = s.facts.label(), false
	r.columns, r.rows = s.facts.size()
	r.vertical, r.before, r.index = false, false, -1
	return r
}

// takeOver gives a fresh session what clients keep at the one before it.
func (s *session) takeOver(old *session) {
	old.facts.mu.Lock()
	defer old.facts.mu.Unlock()
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	s.facts.user, s.facts.properties, s.facts.created = old.facts.user, old.facts.properties, old.facts.created
	old.facts.user, old.facts.properties = map[string]string{}, map[string]string{}
}

func (h *server) restart(old *session) error {
	h.mu.Lock()
	lives, busy := h.sessions[old.id] == old, old.kept
	if lives && !busy {
		old.kept = true
	}
	window := old.placed.window
	if h.layout.bySerial[window] == nil {
		window = ""
	}
	h.mu.Unlock()
	switch {
	case busy:
		return &fault.Error{Op: "restart", Session: old.id, Code: fault.Busy, Detail: "it is being restarted", Hint: "wait for that"}
	case !lives:
		r := old.again()
		r.window, r.heirOf = window, old
		_, err := h.open(r)
		return err
	}
	if err := h.runnable(old.request); err != nil { // nothing is ended for what cannot begin
		h.giveUp(old)
		return err
	}
	old.close(false)
	if old.facts.ended() == nil {
		h.giveUp(old)
		return &fault.Error{Op: "restart", Session: old.id, Code: fault.Refused, Detail: "its program cannot be ended", Hint: "end it by hand"}
	}
	fresh, err := h.start(old.again())
	if err != nil {
		h.giveUp(old)
		return err
	}
	fresh.takeOver(old)
	if !h.succeed(old, fresh) {
		fresh.abandon()
		return &fault.Error{Op: "restart", Session: old.id, Code: fault.SessionEnded, Detail: "it was closed meanwhile", Hint: "open a new session"}
	}
	old.passViewers(fresh)
	fresh.mu.Lock()
	fresh.tellVariables() // what was told last is of the life before
	fresh.mu.Unlock()
	fresh.begin()
	return nil
}

// runnable reports why a request's program cannot be started, as far as that
// can be seen beforehand.
func (h *server) runnable(r request) error {
	dir := r.dir
	if dir == "" {
		dir = homeFolder(h.env)
	}
	if !isFolder(dir) {
		return invalid("the working directory does not exist: " + dir)
	}
	command := r.profile.Shell
	if len(r.command) > 0 {
		command = r.command[0]
	}
	_, err := findProgram(command, dir, environment(h.env, h.options.Version, "", dir, r.env))
	return err
}

// succeed puts a fresh session into the place that was kept for it. false when
// that was given up.
func (h *server) succeed(old, fresh *session) bool {
	return h.arrange(func(l *layout) bool {
		if !old.kept || h.closing {
			return false
		}
		old.kept = false
		l.replace(old, fresh)
		fresh.placed = old.placed
		h.sessions[fresh.id] = fresh
		h.order[slices.Index(h.order, old)] = fresh
		h.tellNew(fresh.id)
		return true
	})
}

// giveUp gives up the place that is kept for a session's restart.
func (h *server) giveUp(s *session) {
	gone := false
	h.arrange(func(*layout) bool {
		gone = s.kept && s.gone
		s.kept = false
		if gone {
			h.leave(s)
		}
		return gone
	})
	if gone {
		s.endViewers()
	}
}

// passViewers lets those who watch a session watch its successor.
func (s *session) passViewers(next *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next.mu.Lock()
	defer next.mu.Unlock()
	for v := range s.viewers {
		next.viewers[v] = struct{}{}
		v.anew(next)
	}
	clear(s.viewers)
}

// endViewers ends the visits of those who watch a session that has ended.
func (s *session) endViewers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		v.end(*s.facts.ended())
	}
}
