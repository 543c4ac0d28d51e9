package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"termpilot/iterm/api"
)

// apiClient is a raw client of the API.
type apiClient struct {
	t    testing.TB
	ws   *websocket.Conn
	mu   sync.Mutex
	id   int64
	wait map[int64]chan *api.ServerOriginatedMessage
	note chan *api.Notification
	seen []*api.Notification // taken from note, not asked for yet
}

func (h *testHost) connect() *apiClient {
	h.t.Helper()
	return connectTo(h.t, h.loc.Socket)
}

func connectTo(t testing.TB, socket string) *apiClient {
	t.Helper()
	ws := dialAPI(t, socket)
	c := &apiClient{t: t, ws: ws, wait: map[int64]chan *api.ServerOriginatedMessage{}, note: make(chan *api.Notification, 100000)}
	var reading sync.WaitGroup
	reading.Go(c.read)
	t.Cleanup(func() {
		_ = ws.Close()
		reading.Wait()
	})
	return c
}

func dialAPI(t testing.TB, socket string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{
		NetDialContext:  func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) },
		Subprotocols:    []string{"api.iterm2.com"},
		WriteBufferSize: 4 << 20,
	}
	u := url.URL{Scheme: "ws", Host: "localhost", Path: "/"}
	ws, answer, err := d.Dial(u.String(), http.Header{
		"Origin": {"ws://localhost/"}, "X-Iterm2-Library-Version": {"go 1.0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return ws
}

func (c *apiClient) read() {
	for {
		_, data, err := c.ws.ReadMessage()
		if err != nil {
			c.mu.Lock()
			for _, ch := range c.wait {
				close(ch)
			}
			c.wait = nil
			c.mu.Unlock()
			close(c.note)
			return
		}
		m := &api.ServerOriginatedMessage{}
		if err := proto.Unmarshal(data, m); err != nil {
			c.t.Errorf("a message that cannot be read: %v", err)
			continue
		}
		if n := m.GetNotification(); n != nil {
			c.note <- n
			continue
		}
		c.mu.Lock()
		ch := c.wait[m.GetId()]
		delete(c.wait, m.GetId())
		c.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

// call sends a request, which is put into the envelope's field of its type,
// and returns the answer.
func (c *apiClient) call(body proto.Message) *api.ServerOriginatedMessage {
	c.t.Helper()
	m := &api.ClientOriginatedMessage{}
	fields := m.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Message() != nil && f.Message().FullName() == body.ProtoReflect().Descriptor().FullName() {
			m.ProtoReflect().Set(f, protoreflect.ValueOfMessage(body.ProtoReflect()))
		}
	}
	ch := make(chan *api.ServerOriginatedMessage, 1)
	c.mu.Lock()
	c.id++
	m.Id = proto.Int64(c.id)
	if c.wait == nil {
		c.mu.Unlock()
		c.t.Fatal("the connection is gone")
	}
	c.wait[c.id] = ch
	data, err := proto.Marshal(m)
	if err == nil {
		err = c.ws.WriteMessage(websocket.BinaryMessage, data)
	}
	c.mu.Unlock()
	if err != nil {
		c.t.Fatal(err)
	}
	select {
	case answer, ok := <-ch:
		if !ok {
			c.t.Fatal("the connection went away")
		}
		return answer
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		c.t.Fatalf("no answer to %T\n%s", body, buf[:runtime.Stack(buf, true)])
		return nil
	}
}

func (c *apiClient) subscribe(kind api.NotificationType, session string, modes ...api.PromptMonitorMode) {
	c.t.Helper()
	r := &api.NotificationRequest{Session: &session, Subscribe: ptr(true), NotificationType: &kind}
	if len(modes) > 0 {
		r.Arguments = &api.NotificationRequest_PromptMonitorRequest{PromptMonitorRequest: &api.PromptMonitorRequest{Modes: modes}}
	}
	if status := c.call(r).GetNotificationResponse().GetStatus(); status != api.NotificationResponse_OK {
		c.t.Fatalf("subscribe %v: %v", kind, status)
	}
}

// await returns the first notification that matches; others stay for later.
func (c *apiClient) await(what string, match func(*api.Notification) bool) *api.Notification {
	c.t.Helper()
	for i, n := range c.seen {
		if match(n) {
			c.seen = append(c.seen[:i:i], c.seen[i+1:]...)
			return n
		}
	}
	deadline := time.After(patience)
	for {
		select {
		case n, ok := <-c.note:
			if !ok {
				c.t.Fatalf("the connection went away: %s", what)
			}
			if match(n) {
				return n
			}
			c.seen = append(c.seen, n)
		case <-deadline:
			c.t.Fatalf("no notification: %s; seen: %v", what, c.seen)
		}
	}
}

func (c *apiClient) awaitPrompt(session string) *api.PromptNotification {
	c.t.Helper()
	return c.await("prompt of "+session, func(n *api.Notification) bool {
		return n.GetPromptNotification().GetSession() == session && n.GetPromptNotification().GetPrompt() != nil
	}).GetPromptNotification()
}

func (c *apiClient) awaitEnd(session string) *api.PromptNotification {
	c.t.Helper()
	return c.await("end of a command of "+session, func(n *api.Notification) bool {
		return n.GetPromptNotification().GetSession() == session && n.GetPromptNotification().GetCommandEnd() != nil
	}).GetPromptNotification()
}

func (c *apiClient) awaitTerminated(session string) {
	c.t.Helper()
	c.await("end of "+session, func(n *api.Notification) bool {
		return n.GetTerminateSessionNotification().GetSessionId() == session
	})
}

// open makes a session of a profile; properties are pairs of key and JSON.
func (c *apiClient) open(profile string, properties ...string) string {
	c.t.Helper()
	r := c.create(profile, properties...)
	if e := r.GetError(); e != "" {
		c.t.Fatalf("open: %s", e)
	}
	answer := r.GetCreateTabResponse()
	if answer.GetStatus() != api.CreateTabResponse_OK || answer.GetSessionId() == "" {
		c.t.Fatalf("open: %v", answer)
	}
	return answer.GetSessionId()
}

func (c *apiClient) create(profile string, properties ...string) *api.ServerOriginatedMessage {
	c.t.Helper()
	r := &api.CreateTabRequest{}
	if profile != "" {
		r.ProfileName = &profile
	}
	for i := 0; i < len(properties); i += 2 {
		r.CustomProfileProperties = append(r.CustomProfileProperties, &api.ProfileProperty{Key: &properties[i], JsonValue: &properties[i+1]})
	}
	return c.call(r)
}

// openReady is open, and waits for the first prompt.
func (c *apiClient) openReady(profile string, properties ...string) string {
	c.t.Helper()
	c.allPromptsOnce()
	id := c.open(profile, properties...)
	c.awaitPrompt(id)
	return id
}

func (c *apiClient) allPromptsOnce() {
	c.t.Helper()
	kind := api.NotificationType_NOTIFY_ON_PROMPT
	c.call(&api.NotificationRequest{
		Session: ptr("all"), Subscribe: ptr(true), NotificationType: &kind,
		Arguments: &api.NotificationRequest_PromptMonitorRequest{PromptMonitorRequest: &api.PromptMonitorRequest{
			Modes: []api.PromptMonitorMode{api.PromptMonitorMode_PROMPT, api.PromptMonitorMode_COMMAND_START, api.PromptMonitorMode_COMMAND_END},
		}},
	})
}

func (c *apiClient) send(session, text string) {
	c.t.Helper()
	r := c.call(&api.SendTextRequest{Session: &session, Text: &text, SuppressBroadcast: ptr(true)})
	if r.GetError() != "" || r.GetSendTextResponse().GetStatus() != api.SendTextResponse_OK {
		c.t.Fatalf("send: %v", r)
	}
}

// run types a command and returns its exit status and output rows.
func (c *apiClient) run(session, command string) (int, string) {
	c.t.Helper()
	c.send(session, command+"\r")
	end := c.awaitEnd(session)
	c.awaitPrompt(session)
	p := c.prompt(session, end.GetUniquePromptId())
	if p.GetStatus() != api.GetPromptResponse_OK {
		c.t.Fatalf("the prompt of %q: %v", command, p)
	}
	return int(p.GetExitStatus()), c.text(session, p.GetOutputRange())
}

func (c *apiClient) prompt(session, id string) *api.GetPromptResponse {
	c.t.Helper()
	r := &api.GetPromptRequest{Session: &session}
	if id != "" {
		r.UniquePromptId = &id
	}
	return c.call(r).GetGetPromptResponse()
}

// text reads a range exactly: soft rows joined, cells never written as blanks.
func (c *apiClient) text(session string, r *api.CoordRange) string {
	c.t.Helper()
	b := c.call(&api.GetBufferRequest{Session: &session, LineRange: &api.LineRange{
		WindowedCoordRange: &api.WindowedCoordRange{CoordRange: r},
	}}).GetGetBufferResponse()
	return join(b.GetContents())
}

func (c *apiClient) screen(session string) string {
	c.t.Helper()
	b := c.call(&api.GetBufferRequest{Session: &session, LineRange: &api.LineRange{ScreenContentsOnly: ptr(true)}}).GetGetBufferResponse()
	if b.GetStatus() != api.GetBufferResponse_OK {
		c.t.Fatalf("the screen of %s: %v", session, b.GetStatus())
	}
	return strings.TrimRight(join(b.GetContents()), "\n ")
}

func join(rows []*api.LineContents) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString(strings.ReplaceAll(row.GetText(), "\x00", " "))
		if row.GetContinuation() != api.LineContents_CONTINUATION_SOFT_EOL && i < len(rows)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (c *apiClient) awaitScreen(session, want string) {
	c.t.Helper()
	waitUntil(c.t, fmt.Sprintf("%q on the screen", want), func() bool { return strings.Contains(c.screen(session), want) })
}

func (c *apiClient) variable(session, name string) string {
	c.t.Helper()
	r := c.call(&api.VariableRequest{Scope: &api.VariableRequest_SessionId{SessionId: session}, Get: []string{name}}).GetVariableResponse()
	if r.GetStatus() != api.VariableResponse_OK || len(r.GetValues()) != 1 {
		c.t.Fatalf("variable %s: %v", name, r)
	}
	return r.GetValues()[0]
}
