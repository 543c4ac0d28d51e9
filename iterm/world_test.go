package iterm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// world is what a fake server shows: sessions in windows of their own, with
// variables, rows and prompts.
type world struct {
	mu       sync.Mutex
	sessions []*worldSession
	ended    map[string]string // id → exit, for a world that is termpilot's host
	host     bool
	prompts  string // the host's word for all prompts, as JSON; "": it does not know the variable
	key      string // the window that has the focus
	selected map[string]int
	active   map[int]string
	tmux     map[int]bool // tabs of tmux -CC
	stacked  map[int]bool // tabs whose dividers are horizontal
	domains  []*api.BroadcastDomain
	subs     []string // "+3 all", "-2 ID": what was subscribed and unsubscribed
	made     int
	told     []*api.Notification // to be sent with the answer

	shell      bool  // runs what is typed
	old        bool  // selects and raises every new tab, whatever is asked
	mute       bool  // tells nothing of what changes
	early      bool  // tells it before the answer, not after
	widest     int32 // no session gets wider
	refuseSize api.SetPropertyResponse_Status
}

type worldSession struct {
	id       string
	window   string
	tab      int
	vars     map[string]any
	lines    []*api.LineContents // history and screen
	overflow int64
	cursor   [2]int64
	prompts  []*api.GetPromptResponse
	late     bool // not in the layout yet

	columns, rows     int32
	shown             string // what the window shows, until a program sets a title
	buried, minimized bool
}

// guid makes a session id of a number.
func guid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012X", n) }

func newWorld(n int) *world {
	w := &world{
		ended: map[string]string{}, selected: map[string]int{}, active: map[int]string{}, tmux: map[int]bool{}, stacked: map[int]bool{},
		widest: 1000,
	}
	for range n {
		w.add()
	}
	return w
}

func (w *world) add() *worldSession {
	w.made++
	s := &worldSession{
		id: guid(w.made), window: fmt.Sprintf("pty-%d", w.made), tab: w.made, columns: 80, rows: 24,
		vars: map[string]any{
			"terminalWindowName": "title\x1b\u0007 of\nit", "profileName": "Default",
			"jobName": "bash", "jobPid": 100 + w.made, "pid": 100 + w.made, "tty": fmt.Sprintf("/dev/pts/%d", w.made),
			"path": "/home", "hostname": "box", "username": "ann", "showingAlternateScreen": 0,
			"columns": 80, "rows": 24,
		},
	}
	for i := range 24 {
		s.lines = append(s.lines, &api.LineContents{Text: proto.String(fmt.Sprintf("row %d", i))})
	}
	w.sessions = append(w.sessions, s)
	return s
}

func (w *world) find(id string) *worldSession {
	for _, s := range w.sessions {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (w *world) values(get []string, vars map[string]any) *api.VariableResponse {
	r := &api.VariableResponse{}
	for _, name := range get {
		b, _ := json.Marshal(vars[name])
		r.Values = append(r.Values, string(b))
	}
	return r
}

// pending returns what is to be sent with an answer, and whether before it.
func (w *world) pending() (told []*api.Notification, early bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told, w.told = w.told, nil
	return told, w.early
}

// answer is the answer to a request, or nil for none.
func (w *world) answer(m *api.ClientOriginatedMessage) *api.ServerOriginatedMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := &api.ServerOriginatedMessage{}
	switch q := m.GetSubmessage().(type) {
	case *api.ClientOriginatedMessage_NotificationRequest:
		sign := "+"
		if !q.NotificationRequest.GetSubscribe() {
			sign = "-"
		}
		w.subs = append(w.subs, fmt.Sprintf("%s%d %s", sign, q.NotificationRequest.GetNotificationType(), q.NotificationRequest.GetSession()))
		out.Submessage = &api.ServerOriginatedMessage_NotificationResponse{NotificationResponse: &api.NotificationResponse{}}
	case *api.ClientOriginatedMessage_ListSessionsRequest:
		out.Submessage = &api.ServerOriginatedMessage_ListSessionsResponse{ListSessionsResponse: w.layout()}
	case *api.ClientOriginatedMessage_FocusRequest:
		out.Submessage = &api.ServerOriginatedMessage_FocusResponse{FocusResponse: w.focused()}
	case *api.ClientOriginatedMessage_GetBroadcastDomainsRequest:
		out.Submessage = &api.ServerOriginatedMessage_GetBroadcastDomainsResponse{
			GetBroadcastDomainsResponse: &api.GetBroadcastDomainsResponse{BroadcastDomains: w.domains},
		}
	case *api.ClientOriginatedMessage_VariableRequest:
		out.Submessage = &api.ServerOriginatedMessage_VariableResponse{VariableResponse: w.variables(q.VariableRequest)}
	case *api.ClientOriginatedMessage_GetPromptRequest:
		out.Submessage = &api.ServerOriginatedMessage_GetPromptResponse{GetPromptResponse: w.prompt(q.GetPromptRequest)}
	case *api.ClientOriginatedMessage_ListPromptsRequest:
		out.Submessage = &api.ServerOriginatedMessage_ListPromptsResponse{ListPromptsResponse: w.promptsFrom(q.ListPromptsRequest)}
	case *api.ClientOriginatedMessage_GetPropertyRequest:
		out.Submessage = &api.ServerOriginatedMessage_GetPropertyResponse{GetPropertyResponse: w.property(q.GetPropertyRequest)}
	case *api.ClientOriginatedMessage_GetBufferRequest:
		out.Submessage = &api.ServerOriginatedMessage_GetBufferResponse{GetBufferResponse: w.buffer(q.GetBufferRequest)}
	case *api.ClientOriginatedMessage_SendTextRequest:
		r := &api.SendTextResponse{}
		s := w.find(q.SendTextRequest.GetSession())
		switch {
		case s == nil:
			r.Status = api.SendTextResponse_SESSION_NOT_FOUND.Enum()
		case w.shell && strings.HasSuffix(q.SendTextRequest.GetText(), "\r"):
			w.run(s, strings.TrimSuffix(q.SendTextRequest.GetText(), "\r"))
		}
		out.Submessage = &api.ServerOriginatedMessage_SendTextResponse{SendTextResponse: r}
	case *api.ClientOriginatedMessage_CreateTabRequest:
		out.Submessage = &api.ServerOriginatedMessage_CreateTabResponse{CreateTabResponse: w.createTab(q.CreateTabRequest)}
	case *api.ClientOriginatedMessage_SplitPaneRequest:
		out.Submessage = &api.ServerOriginatedMessage_SplitPaneResponse{SplitPaneResponse: w.splitPane(q.SplitPaneRequest)}
	case *api.ClientOriginatedMessage_CloseRequest:
		out.Submessage = &api.ServerOriginatedMessage_CloseResponse{CloseResponse: w.close(q.CloseRequest)}
	case *api.ClientOriginatedMessage_ActivateRequest:
		out.Submessage = &api.ServerOriginatedMessage_ActivateResponse{ActivateResponse: w.activate(q.ActivateRequest)}
	case *api.ClientOriginatedMessage_SetPropertyRequest:
		out.Submessage = &api.ServerOriginatedMessage_SetPropertyResponse{SetPropertyResponse: w.setProperty(q.SetPropertyRequest)}
	case *api.ClientOriginatedMessage_SetTabLayoutRequest:
		out.Submessage = &api.ServerOriginatedMessage_SetTabLayoutResponse{SetTabLayoutResponse: w.setTabLayout(q.SetTabLayoutRequest)}
	case *api.ClientOriginatedMessage_InvokeFunctionRequest:
		out.Submessage = &api.ServerOriginatedMessage_InvokeFunctionResponse{InvokeFunctionResponse: w.invoke(q.InvokeFunctionRequest)}
	case *api.ClientOriginatedMessage_GetProfilePropertyRequest:
		out.Submessage = &api.ServerOriginatedMessage_GetProfilePropertyResponse{GetProfilePropertyResponse: w.profileOf(q.GetProfilePropertyRequest)}
	case *api.ClientOriginatedMessage_ListProfilesRequest:
		out.Submessage = &api.ServerOriginatedMessage_ListProfilesResponse{ListProfilesResponse: w.profiles(q.ListProfilesRequest)}
	default:
		out.Submessage = &api.ServerOriginatedMessage_Error{Error: "update your terminal"}
	}
	return out
}

func (w *world) variables(q *api.VariableRequest) *api.VariableResponse {
	if q.GetApp() {
		vars := map[string]any{}
		if w.host {
			vars["termpilot.protocol"] = 1
			if w.prompts != "" {
				vars[appPrompts] = json.RawMessage(w.prompts)
			}
		}
		return w.values(q.GetGet(), vars)
	}
	if s := w.find(q.GetSessionId()); s != nil {
		for _, set := range q.GetSet() {
			if !strings.HasPrefix(set.GetName(), "user.") || strings.Count(set.GetName(), ".") > 1 {
				return &api.VariableResponse{Status: api.VariableResponse_INVALID_NAME.Enum()}
			}
			s.vars[set.GetName()] = json.RawMessage(set.GetValue())
			w.tell(variableChanged(s.id, set.GetName(), set.GetValue()))
		}
		return w.values(q.GetGet(), s.vars)
	}
	if exit, ok := w.ended[q.GetSessionId()]; ok {
		return w.values(q.GetGet(), map[string]any{"termpilot.exit": json.RawMessage(exit)})
	}
	return &api.VariableResponse{Status: api.VariableResponse_SESSION_NOT_FOUND.Enum()}
}

// run plays a shell that runs a command, which prints one row.
func (w *world) run(s *worldSession, command string) {
	p := s.prompts[len(s.prompts)-1]
	n := int64(len(s.lines)) + s.overflow
	s.lines = append(s.lines, line("output of "+command))
	p.PromptState, p.ExitStatus, p.Command = api.GetPromptResponse_FINISHED.Enum(), proto.Uint32(0), proto.String(command)
	p.OutputRange = coords(0, n, 0, n+1)
	next := editing(fmt.Sprintf("P%d", n+1))
	next.PromptRange = coords(0, n+1, 2, n+1)
	s.prompts = append(s.prompts, next)
	w.tell(commandStarted(s.id, p.GetUniquePromptId(), command), screenUpdated(s.id), commandEnded(s.id, p.GetUniquePromptId(), 0),
		promptShown(s.id, next.GetUniquePromptId()))
}

// invoke knows the function that names a session: the name shows, until a
// program sets a title.
func (w *world) invoke(q *api.InvokeFunctionRequest) *api.InvokeFunctionResponse {
	text, ok := strings.CutPrefix(q.GetInvocation(), "iterm2.set_name(name: ")
	s := w.find(q.GetMethod().GetReceiver())
	var name string
	if !ok || s == nil || json.Unmarshal([]byte(strings.TrimSuffix(text, ")")), &name) != nil {
		return &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Error_{Error: &api.InvokeFunctionResponse_Error{
			Status: api.InvokeFunctionResponse_FAILED.Enum(),
		}}}
	}
	s.shown = name
	return &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Success_{Success: &api.InvokeFunctionResponse_Success{}}}
}

// profileOf and profiles know one profile, "Default", from which every session
// has a copy of its own.
func (w *world) profileOf(q *api.GetProfilePropertyRequest) *api.GetProfilePropertyResponse {
	if w.find(q.GetSession()) == nil {
		return &api.GetProfilePropertyResponse{Status: api.GetProfilePropertyResponse_SESSION_NOT_FOUND.Enum()}
	}
	return &api.GetProfilePropertyResponse{Properties: []*api.ProfileProperty{
		{Key: proto.String("Guid"), JsonValue: proto.String(`"COPY"`)}, {Key: proto.String("Original Guid"), JsonValue: proto.String(`"DEFAULT"`)},
	}}
}

func (w *world) profiles(q *api.ListProfilesRequest) *api.ListProfilesResponse {
	if g := q.GetGuids(); len(g) > 0 && !slices.Contains(g, "DEFAULT") {
		return &api.ListProfilesResponse{}
	}
	return &api.ListProfilesResponse{Profiles: []*api.ListProfilesResponse_Profile{{Properties: []*api.ProfileProperty{
		{Key: proto.String("Guid"), JsonValue: proto.String(`"DEFAULT"`)}, {Key: proto.String("Name"), JsonValue: proto.String(`"Default"`)},
	}}}}
}

func (w *world) prompt(q *api.GetPromptRequest) *api.GetPromptResponse {
	s := w.find(q.GetSession())
	if s == nil {
		return &api.GetPromptResponse{Status: api.GetPromptResponse_SESSION_NOT_FOUND.Enum()}
	}
	for i := len(s.prompts) - 1; i >= 0; i-- {
		if q.UniquePromptId == nil || q.GetUniquePromptId() == s.prompts[i].GetUniquePromptId() {
			return proto.Clone(s.prompts[i]).(*api.GetPromptResponse)
		}
	}
	return &api.GetPromptResponse{Status: api.GetPromptResponse_PROMPT_UNAVAILABLE.Enum()}
}

func (w *world) promptsFrom(q *api.ListPromptsRequest) *api.ListPromptsResponse {
	r := &api.ListPromptsResponse{}
	for _, p := range w.find(q.GetSession()).prompts {
		if p.GetUniquePromptId() == q.GetFirstUniqueId() || len(r.UniquePromptId) > 0 {
			r.UniquePromptId = append(r.UniquePromptId, p.GetUniquePromptId())
		}
	}
	return r
}

func (w *world) property(q *api.GetPropertyRequest) *api.GetPropertyResponse {
	s := w.find(q.GetSessionId())
	if s == nil {
		return &api.GetPropertyResponse{Status: api.GetPropertyResponse_INVALID_TARGET.Enum()}
	}
	return &api.GetPropertyResponse{JsonValue: proto.String(fmt.Sprintf(
		`{"overflow":%d,"grid":24,"history":%d,"first_visible":0}`, s.overflow, len(s.lines)-24))}
}

func (w *world) buffer(q *api.GetBufferRequest) *api.GetBufferResponse {
	s := w.find(q.GetSession())
	if s == nil {
		return &api.GetBufferResponse{Status: api.GetBufferResponse_SESSION_NOT_FOUND.Enum()}
	}
	n := int64(len(s.lines))
	a, b := n-24, n
	echo := [2]int64{a + s.overflow, b + s.overflow}
	switch l := q.GetLineRange(); {
	case l.WindowedCoordRange != nil:
		echo = [2]int64{l.GetWindowedCoordRange().GetCoordRange().GetStart().GetY(), l.GetWindowedCoordRange().GetCoordRange().GetEnd().GetY()}
		a, b = max(echo[0]-s.overflow, 0), min(echo[1]-s.overflow, n)
	case l.TrailingLines != nil:
		a = max(n-int64(l.GetTrailingLines()), 0)
		echo[0] = a + s.overflow
	}
	coord := func(x int32, y int64) *api.Coord { return &api.Coord{X: proto.Int32(x), Y: proto.Int64(y)} }
	r := &api.GetBufferResponse{
		Cursor: coord(int32(s.cursor[0]), s.cursor[1]),
		WindowedCoordRange: &api.WindowedCoordRange{
			CoordRange: &api.CoordRange{Start: coord(0, echo[0]), End: coord(0, echo[1])}, Columns: &api.Range{},
		},
	}
	if a < b {
		r.Contents = s.lines[a:b]
	}
	return r
}

func terminated(id string) *api.Notification {
	return &api.Notification{TerminateSessionNotification: &api.TerminateSessionNotification{SessionId: proto.String(id)}}
}

func created(id string) *api.Notification {
	return &api.Notification{NewSessionNotification: &api.NewSessionNotification{SessionId: proto.String(id)}}
}

func layoutChanged(w *world) *api.Notification {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &api.Notification{LayoutChangedNotification: &api.LayoutChangedNotification{ListSessionsResponse: w.layout()}}
}

func variableChanged(id, name, value string) *api.Notification {
	return &api.Notification{VariableChangedNotification: &api.VariableChangedNotification{
		Scope: api.VariableScope_SESSION.Enum(), Identifier: proto.String(id), Name: proto.String(name), JsonNewValue: proto.String(value),
	}}
}

func screenUpdated(id string) *api.Notification {
	return &api.Notification{ScreenUpdateNotification: &api.ScreenUpdateNotification{Session: proto.String(id)}}
}

func promptShown(id, prompt string) *api.Notification {
	return &api.Notification{PromptNotification: &api.PromptNotification{
		Session: proto.String(id), UniquePromptId: proto.String(prompt),
		Event: &api.PromptNotification_Prompt{Prompt: &api.PromptNotificationPrompt{Prompt: editing(prompt)}},
	}}
}

func commandStarted(id, prompt, command string) *api.Notification {
	n := &api.PromptNotification{
		Session: proto.String(id),
		Event: &api.PromptNotification_CommandStart{CommandStart: &api.PromptNotificationCommandStart{
			Command: proto.String(command),
		}},
	}
	if prompt != "" {
		n.UniquePromptId = proto.String(prompt)
	}
	return &api.Notification{PromptNotification: n}
}

func commandEnded(id, prompt string, status int32) *api.Notification {
	return &api.Notification{PromptNotification: &api.PromptNotification{
		Session: proto.String(id), UniquePromptId: proto.String(prompt),
		Event: &api.PromptNotification_CommandEnd{CommandEnd: &api.PromptNotificationCommandEnd{Status: proto.Int32(status)}},
	}}
}

func editing(id string) *api.GetPromptResponse {
	return &api.GetPromptResponse{
		UniquePromptId: proto.String(id), PromptState: api.GetPromptResponse_EDITING.Enum(),
		PromptRange:  coords(0, 5, 2, 5),
		CommandRange: coords(2, 5, 2, 5), WorkingDirectory: proto.String("/home"), Command: proto.String(""),
	}
}

func coords(x1 int32, y1 int64, x2 int32, y2 int64) *api.CoordRange {
	return &api.CoordRange{
		Start: &api.Coord{X: proto.Int32(x1), Y: proto.Int64(y1)}, End: &api.Coord{X: proto.Int32(x2), Y: proto.Int64(y2)},
	}
}

func sid(n int) terminal.ID { return terminal.ID(guid(n)) }
