package host

import "slices"

// This file moves sessions and tabs about in the layout. Who has the keyboard
// focus keeps it, wherever it goes: what a person types must not end up in
// another session.

// keepFocus runs a move and gives the focus back to the session that had it,
// if that one has moved.
func (l *layout) keepFocus(move func()) {
	had := l.current()
	move()
	if had == nil || l.current() == had {
		return
	}
	if _, ok := l.inTab[had]; ok {
		l.focus(had)
	}
}

// moveBeside moves a session to where it divides another. A reason when it
// cannot, and then nothing has changed.
func (l *layout) moveBeside(s, beside *session, vertical, before bool) string {
	from, ok := l.inTab[s]
	to, there := l.inTab[beside]
	switch {
	case s == beside:
		return "a session cannot be moved beside itself"
	case !ok || !there:
		return "a buried session has no place"
	}
	if from == to {
		next := from.root.clone()
		next.remove(s)
		if !next.split(beside, s, vertical, before) {
			return "there is no room"
		}
		from.root = next
		return ""
	}
	if !to.root.split(beside, s, vertical, before) {
		return "there is no room"
	}
	l.keepFocus(func() {
		l.remove(s)
		l.inTab[s] = to
	})
	return ""
}

// moveOut moves a session that is not alone in its tab into a tab of its own.
func (l *layout) moveOut(s *session, w *window, index int) (*tab, bool) {
	from, ok := l.inTab[s]
	if !ok || from.root.session != nil {
		return nil, false
	}
	alone := &pane{session: s}
	alone.fit(from.root.extent())
	var t *tab
	l.keepFocus(func() {
		l.remove(s)
		t = l.addTab(w, alone, index)
	})
	return t, true
}

// moveTab moves a tab to a position among the tabs of a window, its own or another.
func (l *layout) moveTab(t *tab, w *window, index int) {
	l.reorder([]move{{w, index, []*tab{t}}})
}

// move says which tabs a window gets, from a position on.
type move struct {
	to    *window
	index int
	tabs  []*tab
}

// reorder moves tabs. A window that loses all its own closes when everything
// has found its place, not before: it may be given others.
func (l *layout) reorder(moves []move) {
	l.keepFocus(func() {
		var left []*window
		for _, m := range moves {
			for i, t := range m.tabs {
				from, selected := t.window, t.window.selected == t
				from.takeOut(t)
				l.insertTab(m.to, t, m.index+i)
				if from == m.to && selected {
					from.selected = t
				}
				left = append(left, from)
			}
		}
		for _, w := range left {
			l.closeEmpty(w)
		}
	})
}

// bury takes a session out of sight; it lives on.
func (l *layout) bury(s *session) {
	t := l.inTab[s]
	g := &grave{session: s, size: t.root.leaf(s).size, window: t.window.id, index: slices.Index(t.window.tabs, t)}
	if t.root.session == nil {
		g.tab = t
		g.beside, g.vertical, g.before = t.root.beside(s)
	}
	l.remove(s)
	l.buried = append(l.buried, g)
}

// beside names a session that stands next to s in its row or column.
func (p *pane) beside(s *session) (next *session, vertical, before bool) {
	for i, part := range p.parts {
		if part.session == s && i > 0 {
			return p.parts[i-1].first(), p.vertical, false
		}
		if part.session == s {
			return p.parts[1].first(), p.vertical, true
		}
		if next, vertical, before = part.beside(s); next != nil {
			return next, vertical, before
		}
	}
	return nil, false, false
}

// grave finds a buried session's, or nil.
func (l *layout) grave(s *session) *grave {
	if at := slices.IndexFunc(l.buried, func(g *grave) bool { return g.session == s }); at >= 0 {
		return l.buried[at]
	}
	return nil
}

// restore brings a buried session back: to where it was, as far as that is
// still there, else to a tab of its window, else to a window of its own.
func (l *layout) restore(s *session) {
	g := l.grave(s)
	if g == nil {
		return
	}
	l.buried = slices.DeleteFunc(l.buried, func(x *grave) bool { return x == g })
	if g.beside != nil && l.inTab[g.beside] == g.tab && l.split(g.beside, s, g.vertical, g.before) {
		return
	}
	w := l.bySerial[g.window]
	if w == nil {
		w = l.addWindow()
	}
	l.addTab(w, &pane{session: s, size: g.size}, g.index)
}

func manyTabs(t *tab) bool  { return len(t.window.tabs) > 1 }
func manyPanes(t *tab) bool { return t.root.session == nil }

func (t *tab) index() int { return slices.Index(t.window.tabs, t) }
