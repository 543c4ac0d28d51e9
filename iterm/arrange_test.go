package iterm

import (
	"slices"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// oneTab puts sessions into one tab.
func oneTab(w *world, tab int, sessions ...*worldSession) {
	for _, s := range sessions {
		s.window, s.tab = "pty-1", tab
	}
}

func one(t *testing.T, c *Client, id terminal.ID) terminal.Session {
	t.Helper()
	for _, s := range sessions(t, c) {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("%s is not listed", id)
	return terminal.Session{}
}

// last returns the last request that pick picks out of.
func last[R any](s *fakeServer, pick func(*api.ClientOriginatedMessage) *R) *R {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.requests) {
		if r := pick(m); r != nil {
			return r
		}
	}
	return nil
}

func TestTheFocusIsTheActiveSessionOfTheSelectedTab(t *testing.T) { // ITERM-63
	w := newWorld(5)
	oneTab(w, 1, w.sessions[0], w.sessions[1])
	oneTab(w, 3, w.sessions[2])
	w.key, w.selected["pty-1"], w.active[1] = "pty-1", 1, guid(2)
	c := newFakeServer(t, w).client(Options{})
	for _, s := range sessions(t, c) {
		if s.Current != (s.ID == sid(2)) {
			t.Errorf("%s: current is %v", s.ID, s.Current)
		}
	}
}

func TestFocusReturnsWhenTheTerminalSaysSo(t *testing.T) { // ITERM-63
	for name, edit := range map[string]func(*world){
		"told after": func(*world) {}, "told before the answer": func(w *world) { w.early = true }, "not told": func(w *world) { w.mute = true },
		"buried": func(w *world) { w.sessions[2].buried = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(3)
			w.key = "pty-1"
			oneTab(w, 1, w.sessions[1])
			edit(w)
			s := newFakeServer(t, w)
			c := s.client(Options{})
			for _, id := range []terminal.ID{sid(2), sid(3)} {
				if err := c.Focus(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				if !one(t, c, id).Current {
					t.Errorf("%s does not have the focus", id)
				}
			}
			a := last(s, (*api.ClientOriginatedMessage).GetActivateRequest)
			if !a.GetOrderWindowFront() || !a.GetSelectTab() || !a.GetSelectSession() || a.GetActivateApp() == nil || a.GetActivateApp().GetRaiseAllWindows() {
				t.Errorf("asked %v", a)
			}
		})
	}
}

func TestAFocusThatIsNotGivenIsAnError(t *testing.T) { // ITERM-63
	s := newFakeServer(t, newWorld(2))
	c := s.client(Options{})
	sessions(t, c)
	wantCode(t, c.Focus(t.Context(), sid(9)), fault.SessionNotFound)
	wantCode(t, c.Focus(t.Context(), "active"), fault.SessionNotFound)
	status := api.ActivateResponse_OK
	s.mu.Lock()
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetActivateRequest() == nil {
			return false
		}
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_ActivateResponse{
			ActivateResponse: &api.ActivateResponse{Status: status.Enum()},
		}})
		return true
	}
	s.mu.Unlock()
	wantCode(t, c.Focus(t.Context(), sid(2)), fault.Refused) // accepted, and nothing moves
	status = api.ActivateResponse_INVALID_OPTION
	wantCode(t, c.Focus(t.Context(), sid(2)), fault.Refused)
}

func TestANameIsKeptApartFromTheTitle(t *testing.T) { // ITERM-64
	w := newWorld(2)
	s := newFakeServer(t, w)
	c := s.client(Options{})
	sessions(t, c)
	if err := c.Rename(t.Context(), sid(1), `we "build" <it>`); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.sessions[0].vars[varWindowName] = "vim"
	w.mu.Unlock()
	s.notifyAll(variableChanged(guid(1), varWindowName, `"vim"`)) // a program sets its title
	s.notifyAll(variableChanged(guid(2), varNickname, `"acorn"`)) // another client names
	if err := c.Send(t.Context(), sid(1), nil); err != nil {      // its answer is behind the notifications
		t.Fatal(err)
	}
	if x := one(t, c, sid(1)); x.Name != `we "build" <it>` || x.Title != "vim" {
		t.Errorf("got %+v", x)
	}
	if x := one(t, c, sid(2)); x.Name != "acorn" {
		t.Errorf("got %+v", x)
	}
	if q := last(s, (*api.ClientOriginatedMessage).GetInvokeFunctionRequest); q.GetInvocation() != `iterm2.set_name(name: "we \"build\" <it>")` || q.GetMethod().GetReceiver() != guid(1) {
		t.Errorf("asked %v", q)
	}
	if err := c.Rename(t.Context(), sid(1), ""); err != nil {
		t.Fatal(err)
	}
	if x := one(t, c, sid(1)); x.Name != "" || x.Title != "vim" {
		t.Errorf("got %+v", x)
	}
	w.mu.Lock()
	shown := w.sessions[0].shown
	w.mu.Unlock()
	if shown != "Default" { // the profile's
		t.Errorf("it is shown as %q", shown)
	}
	wantCode(t, c.Rename(t.Context(), sid(1), "two\nlines"), fault.InvalidArgument)
	wantCode(t, c.Rename(t.Context(), sid(9), "x"), fault.SessionNotFound)
	wantCode(t, c.Rename(t.Context(), "all", "x"), fault.SessionNotFound)
}

func TestANewSessionHasItsNameFromTheStart(t *testing.T) { // ITERM-64
	for _, host := range []bool{true, false} {
		w := newWorld(1)
		w.host = host
		c := newFakeServer(t, w).client(Options{})
		if x := one(t, c, sid(1)); x.Name != "" {
			t.Errorf("got %+v", x)
		}
		got, err := c.Open(t.Context(), terminal.OpenSpec{Name: "acorn"})
		if err != nil || got.Name != "acorn" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestResizeReturnsWhenTheLayoutShowsIt(t *testing.T) { // ITERM-65
	for name, edit := range map[string]func(*world){
		"told after": func(*world) {}, "told before the answer": func(w *world) { w.early = true }, "not told": func(w *world) { w.mute = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			edit(w)
			c := newFakeServer(t, w).client(Options{})
			if err := c.Resize(t.Context(), sid(1), 30, 100); err != nil {
				t.Fatal(err)
			}
			if x := one(t, c, sid(1)); x.Rows != 30 || x.Columns != 100 {
				t.Errorf("got %+v", x)
			}
		})
	}
}

func TestASizeThatIsNotGivenIsAnError(t *testing.T) { // ITERM-65
	w := newWorld(2)
	w.sessions[1].tab, w.sessions[1].window, w.sessions[1].minimized = 1, "pty-1", true
	s := newFakeServer(t, w)
	c := s.client(Options{})
	for _, n := range [][2]int{{0, 1}, {1, 0}, {-1, 5}, {5, 1001}} {
		wantCode(t, c.Resize(t.Context(), sid(1), n[0], n[1]), fault.InvalidArgument)
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	wantCode(t, c.Resize(t.Context(), sid(9), 5, 5), fault.SessionNotFound)
	w.widest = 90
	wantCode(t, c.Resize(t.Context(), sid(1), 24, 100), fault.Refused) // no wider than the display
	for status, want := range map[api.SetPropertyResponse_Status]fault.Code{
		api.SetPropertyResponse_INVALID_VALUE: fault.InvalidArgument, api.SetPropertyResponse_IMPOSSIBLE: fault.Refused,
		api.SetPropertyResponse_FAILED: fault.Refused, api.SetPropertyResponse_UNRECOGNIZED_NAME: fault.Unsupported,
		api.SetPropertyResponse_INVALID_TARGET: fault.SessionEnded, // it was there a moment ago
	} {
		w.mu.Lock()
		w.refuseSize = status
		w.mu.Unlock()
		wantCode(t, c.Resize(t.Context(), sid(1), 24, 100), want)
	}
}

func TestASessionThatItsTabDoesNotShowIsNotResized(t *testing.T) { // ITERM-65
	for name, hide := range map[string]func(*worldSession){
		"behind a maximised one": func(x *worldSession) { x.tab, x.window, x.minimized = 1, "pty-1", true },
		"buried":                 func(x *worldSession) { x.buried = true },
	} {
		w := newWorld(2)
		hide(w.sessions[1])
		s := newFakeServer(t, w)
		wantCode(t, s.client(Options{}).Resize(t.Context(), sid(2), 30, 90), fault.Refused)
		if last(s, (*api.ClientOriginatedMessage).GetSetPropertyRequest) != nil || last(s, (*api.ClientOriginatedMessage).GetSetTabLayoutRequest) != nil {
			t.Errorf("%s: it was asked for", name)
		}
	}
}

func TestATabAndAWindowCloseInOneRequest(t *testing.T) { // ITERM-67
	for name, edit := range map[string]func(*world){
		"told after": func(*world) {}, "told before the answer": func(w *world) { w.early = true }, "not told": func(w *world) { w.mute = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(6)
			oneTab(w, 1, w.sessions[0], w.sessions[1])
			oneTab(w, 3, w.sessions[2])
			edit(w)
			s := newFakeServer(t, w)
			c := s.client(Options{})
			sessions(t, c)
			closes := func() (n int) {
				s.mu.Lock()
				defer s.mu.Unlock()
				for _, m := range s.requests {
					if m.GetCloseRequest() != nil {
						n++
					}
				}
				return n
			}
			for _, step := range []struct {
				close func() error
				left  int
			}{
				{func() error { return c.CloseTab(t.Context(), "1", terminal.Force) }, 4},
				{func() error { return c.CloseWindow(t.Context(), "pty-1", terminal.Hangup) }, 3},
				{func() error { return c.CloseWindow(t.Context(), "pty-4", terminal.Hangup) }, 2},
			} {
				s.count()
				if err := step.close(); err != nil {
					t.Fatal(err)
				}
				if n := closes(); n != 1 {
					t.Errorf("%d closes were asked for", n)
				}
				if list := sessions(t, c); len(list) != step.left {
					t.Errorf("listed %+v", list)
				}
			}
			s.count()
			wantCode(t, c.CloseTab(t.Context(), "1", terminal.Force), fault.TabNotFound)
			wantCode(t, c.CloseTab(t.Context(), "", terminal.Force), fault.TabNotFound)
			wantCode(t, c.CloseWindow(t.Context(), "all", terminal.Force), fault.WindowNotFound)
			if n := closes(); n != 0 {
				t.Errorf("%d closes of what is not there were asked for", n)
			}
		})
	}
}

func TestASessionThatWasMovedOutInTimeLives(t *testing.T) { // ITERM-67
	w := newWorld(3)
	oneTab(w, 1, w.sessions[0], w.sessions[1])
	s := newFakeServer(t, w)
	s.handle = func(_ *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetCloseRequest() != nil { // a person is quicker
			w.mu.Lock()
			w.sessions[1].tab, w.sessions[1].window = 3, "pty-3"
			w.mu.Unlock()
		}
		return false
	}
	c := s.client(Options{})
	if err := c.CloseTab(t.Context(), "1", terminal.Force); err != nil {
		t.Fatal(err)
	}
	if list := sessions(t, c); len(list) != 2 || list[0].ID != sid(2) || list[0].Tab != "3" {
		t.Errorf("listed %+v", list)
	}
}

func TestOpenLeavesTheFocusWhereItWas(t *testing.T) { // ITERM-68
	for _, old := range []bool{false, true} {
		w := newWorld(4)
		w.old, w.key = old, "pty-1"
		oneTab(w, 1, w.sessions[0], w.sessions[1])
		oneTab(w, 3, w.sessions[2])
		w.selected["pty-1"], w.active[1] = 1, guid(2)
		s := newFakeServer(t, w)
		c := s.client(Options{})
		focused := func(when string, id terminal.ID) {
			t.Helper()
			w.mu.Lock()
			key, selected, active := w.key, w.selectedOf("pty-1"), w.activeOf(1)
			w.mu.Unlock()
			if key != "pty-1" || selected != 1 || active != string(id) {
				t.Errorf("%s: the window is %s, its tab %d, its pane %s", when, key, selected, active)
			}
			for _, x := range sessions(t, c) {
				if x.Current != (x.ID == id) {
					t.Errorf("%s: %s: current is %v", when, x.ID, x.Current)
				}
			}
		}
		for _, spec := range []terminal.OpenSpec{
			{},
			{Place: terminal.InTab, Window: "pty-1"},
			{Place: terminal.InTab, Window: "pty-4"},
			{Place: terminal.InSplit, Beside: sid(2), Direction: terminal.Above},
			{Place: terminal.InSplit, Beside: sid(3)},
		} {
			made, err := c.Open(t.Context(), spec)
			if err != nil || made.Current {
				t.Fatalf("%+v: got %+v, %v", spec, made, err)
			}
			focused("after opening quietly", sid(2))
		}
		if !old { // what is not taken need not be given back
			s.count()
			if _, err := c.Open(t.Context(), terminal.OpenSpec{}); err != nil || last(s, (*api.ClientOriginatedMessage).GetActivateRequest) != nil {
				t.Errorf("%v", err)
			}
		}
		made, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1), Focus: true})
		if err != nil || !made.Current {
			t.Errorf("got %+v, %v", made, err)
		}
		focused("after opening with the focus", made.ID)
	}
}

func TestAPaneOfTmuxIsWaitedFor(t *testing.T) { // ITERM-69
	w := newWorld(2)
	w.tmux[1] = true
	s := newFakeServer(t, w)
	c := s.client(Options{Deadline: time.Second})
	eventually(t, "it is connected", func() bool { _, err := c.Sessions(t.Context()); return err == nil })
	_, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1), Command: "make"})
	wantCode(t, err, fault.Unsupported)
	if last(s, (*api.ClientOriginatedMessage).GetSplitPaneRequest) != nil {
		t.Error("it was split all the same")
	}
	got, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1), Name: "mine"})
	if err != nil || got.ID != sid(3) || got.Tab != "1" || got.Name != "mine" {
		t.Fatalf("got %+v, %v", got, err)
	}
	s.mu.Lock()
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetSplitPaneRequest() == nil {
			return false
		}
		w.mu.Lock() // somebody else splits it at the same time
		w.splitPane(m.GetSplitPaneRequest())
		w.told = nil
		w.splitPane(m.GetSplitPaneRequest())
		w.mu.Unlock()
		told, _ := w.pending()
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_SplitPaneResponse{SplitPaneResponse: &api.SplitPaneResponse{}}})
		for _, n := range told {
			c.notify(n)
		}
		return true
	}
	s.mu.Unlock()
	_, err = c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1)})
	wantCode(t, err, fault.Deadline) // nobody knows which is ours
}
