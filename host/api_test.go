package host

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
	"termpilot/process"
	"termpilot/terminal"
)

const goodUpgrade = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +

	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: api.iterm2.com\r\nOrigin: ws://localhost/\r\nx-iterm2-library-version: python 2.30\r\nx-iterm2-cookie: any\r\n"

func TestGarbageDoesNoHarm(t *testing.T) { // HOST-71, HOST-72
	h := newHost(t)
	c := h.connect()
	for _, message := range []struct {
		kind int
		data string
	}{{websocket.TextMessage, "hello"}, {websocket.BinaryMessage, "\xff\xff\xff"}, {websocket.BinaryMessage, ""}} {
		if err := c.ws.WriteMessage(message.kind, []byte(message.data)); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.call(&api.ClientOriginatedMessage{}).GetError(); got == "" {
		t.Error("an unknown request got no error text")
	}
	big := h.connect()
	_ = big.ws.WriteMessage(websocket.BinaryMessage, make([]byte, maxFrame+1))
	for range big.note { // closed when the connection is
	}
	if c.call(&api.FocusRequest{}).GetFocusResponse() == nil {
		t.Error("no answer after the garbage")
	}
}

func FuzzNoMessageEndsTheHost(f *testing.F) { // HOST-71
	for _, m := range []*api.ClientOriginatedMessage{
		{Submessage: &api.ClientOriginatedMessage_ListSessionsRequest{ListSessionsRequest: &api.ListSessionsRequest{}}},
		{Submessage: &api.ClientOriginatedMessage_GetBufferRequest{GetBufferRequest: &api.GetBufferRequest{Session: ptr("active"), LineRange: &api.LineRange{
			WindowedCoordRange: &api.WindowedCoordRange{CoordRange: coordRange(terminal.Span{Start: terminal.Point{Row: 0, Column: 3}, End: terminal.Point{Row: 9, Column: 2}}), Columns: &api.Range{Location: ptr(int64(2)), Length: ptr(int64(9))}},
		}}}},
		{Submessage: &api.ClientOriginatedMessage_VariableRequest{VariableRequest: &api.VariableRequest{Scope: &api.VariableRequest_SessionId{SessionId: "active"}, Get: []string{"*", "tab.window.currentTab.currentSession.path"}}}},
		{Submessage: &api.ClientOriginatedMessage_InjectRequest{InjectRequest: &api.InjectRequest{SessionId: []string{"all"}, Data: []byte("\x1b]133;A\x07x\x1b[2J")}}},
		{Submessage: &api.ClientOriginatedMessage_InvokeFunctionRequest{InvokeFunctionRequest: &api.InvokeFunctionRequest{Invocation: ptr(`iterm2.set_name(name: "x")`)}}},
		{Submessage: &api.ClientOriginatedMessage_SetPropertyRequest{SetPropertyRequest: &api.SetPropertyRequest{Identifier: &api.SetPropertyRequest_SessionId{SessionId: "active"}, Name: ptr("grid_size"), JsonValue: ptr(`{"width":3,"height":3}`)}}},
		{Submessage: &api.ClientOriginatedMessage_NotificationRequest{NotificationRequest: &api.NotificationRequest{Session: ptr("all"), Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_PROMPT.Enum()}}},
		{Submessage: &api.ClientOriginatedMessage_NotificationRequest{NotificationRequest: &api.NotificationRequest{
			Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_SERVER_ORIGINATED_RPC.Enum(),
			Arguments: &api.NotificationRequest_RpcRegistrationRequest{RpcRegistrationRequest: register("f", []string{"a"}, map[string]string{"a": "user.x?"}, 1)},
		}}},
		{Submessage: &api.ClientOriginatedMessage_InvokeFunctionRequest{InvokeFunctionRequest: inApp("f(a: [1, termpilot.version?])")}},
		{Submessage: &api.ClientOriginatedMessage_SelectionRequest{SelectionRequest: &api.SelectionRequest{Request: &api.SelectionRequest_SetSelectionRequest_{
			SetSelectionRequest: &api.SelectionRequest_SetSelectionRequest{SessionId: ptr("active"), Selection: &api.Selection{SubSelections: []*api.SubSelection{box(1, 4, sub(1, 0, 2, 1))}}},
		}}}},
		{Submessage: &api.ClientOriginatedMessage_SetProfilePropertyRequest{SetProfilePropertyRequest: &api.SetProfilePropertyRequest{
			Target:      &api.SetProfilePropertyRequest_GuidList_{GuidList: &api.SetProfilePropertyRequest_GuidList{Guids: []string{profile{Name: defaultProfile}.guid()}}},
			Assignments: []*api.SetProfilePropertyRequest_Assignment{{Key: ptr("Rows"), JsonValue: ptr("30")}},
		}}},
		{Submessage: &api.ClientOriginatedMessage_PreferencesRequest{PreferencesRequest: &api.PreferencesRequest{Requests: []*api.PreferencesRequest_Request{{}}}}},
	} {
		data, _ := proto.Marshal(m)
		f.Add(data)
	}
	for _, m := range arrangingRequests() {
		data, _ := proto.Marshal(m)
		f.Add(data)
	}
	h := newHost(f)
	real := h.connect()
	real.open("sh")
	f.Fuzz(func(t *testing.T, data []byte) {
		real.t = t
		in := &api.ClientOriginatedMessage{}
		if proto.Unmarshal(data, in) == nil {
			switch in.GetSubmessage().(type) {
			case *api.ClientOriginatedMessage_CreateTabRequest, *api.ClientOriginatedMessage_SplitPaneRequest,
				*api.ClientOriginatedMessage_RestartSessionRequest, *api.ClientOriginatedMessage_MenuItemRequest, *api.ClientOriginatedMessage_SavedArrangementRequest,
				*api.ClientOriginatedMessage_CloseRequest, *api.ClientOriginatedMessage_SendTextRequest:
				return // would run programs, or end the one session
			}
		}
		real.mu.Lock()
		err := real.ws.WriteMessage(websocket.BinaryMessage, data)
		real.mu.Unlock()
		if err != nil || real.call(&api.ListSessionsRequest{}).GetListSessionsResponse() == nil {
			t.Fatalf("no answer after %q: %v", data, err)
		}
		for len(real.note) > 0 {
			<-real.note
		}
	})
}

func TestRangesAreEchoedAndRowsAreExact(t *testing.T) { // HOST-73
	c := newHost(t).connect()
	id := c.open("", "Termpilot Shell Command", quote("seq 1 100; printf 'a\\tb'; exec sleep 71"))
	c.awaitScreen(id, "b") // the last of all
	read := func(r *api.LineRange) *api.GetBufferResponse {
		return c.call(&api.GetBufferRequest{Session: &id, LineRange: r}).GetGetBufferResponse()
	}
	screen := read(&api.LineRange{ScreenContentsOnly: ptr(false)}) // presence counts
	w := screen.GetWindowedCoordRange().GetCoordRange()
	if len(screen.GetContents()) != 24 || w.GetStart().GetY() != 77 || w.GetEnd().GetY() != 101 || w.GetEnd().GetX() != 0 || screen.GetCursor().GetY() != 100 {
		t.Errorf("the screen: %d rows, %v, cursor %v", len(screen.GetContents()), w, screen.GetCursor())
	}
	if got := read(&api.LineRange{TrailingLines: ptr(int32(3))}); len(got.GetContents()) != 3 || got.GetContents()[0].GetText() != "99" {
		t.Errorf("the last three: %v", got.GetContents())
	}
	if got := read(&api.LineRange{TrailingLines: ptr(int32(1000))}); len(got.GetContents()) != 101 {
		t.Errorf("all: %d rows", len(got.GetContents()))
	}
	window := func(x1 int32, y1 int64, x2 int32, y2 int64) *api.LineRange {
		return &api.LineRange{WindowedCoordRange: &api.WindowedCoordRange{CoordRange: &api.CoordRange{Start: &api.Coord{X: &x1, Y: &y1}, End: &api.Coord{X: &x2, Y: &y2}}}}
	}
	if got := read(window(1, 99, 2, 99)); len(got.GetContents()) != 1 || got.GetContents()[0].GetText() != "0" {
		t.Errorf("a cell: %v", got.GetContents())
	}
	if got := read(window(0, 10, 0, 12)); len(got.GetContents()) != 2 || got.GetWindowedCoordRange().GetCoordRange().GetEnd().GetY() != 12 {
		t.Errorf("two rows: %v", got)
	}
	for name, bad := range map[string]*api.LineRange{
		"negative": window(-1, 0, 0, 3), "nothing": {}, "two": {ScreenContentsOnly: ptr(true), TrailingLines: ptr(int32(1))}, "none": nil,
	} {
		answer := c.call(&api.GetBufferRequest{Session: &id, LineRange: bad})
		if answer.GetSubmessage() != nil || answer.Id == nil {
			t.Errorf("%s: %v", name, answer)
		}
	}
	for _, far := range []*api.LineRange{window(0, 1<<40, 0, 1<<41), window(0, -1<<40, 0, 0), window(5, 5, 0, 2)} {
		if got := read(far); got == nil || len(got.GetContents()) != 0 {
			t.Errorf("far away: %v", got)
		}
	}
}

func TestCellsTellTheirTextInUtf16Units(t *testing.T) { // HOST-74
	c := newHost(t).connect()
	id := c.open("", "Termpilot Shell Command", quote(`printf 'a\033[5Gb日e\xcc\x81😀\033[1;31mR\033[m \nend'; exec sleep 72`))
	c.awaitScreen(id, "end")
	b := c.call(&api.GetBufferRequest{Session: &id, LineRange: &api.LineRange{ScreenContentsOnly: ptr(true)}, IncludeStyles: ptr(true)}).GetGetBufferResponse()
	row := b.GetContents()[0]
	if got, want := row.GetText(), "a\x00\x00\x00b日e\u0301😀R "; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	var units []int32
	for _, n := range row.GetCodePointsPerCell() {
		for range n.GetRepeats() {
			units = append(units, n.GetNumCodePoints())
		}
	}
	if got, want := fmt.Sprint(units), "[1 1 1 1 1 1 0 2 2 0 1 1]"; got != want {
		t.Errorf("units %s, want %s", got, want)
	}
	cells, bold := uint32(0), false
	for _, s := range row.GetStyle() {
		cells += s.GetRepeats()
		bold = bold || s.GetBold() && s.GetFgStandard() == 1
	}
	if cells != 12 || !bold {
		t.Errorf("styles of %d cells, bold red %v", cells, bold)
	}
	b = c.call(&api.GetBufferRequest{Session: &id, LineRange: &api.LineRange{ScreenContentsOnly: ptr(true)}}).GetGetBufferResponse()
	if len(b.GetContents()[0].GetStyle()) != 0 {
		t.Error("styles though not asked for")
	}
}

func TestVariablesAreTyped(t *testing.T) { // HOST-75
	c := newHost(t).connect()
	id := c.openReady("bash")
	c.run(id, "cd /")
	c.send(id, "sleep 73\r")
	waitUntil(t, "sleep is in front", func() bool {
		return c.variable(id, "jobName") == `"sleep"` && c.variable(id, "lastCommand") == `"sleep 73"`
	})
	for name, want := range map[string]string{
		"id": quote(id), "path": `"/"`, "username": `"tester"`, "columns": "80", "rows": "24", "showingAlternateScreen": "0",
		"profileName": `"bash"`, "lastCommand": `"sleep 73"`, "nosuch": "null", "user.nosuch": "null", "termpilot.exit": "null",
		"iterm2.termpilot.protocol": "1", "session.name": `"sleep"`, "badge": "null",
	} {
		if got := c.variable(id, name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	job, _ := strconv.Atoi(c.variable(id, "jobPid"))
	if name, _ := process.Name(job); name != "sleep" {
		t.Errorf("jobPid %d: %q", job, name)
	}
	pid, _ := strconv.Atoi(c.variable(id, "pid"))
	if name, _ := process.Name(pid); name != "bash" {
		t.Errorf("pid %d: %q", pid, name)
	}
	if tty := c.variable(id, "tty"); !strings.HasPrefix(tty, `"/dev/`) {
		t.Errorf("tty %s", tty)
	}
	var all map[string]string
	if err := json.Unmarshal([]byte(c.variable(id, "*")), &all); err != nil || all["columns"] != "80" || all["iterm2.termpilot.version"] != "1.2.3" {
		t.Errorf("all: %v %v", err, all)
	}
	app := c.call(&api.VariableRequest{Scope: &api.VariableRequest_App{App: true}, Get: []string{"termpilot.version", "termpilot.protocol", "effectiveTheme"}}).GetVariableResponse()
	if got := strings.Join(app.GetValues(), " "); got != `"1.2.3" 1 "dark"` {
		t.Errorf("app: %s", got)
	}
}

func TestOnlyUserVariablesCanBeSet(t *testing.T) { // HOST-76
	c := newHost(t).connect()
	id := c.openReady("bash")
	list := c.call(&api.ListSessionsRequest{}).GetListSessionsResponse().GetWindows()[0]
	set := func(scope *api.VariableRequest, name, value string) api.VariableResponse_Status {
		scope.Set = []*api.VariableRequest_Set{{Name: &name, Value: &value}}
		scope.Get = []string{name}
		r := c.call(scope).GetVariableResponse()
		if r.GetStatus() == api.VariableResponse_OK && r.GetValues()[0] != value {
			t.Errorf("%s: set %s, got %v", name, value, r.GetValues())
		}
		return r.GetStatus()
	}
	for _, scope := range []func() *api.VariableRequest{
		func() *api.VariableRequest {
			return &api.VariableRequest{Scope: &api.VariableRequest_SessionId{SessionId: id}}
		},
		func() *api.VariableRequest {
			return &api.VariableRequest{Scope: &api.VariableRequest_TabId{TabId: list.GetTabs()[0].GetTabId()}}
		},
		func() *api.VariableRequest {
			return &api.VariableRequest{Scope: &api.VariableRequest_WindowId{WindowId: list.GetWindowId()}}
		},
		func() *api.VariableRequest { return &api.VariableRequest{Scope: &api.VariableRequest_App{App: true}} },
	} {
		if got := set(scope(), "user.mark", `{"a":1}`); got != api.VariableResponse_OK {
			t.Errorf("%v: %v", scope(), got)
		}
		for _, bad := range []string{"name", "user.", "user.a.b", "termpilot.marks"} {
			if got := set(scope(), bad, "1"); got != api.VariableResponse_INVALID_NAME {
				t.Errorf("%s: %v", bad, got)
			}
		}
	}
	if got := set(&api.VariableRequest{}, "user.x", "1"); got != api.VariableResponse_MISSING_SCOPE {
		t.Errorf("no scope: %v", got)
	}
	c.run(id, `printf '\033]1337;SetUserVar=lang=Z28=\007'`)
	if got := c.variable(id, "user.lang"); got != `"go"` {
		t.Errorf("set by a program: %s", got)
	}
}

func TestANicknameIsTheName(t *testing.T) { // HOST-92
	c := newHost(t).connect()
	id := c.openReady("bash")
	set := func(value string) {
		c.call(&api.VariableRequest{
			Scope: &api.VariableRequest_SessionId{SessionId: id}, Set: []*api.VariableRequest_Set{{Name: ptr(nicknameVariable), Value: &value}},
		})
	}
	expect := func(name, nickname string) {
		t.Helper()
		if got := c.variable(id, "name") + " " + c.variable(id, nicknameVariable); got != name+" "+nickname {
			t.Errorf("got %s, want %s %s", got, name, nickname)
		}
	}
	expect(`"bash"`, "null")
	set(`"acorn"`)
	expect(`"acorn"`, `"acorn"`)
	set(`{"not":"a text"}`)
	c.run(id, `printf '\033]1337;SetUserVar=goals_iterm_mcp_nickname=Z28=\007'`)
	expect(`"acorn"`, `"acorn"`)
	c.call(&api.InvokeFunctionRequest{Context: &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: &id}}, Invocation: ptr(`iterm2.set_name(name: "alder")`)})
	expect(`"alder"`, `"alder"`)
	set("null")
	expect(`"bash"`, "null")
}

func TestIdsAreExact(t *testing.T) { // HOST-86
	c := newHost(t).connect()
	id := c.openReady("bash")
	for _, wrong := range []string{"", id[:len(id)-1], id + "0", strings.ToLower(id), " " + id, "bash", "all*", "0"} {
		if got := c.call(&api.SendTextRequest{Session: &wrong, Text: ptr("x")}).GetSendTextResponse().GetStatus(); got != api.SendTextResponse_SESSION_NOT_FOUND {
			t.Errorf("%q: %v", wrong, got)
		}
		if got := c.call(&api.GetBufferRequest{Session: &wrong, LineRange: &api.LineRange{ScreenContentsOnly: ptr(true)}}).GetGetBufferResponse().GetStatus(); got != api.GetBufferResponse_SESSION_NOT_FOUND {
			t.Errorf("reading %q: %v", wrong, got)
		}
		if got := c.closeSession(wrong, true); got != api.CloseResponse_NOT_FOUND {
			t.Errorf("closing %q: %v", wrong, got)
		}
	}
	if v := c.promptView(id); v.Touched {
		t.Error("something was typed")
	}
}

func TestAFaultOfOursEndsNeitherTheHostNorTheSession(t *testing.T) { // HOST-87
	s := &session{
		host: &server{frozen: newFreeze(), log: slog.New(slog.DiscardHandler), hub: hub{clients: map[*client]struct{}{}}},
		id:   newID(), input: newInput(nil), viewers: map[*viewer]struct{}{}, told: map[string]string{}, seen: map[string]any{},
	}
	s.facts.columns, s.facts.rows = 80, 24
	s.draw([]byte("x")) // there is no emulator: a panic
	s.draw([]byte("\r\nnew"))
	if got := s.term.Text(1, 1); len(got) != 1 || got[0].Text != "new" {
		t.Errorf("after the fault: %+v", got)
	}
	v := newViewer(s)
	s.viewers[v] = struct{}{}
	for what, do := range map[string]func(){"a painting": func() { v.painting() }, "the end of a frame": s.releaseFrame} {
		s.term = nil
		do()
		if s.term == nil || !v.repaint {
			t.Errorf("%s: the screen does not begin anew", what)
		}
		s.draw(nil) // the lock is free
	}
	s.host.layout = newLayout()
	func() {
		defer func() { _ = recover() }()
		s.host.arrange(func(*layout) bool { panic("ours") })
	}()
	s.host.arrange(func(*layout) bool { return false }) // the lock is free
	c := &client{host: s.host, out: newOutbox(func() {})}
	c.handle(7, quick(func(*client, *api.FocusRequest) (*api.FocusResponse, error) { panic("ours") }), &api.FocusRequest{})
	sent := c.out.take()
	m := &api.ServerOriginatedMessage{}
	if err := proto.Unmarshal(sent[0].data, m); err != nil || m.GetId() != 7 || !strings.HasPrefix(m.GetError(), "internal: ") {
		t.Errorf("the answer: %v %v", m, err)
	}
}

func TestRandomBytesAreStillText(t *testing.T) { // HOST-74
	c := newHost(t).connect()
	id := c.openReady("bash")
	c.send(id, "head -c 200000 /dev/urandom | cat -u; printf '\\033c\\033[?1049l'; echo\r")
	c.awaitEnd(id)
	c.awaitPrompt(id)
	b := c.call(&api.GetBufferRequest{Session: &id, LineRange: &api.LineRange{TrailingLines: ptr(int32(100000))}, IncludeStyles: ptr(true)}).GetGetBufferResponse()
	for _, row := range b.GetContents() {
		units, cells := int32(0), uint32(0)
		for _, n := range row.GetCodePointsPerCell() {
			units += n.GetNumCodePoints() * n.GetRepeats()
			cells += uint32(n.GetRepeats())
		}
		for _, s := range row.GetStyle() {
			cells -= s.GetRepeats()
		}
		if !utf8.ValidString(row.GetText()) || units != int32(len(utf16.Encode([]rune(row.GetText())))) || cells != 0 {
			t.Fatalf("a row of %d units and %d cells too many: %q", units, cells, row.GetText())
		}
	}
	if exit, out := c.run(id, "echo fine"); exit != 0 || out != "fine" {
		t.Errorf("after it: %d %q", exit, out)
	}
}

func TestNoRequestAsksForMoreThanCanBeAnswered(t *testing.T) { // HOST-71
	c := newHost(t).connect()
	id := c.openReady("bash")
	for n, want := range map[int]string{maxAsked: "", maxAsked + 1: "too_large"} {
		names, ask := make([]string, n), make([]*api.PreferencesRequest_Request, n)
		for i := range names {
			names[i] = "id"
		}
		values := c.call(&api.VariableRequest{Scope: &api.VariableRequest_SessionId{SessionId: id}, Get: names})
		if got := values.GetError(); !strings.HasPrefix(got, want) || got == "" && len(values.GetVariableResponse().GetValues()) != n {
			t.Errorf("%d variables: %q", n, got)
		}
		for i := range ask {
			ask[i] = &api.PreferencesRequest_Request{}
		}
		results := c.call(&api.PreferencesRequest{Requests: ask})
		if got := results.GetError(); !strings.HasPrefix(got, want) || got == "" && len(results.GetPreferencesResponse().GetResults()) != n {
			t.Errorf("%d preferences: %q", n, got)
		}
	}
	var want strings.Builder
	for i := range 3 * rowsAtOnce {
		fmt.Fprintf(&want, "%d\n", i+1)
	}
	if _, got := c.run(id, fmt.Sprintf("seq %d", 3*rowsAtOnce)); got != strings.TrimSuffix(want.String(), "\n") {
		t.Errorf("rows read in pieces: %q", got)
	}
}
