package host

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// layoutSpec is what iterm2.apply_layout makes of the layout: the trees of some
// tabs, in which sessions may come from any tab, and what is closed. Every
// session of a tab that changes has to be somewhere in it.
type layoutSpec struct {
	Tabs []struct {
		TabID string   `json:"tab_id"`
		Root  specNode `json:"root"`
	} `json:"tabs"`
	CloseSessions []string          `json:"close_sessions"`
	CloseTabs     []string          `json:"close_tabs"`
	CloseWindows  []string          `json:"close_windows"`
	NewTabs       []json.RawMessage `json:"new_tabs"`
	NewWindows    []json.RawMessage `json:"new_windows"`
}

// specNode is a session that there is, one to be opened, or a row or column.
type specNode struct {
	SessionID  string `json:"session_id"`
	NewSession *struct {
		Profile string `json:"profile"`
		Command string `json:"command"`
	} `json:"new_session"`
	Vertical bool       `json:"vertical"`
	Children []specNode `json:"children"`
}

// plan is a spec that was checked against the layout.
type plan struct {
	roots   map[*tab]*pane
	closing []*session
	leaving []*tab // lose all their sessions
}

// applyLayout does what the official client's App.async_apply_layout asks for.
// Everything is checked, and every new program started, before anything changes.
func applyLayout(h *server, _ string, call invocation) (any, error) {
	var text string
	if !call.get("spec_json_b64", &text) {
		return nil, errArguments
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, refused("the spec is not base64")
	}
	spec, err := readSpec(data)
	if err != nil {
		return nil, err
	}
	var wanted []request
	for i := range spec.Tabs {
		if wanted, err = h.newSessions(wanted, &spec.Tabs[i].Root, fmt.Sprintf("tabs[%d].root", i), 1, false, false); err != nil {
			return nil, err
		}
	}
	if err := h.checkSpec(spec, wanted); err != nil {
		return nil, err
	}
	fresh, err := h.startMany(wanted)
	if err != nil {
		return nil, err
	}
	p, err := h.applySpec(spec, fresh)
	if err != nil {
		h.release(len(fresh))
		for _, s := range fresh {
			s.abandon()
		}
		return nil, err
	}
	for _, s := range fresh {
		s.begin()
	}
	h.closeSessions(p.closing, true)
	return nil, nil
}

func readSpec(data []byte) (spec layoutSpec, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&spec); err != nil {
		return spec, refused("the spec cannot be read: " + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return spec, refused("there is something behind the spec")
	}
	if len(spec.NewTabs)+len(spec.NewWindows) > 0 {
		return spec, refused("new_tabs and new_windows are not supported")
	}
	return spec, nil
}

// newSessions checks the form of a node and its children, and adds what new
// sessions it wants.
func (h *server) newSessions(list []request, n *specNode, at string, depth int, nested, vertical bool) ([]request, error) {
	kinds := 0
	for _, is := range []bool{n.SessionID != "", n.NewSession != nil, n.Children != nil} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return nil, refused(at + ": a node is a session_id, a new_session or children")
	case n.SessionID != "":
		return list, nil
	case n.NewSession != nil:
		all := profiles(h.env)
		found := slices.IndexFunc(all, func(p profile) bool { return p.guid() == n.NewSession.Profile })
		if found < 0 {
			return nil, refused(at + ": no such profile")
		}
		r := request{profile: all[found], index: -1, shellLine: n.NewSession.Command}
		if err := r.check(); err != nil {
			return nil, refused(at + ": " + err.Error())
		}
		if len(list) >= maxSessions {
			return nil, refused("too many sessions")
		}
		return append(list, r), nil
	case len(n.Children) < 2:
		return nil, refused(at + ": a row or column has at least two children")
	case nested && vertical == n.Vertical:
		return nil, refused(at + ": a row in a row, or a column in a column")
	case depth >= maxDepth: // as for those that are divided, and for arrangements
		return nil, refused(at + ": nested too deep")
	}
	for i := range n.Children {
		var err error
		if list, err = h.newSessions(list, &n.Children[i], fmt.Sprintf("%s.children[%d]", at, i), depth+1, true, n.Vertical); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// checkSpec checks a spec against the layout as it is now.
func (h *server) checkSpec(spec layoutSpec, wanted []request) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	stand := make([]*session, len(wanted))
	for i := range stand {
		stand[i] = &session{}
	}
	_, err := h.planOf(h.layout, spec, stand)
	return err
}

// startMany starts sessions that nobody knows yet, all or none.
func (h *server) startMany(wanted []request) (started []*session, err error) {
	if err := h.reserve(len(wanted)); err != nil {
		return nil, err
	}
	for _, r := range wanted {
		s, err := h.start(r)
		if err != nil {
			h.release(len(wanted))
			for _, s := range started {
				s.abandon()
			}
			return nil, err
		}
		started = append(started, s)
	}
	return started, nil
}

func (h *server) applySpec(spec layoutSpec, fresh []*session) (p plan, err error) {
	h.arrange(func(l *layout) bool {
		if h.closing {
			err = unavailable("apply_layout", "the host is stopping", nil)
			return false
		}
		if p, err = h.planOf(l, spec, fresh); err != nil { // it has changed meanwhile
			return false
		}
		l.keepFocus(func() { l.carryOut(p) })
		h.opening -= len(fresh)
		for _, s := range fresh {
			h.register(s)
		}
		return true
	})
	return p, err
}

// carryOut does what a plan says. What is closed goes out of sight first.
func (l *layout) carryOut(p plan) {
	for _, s := range p.closing {
		if t := l.inTab[s]; t != nil {
			l.buried = append(l.buried, &grave{session: s, size: t.root.leaf(s).size})
			delete(l.inTab, s)
		}
	}
	for t, root := range p.roots {
		t.root = root
		root.each(func(s *session) { l.inTab[s] = t })
	}
	for t, root := range p.roots {
		if root.leaf(t.active) == nil {
			t.active = root.first()
		}
	}
	for _, t := range p.leaving {
		l.removeTab(t)
	}
}

// planOf checks everything that a spec says against a layout. fresh are the
// sessions for its new ones, in order. The server's lock is held.
func (h *server) planOf(l *layout, spec layoutSpec, fresh []*session) (plan, error) {
	p := plan{roots: map[*tab]*pane{}}
	placed, closed := map[*session]bool{}, map[*session]bool{}
	for i := range spec.Tabs {
		t := l.tab(spec.Tabs[i].TabID)
		switch {
		case t == nil:
			return p, refused("no such tab: " + spec.Tabs[i].TabID)
		case p.roots[t] != nil:
			return p, refused("a tab is named twice: " + spec.Tabs[i].TabID)
		}
		root, err := h.treeOf(t, spec.Tabs[i].Root, placed, &fresh)
		if err != nil {
			return p, err
		}
		size := t.root.extent()
		root.spread(size)
		root.fit(size)
		if !root.whole() {
			return p, refused("there is no room in tab " + t.name())
		}
		p.roots[t] = root
	}
	if err := h.closedBy(l, spec, &p, placed, closed); err != nil {
		return p, err
	}
	return p, p.account(l, placed, closed)
}

// treeOf is a spec's node as a tree, with the sizes of those sessions that are
// in the tab already.
func (h *server) treeOf(t *tab, n specNode, placed map[*session]bool, fresh *[]*session) (*pane, error) {
	if n.NewSession != nil {
		s := (*fresh)[0]
		*fresh = (*fresh)[1:]
		return &pane{session: s}, nil
	}
	if n.SessionID != "" {
		s := h.sessions[n.SessionID]
		from := h.layout.inTab[s]
		switch {
		case from == nil:
			return nil, refused("no such session in a tab: " + n.SessionID)
		case placed[s]:
			return nil, refused("a session is named twice: " + n.SessionID)
		}
		placed[s] = true
		if from != t {
			return &pane{session: s}, nil
		}
		return &pane{session: s, size: t.root.leaf(s).size}, nil
	}
	root := &pane{vertical: n.Vertical}
	for _, child := range n.Children {
		part, err := h.treeOf(t, child, placed, fresh)
		if err != nil {
			return nil, err
		}
		root.parts = append(root.parts, part)
	}
	return root, nil
}

// closedBy finds the sessions that a spec closes: those that it places nowhere.
func (h *server) closedBy(l *layout, spec layoutSpec, p *plan, placed, closed map[*session]bool) error {
	end := func(s *session) {
		if !closed[s] && !placed[s] {
			closed[s] = true
			p.closing = append(p.closing, s)
		}
	}
	var tabs []*tab
	for _, id := range spec.CloseTabs {
		t := l.tab(id)
		if t == nil {
			return refused("no such tab: " + id)
		}
		tabs = append(tabs, t)
	}
	for _, id := range spec.CloseWindows {
		w := l.bySerial[id]
		if w == nil {
			return refused("no such window: " + id)
		}
		tabs = append(tabs, w.tabs...)
	}
	for _, t := range tabs {
		if p.roots[t] != nil {
			return refused("a tab is closed and arranged: " + t.name())
		}
		t.root.each(end)
	}
	for _, id := range spec.CloseSessions {
		s := h.sessions[id]
		if s == nil || placed[s] {
			return refused("a session to be closed does not live, or is placed: " + id)
		}
		end(s)
	}
	return nil
}

// account makes sure that every session of every tab that changes goes somewhere,
// and finds the tabs that lose all of theirs.
func (p *plan) account(l *layout, placed, closed map[*session]bool) error {
	for _, w := range l.windows {
		for _, t := range w.tabs {
			left, gone := []*session{}, 0
			t.root.each(func(s *session) {
				if placed[s] || closed[s] {
					gone++
				} else {
					left = append(left, s)
				}
			})
			switch {
			case gone == 0 && p.roots[t] == nil:
			case len(left) > 0:
				return refused("a session has no place: " + left[0].id)
			case p.roots[t] == nil:
				p.leaving = append(p.leaving, t)
			}
		}
	}
	return nil
}

// spread gives a tree the size of its tab. What is new there gets an even part of
// what it stands in, what was there the rest, in the proportions that it had.
func (p *pane) spread(to Size) {
	if p.session != nil {
		p.size = to
		return
	}
	cells, known, old := to.along(p.vertical)-len(p.parts)+1, 0, 0
	for _, part := range p.parts {
		if !part.unsized() {
			known, old = known+part.extent().along(p.vertical), old+1
		}
	}
	for _, part := range p.parts {
		along := cells / len(p.parts)
		if !part.unsized() {
			along = part.extent().along(p.vertical) * cells * old / (known * len(p.parts))
		}
		part.spread(sized(p.vertical, along, to.along(!p.vertical)))
	}
}

// unsized reports whether all sessions of a tree are new in the tab.
func (p *pane) unsized() bool {
	if p.session != nil {
		return p.size == Size{}
	}
	return !slices.ContainsFunc(p.parts, func(part *pane) bool { return !part.unsized() })
}
