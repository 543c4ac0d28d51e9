package host

// arrange changes the layout under the server's lock, gives the sessions the
// sizes that it then has for them, and tells what came of it. A change that
// returns false changed nothing.
func (h *server) arrange(change func(*layout) bool) bool {
	if !h.change(change) {
		return false
	}
	h.settle()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tellLayout()
	h.tellFocus()
	return true
}

// change is the first step of arrange. A fault in it leaves the lock free.
func (h *server) change(change func(*layout) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := change(h.layout)
	if changed {
		h.trimBroadcasts()
	}
	return changed
}

// refocus is arrange for a change that moves nothing but the focus: the layout
// is not told.
func (h *server) refocus(change func(*layout) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if change(h.layout) {
		h.tellFocus()
	}
}

// settle gives every session the size of its place. Of two changes at once,
// whoever comes last finds what both have made.
func (h *server) settle() {
	var moved []*session
	h.mu.Lock()
	for _, w := range h.layout.windows {
		for _, t := range w.tabs {
			for _, p := range t.root.places(0, 0) {
				columns, rows := p.session.facts.size()
				if columns != p.w || rows != p.h {
					moved = append(moved, p.session)
				}
			}
		}
	}
	h.mu.Unlock()
	for _, s := range moved {
		s.takePlace()
	}
}

// takePlace gives the session the size that the layout has for it now.
func (s *session) takePlace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if z, ok := s.host.sizeOf(s); ok {
		_ = s.resize(z) // fails only for one that has ended
	}
}

func (h *server) sizeOf(s *session) (Size, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.layout.inTab[s]
	if !ok {
		return Size{}, false
	}
	return t.root.leaf(s).size, true
}

// resizeTo gives one session a size; the others in its tab follow. false when
// they cannot. A buried session is alone.
func (h *server) resizeTo(s *session, to Size) bool {
	to = to.within(Size{minColumns, minRows}, Size{maxColumns, maxRows})
	buried, ok := false, false
	h.arrange(func(l *layout) bool {
		if g := l.grave(s); g != nil {
			g.size, buried = to, true
			return false
		}
		t := l.inTab[s]
		if t == nil {
			return false
		}
		if ok = t.root.leaf(s).size == to; ok {
			return false
		}
		next, fits := t.root.resized(s, to)
		if fits {
			t.root, ok = next, true
		}
		return fits
	})
	if buried {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.resize(to) == nil
	}
	return ok
}

// setBuried buries a session or brings it back. false when it does not live.
func (h *server) setBuried(s *session, on bool) bool {
	lives := false
	h.arrange(func(l *layout) bool {
		if lives = h.sessions[s.id] == s; !lives {
			return false
		}
		if on == (l.grave(s) != nil) {
			return false
		}
		if on {
			l.bury(s)
		} else {
			l.restore(s)
		}
		return true
	})
	return lives
}
