package host

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// The size of a cell in the points in which frames are told. Nothing is drawn;
// the numbers only have to be consistent.
const cellWidth, cellHeight = 8, 16

// layout is the model of windows, tabs and panes, and of what has the focus.
// The host's lock guards it.
type layout struct {
	windows  []*window // in the order of their creation
	key      *window   // the window that has, or last had, the focus
	active   bool      // the application is in front
	lastTab  int
	inTab    map[*session]*tab
	bySerial map[string]*window
}

type window struct {
	id       string
	number   int
	tabs     []*tab
	selected *tab
	frame    rect
	user     map[string]string // user.* variables, JSON
	title    string            // set by a client
}

type tab struct {
	id     int
	window *window
	root   *pane
	active *session
	user   map[string]string
	title  string
}

// pane is a node of a tab's split tree: a session, or a row or column of panes.
type pane struct {
	session  *session
	vertical bool // the divider is vertical: panes are side by side
	parts    []*pane
}

type rect struct{ x, y, width, height int }

func newLayout() *layout {
	return &layout{inTab: map[*session]*tab{}, bySerial: map[string]*window{}, active: true}
}

func newID() string { return strings.ToUpper(uuid.NewString()) }

// addWindow makes an empty window. The caller adds a tab before it lets go of
// the host's lock.
func (l *layout) addWindow() *window {
	taken := func(n int) bool { return slices.ContainsFunc(l.windows, func(w *window) bool { return w.number == n }) }
	number := 0
	for taken(number) {
		number++
	}
	w := &window{id: "pty-" + newID(), number: number, user: map[string]string{}}
	l.windows = append(l.windows, w)
	l.bySerial[w.id] = w
	return w
}

// addTab puts a session into a new tab of w at a position, or last when there
// is no such position.
func (l *layout) addTab(w *window, s *session, index int) *tab {
	l.lastTab++
	t := &tab{id: l.lastTab, window: w, root: &pane{session: s}, active: s, user: map[string]string{}}
	if index < 0 || index > len(w.tabs) {
		index = len(w.tabs)
	}
	w.tabs = slices.Insert(w.tabs, index, t)
	l.inTab[s] = t
	if w.selected == nil {
		w.selected = t
	}
	if l.key == nil {
		l.key = w
	}
	return t
}

// split puts s beside another session: right of or below it, or before it.
func (l *layout) split(beside, s *session, vertical, before bool) bool {
	t, ok := l.inTab[beside]
	if !ok {
		return false
	}
	if !t.root.split(beside, s, vertical, before) {
		return false
	}
	l.inTab[s] = t
	return true
}

func (p *pane) split(beside, s *session, vertical, before bool) bool {
	if p.session == beside {
		old, fresh := &pane{session: beside}, &pane{session: s}
		*p = pane{vertical: vertical, parts: []*pane{old, fresh}}
		if before {
			p.parts[0], p.parts[1] = fresh, old
		}
		return true
	}
	for i, part := range p.parts {
		if part.session == beside && p.vertical == vertical {
			if !before {
				i++
			}
			p.parts = slices.Insert(p.parts, i, &pane{session: s})
			return true
		}
		if part.split(beside, s, vertical, before) {
			return true
		}
	}
	return false
}

// remove takes a session out; a tab and a window that become empty go with it.
// The focus passes to a neighbour.
func (l *layout) remove(s *session) {
	t, ok := l.inTab[s]
	if !ok {
		return
	}
	delete(l.inTab, s)
	if t.root.session == s {
		l.removeTab(t)
		return
	}
	t.root.remove(s)
	if t.active == s {
		t.active = t.root.first()
	}
}

func (l *layout) removeTab(t *tab) {
	w := t.window
	at := slices.Index(w.tabs, t)
	w.tabs = slices.Delete(w.tabs, at, at+1)
	if len(w.tabs) == 0 {
		l.windows = slices.DeleteFunc(l.windows, func(x *window) bool { return x == w })
		delete(l.bySerial, w.id)
		if l.key == w {
			l.key = nil
			if len(l.windows) > 0 {
				l.key = l.windows[len(l.windows)-1]
			}
		}
		return
	}
	if w.selected == t {
		w.selected = w.tabs[max(0, at-1)]
	}
}

func (p *pane) remove(s *session) {
	for i, part := range p.parts {
		if part.session == s {
			p.parts = slices.Delete(p.parts, i, i+1)
			break
		}
		part.remove(s)
	}
	if len(p.parts) == 1 {
		*p = *p.parts[0]
	}
}

func (p *pane) first() *session {
	for p.session == nil {
		p = p.parts[0]
	}
	return p.session
}

func (p *pane) each(f func(*session)) {
	if p.session != nil {
		f(p.session)
	}
	for _, part := range p.parts {
		part.each(f)
	}
}

// tab finds a tab by the decimal number that names it on the API.
func (l *layout) tab(id string) *tab {
	n, err := strconv.Atoi(id)
	if err != nil {
		return nil
	}
	for _, w := range l.windows {
		for _, t := range w.tabs {
			if t.id == n {
				return t
			}
		}
	}
	return nil
}

// current is the session that has the keyboard focus, or nil.
func (l *layout) current() *session {
	if l.key == nil || l.key.selected == nil {
		return nil
	}
	return l.key.selected.active
}

// focus moves the focus as far as asked.
func (l *layout) focus(t *tab, s *session, front bool) {
	if s != nil {
		t.active = s
	}
	if t != nil {
		t.window.selected = t
		if front {
			l.key = t.window
		}
	}
}

func (t *tab) name() string { return strconv.Itoa(t.id) }
