package iterm

import (
	"encoding/json"
	"fmt"
	"slices"
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
	told     string // the host's word for all prompts, as JSON; "": it does not know the variable
	focus    string // the session that has it
	domains  []*api.BroadcastDomain
	subs     []string // "+3 all", "-2 ID": what was subscribed and unsubscribed
	made     int
}

type worldSession struct {
	id       string
	window   string
	tab      int
	vars     map[string]any
	rows     []*api.LineContents // history and screen
	overflow int64
	cursor   [2]int64
	prompts  []*api.GetPromptResponse
	late     bool // not in the layout yet
}

// guid makes a session id of a number.
func guid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012X", n) }

func newWorld(n int) *world {
	w := &world{ended: map[string]string{}}
	for range n {
		w.add()
	}
	return w
}

func (w *world) add() *worldSession {
	w.made++
	s := &worldSession{
		id: guid(w.made), window: fmt.Sprintf("pty-%d", w.made), tab: w.made,
		vars: map[string]any{
			"name": fmt.Sprintf("session %d", w.made), "terminalWindowName": "title\x1b\u0007 of\nit", "profileName": "Default",
			"jobName": "bash", "jobPid": 100 + w.made, "pid": 100 + w.made, "tty": fmt.Sprintf("/dev/pts/%d", w.made),
			"path": "/home", "hostname": "box", "username": "ann", "showingAlternateScreen": 0,
			"columns": 80, "rows": 24,
		},
	}
	for i := range 24 {
		s.rows = append(s.rows, &api.LineContents{Text: proto.String(fmt.Sprintf("row %d", i))})
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

func (w *world) layout() *api.ListSessionsResponse {
	r := &api.ListSessionsResponse{}
	for _, s := range w.sessions {
		if s.late {
			continue
		}
		r.Windows = append(r.Windows, &api.ListSessionsResponse_Window{
			WindowId: proto.String(s.window),
			Tabs: []*api.ListSessionsResponse_Tab{{
				TabId: proto.String(fmt.Sprint(s.tab)),
				Root: &api.SplitTreeNode{Links: []*api.SplitTreeNode_SplitTreeLink{{
					Child: &api.SplitTreeNode_SplitTreeLink_Session{Session: &api.SessionSummary{
						UniqueIdentifier: proto.String(s.id), Title: proto.String("summary"),
						GridSize: &api.Size{Width: proto.Int32(80), Height: proto.Int32(24)},
					}},
				}}},
			}},
		})
	}
	return r
}

func (w *world) focused() *api.FocusResponse {
	r := &api.FocusResponse{}
	for _, s := range w.sessions {
		if s.id == w.focus {
			r.Notifications = append(r.Notifications, &api.FocusChangedNotification{
				Event: &api.FocusChangedNotification_Window_{Window: &api.FocusChangedNotification_Window{WindowId: proto.String(s.window)}},
			})
		}
	}
	for _, s := range w.sessions {
		r.Notifications = append(r.Notifications,
			&api.FocusChangedNotification{Event: &api.FocusChangedNotification_SelectedTab{SelectedTab: fmt.Sprint(s.tab)}},
			&api.FocusChangedNotification{Event: &api.FocusChangedNotification_Session{Session: s.id}})
	}
	return r
}

func (w *world) values(get []string, vars map[string]any) *api.VariableResponse {
	r := &api.VariableResponse{}
	for _, name := range get {
		b, _ := json.Marshal(vars[name])
		r.Values = append(r.Values, string(b))
	}
	return r
}

// answer is the answer to a request, or nil for none.
func (w *world) answer(c *fakeConn, m *api.ClientOriginatedMessage) *api.ServerOriginatedMessage {
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
		if w.find(q.SendTextRequest.GetSession()) == nil {
			r.Status = api.SendTextResponse_SESSION_NOT_FOUND.Enum()
		}
		out.Submessage = &api.ServerOriginatedMessage_SendTextResponse{SendTextResponse: r}
	case *api.ClientOriginatedMessage_CreateTabRequest:
		s := w.add()
		out.Submessage = &api.ServerOriginatedMessage_CreateTabResponse{CreateTabResponse: &api.CreateTabResponse{
			WindowId: proto.String(s.window), TabId: proto.Int32(int32(s.tab)), SessionId: proto.String(s.id),
		}}
	case *api.ClientOriginatedMessage_CloseRequest:
		r := &api.CloseResponse{Statuses: []api.CloseResponse_Status{api.CloseResponse_NOT_FOUND}}
		id := q.CloseRequest.GetSessions().GetSessionIds()[0]
		if i := slices.IndexFunc(w.sessions, func(s *worldSession) bool { return s.id == id }); i >= 0 {
			w.sessions = slices.Delete(w.sessions, i, i+1)
			r.Statuses[0] = api.CloseResponse_OK
			c.notify(terminated(id))
		}
		out.Submessage = &api.ServerOriginatedMessage_CloseResponse{CloseResponse: r}
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
			if w.told != "" {
				vars[appPrompts] = json.RawMessage(w.told)
			}
		}
		return w.values(q.GetGet(), vars)
	}
	if s := w.find(q.GetSessionId()); s != nil {
		return w.values(q.GetGet(), s.vars)
	}
	if exit, ok := w.ended[q.GetSessionId()]; ok {
		return w.values(q.GetGet(), map[string]any{"termpilot.exit": json.RawMessage(exit)})
	}
	return &api.VariableResponse{Status: api.VariableResponse_SESSION_NOT_FOUND.Enum()}
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
		`{"overflow":%d,"grid":24,"history":%d,"first_visible":0}`, s.overflow, len(s.rows)-24))}
}

func (w *world) buffer(q *api.GetBufferRequest) *api.GetBufferResponse {
	s := w.find(q.GetSession())
	if s == nil {
		return &api.GetBufferResponse{Status: api.GetBufferResponse_SESSION_NOT_FOUND.Enum()}
	}
	n := int64(len(s.rows))
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
		r.Contents = s.rows[a:b]
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
