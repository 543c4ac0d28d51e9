package host

import (
	"fmt"
	"strings"
	"testing"

	"termpilot/iterm/api"
)

func (c *apiClient) watchVariable(scope api.VariableScope, id, name string, on bool) api.NotificationResponse_Status {
	c.t.Helper()
	return c.call(&api.NotificationRequest{
		Session: ptr("all"), Subscribe: &on, NotificationType: api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE.Enum(),
		Arguments: &api.NotificationRequest_VariableMonitorRequest{VariableMonitorRequest: &api.VariableMonitorRequest{
			Name: &name, Scope: &scope, Identifier: &id,
		}},
	}).GetNotificationResponse().GetStatus()
}

// place is the window and the tab of a session.
func (c *apiClient) place(session string) (window, tab string) {
	c.t.Helper()
	for _, w := range c.call(&api.ListSessionsRequest{}).GetListSessionsResponse().GetWindows() {
		for _, t := range w.GetTabs() {
			if t.GetActiveSessionId() == session {
				return w.GetWindowId(), t.GetTabId()
			}
		}
	}
	c.t.Fatalf("%s is in no tab", session)
	return "", ""
}

func TestAProgramSpeaksToClientsByAnEscapeSequence(t *testing.T) { // HOST-149
	h := newHost(t)
	c := h.connect()
	id := c.open("sh", "Custom Command", `"Yes"`, "Command", `"/bin/sh -c 'read x; printf \"\\033]1337;Custom=id=secret:one:two\\a\\033]1337;Custom=id=noone\\a\\033]1337;Custom=x:y\\a\\033]1337;Custom=id=:last\\a\"; read x'"`)
	kind := api.NotificationType_NOTIFY_ON_CUSTOM_ESCAPE_SEQUENCE
	c.subscribe(kind, "all")
	other := h.connect()
	other.subscribe(kind, c.open("sh"))
	c.send(id, "\r")
	for _, want := range []string{"secret=one:two", "=last"} {
		n := c.await("a custom sequence", func(n *api.Notification) bool { return n.GetCustomEscapeSequenceNotification() != nil }).GetCustomEscapeSequenceNotification()
		if got := n.GetSenderIdentity() + "=" + n.GetPayload(); got != want || n.GetSession() != id {
			t.Errorf("got %q of %s, want %q", got, n.GetSession(), want)
		}
	}
	other.call(&api.FocusRequest{})
	if len(other.note) > 0 {
		t.Errorf("told of another session: %v", <-other.note)
	}
}

func FuzzCustomSequencesAreCutAtTheFirstColon(f *testing.F) { // HOST-149
	f.Add([]byte("Custom=id=a:b:c"))
	f.Add([]byte("Custom=id=\xff:\x00"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		identity, text, ok := customSequence(payload)
		if ok && (strings.Contains(identity, ":") || len(identity)+len(text) > 3*len(payload)) {
			t.Fatalf("%q became %q, %q", payload, identity, text)
		}
	})
}

func TestAWrongSubscriptionIsRefusedAndChangesNothing(t *testing.T) { // HOST-150
	h := newHost(t)
	c := h.connect()
	id := c.open("sh")
	window, tab := c.place(id)
	on := ptr(true)
	kind := func(k api.NotificationType) *api.NotificationType { return &k }
	for name, test := range map[string]struct {
		in   *api.NotificationRequest
		want api.NotificationResponse_Status
	}{
		"no kind":            {&api.NotificationRequest{Subscribe: on}, api.NotificationResponse_REQUEST_MALFORMED},
		"on or off unsaid":   {&api.NotificationRequest{NotificationType: kind(api.NotificationType_NOTIFY_ON_NEW_SESSION)}, api.NotificationResponse_REQUEST_MALFORMED},
		"a kind of the past": {&api.NotificationRequest{Session: &id, Subscribe: on, NotificationType: kind(api.NotificationType_NOTIFY_ON_LOCATION_CHANGE)}, api.NotificationResponse_REQUEST_MALFORMED},
		"no session":         {&api.NotificationRequest{Subscribe: on, NotificationType: kind(api.NotificationType_NOTIFY_ON_PROMPT)}, api.NotificationResponse_SESSION_NOT_FOUND},
		"another session":    {&api.NotificationRequest{Session: ptr("nobody"), Subscribe: on, NotificationType: kind(api.NotificationType_NOTIFY_ON_SCREEN_UPDATE)}, api.NotificationResponse_SESSION_NOT_FOUND},
		"no variable":        {&api.NotificationRequest{Session: &id, Subscribe: on, NotificationType: kind(api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE)}, api.NotificationResponse_INVALID_IDENTIFIER},
		"no profile":         {&api.NotificationRequest{Session: ptr("all"), Subscribe: on, NotificationType: kind(api.NotificationType_NOTIFY_ON_PROFILE_CHANGE)}, api.NotificationResponse_INVALID_IDENTIFIER},
		"no function":        {&api.NotificationRequest{Subscribe: on, NotificationType: kind(api.NotificationType_NOTIFY_ON_SERVER_ORIGINATED_RPC)}, api.NotificationResponse_REQUEST_MALFORMED},
		"never subscribed":   {&api.NotificationRequest{Session: &id, Subscribe: ptr(false), NotificationType: kind(api.NotificationType_NOTIFY_ON_PROMPT)}, api.NotificationResponse_NOT_SUBSCRIBED},
		"many patterns": {&api.NotificationRequest{
			Session: &id, Subscribe: on, NotificationType: kind(api.NotificationType_KEYSTROKE_FILTER),
			Arguments: &api.NotificationRequest_KeystrokeFilterRequest{KeystrokeFilterRequest: &api.KeystrokeFilterRequest{PatternsToIgnore: make([]*api.KeystrokePattern, maxPatterns+1)}},
		}, api.NotificationResponse_REQUEST_MALFORMED},
		"long patterns": {&api.NotificationRequest{
			Session: &id, Subscribe: on, NotificationType: kind(api.NotificationType_KEYSTROKE_FILTER),
			Arguments: &api.NotificationRequest_KeystrokeFilterRequest{KeystrokeFilterRequest: &api.KeystrokeFilterRequest{PatternsToIgnore: []*api.KeystrokePattern{
				{Characters: []string{strings.Repeat("x", maxPatternBytes)}},
			}}},
		}, api.NotificationResponse_REQUEST_MALFORMED},
	} {
		if got := c.call(test.in).GetNotificationResponse().GetStatus(); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	for _, test := range []struct {
		scope    api.VariableScope
		id, name string
		want     api.NotificationResponse_Status
	}{
		{api.VariableScope_SESSION, "nobody", "name", api.NotificationResponse_INVALID_IDENTIFIER},
		{api.VariableScope_TAB, "all", "title", api.NotificationResponse_INVALID_IDENTIFIER},
		{api.VariableScope_TAB, "999", "title", api.NotificationResponse_INVALID_IDENTIFIER},
		{api.VariableScope_TAB, tab, "title", api.NotificationResponse_OK},
		{api.VariableScope_TAB, tab, "title", api.NotificationResponse_ALREADY_SUBSCRIBED},
		{api.VariableScope_WINDOW, window, "title", api.NotificationResponse_OK},
		{api.VariableScope_WINDOW, "pty-x", "title", api.NotificationResponse_INVALID_IDENTIFIER},
		{api.VariableScope_WINDOW, "all", "title", api.NotificationResponse_OK},
		{api.VariableScope_APP, "", "user.x", api.NotificationResponse_OK},
		{api.VariableScope_SESSION, "all", "", api.NotificationResponse_INVALID_IDENTIFIER},
	} {
		if got := c.watchVariable(test.scope, test.id, test.name, true); got != test.want {
			t.Errorf("%v %q %q: %v, want %v", test.scope, test.id, test.name, got, test.want)
		}
	}
	if got := c.watchVariable(api.VariableScope_TAB, tab, "title", false); got != api.NotificationResponse_OK {
		t.Errorf("unsubscribe: %v", got)
	}
}

func TestChangesOfTabsWindowsAndTheApplicationAreTold(t *testing.T) { // HOST-152
	h := newHost(t)
	c := h.connect()
	id := c.open("sh")
	window, tab := c.place(id)
	watch := func(scope api.VariableScope, id, name string) {
		t.Helper()
		if got := c.watchVariable(scope, id, name, true); got != api.NotificationResponse_OK {
			t.Fatalf("%v %s: %v", scope, name, got)
		}
	}
	told := func(scope api.VariableScope, id, name, value string) {
		t.Helper()
		c.await(name+" "+value, func(n *api.Notification) bool {
			v := n.GetVariableChangedNotification()
			return v.GetScope() == scope && v.GetIdentifier() == id && v.GetName() == name && v.GetJsonNewValue() == value
		})
	}
	watch(api.VariableScope_TAB, tab, "titleOverride")
	watch(api.VariableScope_TAB, tab, "title")
	watch(api.VariableScope_TAB, tab, "user.note")
	watch(api.VariableScope_WINDOW, "all", "titleOverride")
	watch(api.VariableScope_APP, "", "user.mood")
	c.invoke(onReceiver(tab, `iterm2.set_title(title: "a tab")`))
	told(api.VariableScope_TAB, tab, "titleOverride", `"a tab"`)
	told(api.VariableScope_TAB, tab, "title", `"a tab"`)
	c.invoke(onReceiver(tab, `iterm2.set_title(title: "")`))
	told(api.VariableScope_TAB, tab, "titleOverride", "null")
	c.invoke(onReceiver(id, `iterm2.set_name(name: "worker")`))
	told(api.VariableScope_TAB, tab, "title", `"worker"`)
	c.invoke(onReceiver(window, `iterm2.set_title(title: "a window")`))
	told(api.VariableScope_WINDOW, window, "titleOverride", `"a window"`)
	second, _ := c.place(c.open("sh"))
	c.invoke(onReceiver(second, `iterm2.set_title(title: "another")`))
	told(api.VariableScope_WINDOW, second, "titleOverride", `"another"`)
	set := func(in *api.VariableRequest, name, value string) {
		t.Helper()
		in.Set = []*api.VariableRequest_Set{{Name: &name, Value: &value}}
		if got := c.call(in).GetVariableResponse().GetStatus(); got != api.VariableResponse_OK {
			t.Fatalf("%s: %v", name, got)
		}
	}
	set(&api.VariableRequest{Scope: &api.VariableRequest_TabId{TabId: tab}}, "user.note", `[1]`)
	told(api.VariableScope_TAB, tab, "user.note", `[1]`)
	set(&api.VariableRequest{Scope: &api.VariableRequest_App{App: true}}, "user.mood", `"good"`)
	told(api.VariableScope_APP, "", "user.mood", `"good"`)
	set(&api.VariableRequest{Scope: &api.VariableRequest_App{App: true}}, "user.mood", "null")
	told(api.VariableScope_APP, "", "user.mood", "null")
	for _, n := range c.seen {
		if v := n.GetVariableChangedNotification(); v.GetName() == "user.note" || v.GetName() == "user.mood" {
			t.Errorf("told twice: %v", v)
		}
	}
}

func TestWhatClientsKeepHereIsBoundedAndRefusedAloud(t *testing.T) { // HOST-162
	h := newHost(t)
	c := h.connect()
	id := c.open("sh")
	_, tab := c.place(id)
	for what, in := range map[string]*api.VariableRequest{
		"session": {Scope: &api.VariableRequest_SessionId{SessionId: id}}, "tab": {Scope: &api.VariableRequest_TabId{TabId: tab}},
		"application": {Scope: &api.VariableRequest_App{App: true}},
	} {
		set := func(name, value string) string {
			in.Set = []*api.VariableRequest_Set{{Name: &name, Value: &value}}
			return c.call(in).GetError()
		}
		for i := range maxUserVariables {
			if got := set(fmt.Sprintf("user.v%d", i), "1"); got != "" {
				t.Fatalf("%s, variable %d: %s", what, i, got)
			}
		}
		if got := set("user.more", "1"); !strings.HasPrefix(got, "too_large") {
			t.Errorf("%s, one too many: %q", what, got)
		}
		if got := set("user.v0", encode(strings.Repeat("x", 64<<10))); !strings.HasPrefix(got, "too_large") {
			t.Errorf("%s, one too long: %q", what, got)
		}
		if got := set("user.v0", "2"); got != "" {
			t.Errorf("%s, another value: %q", what, got)
		}
	}
	assign := func(in *api.SetProfilePropertyRequest, first, n int) api.SetProfilePropertyResponse_Status {
		in.Assignments = nil
		for i := range n {
			in.Assignments = append(in.Assignments, &api.SetProfilePropertyRequest_Assignment{Key: ptr(fmt.Sprintf("Key %d", first+i)), JsonValue: ptr("1")})
		}
		return c.call(in).GetSetProfilePropertyResponse().GetStatus()
	}
	inSession := func(id string) *api.SetProfilePropertyRequest {
		return &api.SetProfilePropertyRequest{Target: &api.SetProfilePropertyRequest_Session{Session: id}}
	}
	inProfiles := func(names ...string) *api.SetProfilePropertyRequest {
		list := &api.SetProfilePropertyRequest_GuidList{}
		for _, name := range names {
			list.Guids = append(list.Guids, profile{Name: name}.guid())
		}
		return &api.SetProfilePropertyRequest{Target: &api.SetProfilePropertyRequest_GuidList_{GuidList: list}}
	}
	other := c.open("bash")
	for what, targets := range map[string]struct {
		one, all *api.SetProfilePropertyRequest
	}{
		"session": {inSession(id), inSession(everySession)}, "profile": {inProfiles("sh"), inProfiles("bash", "sh")},
	} {
		if got := assign(targets.one, 0, maxProperties/2); got != api.SetProfilePropertyResponse_OK {
			t.Errorf("%s, half of the properties: %v", what, got)
		}
		if got := assign(targets.one, 1000, maxProperties); got != api.SetProfilePropertyResponse_REQUEST_MALFORMED {
			t.Errorf("%s, too many: %v", what, got)
		}
		// Too many for one of them are given to none.
		if got := assign(targets.all, 1000, maxProperties/2+1); got != api.SetProfilePropertyResponse_REQUEST_MALFORMED {
			t.Errorf("%s, too many for one: %v", what, got)
		}
	}
	for _, session := range []string{id, other, c.open("bash")} {
		got := c.call(&api.GetProfilePropertyRequest{Session: &session, Keys: []string{"Key 1000"}}).GetGetProfilePropertyResponse().GetProperties()
		if len(got) != 0 {
			t.Errorf("of what was refused something was kept: %v", got)
		}
	}
	if got := c.call(&api.GetProfilePropertyRequest{Session: &id, Keys: []string{"Key 3"}}).GetGetProfilePropertyResponse().GetProperties(); len(got) != 1 {
		t.Errorf("what was taken: %v", got)
	}
}

func TestProgramsFillHalfOfTheUserVariables(t *testing.T) { // HOST-165
	c := newHost(t).connect()
	id := c.open("", "Termpilot Shell Command", quote(`i=0; while [ $i -lt 600 ]; do printf '\033]1337;SetUserVar=p%d=eA==\a' $i; i=$((i+1)); done; echo set; exec cat`))
	c.awaitScreen(id, "set")
	for name, want := range map[string]string{"user.p0": `"x"`, fmt.Sprintf("user.p%d", maxOfPrograms): "null"} {
		if got := c.variable(id, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	set := &api.VariableRequest{
		Scope: &api.VariableRequest_SessionId{SessionId: id}, Set: []*api.VariableRequest_Set{{Name: ptr("user.mine"), Value: ptr("1")}},
	}
	if got := c.call(set).GetError(); got != "" {
		t.Errorf("a client's: %s", got)
	}
}

func TestProfilesCanBeChangedForWhatIsOpenedLater(t *testing.T) { // HOST-153, HOST-157
	h := newHost(t)
	c := h.connect()
	list := func(properties ...string) map[string]map[string]string {
		all := map[string]map[string]string{}
		for _, p := range c.call(&api.ListProfilesRequest{Properties: properties}).GetListProfilesResponse().GetProfiles() {
			one := map[string]string{}
			for _, x := range p.GetProperties() {
				one[x.GetKey()] = x.GetJsonValue()
			}
			all[one["Name"]] = one
		}
		return all
	}
	guid := strings.Trim(list("Name", "Guid")[`"sh"`]["Guid"], `"`)
	change := func(guids []string, properties ...string) api.SetProfilePropertyResponse_Status {
		t.Helper()
		in := &api.SetProfilePropertyRequest{Target: &api.SetProfilePropertyRequest_GuidList_{GuidList: &api.SetProfilePropertyRequest_GuidList{Guids: guids}}}
		for i := 0; i < len(properties); i += 2 {
			in.Assignments = append(in.Assignments, &api.SetProfilePropertyRequest_Assignment{Key: &properties[i], JsonValue: &properties[i+1]})
		}
		return c.call(in).GetSetProfilePropertyResponse().GetStatus()
	}
	watch := &api.NotificationRequest{
		Session: ptr("all"), Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_PROFILE_CHANGE.Enum(),
		Arguments: &api.NotificationRequest_ProfileChangeRequest{ProfileChangeRequest: &api.ProfileChangeRequest{Guid: &guid}},
	}
	if got := c.call(watch).GetNotificationResponse().GetStatus(); got != api.NotificationResponse_OK {
		t.Fatal(got)
	}
	for name, test := range map[string]struct {
		guids      []string
		properties []string
		want       api.SetProfilePropertyResponse_Status
	}{
		"another profile": {[]string{guid, "nobody"}, []string{"Rows", "10"}, api.SetProfilePropertyResponse_BAD_GUID},
		"no profile":      {nil, []string{"Rows", "10"}, api.SetProfilePropertyResponse_REQUEST_MALFORMED},
		"a new name":      {[]string{guid}, []string{"Name", `"x"`}, api.SetProfilePropertyResponse_REQUEST_MALFORMED},
		"a wrong type":    {[]string{guid}, []string{"Rows", `"ten"`}, api.SetProfilePropertyResponse_REQUEST_MALFORMED},
		"no JSON":         {[]string{guid}, []string{"Rows", `1 0`}, api.SetProfilePropertyResponse_REQUEST_MALFORMED},
	} {
		if got := change(test.guids, test.properties...); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if p := list()[`"sh"`]; !strings.Contains(p["Background Color"], `"Red Component":0}`) || !strings.Contains(p["Ansi 1 Color"], `"Color Space":"sRGB"`) || p["Normal Font"] == "" {
		t.Errorf("its looks: %v", p)
	}
	if got := list()[`"sh"`]["Rows"]; got != "24" {
		t.Errorf("after refused changes: %s rows", got)
	}
	if got := change([]string{guid}, "Rows", "10", "Working Directory", `"/"`, "Custom Directory", `"Yes"`, "Badge Text", `"b"`); got != api.SetProfilePropertyResponse_OK {
		t.Fatal(got)
	}
	c.await("the profile's change", func(n *api.Notification) bool { return n.GetProfileChangedNotification().GetGuid() == guid })
	if p := list()[`"sh"`]; p["Rows"] != "10" || p["Badge Text"] != `"b"` {
		t.Errorf("the profile: %v", p)
	}
	if p := list()[`"Default"`]; p["Rows"] != "24" || p["Default Bookmark"] != `"Yes"` {
		t.Errorf("another profile: %v", p)
	}
	id := c.open("sh")
	if rows, dir := c.variable(id, "rows"), c.variable(id, "path"); rows != "10" || dir != `"/"` {
		t.Errorf("opened later: %s rows in %s", rows, dir)
	}
	if rows := c.variable(c.open("sh", "Rows", "12"), "rows"); rows != "12" {
		t.Errorf("a size of its own: %s rows", rows)
	}
	// As the official client unsubscribes: the profile in the place of the session.
	if got := c.call(&api.NotificationRequest{Session: &guid, Subscribe: ptr(false), NotificationType: watch.NotificationType}).GetNotificationResponse().GetStatus(); got != api.NotificationResponse_OK {
		t.Errorf("unsubscribe: %v", got)
	}
}
