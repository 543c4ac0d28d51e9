package iterm

import (
	"encoding/json"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

func sessions(t *testing.T, c *Client) []terminal.Session {
	t.Helper()
	list, err := c.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestASessionIsWhatItsVariablesSay(t *testing.T) { // ITERM-33
	w := newWorld(2)
	w.key = "pty-2"
	w.sessions[0].vars[varNickname] = "o\x1bak"
	w.sessions[1].vars["showingAlternateScreen"] = true
	w.sessions[1].vars["tmuxRole"] = "client"
	list := sessions(t, newFakeServer(t, w).client(Options{Name: "iterm2"}))
	want := terminal.Session{
		ID: sid(1), Backend: "iterm2", Window: "pty-1", Tab: "1", Name: "oak", Title: "title of it", Profile: "Default",
		Job: "bash", JobPID: 101, ShellPID: 101, TTY: "/dev/pts/1", Local: true, Cwd: "/home", Host: "box", User: "ann", Rows: 24, Columns: 80,
	}
	if list[0] != want {
		t.Errorf("got %+v\nwant %+v", list[0], want)
	}
	if x := list[1]; !x.Current || !x.Alternate || x.Local || x.Marks != terminal.MarksUnknown {
		t.Errorf("got %+v", x)
	}
}

func TestNotificationsKeepTheListTrueWithoutARequest(t *testing.T) { // ITERM-31, ITERM-32
	w := newWorld(3)
	s := newFakeServer(t, w)
	c := s.client(Options{})
	sessions(t, c)
	s.count()
	focus := func(f *api.FocusChangedNotification) *api.Notification {
		return &api.Notification{FocusChangedNotification: f}
	}
	w.mu.Lock()
	w.sessions[2].window, w.sessions[2].tab = "pty-1", 7 // a pane moved
	w.sessions = slices.Delete(w.sessions, 1, 2)
	w.mu.Unlock()
	domains := []*api.BroadcastDomain{{SessionIds: []string{guid(1), guid(3)}}}
	for _, n := range []*api.Notification{
		variableChanged(guid(1), "jobName", `"vim"`), variableChanged(guid(1), "path", "null"), variableChanged(guid(1), "jobPid", "77"),
		variableChanged(guid(9), "jobName", `"nobody's"`), variableChanged(guid(1), "showingAlternateScreen", "1"),
		layoutChanged(w),
		focus(&api.FocusChangedNotification{Event: &api.FocusChangedNotification_Window_{Window: &api.FocusChangedNotification_Window{WindowId: proto.String("pty-1")}}}),
		focus(&api.FocusChangedNotification{Event: &api.FocusChangedNotification_SelectedTab{SelectedTab: "7"}}),
		focus(&api.FocusChangedNotification{Event: &api.FocusChangedNotification_Session{Session: guid(3)}}),
		focus(&api.FocusChangedNotification{Event: &api.FocusChangedNotification_Window_{Window: &api.FocusChangedNotification_Window{
			WindowStatus: api.FocusChangedNotification_Window_TERMINAL_WINDOW_RESIGNED_KEY.Enum(),
		}}}),
		{BroadcastDomainsChanged: &api.BroadcastDomainsChangedNotification{BroadcastDomains: domains}},
		created(guid(8)),
	} {
		s.notifyAll(n)
	}
	w.mu.Lock()
	w.domains = domains
	w.mu.Unlock()
	if err := c.Send(t.Context(), sid(1), []byte("x")); err != nil { // its answer is behind the notifications
		t.Fatal(err)
	}
	s.count()
	list := sessions(t, c)
	if len(list) != 2 || list[0].ID != sid(1) || list[1].ID != sid(3) {
		t.Fatalf("got %+v", list)
	}
	if x := list[0]; x.Job != "vim" || x.JobPID != 77 || x.Cwd != "" || !x.Alternate || x.Current {
		t.Errorf("got %+v", x)
	}
	if x := list[1]; x.Window != "pty-1" || x.Tab != "7" || !x.Current {
		t.Errorf("got %+v", x)
	}
	if yes, err := c.Broadcasts(t.Context(), sid(1)); err != nil || !yes {
		t.Errorf("broadcasts: %v, %v", yes, err)
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	if _, err := c.Broadcasts(t.Context(), sid(2)); err == nil {
		t.Error("an ended session broadcasts")
	} else {
		wantCode(t, err, fault.SessionEnded)
	}
}

func TestEverySessionIsListedOnceInTheLayoutsOrder(t *testing.T) { // ITERM-30
	x := func(n int) *api.SessionSummary { return &api.SessionSummary{UniqueIdentifier: proto.String(guid(n))} }
	pane := func(n int) *api.SplitTreeNode_SplitTreeLink {
		return &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Session{Session: x(n)}}
	}
	split := func(links ...*api.SplitTreeNode_SplitTreeLink) *api.SplitTreeNode_SplitTreeLink {
		return &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Node{Node: &api.SplitTreeNode{Links: links}}}
	}
	c := New(Options{Name: "iterm2"})
	var s state
	s.init(c)
	if err := s.setLayout(&api.ListSessionsResponse{
		Windows: []*api.ListSessionsResponse_Window{
			{WindowId: proto.String("A"), SelectedTabId: proto.String("2"), Tabs: []*api.ListSessionsResponse_Tab{
				{TabId: proto.String("1"), Root: &api.SplitTreeNode{Links: []*api.SplitTreeNode_SplitTreeLink{split(pane(4), split(pane(3)), pane(5)), {}}}},
				{TabId: proto.String("2"), ActiveSessionId: proto.String(guid(2)), MinimizedSessions: []*api.SessionSummary{x(2), x(4)}, FloatingPanes: []*api.FloatingPane{{Session: x(6)}, {}}},
			}},
			{},
		},
		BuriedSessions: []*api.SessionSummary{x(1)},
	}); err != nil {
		t.Fatal(err)
	}
	listed := func() []terminal.ID {
		var ids []terminal.ID
		for _, x := range s.list("iterm2") {
			ids = append(ids, x.ID)
		}
		return ids
	}
	want := []terminal.ID{sid(4), sid(3), sid(5), sid(2), sid(6), sid(1)}
	if got := listed(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	s.setFocus(&api.FocusResponse{Notifications: []*api.FocusChangedNotification{
		{Event: &api.FocusChangedNotification_Window_{Window: &api.FocusChangedNotification_Window{WindowId: proto.String("A")}}},
	}})
	if x, _ := s.one("iterm2", sid(2)); !x.Current || x.Window != "A" || x.Tab != "2" {
		t.Errorf("got %+v", x)
	}
}

func TestALayoutThatCannotBeReadEndsNothing(t *testing.T) { // ITERM-32
	pane := func(id string) *api.SplitTreeNode_SplitTreeLink {
		return &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Session{Session: &api.SessionSummary{UniqueIdentifier: proto.String(id)}}}
	}
	of := func(links ...*api.SplitTreeNode_SplitTreeLink) *api.ListSessionsResponse {
		return &api.ListSessionsResponse{Windows: []*api.ListSessionsResponse_Window{{Tabs: []*api.ListSessionsResponse_Tab{{Root: &api.SplitTreeNode{Links: links}}}}}}
	}
	deep := pane(guid(1))
	for range maxSplits + 1 {
		deep = &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Node{Node: &api.SplitTreeNode{Links: []*api.SplitTreeNode_SplitTreeLink{deep}}}}
	}
	var s state
	s.init(New(Options{Name: "iterm2"}))
	if err := s.setLayout(of(pane(guid(1)), pane(guid(2)))); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]*api.ListSessionsResponse{
		"no layout": nil, "splits without end": of(deep), "a session without an id": of(pane(guid(1)), pane("")),
		"a session of another id": of(pane("all")), "a buried one": {BuriedSessions: []*api.SessionSummary{{}}},
	} {
		n := &api.Notification{LayoutChangedNotification: &api.LayoutChangedNotification{ListSessionsResponse: list}}
		if err := s.notified(n); err == nil || len(s.list("iterm2")) != 2 {
			t.Errorf("%s: %v, and %d sessions are left", name, err, len(s.list("iterm2")))
		}
	}
}

func TestAnAnswerThatHasNotEachVariableIsRefused(t *testing.T) { // ITERM-32
	for _, values := range [][]string{{}, {"1"}, slices.Repeat([]string{"null"}, len(sessionVariables)+1), append(slices.Repeat([]string{"null"}, len(sessionVariables)-1), `"torn`)} {
		s := newFakeServer(t, newWorld(1))
		s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetVariableRequest().GetSessionId() == "" {
				return false
			}
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_VariableResponse{
				VariableResponse: &api.VariableResponse{Status: api.VariableResponse_OK.Enum(), Values: values},
			}})
			return true
		}
		_, err := s.client(Options{}).Sessions(t.Context())
		wantCode(t, err, fault.Protocol)
	}
}

func TestProfilesBeginWithTheDefault(t *testing.T) { // ITERM-55
	profile := func(guid, name string) *api.ListProfilesResponse_Profile {
		return &api.ListProfilesResponse_Profile{Properties: []*api.ProfileProperty{
			{Key: proto.String("Guid"), JsonValue: proto.String(`"` + guid + `"`)}, {Key: proto.String("Name"), JsonValue: proto.String(name)},
		}}
	}
	s := newFakeServer(t, newWorld(1))
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		out := &api.ServerOriginatedMessage{}
		switch {
		case m.GetListProfilesRequest() != nil:
			out.Submessage = &api.ServerOriginatedMessage_ListProfilesResponse{ListProfilesResponse: &api.ListProfilesResponse{
				Profiles: []*api.ListProfilesResponse_Profile{profile("1", `"a"`), profile("2", `"b"`), profile("3", "null"), profile("4", `"c"`)},
			}}
		case m.GetPreferencesRequest() != nil:
			out.Submessage = &api.ServerOriginatedMessage_PreferencesResponse{PreferencesResponse: &api.PreferencesResponse{
				Results: []*api.PreferencesResponse_Result{{Result: &api.PreferencesResponse_Result_GetDefaultProfileResult_{
					GetDefaultProfileResult: &api.PreferencesResponse_Result_GetDefaultProfileResult{Guid: proto.String("2")},
				}}},
			}}
		default:
			return false
		}
		c.answer(m, out)
		return true
	}
	got, err := s.client(Options{}).Profiles(t.Context())
	if want := []string{"b", "a", "c"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestValuesAreReadFromTheirJSON(t *testing.T) { // ITERM-31
	long := `"` + string(make([]byte, 9*maxValue)) + `"`
	for text, want := range map[string]string{
		`"a\"b"`: `a"b`, "1": "1", "true": "true", `{"a":1}`: `{"a":1}`, "null": "", "": "", `"unfinished`: "", long: "",
	} {
		if got, ok, err := plain(text); got != want || ok != (want != "") || (err != nil) != (text == `"unfinished`) {
			t.Errorf("%.20q: got %q, %v, %v; want %q", text, got, ok, err, want)
		}
	}
}
