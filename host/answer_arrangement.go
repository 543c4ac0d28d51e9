package host

import (
	"path/filepath"
	"strings"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// savedArrangement saves windows, restores them, or lists what was saved.
func savedArrangement(c *client, in *api.SavedArrangementRequest) (*api.SavedArrangementResponse, error) {
	h := c.host
	answer := func(status api.SavedArrangementResponse_Status) (*api.SavedArrangementResponse, error) {
		return &api.SavedArrangementResponse{Status: status.Enum()}, nil
	}
	if in.GetAction() == api.SavedArrangementRequest_LIST {
		names, err := h.options.location.names()
		return &api.SavedArrangementResponse{Status: api.SavedArrangementResponse_OK.Enum(), Names: names}, err
	}
	if in.Action == nil || in.GetName() == "" || !isName(in.GetName()) {
		return answer(api.SavedArrangementResponse_REQUEST_MALFORMED)
	}
	if _, ok := h.windowNow(in.GetWindowId()); !ok {
		return answer(api.SavedArrangementResponse_WINDOW_NOT_FOUND)
	}
	h.arranging.Lock() // two at once would both count the files, or both the sessions
	defer h.arranging.Unlock()
	if in.GetAction() == api.SavedArrangementRequest_SAVE {
		if err := h.options.location.save(h.arrangementNow(in.GetName(), in.GetWindowId())); err != nil {
			return nil, err
		}
		return answer(api.SavedArrangementResponse_OK)
	}
	a, ok := h.options.location.load(in.GetName())
	if !ok {
		return answer(api.SavedArrangementResponse_ARRANGEMENT_NOT_FOUND)
	}
	err := h.restoreArrangement(a, in.GetWindowId())
	if fault.CodeOf(err) == fault.WindowNotFound {
		return answer(api.SavedArrangementResponse_WINDOW_NOT_FOUND)
	}
	if err != nil {
		return nil, err
	}
	return answer(api.SavedArrangementResponse_OK)
}

// arrangementNow is how one window is arranged now, or all of them.
func (h *server) arrangementNow(name, only string) arrangement {
	a := arrangement{V: 1, Name: name}
	var leaves []*session
	h.mu.Lock()
	for _, w := range h.layout.windows {
		if only != "" && w.id != only {
			continue
		}
		b := w.bounds()
		saved := savedWindow{Frame: savedFrame{b.x, b.y, b.width, b.height}, Title: w.title}
		for _, t := range w.tabs {
			saved.Tabs = append(saved.Tabs, savedTab{Title: t.title, Root: t.root.saved()})
			leaves = append(leaves, t.sessions()...)
		}
		a.Windows = append(a.Windows, saved)
	}
	h.mu.Unlock()
	// Folders are asked of the system, which must not be done under the lock.
	at := 0
	for _, w := range a.Windows {
		for i := range w.Tabs {
			w.Tabs[i].Root.each(func(p *savedPane) {
				if dir := leaves[at].path(); filepath.IsAbs(dir) && !strings.ContainsRune(dir, 0) {
					p.Dir = dir // what a program says of it may be anything
				}
				at++
			})
		}
	}
	return a
}

func (p *pane) saved() savedPane {
	if s := p.session; s != nil {
		r := s.request
		return savedPane{
			Profile: s.profile.Name, Shell: s.profile.Shell, Command: r.command, ShellLine: r.shellLine,
			Name: s.facts.label(), Typed: r.typed, Scrollback: r.scrollback, Columns: p.size.Columns, Rows: p.size.Rows,
		}
	}
	out := savedPane{Vertical: p.vertical}
	for _, part := range p.parts {
		out.Parts = append(out.Parts, part.saved())
	}
	return out
}

func (p *savedPane) each(f func(*savedPane)) {
	if len(p.Parts) == 0 {
		f(p)
	}
	for i := range p.Parts {
		p.Parts[i].each(f)
	}
}

// restoreArrangement opens the windows of an arrangement, or its tabs in one
// window. All of its programs start, or none is left.
func (h *server) restoreArrangement(a arrangement, into string) error {
	var trees []*pane
	var fresh []*session
	wanted := 0
	for _, w := range a.Windows {
		for _, t := range w.Tabs {
			_, leaves := t.Root.tree(1)
			wanted += len(leaves)
		}
	}
	if err := h.reserve(wanted); err != nil {
		return err
	}
	var err error
	for _, w := range a.Windows {
		for _, t := range w.Tabs {
			root, leaves := t.Root.tree(1)
			var started []*session
			if started, err = h.startAll(root, leaves); err != nil {
				break
			}
			trees, fresh = append(trees, root), append(fresh, started...)
		}
	}
	if err == nil {
		err = h.placeAll(a, into, trees, fresh)
	}
	if err != nil {
		h.release(wanted)
		for _, s := range fresh {
			s.abandon()
		}
		return err
	}
	for _, s := range fresh {
		s.begin()
	}
	return nil
}

// startAll starts the sessions of one tree and puts them into its leaves.
func (h *server) startAll(root *pane, leaves []*savedPane) (started []*session, err error) {
	at := map[*session]*session{}
	root.each(func(empty *session) {
		if err != nil {
			return
		}
		r := leaves[len(started)].request()
		if !isFolder(r.dir) {
			r.dir = ""
		}
		if p, ok := findProfile(h.env, r.profile.Name); ok && !executable(r.profile.Shell) {
			r.profile = p // the shell has moved
		}
		var s *session
		if s, err = h.start(r); err == nil {
			at[empty], started = s, append(started, s)
		}
	})
	if err != nil {
		for _, s := range started {
			s.abandon()
		}
		return nil, err
	}
	root.fill(at)
	return started, nil
}

func (p *pane) fill(at map[*session]*session) {
	if p.session != nil {
		p.session = at[p.session]
	}
	for _, part := range p.parts {
		part.fill(at)
	}
}

// placeAll puts the tabs of an arrangement into the layout. The focus stays
// where it is.
func (h *server) placeAll(a arrangement, into string, trees []*pane, fresh []*session) (err error) {
	h.arrange(func(l *layout) bool {
		target := l.bySerial[into]
		switch {
		case h.closing:
			err = unavailable("restore", "the host is stopping", nil)
		case into != "" && target == nil:
			err = &fault.Error{Op: "restore", Code: fault.WindowNotFound, Detail: "the window is gone", Hint: "list the sessions"}
		}
		if err != nil {
			return false
		}
		for _, w := range a.Windows {
			home := target
			if home == nil {
				home = l.addWindow()
				home.title, home.frame = terminal.OneLine(w.Title, maxName), rect{w.Frame.X, w.Frame.Y, w.Frame.Width, w.Frame.Height}
			}
			for _, t := range w.Tabs {
				l.addTab(home, trees[0], -1).title = terminal.OneLine(t.Title, maxName)
				trees = trees[1:]
			}
		}
		h.opening -= len(fresh)
		for _, s := range fresh {
			h.register(s)
		}
		return true
	})
	return err
}
