package iterm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// This file is what iTerm2 does and a client would rather it did not, a test
// for each. What is tested elsewhere has its name in the specs.

// handling lets a test answer some requests itself.
func (s *fakeServer) handling(f func(*fakeConn, *api.ClientOriginatedMessage) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle = f
}

func hasText(m *api.ClientOriginatedMessage) bool { return m.GetSendTextRequest() != nil }

// soon is a context for an answer that is known not to come.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// lateContext is over once over is closed.
type lateContext struct {
	context.Context
	over chan struct{}
}

func (c lateContext) Done() <-chan struct{} { return c.over }

func (c lateContext) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// overdue is a context whose deadline passes when expire is called, be it once
// or more often: when a request has come, say, however long that took.
func overdue(t *testing.T) (ctx context.Context, expire func()) {
	over := make(chan struct{})
	return lateContext{t.Context(), over}, sync.OnceFunc(func() { close(over) })
}

func TestATextThatTheTerminalParksIsNotRepeated(t *testing.T) { // ITERM-7, ITERM-9
	for name, hold := range map[string]func(c *fakeConn, m *api.ClientOriginatedMessage) func(){
		"another client's transaction lasts": func(c *fakeConn, m *api.ClientOriginatedMessage) func() {
			return func() { c.answer(m, c.server.world.answer(m)) }
		},
		"what cannot be decoded is dropped": func(*fakeConn, *api.ClientOriginatedMessage) func() { return func() {} },
		"a modal dialog stops all, then an error": func(c *fakeConn, m *api.ClientOriginatedMessage) func() {
			return func() { c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Error{}}) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t, newWorld(1))
			c := s.client(Options{})
			sessions(t, c)
			parked := make(chan func(), 1)
			ctx, expire := overdue(t)
			s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
				if hasText(m) {
					parked <- hold(c, m)
					expire()
				}
				return hasText(m)
			})
			err := c.Send(ctx, sid(1), []byte("x"))
			wantCode(t, err, fault.Deadline)
			if !strings.Contains(err.Error(), "unknown") {
				t.Errorf("%v does not say that the effect is unknown", err)
			}
			s.handling(nil)
			(<-parked)() // the late answer is nobody's
			if _, err := c.Screen(t.Context(), sid(1), terminal.Range{}); err != nil {
				t.Error(err)
			}
			if got := s.sent(); len(got) != 1 {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestACloseThatWaitsForAPersonEndsWithItsDeadline(t *testing.T) { // ITERM-7, ITERM-54
	s := newFakeServer(t, newWorld(2))
	c := s.client(Options{})
	sessions(t, c)
	s.handling(func(_ *fakeConn, m *api.ClientOriginatedMessage) bool { return m.GetCloseRequest() != nil })
	wantCode(t, c.Close(soon(t), sid(1), terminal.Hangup), fault.Deadline)
	wantCode(t, c.CloseWindow(soon(t), "pty-2", terminal.Hangup), fault.Deadline)
	if list := sessions(t, c); len(list) != 2 {
		t.Errorf("listed %+v", list)
	}
}

func TestASessionThatVanishesBetweenTwoCallsHasEnded(t *testing.T) { // ITERM-35
	w := newWorld(1)
	s := newFakeServer(t, w)
	c := s.client(Options{})
	sessions(t, c)
	w.mu.Lock()
	w.sessions = nil // and nobody says so
	w.mu.Unlock()
	for what, call := range map[string]func() error{
		"send":   func() error { return c.Send(t.Context(), sid(1), []byte("x")) },
		"screen": func() error { _, err := c.Screen(t.Context(), sid(1), terminal.Range{}); return err },
		"prompt": func() error { _, err := c.Prompt(t.Context(), sid(1), ""); return err },
		"watch":  func() error { _, err := c.Watch(t.Context(), sid(1)); return err },
		"close":  func() error { return c.Close(t.Context(), sid(1), terminal.Force) },
		"focus":  func() error { return c.Focus(t.Context(), sid(1)) },
		"resize": func() error { return c.Resize(t.Context(), sid(1), 30, 90) },
		"rename": func() error { return c.Rename(t.Context(), sid(1), "x") },
		"unname": func() error { return c.Rename(t.Context(), sid(1), "") },
		"keys":   func() error { _, err := c.ApplicationCursor(t.Context(), sid(1)); return err },
		"split": func() error {
			_, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1)})
			return err
		},
	} {
		if err := call(); fault.CodeOf(err) != fault.SessionEnded {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := c.Open(t.Context(), terminal.OpenSpec{}); err != nil { // the way out is not blocked
		t.Error(err)
	}
}

func TestNoWayOfNamingASessionButItsIDReachesTheTerminal(t *testing.T) { // ITERM-34
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	sessions(t, c)
	s.count()
	for _, id := range []terminal.ID{"w0t0p0", "w0t0p0:" + sid(1), "w0t0p0." + sid(1), ":" + sid(1), "session 1", "/dev/pts/1", " " + sid(1)} {
		wantCode(t, c.Send(t.Context(), id, []byte("x")), fault.SessionNotFound)
		wantCode(t, c.Focus(t.Context(), id), fault.SessionNotFound)
		wantCode(t, c.Resize(t.Context(), id, 9, 9), fault.SessionNotFound)
		wantCode(t, c.Rename(t.Context(), id, "x"), fault.SessionNotFound)
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestASessionThatMovesIsStillTheSame(t *testing.T) { // ITERM-72
	w := newWorld(3)
	s := newFakeServer(t, w)
	c := s.client(Options{})
	events := watch(t, c, sid(1))
	x := w.sessions[0]
	for what, move := range map[string]func(){
		"into another window":    func() { x.window, x.tab = "pty-2", 2 },
		"into a hotkey window":   func() { x.window, x.tab = "pty-hotkey", 9 },
		"behind a maximised one": func() { x.window, x.tab, x.minimized = "pty-3", 3, true },
		"out of sight":           func() { x.minimized, x.buried = false, true },
		"back":                   func() { x.buried = false },
	} {
		w.mu.Lock()
		move()
		window, tab := x.window, fmt.Sprint(x.tab)
		if x.buried {
			window, tab = "", ""
		}
		w.mu.Unlock()
		s.notifyAll(layoutChanged(w))
		if err := c.Send(t.Context(), sid(1), []byte("x")); err != nil { // its answer is behind the layout
			t.Fatalf("%s: %v", what, err)
		}
		if got := one(t, c, sid(1)); got.Window != window || got.Tab != tab {
			t.Errorf("%s: got %+v", what, got)
		}
		if screen, err := c.Screen(t.Context(), sid(1), terminal.Range{}); err != nil || len(screen.Rows) != 24 || screen.Columns != 80 {
			t.Errorf("%s: %+v, %v", what, screen, err)
		}
	}
	s.notifyAll(terminated(guid(1)))
	if got := kinds(collect(t, events, terminal.Gone)); len(got) != 2 {
		t.Errorf("its events are %v", got)
	}
}

func TestASessionDoesNotTakeTheFocusOfAPlaceAlong(t *testing.T) { // ITERM-31, ITERM-72
	for name, move := range map[string]func(*world){
		"a pane into another window": func(w *world) { w.sessions[1].window, w.sessions[1].tab = "pty-3", 3 },
		"a tab into another window": func(w *world) {
			w.sessions[0].window, w.sessions[1].window = "pty-3", "pty-3"
			w.sessions[3].window = "pty-1"
		},
	} {
		w := newWorld(4)
		oneTab(w, 1, w.sessions[0], w.sessions[1])
		w.key, w.active[1] = "pty-1", guid(2)
		s := newFakeServer(t, w)
		c := s.client(Options{})
		if x := one(t, c, sid(2)); !x.Current {
			t.Fatalf("got %+v", x)
		}
		w.mu.Lock()
		move(w)
		w.mu.Unlock()
		s.notifyAll(layoutChanged(w))
		if err := c.Send(t.Context(), sid(1), nil); err != nil { // its answer is behind the layout
			t.Fatal(err)
		}
		for _, x := range sessions(t, c) {
			if x.Current && x.Window != "pty-1" {
				t.Errorf("%s: the current window is pty-1, the current session %+v", name, x)
			}
		}
	}
}

func TestATextIsNotSentWhereItIsNotToldWhoReads(t *testing.T) { // ITERM-50
	for name, answer := range map[string]*api.ServerOriginatedMessage{
		"an error":        {Submessage: &api.ServerOriginatedMessage_Error{Error: "not now"}},
		"of another kind": {Submessage: &api.ServerOriginatedMessage_FocusResponse{FocusResponse: &api.FocusResponse{}}},
		"a refusal":       {Submessage: &api.ServerOriginatedMessage_VariableResponse{VariableResponse: &api.VariableResponse{Status: api.VariableResponse_MISSING_SCOPE.Enum()}}},
	} {
		w := newWorld(1)
		w.sessions[0].vars[varTmuxRole] = "gateway"
		s := newFakeServer(t, w)
		s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetVariableRequest().GetSessionId() == "" {
				return false
			}
			c.answer(m, proto.Clone(answer).(*api.ServerOriginatedMessage))
			return true
		})
		if err := s.client(Options{}).Send(t.Context(), sid(1), []byte("x")); err == nil || fault.CodeOf(err) == fault.Internal || len(s.sent()) != 0 {
			t.Errorf("%s: %v, and %q was sent", name, err, s.sent())
		}
	}
}

func TestTheGatewayThatNoLayoutShowsGetsNoText(t *testing.T) { // ITERM-50
	w := newWorld(1)
	w.sessions[0].vars[varTmuxRole], w.sessions[0].late = "gateway", true
	s := newFakeServer(t, w)
	wantCode(t, s.client(Options{}).Send(t.Context(), sid(1), []byte("x")), fault.NotAllowed)
	if len(s.sent()) != 0 {
		t.Errorf("sent %q", s.sent())
	}
}

func TestABuriedSessionIsNotDivided(t *testing.T) { // ITERM-72
	w := newWorld(2)
	w.sessions[0].buried = true
	s := newFakeServer(t, w)
	c := s.client(Options{})
	_, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1)})
	wantCode(t, err, fault.Refused) // it lives: "ended" would be a lie
	if last(s, (*api.ClientOriginatedMessage).GetSplitPaneRequest) != nil {
		t.Error("it was asked for")
	}
}

func TestAWebBrowserIsNoTerminal(t *testing.T) { // ITERM-73
	w := newWorld(1)
	x := w.sessions[0]
	x.columns, x.rows, x.vars[varColumns], x.vars[varRows] = 0, 0, 0, 0
	s := newFakeServer(t, w)
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetGetBufferRequest() == nil {
			return false
		}
		c.answer(m, &api.ServerOriginatedMessage{}) // an id, and nothing else
		return true
	}
	c := s.client(Options{})
	wantCode(t, c.Send(t.Context(), sid(1), []byte("x")), fault.Unsupported) // iTerm2 would say OK and type nothing
	_, err := c.Screen(t.Context(), sid(1), terminal.Range{})
	wantCode(t, err, fault.Unsupported)
	if n := len(s.sent()); n != 0 {
		t.Errorf("%d texts were sent", n)
	}
}

func TestNoTextIsLogged(t *testing.T) { // ITERM-74
	const canary = "hunter2-canary"
	var log strings.Builder
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	sessions(t, c)
	if err := c.Send(t.Context(), sid(1), []byte(canary)); err != nil {
		t.Fatal(err)
	}
	s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if hasText(m) {
			c.raw.Close()
		}
		return hasText(m)
	})
	err := c.Send(t.Context(), sid(1), []byte(canary))
	wantCode(t, err, fault.Deadline)
	_, openErr := c.Open(t.Context(), terminal.OpenSpec{Env: map[string]string{"A": canary, "": ""}})
	c.Disconnect()
	if log.Len() == 0 || strings.Contains(log.String()+err.Error()+fault.HintOf(err)+openErr.Error(), canary) {
		t.Errorf("%v, %v; the log is %q", err, openErr, log.String())
	}
}

// TestNothingIsAskedThatCouldHoldUpOrChangeMoreThanItSays calls everything that
// a client can do and looks at what kinds of requests it takes.
func TestNothingIsAskedThatCouldHoldUpOrChangeMoreThanItSays(t *testing.T) { // ITERM-71
	w := newWorld(4)
	w.key = "pty-1"
	w.sessions[0].prompts = []*api.GetPromptResponse{editing("P")}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	ctx := t.Context()
	sessions(t, c)
	collect(t, watch(t, c, sid(1)), terminal.State)
	c.Screen(ctx, sid(1), terminal.Range{Kind: terminal.Tail, Count: 1 << 30})
	c.Prompt(ctx, sid(1), "P")
	c.Prompts(ctx)
	c.Profiles(ctx)
	c.Exit(ctx, sid(1))
	c.ApplicationCursor(ctx, sid(1))
	c.Broadcasts(ctx, sid(1))
	c.Send(ctx, sid(1), []byte("x"))
	c.Open(ctx, terminal.OpenSpec{Name: "n", Focus: true})
	c.Open(ctx, terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1), Rows: 9, Columns: 9})
	c.Focus(ctx, sid(2))
	c.Rename(ctx, sid(1), "")
	c.Resize(ctx, sid(2), 30, 90)
	c.Close(ctx, sid(1), terminal.Hangup)
	c.CloseTab(ctx, "2", terminal.Force)
	s.mu.Lock()
	defer s.mu.Unlock()
	var kinds []string
	for _, m := range s.requests {
		kind := string(m.ProtoReflect().WhichOneof(m.ProtoReflect().Descriptor().Oneofs().Get(0)).Name())
		if kind == "notification_request" {
			kind = fmt.Sprint(m.GetNotificationRequest().GetNotificationType())
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	want := strings.Fields(`NOTIFY_ON_BROADCAST_CHANGE NOTIFY_ON_FOCUS_CHANGE NOTIFY_ON_LAYOUT_CHANGE NOTIFY_ON_NEW_SESSION
		NOTIFY_ON_PROMPT NOTIFY_ON_SCREEN_UPDATE NOTIFY_ON_TERMINATE_SESSION NOTIFY_ON_VARIABLE_CHANGE
		activate_request close_request create_tab_request focus_request get_broadcast_domains_request get_buffer_request
		get_profile_property_request get_prompt_request get_property_request invoke_function_request list_profiles_request
		list_sessions_request preferences_request send_text_request set_property_request set_tab_layout_request
		split_pane_request variable_request`)
	if !slices.Equal(kinds, want) {
		t.Errorf("got  %v\nwant %v", kinds, want)
	}
}

func TestWhatFocusTellsOfNoTabCostsNothing(t *testing.T) { // ITERM-75
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	sessions(t, c)
	s.count()
	for _, f := range []*api.FocusChangedNotification{
		{Event: &api.FocusChangedNotification_SelectedTab{SelectedTab: "0"}}, // a window that a person closed and undid
		{Event: &api.FocusChangedNotification_SelectedTab{}},
		{Event: &api.FocusChangedNotification_Session{Session: guid(9)}},
		{Event: &api.FocusChangedNotification_Window_{Window: &api.FocusChangedNotification_Window{WindowId: proto.String("pty-gone")}}},
		{},
	} {
		for range 20 {
			s.notifyAll(&api.Notification{FocusChangedNotification: f})
		}
	}
	s.notifyAll(&api.Notification{LayoutChangedNotification: &api.LayoutChangedNotification{ListSessionsResponse: &api.ListSessionsResponse{
		Windows: []*api.ListSessionsResponse_Window{{WindowId: proto.String("empty")}, s.world.layout().GetWindows()[0]},
	}}})
	if err := c.Send(t.Context(), sid(1), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if list := sessions(t, c); len(list) != 1 || list[0].Current {
		t.Errorf("listed %+v", list)
	}
	if n := s.count(); n != 1 { // the text
		t.Errorf("%d requests were sent", n)
	}
}

func TestASocketFileIsNoProofThatSomebodyListens(t *testing.T) { // ITERM-76
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	sessions(t, c)
	s.stop()
	awaitLoss(c)
	listener := mustListen(t, s.path)
	listener.SetUnlinkOnClose(false)
	listener.Close()
	if _, err := os.Stat(s.path); err != nil {
		t.Fatal(err)
	}
	_, err := c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	if !strings.Contains(fault.HintOf(err), "Python API") {
		t.Errorf("hint %q", fault.HintOf(err))
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.start()
	sessions(t, c)
}
