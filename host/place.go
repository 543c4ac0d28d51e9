package host

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"termpilot/fault"
	"termpilot/iterm/api"
)

// reserve makes sure that n sessions may be started.
func (h *server) reserve(n int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return unavailable("open", "the host is stopping", nil)
	}
	if live := len(h.sessions); live+h.opening+n > maxSessions {
		return &fault.Error{
			Op: "open", Code: fault.Refused, Detail: fmt.Sprintf("the host has %d sessions, and %d are its limit", live, maxSessions),
			Hint: "close sessions that are not needed",
		}
	}
	h.opening += n
	return nil
}

// release gives back what was reserved and not used.
func (h *server) release(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opening -= n
}

// begin lets a session that has its place run.
func (s *session) begin() {
	s.host.wg.Go(s.run)
	s.host.log.Info("session opened", "session", s.id, "profile", s.profile.Name, "pid", s.pid)
	if s.request.typed != "" {
		s.send([]byte(s.request.typed + "\r"))
	}
}

// abandon ends a session that found no place.
func (s *session) abandon() {
	s.signal(9)
	_, _ = s.proc.Wait()
	_ = s.device.Close()
	s.removeFolder()
}

// place registers a session and puts it into the layout, and tells it.
func (h *server) place(s *session, r request) (err error) {
	h.arrange(func(l *layout) bool {
		h.opening-- // from here on it is a session, or nothing
		if err = h.placeIn(l, s, r); err != nil {
			return false
		}
		h.register(s)
		return true
	})
	return err
}

var errNoRoom = errors.New("the session is too small, or divided too often")

func (h *server) placeIn(l *layout, s *session, r request) error {
	if h.closing {
		return unavailable("open", "the host is stopping", nil)
	}
	if h.sessions[s.id] != nil {
		return &fault.Error{Op: "open", Session: s.id, Code: fault.Refused, Detail: "the session runs already", Hint: "list the sessions"}
	}
	columns, rows := s.facts.size()
	alone := &pane{session: s, size: Size{columns, rows}}
	switch {
	case r.beside != nil && l.inTab[r.beside] == nil:
		return &fault.Error{Op: "open", Session: r.beside.id, Code: fault.SessionNotFound, Hint: "list the sessions"}
	case r.beside != nil && !l.split(r.beside, s, r.vertical, r.before):
		return &fault.Error{Op: "open", Session: r.beside.id, Code: fault.Refused, Detail: "it cannot be divided", Hint: "open a tab instead", Err: errNoRoom}
	case r.beside != nil:
		l.inTab[s].active = s
	case r.window != "" && l.bySerial[r.window] == nil:
		return &fault.Error{Op: "open", Code: fault.WindowNotFound, Detail: "the window is gone", Hint: "list the sessions"}
	case r.window != "":
		l.addTab(l.bySerial[r.window], alone, r.index)
	default:
		l.addTab(l.addWindow(), alone, -1)
	}
	if r.focus {
		l.focus(s)
	}
	return nil
}

// register makes a session that has its place one of the host's, and tells it.
// The server's lock is held.
func (h *server) register(s *session) {
	at := h.layout.inTab[s]
	s.placed = placed{window: at.window.id, tab: at.id}
	h.sessions[s.id] = s
	h.order = append(h.order, s)
	h.ended = slices.DeleteFunc(h.ended, func(x *session) bool { return x.id == s.id })
	h.tellNew(s.id)
}

// sessionEnded tells the end of a session and takes it out of the layout,
// unless its place is kept for a restart, and it is false. It stays readable
// for a while.
func (h *server) sessionEnded(s *session, kept int) bool {
	e := s.facts.ended()
	h.log.Info("session ended", "session", s.id, "signal", e.Signal, "asked", s.closing.Load())
	return h.arrange(func(*layout) bool {
		s.keptRows = kept
		h.tellTerminated(s.id)
		if s.kept {
			s.gone = true
			return false
		}
		h.leave(s)
		return true
	})
}

// leave takes a session that has ended out of the layout. The server's lock is held.
func (h *server) leave(s *session) {
	h.layout.remove(s)
	delete(h.sessions, s.id)
	h.order = slices.DeleteFunc(h.order, func(x *session) bool { return x == s })
	h.ended = append(h.ended, s)
	h.forgetEnded(time.Now())
	h.hub.forget(s.id)
}

func (h *server) tellNew(id string) {
	h.hub.publish(general(api.NotificationType_NOTIFY_ON_NEW_SESSION), func() *api.Notification {
		return &api.Notification{NewSessionNotification: &api.NewSessionNotification{SessionId: &id}}
	})
}

func (h *server) tellTerminated(id string) {
	h.hub.publish(general(api.NotificationType_NOTIFY_ON_TERMINATE_SESSION), func() *api.Notification {
		return &api.Notification{TerminateSessionNotification: &api.TerminateSessionNotification{SessionId: &id}}
	})
}
