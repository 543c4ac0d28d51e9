package iterm

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// state is what a link knows of the terminal. The reader alone changes it, in
// the order of the terminal's messages; others look under the lock.
type state struct {
	client *Client

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	gone    error         // set when the link is lost

	order    []terminal.ID // as the layout lists them
	sessions map[terminal.ID]*record
	current  string                 // id of the current window
	selected map[string]string      // window → its selected tab
	active   map[string]terminal.ID // tab → its active session
	tabs     map[string]tab
	domains  [][]terminal.ID
	ours     bool // the server is termpilot's host

	watchers map[terminal.ID][]*terminal.EventQueue
}

// tab is what the last layout said of a tab.
type tab struct {
	window string
	root   *api.SplitTreeNode
	tmux   bool // it shows a window of tmux -CC
}

// record is what is known of one live session.
type record struct {
	id          terminal.ID
	window, tab string
	rows        int
	columns     int
	listed      bool // a layout has shown it
	fetched     bool // vars was read whole since the subscriptions stand
	vars        map[string]string
	prompt      livePrompt
	command     string // of the last command that started
	commandID   string
	sawPrompt   bool // a prompt event came: the shell sends marks
}

func (s *state) init(c *Client) {
	s.client = c
	s.changed = make(chan struct{})
	s.sessions = make(map[terminal.ID]*record)
	s.selected = make(map[string]string)
	s.active = make(map[string]terminal.ID)
	s.tabs = make(map[string]tab)
	s.watchers = make(map[terminal.ID][]*terminal.EventQueue)
}

// touch wakes those who wait for a change. The lock is held.
func (s *state) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// disconnected ends all watches.
func (s *state) disconnected(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = err
	for _, list := range s.watchers {
		for _, w := range list {
			w.Fail(err)
		}
	}
	s.touch()
}

// record returns a session's record, making it when needed. The lock is held.
func (s *state) record(id terminal.ID) *record {
	r := s.sessions[id]
	if r == nil {
		r = &record{id: id, vars: make(map[string]string)}
		s.sessions[id] = r
	}
	return r
}

// setLayout takes the whole topology, or none of it: a session that is not in it
// has ended, which one that cannot be read has not.
func (s *state) setLayout(list *api.ListSessionsResponse) error {
	if err := readable(list); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = s.order[:0]
	present := make(map[terminal.ID]bool, len(s.sessions))
	place := func(window, tab string, summary *api.SessionSummary) {
		id := terminal.ID(summary.GetUniqueIdentifier())
		if present[id] {
			return
		}
		present[id] = true
		s.order = append(s.order, id)
		r := s.record(id)
		r.window, r.tab, r.listed = window, tab, true
		if g := summary.GetGridSize(); g.GetWidth() > 0 && g.GetHeight() > 0 {
			r.columns, r.rows = int(g.GetWidth()), int(g.GetHeight())
		}
		s.client.remember(id, time.Time{})
	}
	clear(s.tabs)
	for _, w := range list.GetWindows() {
		if w.SelectedTabId != nil {
			s.selected[w.GetWindowId()] = w.GetSelectedTabId()
		}
		for _, t := range w.GetTabs() {
			s.tabs[t.GetTabId()] = tab{window: w.GetWindowId(), root: t.GetRoot(), tmux: isTmux(t)}
			if t.ActiveSessionId != nil {
				s.active[t.GetTabId()] = terminal.ID(t.GetActiveSessionId())
			}
		}
	}
	eachListed(list, place)
	for id, r := range s.sessions {
		if r.listed && !present[id] { // one that no layout has shown yet may still come
			s.end(id)
		}
	}
	// What was moved does not take the focus of its old place along.
	maps.DeleteFunc(s.selected, func(window, tab string) bool { return s.tabs[tab].window != window })
	maps.DeleteFunc(s.active, func(tab string, id terminal.ID) bool { r := s.sessions[id]; return r == nil || r.tab != tab })
	s.touch()
	return nil
}

// eachListed calls f with every session of a topology, in its order; those that are
// buried are in no window. It reports whether it came to the ends of all trees.
func eachListed(list *api.ListSessionsResponse, f func(window, tab string, x *api.SessionSummary)) (whole bool) {
	whole = true
	for _, w := range list.GetWindows() {
		for _, t := range w.GetTabs() {
			whole = eachSession(t.GetRoot(), 0, func(x *api.SessionSummary) { f(w.GetWindowId(), t.GetTabId(), x) }) && whole
			for _, x := range t.GetMinimizedSessions() {
				f(w.GetWindowId(), t.GetTabId(), x)
			}
			for _, pane := range t.GetFloatingPanes() {
				if x := pane.GetSession(); x != nil {
					f(w.GetWindowId(), t.GetTabId(), x)
				}
			}
		}
	}
	for _, x := range list.GetBuriedSessions() {
		f("", "", x)
	}
	return whole
}

// readable refuses a topology of which not every session can be read.
func readable(list *api.ListSessionsResponse) error {
	if list == nil {
		return violation("a change of the layout tells no layout")
	}
	named := true
	whole := eachListed(list, func(_, _ string, x *api.SessionSummary) { named = named && exact(terminal.ID(x.GetUniqueIdentifier())) })
	switch {
	case !whole:
		return violation(fmt.Sprintf("a layout has splits more than %d deep", maxSplits))
	case !named:
		return violation("a layout has a session without an id")
	}
	return nil
}

// isTmux reports whether a tab shows a window of tmux -CC: iTerm2 numbers the
// others -1.
func isTmux(t *api.ListSessionsResponse_Tab) bool {
	return t.GetTmuxConnectionId() != "" || t.TmuxWindowId != nil && t.GetTmuxWindowId() != "-1" && t.GetTmuxWindowId() != ""
}

// maxSplits is how deep a tree of splits is followed: panes of one cell would
// not reach half of it.
const maxSplits = 64

// eachSession calls f with the sessions of a tree of splits, and reports whether
// it came to all of its ends.
func eachSession(node *api.SplitTreeNode, depth int, f func(*api.SessionSummary)) (whole bool) {
	if depth > maxSplits {
		return false
	}
	whole = true
	for _, link := range node.GetLinks() {
		if x := link.GetSession(); x != nil {
			f(x)
		}
		if n := link.GetNode(); n != nil {
			whole = eachSession(n, depth+1, f) && whole
		}
	}
	return whole
}

// end takes a session out of the state, whether or not a layout ever showed it.
// The lock is held.
func (s *state) end(id terminal.ID) {
	if !exact(id) {
		return
	}
	var exit terminal.Exit
	if r := s.sessions[id]; r != nil {
		exit, _ = parseExit(r.vars[varExit])
	}
	delete(s.sessions, id)
	s.order = slices.DeleteFunc(s.order, func(x terminal.ID) bool { return x == id })
	s.client.remember(id, time.Now())
	for _, w := range s.watchers[id] {
		w.Push(terminal.Event{Kind: terminal.Gone, Exit: exit})
	}
	delete(s.watchers, id)
}

// setFocus takes the answer to a focus request.
func (s *state) setFocus(f *api.FocusResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range f.GetNotifications() {
		s.focusChanged(n)
	}
	s.touch()
}

// focusChanged takes one change of focus. The lock is held.
func (s *state) focusChanged(n *api.FocusChangedNotification) {
	switch e := n.GetEvent().(type) {
	case *api.FocusChangedNotification_Window_:
		// A window that resigned stays current until another one takes over.
		if e.Window.GetWindowStatus() != api.FocusChangedNotification_Window_TERMINAL_WINDOW_RESIGNED_KEY {
			s.current = e.Window.GetWindowId()
		}
	case *api.FocusChangedNotification_SelectedTab:
		if t, ok := s.tabs[e.SelectedTab]; ok {
			s.selected[t.window] = e.SelectedTab
		}
	case *api.FocusChangedNotification_Session:
		if r := s.sessions[terminal.ID(e.Session)]; r != nil && r.tab != "" {
			s.active[r.tab] = r.id
		}
	}
}

// focused returns the session that has the focus, or "". The lock is held.
func (s *state) focused() terminal.ID {
	if s.current == "" {
		return ""
	}
	return s.active[s.selected[s.current]]
}

// focus is what the terminal says has the focus, at every level.
type focus struct {
	window   string                 // the current one
	selected map[string]string      // window → its selected tab
	active   map[string]terminal.ID // tab → its active session
}

// in returns the session that has the focus in a window.
func (f focus) in(window string) terminal.ID { return f.active[f.selected[window]] }

func (s *state) focus() focus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return focus{window: s.current, selected: maps.Clone(s.selected), active: maps.Clone(s.active)}
}

func (s *state) setDomains(domains []*api.BroadcastDomain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.domains = s.domains[:0]
	for _, d := range domains {
		var ids []terminal.ID
		for _, id := range d.GetSessionIds() {
			ids = append(ids, terminal.ID(id))
		}
		s.domains = append(s.domains, ids)
	}
	s.touch()
}

// broadcasts reports whether input to a session is copied to another.
func (s *state) broadcasts(id terminal.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.domains, func(d []terminal.ID) bool { return len(d) > 1 && slices.Contains(d, id) })
}

// alive reports whether the terminal has shown a session that has not ended.
func (s *state) alive(id terminal.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id] != nil
}

// listed reports whether a layout shows a session.
func (s *state) listed(id terminal.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	return r != nil && r.listed
}

// where says where a session is.
func (s *state) where(id terminal.ID) (r record, t tab, alive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.sessions[id]; known != nil {
		return record{
			id: id, window: known.window, tab: known.tab, rows: known.rows, columns: known.columns, listed: known.listed,
		}, s.tabs[known.tab], true
	}
	return record{}, tab{}, false
}

// members lists the sessions of a tab or a window.
func (s *state) members(of group) []terminal.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []terminal.ID
	for _, id := range s.order {
		if r := s.sessions[id]; of.has(r) {
			ids = append(ids, id)
		}
	}
	return ids
}

// next returns a channel that is closed at the next change. Take it before
// looking at what is waited for.
func (s *state) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// unfetched lists the sessions whose variables are not known, in order.
func (s *state) unfetched() []terminal.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []terminal.ID
	for _, id := range s.order {
		if !s.sessions[id].fetched {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *state) list(backend string) []terminal.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	focused := s.focused()
	list := make([]terminal.Session, 0, len(s.order))
	for _, id := range s.order {
		list = append(list, s.sessions[id].session(backend, id == focused))
	}
	return list
}

func (s *state) one(backend string, id terminal.ID) (terminal.Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	if r == nil {
		return terminal.Session{}, false
	}
	return r.session(backend, id == s.focused()), true
}
