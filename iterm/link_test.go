package iterm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// wantCode checks an error's code, and that it tells a way out.
func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %s", err, want)
	}
	if fault.HintOf(err) == "" {
		t.Errorf("%v has no hint", err)
	}
}

func TestAnswersAreMatchedByIDInAnyOrder(t *testing.T) { // ITERM-2, ITERM-4
	s := newFakeServer(t, newWorld(3))
	var mu sync.Mutex
	var held []*api.ClientOriginatedMessage
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetVariableRequest() == nil || m.GetVariableRequest().GetApp() {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		held = append(held, m)
		if len(held) == 3 { // the last is answered first
			for i := 2; i >= 0; i-- {
				c.answer(held[i], s.world.answer(held[i]))
			}
		}
		return true
	}
	list, err := s.client(Options{}).Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		if got, want := x.TTY, fmt.Sprintf("/dev/pts/%d", i+1); got != want {
			t.Errorf("session %d has the terminal %q, want %q", i, got, want)
		}
	}
}

func TestAnAnswerThatHoldsNothingIsAProtocolError(t *testing.T) { // ITERM-5
	s := newFakeServer(t, newWorld(1))
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetGetBufferRequest() != nil {
			c.answer(m, &api.ServerOriginatedMessage{})
			return true
		}
		if m.GetGetPromptRequest() != nil { // an answer of another kind
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_FocusResponse{FocusResponse: &api.FocusResponse{}}})
			return true
		}
		return false
	}
	c := s.client(Options{})
	_, err := c.Screen(t.Context(), sid(1), terminal.Range{})
	wantCode(t, err, fault.Protocol)
	_, err = c.Prompt(t.Context(), sid(1), "")
	wantCode(t, err, fault.Protocol)
}

func TestALongTextIsOneFrame(t *testing.T) { // ITERM-3
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	text := strings.Repeat("x", maxText)
	if err := c.Send(t.Context(), sid(1), []byte(text)); err != nil { // the fake reports fragments
		t.Fatal(err)
	}
	if got := s.sent(); len(got) != 1 || got[0] != text {
		t.Errorf("%d texts arrived", len(got))
	}
	wantCode(t, c.Send(t.Context(), sid(1), []byte(text+"x")), fault.TooLarge)
	env := map[string]string{"A": strings.Repeat("x", maxMessage)}
	_, err := c.Open(t.Context(), terminal.OpenSpec{Env: env})
	wantCode(t, err, fault.TooLarge)
	if err := c.Send(t.Context(), sid(1), []byte("y")); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

func TestAServerThatDoesNotAnswerCostsTheDeadlineAndNoMore(t *testing.T) { // ITERM-7
	s := newFakeServer(t, newWorld(1))
	s.handle = func(_ *fakeConn, m *api.ClientOriginatedMessage) bool { return m.GetSendTextRequest() != nil }
	c := s.client(Options{Deadline: time.Second})
	eventually(t, "it is connected", func() bool { _, err := c.Sessions(t.Context()); return err == nil })
	err := c.Send(t.Context(), sid(1), []byte("x"))
	wantCode(t, err, fault.Deadline)
	if !strings.Contains(err.Error(), "unknown") {
		t.Errorf("%q does not say that the effect is unknown", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	wantCode(t, s.client(Options{}).Send(ctx, sid(1), []byte("x")), fault.Deadline)
	if _, err := c.Sessions(t.Context()); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestALateAnswerIsNotTakenForAnother(t *testing.T) { // ITERM-7
	s := newFakeServer(t, newWorld(1))
	late := make(chan func(), 1)
	ctx, expire := overdue(t)
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetSendTextRequest().GetText() != "slow" {
			return false
		}
		late <- func() { c.answer(m, s.world.answer(m)) }
		expire()
		return true
	}
	c := s.client(Options{})
	sessions(t, c) // connected: the deadline is for the answer alone
	wantCode(t, c.Send(ctx, sid(1), []byte("slow")), fault.Deadline)
	(<-late)()
	wantCode(t, c.Send(t.Context(), sid(9), []byte("fast")), fault.SessionNotFound)
}

func TestALostConnectionIsUnknownForWhatWasSentAndMadeAnewByTheNextCall(t *testing.T) { // ITERM-8, ITERM-9
	s := newFakeServer(t, newWorld(2))
	c := s.client(Options{})
	if _, err := c.Sessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetSendTextRequest().GetText() == "last words" {
			c.raw.Close()
			return true
		}
		return false
	}
	s.mu.Unlock()
	wantCode(t, c.Send(t.Context(), sid(1), []byte("last words")), fault.Deadline)
	if err := c.Send(t.Context(), sid(1), []byte("next")); err != nil {
		t.Fatalf("the next call: %v", err)
	}
	if got, want := fmt.Sprint(s.sent()), "[last words next]"; got != want {
		t.Errorf("the server got %s, want %s", got, want) // nothing is sent twice
	}
	s.stop()
	awaitLoss(c)
	_, err := c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	wantCode(t, c.Send(t.Context(), sid(1), []byte("x")), fault.BackendUnavailable)

	s.world.mu.Lock()
	s.world.sessions = s.world.sessions[1:]
	s.world.subs = nil
	s.world.mu.Unlock()
	s.start()
	list, err := c.Sessions(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != sid(2) {
		t.Fatalf("after a restart: %v, %v", list, err)
	}
	s.world.mu.Lock()
	subs := len(s.world.subs)
	s.world.mu.Unlock()
	if got, want := subs, len(layoutEvents)+1+len(watchedVariables); got != want {
		t.Errorf("%d subscriptions were made anew, want %d", got, want)
	}
	wantCode(t, c.Send(t.Context(), sid(1), []byte("x")), fault.SessionEnded) // seen once, gone now
}

func TestAReadIsRepeatedOnceOnANewConnection(t *testing.T) { // ITERM-8
	s := newFakeServer(t, newWorld(1))
	var once atomic.Bool
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetGetBufferRequest() != nil && once.CompareAndSwap(false, true) {
			c.raw.Close()
			return true
		}
		return false
	}
	screen, err := s.client(Options{}).Screen(t.Context(), sid(1), terminal.Range{})
	if err != nil || len(screen.Rows) != 24 {
		t.Errorf("got %d rows, %v", len(screen.Rows), err)
	}
}

func TestBytesThatAreNoMessageEndTheConnectionAndNothingElse(t *testing.T) { // ITERM-12
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	for _, garbage := range []struct {
		op   byte
		data string
	}{{2, "\xff\xff\xff"}, {0, "x"}, {3, ""}, {1, "text is ignored"}} {
		s.mu.Lock()
		s.handle = func(fc *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetSendTextRequest() != nil {
				fc.frame(garbage.op, []byte(garbage.data))
			}
			return false
		}
		s.mu.Unlock()
		err := c.Send(t.Context(), sid(1), []byte("x"))
		if garbage.op == 1 && err != nil {
			t.Errorf("a text frame: %v", err)
		}
		if garbage.op != 1 && err == nil {
			t.Errorf("%v: no error", garbage)
		}
		if _, err := c.Sessions(t.Context()); err != nil {
			t.Errorf("%v: the next call: %v", garbage, err)
		}
	}
}

func TestConcurrentCallsKeepTheirOwnAnswers(t *testing.T) { // ITERM-4
	s := newFakeServer(t, newWorld(50))
	c := s.client(Options{})
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			s, err := c.Prompt(t.Context(), sid(i+1), "none")
			if err != nil || s.State != terminal.Lost {
				t.Errorf("%v, %v", s, err)
			}
			err = c.Send(t.Context(), sid(i+1), []byte(fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if got := len(s.sent()); got != 50 {
		t.Errorf("%d texts arrived", got)
	}
	if got := len(s.headers); got != 1 {
		t.Errorf("%d connections were made", got)
	}
}

func TestDisconnectEndsEverythingAndMayBeRepeated(t *testing.T) { // ITERM-15
	s := newFakeServer(t, newWorld(1))
	before := runtime.NumGoroutine()
	c := s.client(Options{})
	events, err := c.Watch(t.Context(), sid(1))
	if err != nil {
		t.Fatal(err)
	}
	c.Disconnect()
	c.Disconnect()
	for e, err := range events {
		if err != nil {
			wantCode(t, err, fault.BackendUnavailable)
		} else if e.Kind != terminal.State {
			t.Errorf("got %v", e)
		}
	}
	_, err = c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	s.stop()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
}

// FuzzAnyServerBytesAreSurvived feeds the client whatever a server could say,
// as answer and as notification, with requests of every kind under way.
func FuzzAnyServerBytesAreSurvived(f *testing.F) {
	seed := func(m *api.ServerOriginatedMessage) {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	w := newWorld(2)
	for _, n := range []*api.Notification{
		created(guid(7)), terminated(guid(1)), layoutChanged(w), variableChanged(guid(1), varPrompt, `"{\"id\":\"p\",\"state\":\"continuation\"}"`),
		screenUpdated(guid(1)), promptShown(guid(1), "p"), commandStarted(guid(1), "p", "ls"), commandEnded(guid(1), "p", 2),
		{BroadcastDomainsChanged: &api.BroadcastDomainsChangedNotification{BroadcastDomains: []*api.BroadcastDomain{{SessionIds: []string{guid(1)}}}}},
		{FocusChangedNotification: w.focused().GetNotifications()[2]},
	} {
		seed(&api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Notification{Notification: n}})
	}
	for id := range int64(6) {
		seed(&api.ServerOriginatedMessage{Id: proto.Int64(id), Submessage: &api.ServerOriginatedMessage_VariableResponse{
			VariableResponse: &api.VariableResponse{Values: []string{`"x"`, "1", "null", "{", "[]"}},
		}})
	}
	seed(&api.ServerOriginatedMessage{Id: proto.Int64(2), Submessage: &api.ServerOriginatedMessage_GetPromptResponse{GetPromptResponse: editing("p")}})
	seed(&api.ServerOriginatedMessage{Id: proto.Int64(3), Submessage: &api.ServerOriginatedMessage_GetBufferResponse{
		GetBufferResponse: w.buffer(&api.GetBufferRequest{Session: proto.String(guid(1)), LineRange: &api.LineRange{}}),
	}})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(Options{Name: "iterm2"})
		l := &link{client: c, pending: map[int64]*call{}, lost: make(chan struct{}), topology: newStage(), details: newStage()}
		l.state.init(c)
		l.state.setLayout(w.layout())
		watch := terminal.NewEventQueue(8)
		if err := l.state.watch(sid(1), watch); err != nil {
			t.Fatal(err)
		}
		ask := []*call{l.fetch(sid(1)), askPrompt(sid(1), ""), askBuffer(sid(1), nil), askLineNumbers(sid(1)), l.askLayout()}
		for i, c := range ask {
			c.done = make(chan struct{})
			l.pending[int64(i+1)] = c
		}
		if err := l.receive(bytes.Clone(data)); err != nil {
			return
		}
		for _, s := range l.state.list("iterm2") {
			if !exact(s.ID) || strings.ContainsAny(s.Title+s.Name+s.Job, "\x1b\n\r\x00") {
				t.Fatalf("%+v", s)
			}
		}
		for _, t := range l.state.tabs { // whatever shape it has
			eachSession(t.root, 0, func(x *api.SessionSummary) {
				resized(t.root, terminal.ID(x.GetUniqueIdentifier()), size{rows: 9, columns: 9})
			})
		}
		if isDone(ask[1]) && isDone(ask[0]) {
			readPrompt(ask[1], ask[0], "")
		}
		if isDone(ask[2]) {
			if r := ask[2].answer.GetGetBufferResponse(); r != nil {
				read := &reading{lines: r.GetContents(), echo: r.GetWindowedCoordRange().GetCoordRange(), cursor: r.GetCursor()}
				read.place(terminal.Visible, 0, 0)
				read.screen(terminal.Range{})
			}
		}
		watch.Begin(terminal.Prompt{})
		watch.Fail(errDisconnected)
		kept := 0
		for range watch.Events(t.Context(), func() {}) {
			kept++
		}
		if kept > 10 { // the State and the error as well
			t.Fatalf("%d events are kept", kept)
		}
	})
}
