package iterm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// collect ranges over a watch until an event of the kind came, and returns all.
func collect(t *testing.T, events func(func(terminal.Event, error) bool), last terminal.EventKind) []terminal.Event {
	t.Helper()
	var all []terminal.Event
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
		if e.Kind == last {
			return all
		}
	}
	t.Fatalf("the sequence ended after %v", kinds(all))
	return nil
}

func kinds(events []terminal.Event) []terminal.EventKind {
	var list []terminal.EventKind
	for _, e := range events {
		list = append(list, e.Kind)
	}
	return list
}

func watch(t *testing.T, c *Client, id terminal.ID) func(func(terminal.Event, error) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	events, err := c.Watch(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestEventsCarryWhatANotificationTells(t *testing.T) { // ITERM-40, ITERM-41, ITERM-43
	w := newWorld(2)
	w.sessions[0].prompts = []*api.GetPromptResponse{editing("P1")}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	events := watch(t, c, sid(1))
	for _, n := range []*api.Notification{
		commandStarted(guid(2), "OTHER", "not mine"), commandStarted(guid(1), "P1", "make"), screenUpdated(guid(1)), screenUpdated(guid(1)),
		commandEnded(guid(1), "P1", -9), promptShown(guid(1), "P2"), commandStarted(guid(1), "", ""), commandEnded(guid(1), "P1", -1), terminated(guid(1)),
	} {
		s.notifyAll(n)
	}
	all := collect(t, events, terminal.Gone)
	want := []terminal.EventKind{
		terminal.State, terminal.Started, terminal.Output, terminal.Ended, terminal.PromptShown, terminal.Aborted, terminal.Ended, terminal.Gone,
	}
	if got := slices.Compact(kinds(all)); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	at := func(kind terminal.EventKind) terminal.Prompt {
		return all[slices.IndexFunc(all, func(e terminal.Event) bool { return e.Kind == kind })].Prompt
	}
	if p := at(terminal.State); p.ID != "P1" || p.State != terminal.Editing || p.Typed != terminal.No || p.Cwd != "/home" || p.Marks != terminal.MarksPlain {
		t.Errorf("state: %+v", p)
	}
	if p := at(terminal.Started); p.ID != "P1" || p.State != terminal.Running || p.Command != "make" {
		t.Errorf("started: %+v", p)
	}
	if p := at(terminal.Ended); p.ID != "P1" || p.State != terminal.Finished || p.Exit == nil || *p.Exit != -9 || p.Command != "make" {
		t.Errorf("ended: %+v", p)
	}
	if p := at(terminal.PromptShown); p.ID != "P2" || p.State != terminal.Editing {
		t.Errorf("shown: %+v", p)
	}
	if p := all[len(all)-2].Prompt; p.State != terminal.Finished || p.Exit != nil {
		t.Errorf("ended with an unknown status: %+v", p)
	}
	if all[len(all)-1].Exit.At.IsZero() { // ITERM-44
		t.Error("gone has no time")
	}
}

func TestTheEventsOfASessionThatNoLayoutShowsAreTold(t *testing.T) { // ITERM-40
	w := newWorld(1)
	w.sessions[0].late = true
	w.sessions[0].prompts = []*api.GetPromptResponse{editing("P")}
	s := newFakeServer(t, w)
	events := watch(t, s.client(Options{}), sid(1))
	for _, n := range []*api.Notification{commandStarted(guid(1), "P", "make"), commandEnded(guid(1), "P", 3), terminated(guid(1))} {
		s.notifyAll(n)
	}
	all := collect(t, events, terminal.Gone)
	if got, want := kinds(all), []terminal.EventKind{terminal.State, terminal.Started, terminal.Ended, terminal.Gone}; !slices.Equal(got, want) || *all[2].Prompt.Exit != 3 {
		t.Errorf("got %+v, want %v", all, want)
	}
}

func TestWhatComesBeforeTheStateIsToldOnce(t *testing.T) { // ITERM-40
	w := newWorld(1)
	s := newFakeServer(t, w)
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetGetPromptRequest() == nil {
			return false
		}
		// All this happens after the subscription and before the answer, which tells
		// of P2; the end of P1 it does not tell.
		c.notify(commandEnded(guid(1), "P1", 4))
		c.notify(promptShown(guid(1), "P2"))
		p := editing("P2")
		p.PromptState = api.GetPromptResponse_RUNNING.Enum()
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_GetPromptResponse{GetPromptResponse: p}})
		c.notify(commandStarted(guid(1), "P2", "late")) // State has told it
		c.notify(commandEnded(guid(1), "P2", 0))
		return true
	}
	all := collect(t, watch(t, s.client(Options{}), sid(1)), terminal.Ended)
	if got, want := kinds(all), []terminal.EventKind{terminal.State, terminal.Ended}; !slices.Equal(got, want) || all[1].Prompt.ID != "P1" {
		t.Errorf("got %v, want %v", all, want)
	}
}

func TestASlowReaderIsResynced(t *testing.T) { // ITERM-42
	w := newWorld(1)
	s := newFakeServer(t, w)
	c := s.client(Options{Queue: 4})
	events := watch(t, c, sid(1))
	for i := range 40 {
		s.notifyAll(commandEnded(guid(1), fmt.Sprint(i), 0))
	}
	s.notifyAll(terminated(guid(1)))
	wantCode(t, c.Send(t.Context(), sid(2), nil), fault.SessionNotFound) // its answer is behind the notifications
	all := collect(t, events, terminal.Gone)
	got := kinds(all)
	if got[0] != terminal.State || got[1] != terminal.Resync || slices.Contains(got[2:], terminal.Resync) || len(got) > 6 {
		t.Errorf("got %v", got)
	}
}

func TestScreenUpdatesAreSubscribedWhileSomebodyWatches(t *testing.T) { // ITERM-43
	w := newWorld(2)
	s := newFakeServer(t, w)
	c := s.client(Options{})
	c.linger = 0
	screens := func() string {
		if _, err := c.Profiles(t.Context()); err != nil { // its answer is behind all that was sent
			t.Fatal(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		var list []string
		for _, x := range w.subs {
			if strings.HasPrefix(x[1:], "2 ") {
				list = append(list, x[:2])
			}
		}
		return strings.Join(list, "")
	}
	one, two := watch(t, c, sid(1)), watch(t, c, sid(1))
	collect(t, one, terminal.State)
	if got, want := screens(), "+2+2"; got != want { // the second is ALREADY_SUBSCRIBED
		t.Errorf("one left: got %s, want %s", got, want)
	}
	collect(t, two, terminal.State)
	if got, want := screens(), "+2+2-2"; got != want {
		t.Errorf("both left: got %s, want %s", got, want)
	}
	c.linger = time.Hour // then the next watch finds them still told
	for range 2 {
		collect(t, watch(t, c, sid(1)), terminal.State)
	}
	if got, want := screens(), "+2+2-2+2"; got != want {
		t.Errorf("watched again: got %s, want %s", got, want)
	}
}

func TestAWatchEndsWithItsContextOrItsConnection(t *testing.T) { // ITERM-48
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := c.Watch(ctx, sid(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range events {
		if err != nil {
			t.Error(err)
		}
		cancel()
	}
	events = watch(t, c, sid(1))
	s.stop()
	var last error
	for _, err := range events {
		last = err
	}
	wantCode(t, last, fault.BackendUnavailable)
}

func TestWatchingWhatIsNotThereIsAnError(t *testing.T) { // ITERM-34, ITERM-35
	w := newWorld(1)
	w.ended[guid(9)] = `{"code":3,"signal":"","at":"2026-01-02T03:04:05Z"}`
	s := newFakeServer(t, w)
	c := s.client(Options{})
	_, err := c.Watch(t.Context(), sid(8))
	wantCode(t, err, fault.SessionNotFound)
	_, err = c.Watch(t.Context(), sid(9))
	wantCode(t, err, fault.SessionEnded)
	s.count()
	for _, id := range []terminal.ID{"", "active", "all", sid(1)[:35], sid(1) + "0", "w0t0p0", terminal.ID(strings.Replace(guid(1), "0", "g", 1)), "session 1"} {
		_, err := c.Watch(t.Context(), id)
		wantCode(t, err, fault.SessionNotFound)
		_, err = c.Screen(t.Context(), id, terminal.Range{})
		wantCode(t, err, fault.SessionNotFound)
		_, err = c.Prompt(t.Context(), id, "")
		wantCode(t, err, fault.SessionNotFound)
		_, err = c.Exit(t.Context(), id)
		wantCode(t, err, fault.SessionNotFound)
		_, err = c.Broadcasts(t.Context(), id)
		wantCode(t, err, fault.SessionNotFound)
		_, err = c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: id})
		wantCode(t, err, fault.SessionNotFound)
		wantCode(t, c.Send(t.Context(), id, []byte("x")), fault.SessionNotFound)
		wantCode(t, c.Close(t.Context(), id, terminal.Force), fault.SessionNotFound)
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestTheHostTellsMoreOfAPrompt(t *testing.T) { // ITERM-46
	for _, c := range []struct {
		name  string
		live  string
		state terminal.PromptState
		typed terminal.Known
		paste terminal.Known
	}{
		{"of this moment", `{"id":"P","state":"editing","typed":true,"touched":true,"paste":true}`, terminal.Editing, terminal.Yes, terminal.Yes},
		{"continued", `{"id":"P","state":"continuation","typed":false,"touched":true,"paste":false}`, terminal.Continuation, terminal.No, terminal.No},
		{"that cannot be told", `{"id":"P","state":"editing","typed":null,"touched":true,"paste":true}`, terminal.Editing, terminal.Unknown, terminal.Yes},
		{"of another prompt", `{"id":"Q","state":"editing","typed":false}`, terminal.Editing, terminal.Unknown, terminal.Unknown},
		{"of a later moment", `{"id":"P","state":"running","typed":false}`, terminal.Editing, terminal.Unknown, terminal.Unknown},
		{"not to be read", `[1]`, terminal.Editing, terminal.No, terminal.Unknown},
	} {
		w := newWorld(1)
		w.host = true
		w.sessions[0].prompts = []*api.GetPromptResponse{editing("P")}
		w.sessions[0].vars[varPrompt] = rawJSON(c.live)
		w.sessions[0].vars[varMarks] = "nonce"
		p, err := newFakeServer(t, w).client(Options{}).Prompt(t.Context(), sid(1), "")
		if err != nil || p.State != c.state || p.Typed != c.typed || p.Paste != c.paste || p.Marks != terminal.MarksNonce {
			t.Errorf("%s: got %+v, %v", c.name, p, err)
		}
	}
}

func TestAllPromptsAreToldInOneRequest(t *testing.T) { // ITERM-49
	w := newWorld(3)
	w.host = true
	w.prompts = `{
		"` + guid(1) + `": {"id":"P","state":"editing","typed":null,"touched":true,"paste":true,"marks":"nonce"},
		"` + guid(2) + `": {"id":"Q","state":"running","typed":false,"touched":false,"paste":false,"marks":"plain"},
		"` + guid(3) + `": {"id":"","state":"none","typed":null,"touched":false,"paste":false,"marks":"starting"},
		"` + guid(4) + `": {"id":"S","state":"of a newer host","typed":false,"touched":false,"paste":true,"marks":"nonce"},
		"all": {"id":"R","state":"editing","typed":false,"marks":"nonce"}}`
	s := newFakeServer(t, w)
	c := s.client(Options{})
	want := map[terminal.ID]terminal.Prompt{
		sid(1): {ID: "P", State: terminal.Editing, Marks: terminal.MarksNonce, Touched: terminal.Yes, Paste: terminal.Yes},
		sid(2): {ID: "Q", State: terminal.Running, Marks: terminal.MarksPlain, Touched: terminal.No, Paste: terminal.No},
		sid(3): {},
	}
	for range 2 {
		s.count()
		got, err := c.Prompts(t.Context())
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if n := s.count(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestATerminalThatTellsNotAllPromptsSaysSo(t *testing.T) { // ITERM-49
	for name, w := range map[string]*world{"iTerm2": newWorld(1), "an older host": newWorld(1), "nonsense": newWorld(1)} {
		w.host = name != "iTerm2"
		if name == "nonsense" {
			w.prompts = `[1]`
		}
		_, err := newFakeServer(t, w).client(Options{}).Prompts(t.Context())
		wantCode(t, err, fault.Unsupported)
	}
}

func TestContinuedComesFromTheHostsVariable(t *testing.T) { // ITERM-41
	w := newWorld(1)
	w.sessions[0].prompts = []*api.GetPromptResponse{editing("P")}
	s := newFakeServer(t, w)
	events := watch(t, s.client(Options{}), sid(1))
	for range 2 {
		s.notifyAll(variableChanged(guid(1), varPrompt, `{"id":"P","state":"continuation","typed":false}`))
	}
	s.notifyAll(terminated(guid(1)))
	all := collect(t, events, terminal.Gone)
	if len(all) != 3 || all[1].Kind != terminal.Continued || all[1].Prompt.ID != "P" || all[1].Prompt.State != terminal.Continuation {
		t.Errorf("got %+v", all)
	}
}

func TestAPlainPromptSaysWhetherSomethingIsTyped(t *testing.T) { // ITERM-45
	for _, c := range []struct {
		name string
		edit func(*api.GetPromptResponse)
		want terminal.Known
	}{
		{"empty", func(*api.GetPromptResponse) {}, terminal.No},
		{"text", func(r *api.GetPromptResponse) { r.Command, r.CommandRange = proto.String("ls"), coords(2, 5, 4, 5) }, terminal.Yes},
		{"text behind the cursor", func(r *api.GetPromptResponse) { r.Command = proto.String("ls") }, terminal.Yes},
		{"a stale range", func(r *api.GetPromptResponse) { r.CommandRange = coords(2, 5, 4, 5) }, terminal.Unknown},
		{"no range", func(r *api.GetPromptResponse) { r.CommandRange = nil }, terminal.Unknown},
		{"no state", func(r *api.GetPromptResponse) { r.PromptState = nil }, terminal.Unknown},
	} {
		r := editing("P")
		c.edit(r)
		if p := promptFrom(r); p.Typed != c.want || p.State != terminal.Editing {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

func TestOldOutputOfITerm2EndsAtTheNextPrompt(t *testing.T) { // ITERM-47
	finished := editing("P1")
	finished.PromptState = api.GetPromptResponse_FINISHED.Enum()
	finished.ExitStatus = proto.Uint32(0xffffffff)
	finished.OutputRange = coords(0, 6, 9, 40) // iTerm2 says: up to the cursor
	next := editing("P2")
	next.PromptRange = coords(0, 8, 2, 8)
	w := newWorld(1)
	w.sessions[0].prompts = []*api.GetPromptResponse{finished, next}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	p, err := c.Prompt(t.Context(), sid(1), "P1")
	if err != nil || p.Output.End != (terminal.Point{Row: 8}) || p.Output.Start != (terminal.Point{Row: 6}) || *p.Exit != -1 {
		t.Errorf("got %+v, %v", p, err)
	}
	w.mu.Lock()
	w.sessions[0].vars[varMarks] = "nonce" // the host's ranges are exact
	w.mu.Unlock()
	s.count()
	p, err = c.Prompt(t.Context(), sid(1), "P1")
	if err != nil || p.Output.End != (terminal.Point{Row: 40, Column: 9}) || s.count() != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestANextPromptThatGoesIsLookedForAnew(t *testing.T) { // ITERM-47
	w := newWorld(1)
	finished := editing("P1")
	finished.PromptState, finished.ExitStatus, finished.OutputRange = api.GetPromptResponse_FINISHED.Enum(), proto.Uint32(0), coords(0, 6, 9, 40)
	next := editing("P2")
	next.PromptRange = coords(0, 8, 2, 8)
	w.sessions[0].prompts = []*api.GetPromptResponse{finished, next}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	sessions(t, c)
	cleared := 0
	s.handling(func(_ *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetListPromptsRequest() == nil && m.GetGetPromptRequest().GetUniquePromptId() != "P1" && m.GetGetPromptRequest() != nil && cleared > 0 {
			w.mu.Lock() // a person clears the screen just now
			next = editing(next.GetUniquePromptId() + "'")
			next.PromptRange = coords(0, 8, 2, 8)
			w.sessions[0].prompts[1] = next
			w.mu.Unlock()
			cleared--
		}
		return false
	})
	cleared = 1
	p, err := c.Prompt(t.Context(), sid(1), "P1")
	if err != nil || p.Output.End != (terminal.Point{Row: 8}) {
		t.Errorf("got %+v, %v", p, err)
	}
	cleared = nextPrompts
	p, err = c.Prompt(t.Context(), sid(1), "P1")
	wantCode(t, err, fault.Protocol) // up to the cursor there is more than its output
	s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetListPromptsRequest() == nil {
			return false
		}
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Error{Error: "not now"}})
		return true
	})
	p, err = c.Prompt(t.Context(), sid(1), "P1")
	wantCode(t, err, fault.Refused)
}

func TestASessionThatGoesBeforeTheRestIsToldHasEnded(t *testing.T) { // ITERM-35, ITERM-97
	w := newWorld(1)
	w.host = true
	x := w.sessions[0]
	x.vars[varMarks] = "nonce"
	p := editing("P")
	p.PromptState, p.ExitStatus, p.OutputRange = api.GetPromptResponse_FINISHED.Enum(), proto.Uint32(0), coords(0, 6, 0, 7)
	p.ExcludedSubranges = []*api.CoordRange{coords(0, 7, 0, 8)}
	x.prompts = []*api.GetPromptResponse{p}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	sessions(t, c)
	s.handling(func(_ *fakeConn, m *api.ClientOriginatedMessage) bool {
		if get := m.GetVariableRequest().GetGet(); len(get) == 1 && strings.HasPrefix(get[0], varRest) {
			w.mu.Lock()
			w.sessions = nil
			w.mu.Unlock()
		}
		return false
	})
	_, err := c.Prompt(t.Context(), sid(1), "P")
	wantCode(t, err, fault.SessionEnded)
}

func TestExitIsWhatTheHostTells(t *testing.T) { // ITERM-44
	w := newWorld(2)
	w.host = true
	s := newFakeServer(t, w)
	c := s.client(Options{})
	events := watch(t, c, sid(1))
	_, err := c.Exit(t.Context(), sid(1))
	wantCode(t, err, fault.SessionNotFound)
	_, err = c.Exit(t.Context(), sid(7))
	wantCode(t, err, fault.SessionNotFound)

	w.mu.Lock()
	w.sessions = w.sessions[1:]
	w.ended[guid(1)] = `{"code":null,"signal":"SIGKILL","at":"2026-01-02T03:04:05Z"}`
	w.mu.Unlock()
	s.notifyAll(terminated(guid(1)))
	all := collect(t, events, terminal.Gone)
	told := all[len(all)-1].Exit
	exit, err := c.Exit(t.Context(), sid(1))
	if err != nil || exit != told || exit.Signal != "SIGKILL" || exit.Code != nil || exit.At.Year() != 2026 {
		t.Errorf("told %+v, Exit says %+v, %v", told, exit, err)
	}

	w.mu.Lock()
	w.sessions = nil
	w.mu.Unlock()
	s.notifyAll(terminated(guid(2))) // nobody knows how
	wantCode(t, c.Send(t.Context(), sid(2), nil), fault.SessionEnded)
	exit, err = c.Exit(t.Context(), sid(2))
	if err != nil || exit.Code != nil || exit.Signal != "" || exit.At.IsZero() {
		t.Errorf("got %+v, %v", exit, err)
	}
}
