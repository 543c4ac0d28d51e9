package host

import (
	"testing"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

func sub(x1 int, y1 int64, x2 int, y2 int64) *api.SubSelection {
	return &api.SubSelection{
		WindowedCoordRange: &api.WindowedCoordRange{CoordRange: coordRange(terminal.Span{Start: terminal.Point{Row: y1, Column: x1}, End: terminal.Point{Row: y2, Column: x2}})},
		SelectionMode:      api.SelectionMode_CHARACTER.Enum(),
	}
}

func box(left, width int64, s *api.SubSelection) *api.SubSelection {
	s.SelectionMode = api.SelectionMode_BOX.Enum()
	s.WindowedCoordRange.Columns = &api.Range{Location: &left, Length: &width}
	return s
}

func (c *apiClient) choose(id string, subs ...*api.SubSelection) api.SelectionResponse_Status {
	c.t.Helper()
	return c.call(&api.SelectionRequest{Request: &api.SelectionRequest_SetSelectionRequest_{SetSelectionRequest: &api.SelectionRequest_SetSelectionRequest{
		SessionId: &id, Selection: &api.Selection{SubSelections: subs},
	}}}).GetSelectionResponse().GetStatus()
}

func (c *apiClient) chosen(id string) *api.SelectionResponse {
	c.t.Helper()
	return c.call(&api.SelectionRequest{Request: &api.SelectionRequest_GetSelectionRequest_{GetSelectionRequest: &api.SelectionRequest_GetSelectionRequest{
		SessionId: &id,
	}}}).GetSelectionResponse()
}

func TestASelectionIsKeptAndItsTextTold(t *testing.T) { // HOST-154
	h := newHost(t)
	c := h.connect()
	id := c.open("sh", "Custom Command", `"Yes"`, "Command", `"/bin/sh -c 'printf \"alpha beta\\ngamma delta\\n0123456789abcdef\"; read x; printf \"\\033[3J\"; read x'"`, "Columns", "12")
	c.awaitScreen(id, "cdef")
	c.subscribe(api.NotificationType_NOTIFY_ON_NEW_SESSION, "all")
	c.watchVariable(api.VariableScope_SESSION, id, "selection", true)
	if got := c.chosen(id); got.GetStatus() != api.SelectionResponse_OK || len(got.GetGetSelectionResponse().GetSelection().GetSubSelections()) != 0 {
		t.Errorf("at the beginning: %v", got)
	}
	connected := sub(6, 0, 10, 0)
	connected.Connected = ptr(true)
	for name, test := range map[string]struct {
		subs []*api.SubSelection
		want string
	}{
		"a word":       {[]*api.SubSelection{sub(6, 0, 10, 0)}, `"beta"`},
		"two rows":     {[]*api.SubSelection{sub(6, 0, 3, 1)}, `"beta\ngam"`},
		"wrapped rows": {[]*api.SubSelection{sub(8, 2, 2, 3)}, `"89abcd"`},
		"a box":        {[]*api.SubSelection{box(1, 3, sub(1, 0, 4, 2))}, `"lph\namm\n123"`},
		"two parts":    {[]*api.SubSelection{sub(0, 0, 5, 0), sub(0, 1, 5, 1)}, `"alpha\ngamma"`},
		"joined parts": {[]*api.SubSelection{connected, sub(0, 1, 5, 1)}, `"betagamma"`},
		"nothing":      {nil, "null"},
	} {
		if got := c.choose(id, test.subs...); got != api.SelectionResponse_OK {
			t.Errorf("%s: %v", name, got)
			continue
		}
		if got := c.variable(id, "selection"); got != test.want {
			t.Errorf("%s: the text is %s, want %s", name, got, test.want)
		}
		back := c.chosen(id).GetGetSelectionResponse().GetSelection().GetSubSelections()
		if len(back) != len(test.subs) || len(back) > 0 && back[0].String() != test.subs[0].String() {
			t.Errorf("%s: got %v back", name, back)
		}
	}
	c.choose(id, sub(0, 0, 5, 0))
	c.await("the selection", func(n *api.Notification) bool {
		return n.GetVariableChangedNotification().GetJsonNewValue() == `"alpha"`
	})
	if got := c.variable(id, "selectionLength"); got != "5" {
		t.Errorf("its length: %s", got)
	}
	for name, bad := range map[string]*api.SubSelection{
		"backwards": sub(3, 1, 3, 0), "past the end": sub(0, 0, 1, 400), "before the beginning": sub(0, -1, 1, 1),
		"left of the screen": sub(-1, 0, 1, 0), "right of it": sub(0, 0, 99, 0), "a box of nowhere": box(-1, 3, sub(0, 0, 1, 1)),
	} {
		if got := c.choose(id, sub(0, 0, 1, 0), bad); got != api.SelectionResponse_INVALID_RANGE {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := c.variable(id, "selection"); got != `"alpha"` {
		t.Errorf("after what was refused: %s", got)
	}
	if got := c.choose("nobody"); got != api.SelectionResponse_INVALID_SESSION {
		t.Errorf("set in no session: %v", got)
	}
	if got := c.chosen("nobody").GetStatus(); got != api.SelectionResponse_REQUEST_MALFORMED {
		t.Errorf("get of no session: %v", got)
	}
	if got := c.call(&api.SelectionRequest{}).GetSelectionResponse().GetStatus(); got != api.SelectionResponse_REQUEST_MALFORMED {
		t.Errorf("neither get nor set: %v", got)
	}
	c.call(&api.SetPropertyRequest{Identifier: &api.SetPropertyRequest_SessionId{SessionId: id}, Name: ptr("grid_size"), JsonValue: ptr(`{"width":20,"height":10}`)})
	if got := c.variable(id, "selection"); got != "null" {
		t.Errorf("after the rows were numbered anew: %s", got)
	}
}

func TestWhatIsNotHereIsRefusedByItsOwnStatus(t *testing.T) { // HOST-155
	h := newHost(t)
	c := h.connect()
	id := c.open("sh")
	if got := c.call(&api.RegisterToolRequest{}).GetRegisterToolResponse().GetStatus(); got != api.RegisterToolResponse_REQUEST_MALFORMED {
		t.Errorf("an empty tool: %v", got)
	}
	tool := &api.RegisterToolRequest{Name: ptr("a"), Identifier: ptr("b"), URL: ptr("http://localhost/")}
	if got := c.call(tool).GetRegisterToolResponse().GetStatus(); got != api.RegisterToolResponse_PERMISSION_DENIED {
		t.Errorf("a tool: %v", got)
	}
	if got := c.call(&api.ScreenshotRequest{Session: &id}).GetScreenshotResponse(); got.GetStatus() != api.ScreenshotResponse_INTERNAL_ERROR || got.Png != nil {
		t.Errorf("a picture: %v", got)
	}
	if got := c.call(&api.ScreenshotRequest{Session: ptr("x")}).GetScreenshotResponse().GetStatus(); got != api.ScreenshotResponse_SESSION_NOT_FOUND {
		t.Errorf("a picture of nothing: %v", got)
	}
	presets := c.call(&api.ColorPresetRequest{Request: &api.ColorPresetRequest_ListPresets_{ListPresets: &api.ColorPresetRequest_ListPresets{}}}).GetColorPresetResponse()
	if presets.GetStatus() != api.ColorPresetResponse_OK || presets.GetListPresets() == nil || len(presets.GetListPresets().GetName()) != 0 {
		t.Errorf("presets: %v", presets)
	}
	preset := &api.ColorPresetRequest{Request: &api.ColorPresetRequest_GetPreset_{GetPreset: &api.ColorPresetRequest_GetPreset{Name: ptr("Solarized")}}}
	if got := c.call(preset).GetColorPresetResponse().GetStatus(); got != api.ColorPresetResponse_PRESET_NOT_FOUND {
		t.Errorf("a preset: %v", got)
	}
	popover := func(session string) *api.StatusBarComponentRequest {
		return &api.StatusBarComponentRequest{Identifier: ptr("x"), Request: &api.StatusBarComponentRequest_OpenPopover_{
			OpenPopover: &api.StatusBarComponentRequest_OpenPopover{SessionId: &session},
		}}
	}
	if got := c.call(popover(id)).GetStatusBarComponentResponse().GetStatus(); got != api.StatusBarComponentResponse_INVALID_IDENTIFIER {
		t.Errorf("a status bar: %v", got)
	}
	if got := c.call(popover("x")).GetStatusBarComponentResponse().GetStatus(); got != api.StatusBarComponentResponse_SESSION_NOT_FOUND {
		t.Errorf("a status bar of nothing: %v", got)
	}
	if got := c.call(&api.TmuxRequest{}).GetTmuxResponse().GetStatus(); got != api.TmuxResponse_INVALID_REQUEST {
		t.Errorf("tmux, asked for nothing: %v", got)
	}
	command := &api.TmuxRequest{Payload: &api.TmuxRequest_SendCommand_{SendCommand: &api.TmuxRequest_SendCommand{ConnectionId: ptr("x"), Command: ptr("ls")}}}
	if got := c.call(command).GetTmuxResponse().GetStatus(); got != api.TmuxResponse_INVALID_CONNECTION_ID {
		t.Errorf("a tmux command: %v", got)
	}
}

func TestPreferencesAreWhatClientsSetAndNothingElse(t *testing.T) { // HOST-156
	h := newHost(t)
	c := h.connect()
	get := func(key string) *api.PreferencesRequest_Request {
		return &api.PreferencesRequest_Request{Request: &api.PreferencesRequest_Request_GetPreferenceRequest{GetPreferenceRequest: &api.PreferencesRequest_Request_GetPreference{Key: &key}}}
	}
	set := func(key, value string) *api.PreferencesRequest_Request {
		return &api.PreferencesRequest_Request{Request: &api.PreferencesRequest_Request_SetPreferenceRequest{SetPreferenceRequest: &api.PreferencesRequest_Request_SetPreference{Key: &key, JsonValue: &value}}}
	}
	choose := func(guid string) *api.PreferencesRequest_Request {
		return &api.PreferencesRequest_Request{Request: &api.PreferencesRequest_Request_SetDefaultProfileRequest{SetDefaultProfileRequest: &api.PreferencesRequest_Request_SetDefaultProfile{Guid: &guid}}}
	}
	guid := profile{Name: defaultProfile}.guid()
	r := c.call(&api.PreferencesRequest{Requests: []*api.PreferencesRequest_Request{
		get("k"), set("k", `{"a":1}`), get("k"), set("k", "not json"), set("", "1"), set("k", "null"), get("k"),
		{},
		choose(guid), choose("x"),
		{Request: &api.PreferencesRequest_Request_GetDefaultProfileRequest{GetDefaultProfileRequest: &api.PreferencesRequest_Request_GetDefaultProfile{}}},
	}}).GetPreferencesResponse().GetResults()
	if len(r) != 11 {
		t.Fatalf("%d results", len(r))
	}
	for i, want := range map[int]string{0: "null", 2: `{"a":1}`, 6: "null"} {
		if got := r[i].GetGetPreferenceResult(); got == nil || got.GetJsonValue() != want {
			t.Errorf("result %d: %v, want %s", i, r[i], want)
		}
	}
	for i, want := range map[int]api.PreferencesResponse_Result_SetPreferenceResult_Status{
		1: api.PreferencesResponse_Result_SetPreferenceResult_OK, 3: api.PreferencesResponse_Result_SetPreferenceResult_BAD_JSON,
		4: api.PreferencesResponse_Result_SetPreferenceResult_INVALID_VALUE, 5: api.PreferencesResponse_Result_SetPreferenceResult_OK,
	} {
		if got := r[i].GetSetPreferenceResult(); got == nil || got.GetStatus() != want {
			t.Errorf("result %d: %v, want %v", i, r[i], want)
		}
	}
	if r[7].GetUnrecognizedRequest() == nil {
		t.Errorf("an empty request: %v", r[7])
	}
	if got := r[8].GetSetDefaultProfileResult().GetStatus(); got != api.PreferencesResponse_Result_SetDefaultProfileResult_OK {
		t.Errorf("the default profile is the default: %v", got)
	}
	if got := r[9].GetSetDefaultProfileResult().GetStatus(); got != api.PreferencesResponse_Result_SetDefaultProfileResult_BAD_GUID {
		t.Errorf("another default: %v", got)
	}
	if got := r[10].GetGetDefaultProfileResult().GetGuid(); got != guid {
		t.Errorf("the default profile: %s, want %s", got, guid)
	}
}
