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
	inTab    map[*session]*tab // those that are not buried
	bySerial map[string]*window
	buried   []*grave
	told     focusState // what clients were last told
}

type window struct {
	id         string
	number     int
	tabs       []*tab
	selected   *tab
	frame      rect // as a client set it; see bounds
	fullscreen bool
	user       map[string]string // user.* variables, JSON
	title      string            // set by a client
}

type tab struct {
	id     int
	window *window
	root   *pane
	active *session
	user   map[string]string
	title  string
}

// grave is a buried session, and where it was.
type grave struct {
	session  *session
	size     Size
	window   string
	index    int  // of its tab
	tab      *tab // if it was not alone there
	beside   *session
	vertical bool
	before   bool
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

// addTab puts a tree of panes into a new tab of w at a position, or last when
// there is no such position.
func (l *layout) addTab(w *window, root *pane, index int) *tab {
	l.lastTab++
	t := &tab{id: l.lastTab, root: root, active: root.first(), user: map[string]string{}}
	root.each(func(s *session) { l.inTab[s] = t })
	l.insertTab(w, t, index)
	return t
}

func (l *layout) insertTab(w *window, t *tab, index int) {
	if index < 0 || index > len(w.tabs) {
		index = len(w.tabs)
	}
	w.tabs = slices.Insert(w.tabs, index, t)
	t.window = w
	if w.selected == nil {
		w.selected = t
	}
	if l.key == nil {
		l.key = w
	}
}

// split puts s beside another session: right of or below it, or before it.
// false when that one is in no tab, or has no room.
func (l *layout) split(beside, s *session, vertical, before bool) bool {
	t, ok := l.inTab[beside]
	if !ok || !t.root.split(beside, s, vertical, before) {
		return false
	}
	l.inTab[s] = t
	return true
}

// remove takes a session out; a tab and a window that become empty go with it.
// The focus passes to a neighbour.
func (l *layout) remove(s *session) {
	l.buried = slices.DeleteFunc(l.buried, func(g *grave) bool {
		if g.beside == s {
			g.beside = nil
		}
		return g.session == s
	})
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

// removeTab takes a tab out of its window, which goes with its last one.
func (l *layout) removeTab(t *tab) {
	t.window.takeOut(t)
	l.closeEmpty(t.window)
}

func (w *window) takeOut(t *tab) {
	at := slices.Index(w.tabs, t)
	w.tabs = slices.Delete(w.tabs, at, at+1)
	switch {
	case w.selected != t:
	case len(w.tabs) == 0:
		w.selected = nil
	default:
		w.selected = w.tabs[max(0, at-1)]
	}
}

func (l *layout) closeEmpty(w *window) {
	if len(w.tabs) > 0 {
		return
	}
	l.windows = slices.DeleteFunc(l.windows, func(x *window) bool { return x == w })
	delete(l.bySerial, w.id)
	if l.key == w {
		l.key = nil
		if len(l.windows) > 0 {
			l.key = l.windows[len(l.windows)-1]
		}
	}
}

// replace puts another session into the place of one.
func (l *layout) replace(old, s *session) {
	for _, g := range l.buried {
		if g.session == old {
			g.session = s
		}
		if g.beside == old {
			g.beside = s
		}
	}
	t, ok := l.inTab[old]
	if !ok {
		return
	}
	delete(l.inTab, old)
	l.inTab[s] = t
	t.root.leaf(old).session = s
	if t.active == old {
		t.active = s
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

// focus moves the focus to a session in its tab, its window and before the others.
func (l *layout) focus(s *session) {
	t := l.inTab[s]
	t.active = s
	t.window.selected = t
	l.key = t.window
}

func (t *tab) name() string { return strconv.Itoa(t.id) }

func (t *tab) sessions() (list []*session) {
	t.root.each(func(s *session) { list = append(list, s) })
	return list
}
