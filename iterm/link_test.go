package iterm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
		if m.GetSendTextRequest() != nil {
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
	wantCode(t, c.Send(t.Context(), sid(1), []byte("x")), fault.Protocol)
	_, err := c.Prompt(t.Context(), sid(1), "")
	wantCode(t, err, fault.Protocol)
}

func TestAnErrorAnswerIsARefusalInOneLine(t *testing.T) { // ITERM-6
	s := newFakeServer(t, newWorld(1))
	reason := "no\x1b[31m\nreally"
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetSendTextRequest() == nil {
			return false
		}
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Error{Error: reason}})
		return true
	}
	c := s.client(Options{})
	err := c.Send(t.Context(), sid(1), []byte("x"))
	wantCode(t, err, fault.Refused)
	if got, want := err.Error(), "send "+guid(1)+": backend_refused: no[31m really"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	reason = ""
	wantCode(t, c.Send(t.Context(), sid(1), []byte("x")), fault.Refused)
}

func TestTheHostsOwnFaultsKeepTheirCodes(t *testing.T) { // ITERM-16
	for _, tc := range []struct {
		answer       string
		theirs       bool // from another terminal than the host
		code         fault.Code
		detail, hint string
	}{
		{
			answer: "shell_not_found: no such program: /bin/x (install it, or choose another (a shell))", code: fault.ShellNotFound,
			detail: "no such program: /bin/x", hint: "install it, or choose another (a shell)",
		},
		{
			answer: "invalid_argument: the working directory does not exist: /a (b): stat: no (give another)", code: fault.InvalidArgument,
			detail: "the working directory does not exist: /a (b): stat: no", hint: "give another",
		},
		{answer: "profile_not_found", code: fault.ProfileNotFound},
		{answer: "storage_failed (make room)", code: fault.Storage, hint: "make room"},
		{answer: "too_large: odd) (", code: fault.TooLarge, detail: "odd) ("},
		{answer: "too_large: odd)", code: fault.TooLarge, detail: "odd)"},
		{answer: "internal: \x1b]0;x\a\nlines", code: fault.Internal, detail: "]0;x lines"},
		{answer: "made_up: no (do)", code: fault.Refused, detail: "made_up: no (do)", hint: "update the terminal, or use another way"},
		{answer: "shell_not_found: no", theirs: true, code: fault.Refused, detail: "shell_not_found: no", hint: "update the terminal, or use another way"},
		{answer: "", code: fault.Refused, detail: "the terminal gave no reason", hint: "update the terminal, or use another way"},
	} {
		w := newWorld(1)
		w.host = !tc.theirs
		s := newFakeServer(t, w)
		s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetCreateTabRequest() == nil {
				return false
			}
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Error{Error: tc.answer}})
			return true
		}
		_, err := s.client(Options{}).Open(t.Context(), terminal.OpenSpec{})
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != tc.code || f.Detail != tc.detail || f.Hint != tc.hint || f.Op != "open" {
			t.Errorf("%q: got %#v (%v)", tc.answer, f, err)
		}
	}
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
	c := s.client(Options{Deadline: time.Second}) // time enough to connect on a busy machine
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
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetSendTextRequest().GetText() != "slow" {
			return false
		}
		late <- func() { c.answer(m, s.world.answer(m)) }
		return true
	}
	c := s.client(Options{})
	if _, err := c.Sessions(t.Context()); err != nil { // connected: the deadline is for the answer alone
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
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

func TestARefusedHandshakeSaysWhy(t *testing.T) { // ITERM-10, ITERM-11
	for _, c := range []struct {
		status int
		code   fault.Code
		hint   string
		asked  int
	}{
		{http.StatusUnauthorized, fault.BackendUnavailable, "ITERM2_COOKIE", 2},
		{http.StatusNotAcceptable, fault.Protocol, "update", 1},
		{http.StatusBadRequest, fault.Protocol, "socket", 1},
	} {
		s := newFakeServer(t, newWorld(1))
		s.refuse = c.status
		asked := 0
		client := s.client(Options{Credentials: func(context.Context) (string, string, error) {
			asked++
			return fmt.Sprintf("cookie%d", asked), "key", nil
		}})
		_, err := client.Sessions(t.Context())
		wantCode(t, err, c.code)
		if !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%d: hint %q", c.status, fault.HintOf(err))
		}
		if asked != c.asked {
			t.Errorf("%d: credentials were asked for %d times, want %d", c.status, asked, c.asked)
		}
		if got, want := s.headers[len(s.headers)-1].Get("X-Iterm2-Cookie"), fmt.Sprintf("cookie%d", asked); got != want {
			t.Errorf("cookie %q, want %q", got, want)
		}
		s.mu.Lock()
		s.refuse = 0
		s.mu.Unlock()
		if _, err := client.Sessions(t.Context()); err != nil { // after a short pause
			t.Errorf("%d: the next call: %v", c.status, err)
		}
	}
}

func TestWithoutAFreshCookieTheRefusalIsTold(t *testing.T) { // ITERM-10
	s := newFakeServer(t, newWorld(1))
	s.refuse = http.StatusUnauthorized
	asked := 0
	c := s.client(Options{Credentials: func(context.Context) (string, string, error) {
		if asked++; asked > 1 {
			return "", "", errors.New("no more cookies")
		}
		return "stale", "", nil
	}})
	_, err := c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	if !strings.Contains(err.Error(), "did not authorise") {
		t.Errorf("got %v", err)
	}
}

func TestATerminalThatRefusesAgainAndAgainIsLeftAlone(t *testing.T) { // ITERM-11
	s := newFakeServer(t, newWorld(1))
	s.refuse = http.StatusUnauthorized
	c := s.client(Options{})
	for range 8 {
		_, err := c.Sessions(t.Context())
		wantCode(t, err, fault.BackendUnavailable)
	}
	if got, want := len(s.headers), 2; got > want {
		t.Errorf("8 calls made %d handshakes, want at most %d", got, want)
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

func TestCallsOfOneBurstShareAWrite(t *testing.T) { // ITERM-13
	s := newFakeServer(t, newWorld(150))
	const delay = 5 * time.Millisecond
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool { // 5 ms each, side by side
		s.running.Go(func() {
			timer := time.NewTimer(delay)
			<-timer.C
			c.answer(m, s.world.answer(m))
		})
		return true
	}
	c := s.client(Options{})
	began := time.Now()
	list, err := c.Sessions(t.Context())
	if err != nil || len(list) != 150 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	// One by one, 173 requests of 5 ms would take 865 ms.
	t.Logf("150 sessions cold: %d requests in %v", s.count(), time.Since(began))
	for _, step := range []struct {
		name string
		most int
		do   func() error
	}{
		{"sessions", 0, func() error { _, err := c.Sessions(t.Context()); return err }},
		{"screen", 2, func() error { _, err := c.Screen(t.Context(), sid(77), terminal.Range{}); return err }},
		{"prompt", 2, func() error { _, err := c.Prompt(t.Context(), sid(77), ""); return err }},
		{"broadcasts", 0, func() error { _, err := c.Broadcasts(t.Context(), sid(77)); return err }},
		{"send", 1, func() error { return c.Send(t.Context(), sid(77), []byte("x")) }},
		{"watch", 3, func() error {
			_, err := c.Watch(t.Context(), sid(77))
			return err
		}},
	} {
		began := time.Now()
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		n := s.count()
		t.Logf("%s: %d requests in %v", step.name, n, time.Since(began))
		if n > step.most { // ITERM-14
			t.Errorf("%s took %d requests, want at most %d", step.name, n, step.most)
		}
	}
}

func TestManySlowSessionsAreNotLateTogether(t *testing.T) { // ITERM-80
	synctest.Test(t, func(t *testing.T) {
		const each = time.Millisecond
		s := &fakeServer{t: t, world: newWorld(3 * together), delay: each}
		// All of them take longer than one deadline, each burst takes less.
		const deadline = 2 * together * each
		c := New(Options{Name: "iterm2", Deadline: deadline, Dial: func(context.Context) (net.Conn, error) {
			near, far := net.Pipe()
			s.running.Go(func() { s.serve(far) })
			return near, nil
		}})
		var asked atomic.Int32
		s.handle = func(_ *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetVariableRequest().GetSessionId() != "" && asked.Add(1) == together+10 { // one that takes too long
				time.Sleep(2 * deadline)
			}
			return false
		}
		_, err := c.Sessions(t.Context())
		wantCode(t, err, fault.Deadline)
		time.Sleep(2 * deadline) // the rest of that burst is answered, too late
		before := asked.Load()
		if list, err := c.Sessions(t.Context()); err != nil || len(list) != 3*together {
			t.Errorf("got %d sessions, %v", len(list), err)
		}
		if got := asked.Load() - before; got != 2*together-9 {
			t.Errorf("%d sessions were asked again, of which %d were not known", got, 2*together-9)
		}
		_ = c.Disconnect()
		s.running.Wait()
	})
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
		watch := newWatcher(8)
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
		watch.begin(terminal.Prompt{})
		if len(watch.events) > 9 {
			t.Fatalf("%d events are kept", len(watch.events))
		}
	})
}
