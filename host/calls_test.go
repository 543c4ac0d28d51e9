package host

import (
	"fmt"
	"strings"
	"testing"

	"termpilot/iterm/api"
)

func inApp(text string) *api.InvokeFunctionRequest {
	return &api.InvokeFunctionRequest{Invocation: &text, Context: &api.InvokeFunctionRequest_App_{App: &api.InvokeFunctionRequest_App{}}}
}

func onReceiver(id, text string) *api.InvokeFunctionRequest {
	return &api.InvokeFunctionRequest{Invocation: &text, Context: &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: &id}}}
}

func inSession(id, text string) *api.InvokeFunctionRequest {
	return &api.InvokeFunctionRequest{Invocation: &text, Context: &api.InvokeFunctionRequest_Session_{Session: &api.InvokeFunctionRequest_Session{SessionId: &id}}}
}

// invoke returns the JSON result, or the status and the reason of the failure.
func (c *apiClient) invoke(in *api.InvokeFunctionRequest) string {
	c.t.Helper()
	r := c.call(in).GetInvokeFunctionResponse()
	if e := r.GetError(); e != nil {
		return e.GetStatus().String() + ": " + e.GetErrorReason()
	}
	return r.GetSuccess().GetJsonResult()
}

func register(name string, arguments []string, defaults map[string]string, seconds float32) *api.RPCRegistrationRequest {
	r := &api.RPCRegistrationRequest{Name: &name}
	if seconds > 0 {
		r.Timeout = &seconds
	}
	for _, a := range arguments {
		r.Arguments = append(r.Arguments, &api.RPCRegistrationRequest_RPCArgumentSignature{Name: ptr(a)})
	}
	for a, path := range defaults {
		r.Defaults = append(r.Defaults, &api.RPCRegistrationRequest_RPCArgument{Name: ptr(a), Path: ptr(path)})
	}
	return r
}

func (c *apiClient) register(r *api.RPCRegistrationRequest, on bool) api.NotificationResponse_Status {
	c.t.Helper()
	return c.call(&api.NotificationRequest{
		Session: ptr("all"), Subscribe: &on, NotificationType: api.NotificationType_NOTIFY_ON_SERVER_ORIGINATED_RPC.Enum(),
		Arguments: &api.NotificationRequest_RpcRegistrationRequest{RpcRegistrationRequest: r},
	}).GetNotificationResponse().GetStatus()
}

// called waits for a call and returns its request's id and its arguments.
func (c *apiClient) called(name string) (string, map[string]string) {
	c.t.Helper()
	n := c.await("a call of "+name, func(n *api.Notification) bool {
		return n.GetServerOriginatedRpcNotification().GetRpc().GetName() == name
	}).GetServerOriginatedRpcNotification()
	arguments := map[string]string{}
	for _, a := range n.GetRpc().GetArguments() {
		arguments[a.GetName()] = a.GetJsonValue()
	}
	return n.GetRequestId(), arguments
}

func (c *apiClient) returns(id, value string) {
	c.t.Helper()
	c.call(&api.ServerOriginatedRPCResultRequest{RequestId: &id, Result: &api.ServerOriginatedRPCResultRequest_JsonValue{JsonValue: value}})
}

func TestAnInvocationIsReadOrRefusedWithTheReason(t *testing.T) { // HOST-146
	h := newHost(t)
	c := h.connect()
	id := c.open("sh")
	for text, want := range map[string]string{
		"":                                "REQUEST_MALFORMED",
		"f":                               "REQUEST_MALFORMED",
		"f(":                              "REQUEST_MALFORMED",
		"f(x)":                            "REQUEST_MALFORMED",
		"f(x:)":                           "REQUEST_MALFORMED",
		"f(x: 1":                          "REQUEST_MALFORMED",
		"f(x: 1) g()":                     "REQUEST_MALFORMED",
		"f(x: 1, x: 2)":                   "REQUEST_MALFORMED",
		"f(x: 1,)":                        "REQUEST_MALFORMED",
		"1f()":                            "REQUEST_MALFORMED",
		`f(x: "open)`:                     "REQUEST_MALFORMED",
		"nosuch()":                        "FAILED: no function nosuch() is registered",
		`nosuch(b: "a, b)", a: [1, {}])`:  "FAILED: no function nosuch(a,b) is registered",
		"nosuch(a: user.missing)":         "FAILED: user.missing is undefined",
		"nosuch(a: user.missing?)":        "FAILED: no function nosuch(a)",
		`iterm2.set_name(name: "x")`:      "FAILED: iterm2.set_name is not to be called on session",
		"nosuch(a: tab.id, b: null)":      "FAILED: no function nosuch(a,b)",
		"nosuch(a: true, b: -1.5e3, c:1)": "FAILED: no function nosuch(a,b,c)",
	} {
		if got := c.invoke(inSession(id, text)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for want, in := range map[string]*api.InvokeFunctionRequest{
		"INVALID_ID: no such receiver":                         onReceiver("nobody", `iterm2.set_name(name: "x")`),
		"INVALID_ID: no such session":                          inSession("nobody", "f()"),
		"REQUEST_MALFORMED: the invocation has no context":     {Invocation: ptr("f()")},
		"FAILED: this host has no method iterm2.run_coprocess": onReceiver(id, `iterm2.run_coprocess(commandLine: "x")`),
		"FAILED: iterm2.set_name takes name":                   onReceiver(id, `iterm2.set_name(title: "x")`),
		"FAILED: iterm2.set_name: an argument":                 onReceiver(id, `iterm2.set_name(name: 5)`),
		"FAILED: iterm2.set_title is not to be called":         onReceiver(id, `iterm2.set_title(title: "x")`),
	} {
		if got := c.invoke(in); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := c.invoke(onReceiver(id, "iterm2.set_name( name : \"two \\\"words\\\"\" )")); got != "null" {
		t.Errorf("set_name: %s", got)
	}
	if got := c.variable(id, "name"); got != `"two \"words\""` {
		t.Errorf("the name is %s", got)
	}
	// The official client escapes quotes and backslashes, and nothing else.
	if got := c.invoke(onReceiver(id, "iterm2.set_name(name: \"a\\\\\nb\\\"\tc\"\n)")); got != "null" {
		t.Errorf("set_name with control characters: %s", got)
	}
	if got := c.variable(id, "name"); got != `"a\\b\"c"` && got != `"a\\ b\" c"` {
		t.Errorf("the name is %s", got)
	}
	if got := c.invoke(onReceiver(id, "iterm2.set_name(name: profileName)")); got != "null" || c.variable(id, "name") != `"sh"` {
		t.Errorf("set_name from a variable: %s, %s", got, c.variable(id, "name"))
	}
}

func TestARegisteredFunctionIsCalledAndItsResultAnswered(t *testing.T) { // HOST-147
	h := newHost(t)
	caller, script := h.connect(), h.connect()
	id := caller.open("sh")
	add := register("add", []string{"a", "b", "where"}, map[string]string{"where": "id"}, 0)
	if got := script.register(add, true); got != api.NotificationResponse_OK {
		t.Fatalf("register: %v", got)
	}
	same := register("add", []string{"where", "b", "a"}, nil, 0)
	for _, c := range []*apiClient{script, caller} {
		if got := c.register(same, true); got != api.NotificationResponse_DUPLICATE_SERVER_ORIGINATED_RPC {
			t.Errorf("a second registration: %v", got)
		}
	}
	answers := make(chan string, 1)
	go func() { answers <- caller.invoke(inSession(id, `add(b: 2, a: "one")`)) }()
	request, arguments := script.called("add")
	if arguments["a"] != `"one"` || arguments["b"] != "2" || arguments["where"] != encode(id) || len(arguments) != 3 {
		t.Errorf("arguments: %v", arguments)
	}
	caller.returns(request, `"forged"`) // another client cannot answer
	script.returns(request, `{"sum":3}`)
	if got := <-answers; got != `{"sum":3}` {
		t.Errorf("the result: %s", got)
	}
	script.returns(request, "7") // again: nobody waits

	go func() { answers <- caller.invoke(inSession(id, `add(a: 1, b: 2, where: null)`)) }()
	request, arguments = script.called("add")
	if arguments["where"] != "null" {
		t.Errorf("a default in place of what was given: %v", arguments)
	}
	script.call(&api.ServerOriginatedRPCResultRequest{RequestId: &request, Result: &api.ServerOriginatedRPCResultRequest_JsonException{
		JsonException: `{"reason":"no sums today","traceback":"long"}`,
	}})
	if got := <-answers; got != "FAILED: no sums today" {
		t.Errorf("an exception: %s", got)
	}
	go func() { answers <- caller.invoke(inSession(id, `add(a: 1, b: 2)`)) }()
	request, _ = script.called("add")
	script.returns(request, "not json")
	if got := <-answers; !strings.HasPrefix(got, "FAILED: the function returned something that is not JSON") {
		t.Errorf("no JSON: %s", got)
	}
	if got := caller.invoke(inSession(id, "add(a: 1)")); !strings.HasPrefix(got, "FAILED: no function add(a)") {
		t.Errorf("an argument is missing: %s", got)
	}
	// Of several that take a call it is the one that has the fewest defaults to fill in.
	for _, more := range []string{"a_way", "z_way"} {
		if got := caller.register(register("add", []string{"a", "b", "where", more}, map[string]string{"where": "id", more: "id"}, 0), true); got != api.NotificationResponse_OK {
			t.Errorf("with %s: %v", more, got)
		}
	}
	go func() { answers <- caller.invoke(inSession(id, `add(a: 1, b: 2)`)) }()
	request, _ = script.called("add")
	script.returns(request, "3")
	if got := <-answers; got != "3" {
		t.Errorf("of several: %s", got)
	}
	if got := script.register(add, false); got != api.NotificationResponse_OK {
		t.Errorf("unregister: %v", got)
	}
	if got := script.register(add, false); got != api.NotificationResponse_NOT_SUBSCRIBED {
		t.Errorf("unregister again: %v", got)
	}
}

func TestACallEndsWithItsTimeOrWithItsClient(t *testing.T) { // HOST-147
	h := newHost(t)
	caller, script := h.connect(), h.connect()
	if got := script.register(register("slow", nil, nil, 0.05), true); got != api.NotificationResponse_OK {
		t.Fatal(got)
	}
	if got := script.register(register("patient", nil, nil, 3600), true); got != api.NotificationResponse_OK {
		t.Fatal(got)
	}
	if got := caller.invoke(inApp("slow()")); !strings.HasPrefix(got, "TIMEOUT: ") {
		t.Errorf("the registration's time: %s", got)
	}
	hurried := inApp("patient()")
	hurried.Timeout = ptr(0.05)
	if got := caller.invoke(hurried); !strings.HasPrefix(got, "TIMEOUT: ") {
		t.Errorf("the caller's time: %s", got)
	}
	answers := make(chan string, 1)
	go func() { answers <- caller.invoke(inApp("patient()")) }()
	script.called("patient") // those that timed out
	script.called("patient")
	_ = script.ws.Close()
	if got := <-answers; got != "FAILED: the program that registered the function has left" {
		t.Errorf("its client left: %s", got)
	}
	if got := caller.invoke(inApp("patient()")); !strings.HasPrefix(got, "FAILED: no function") {
		t.Errorf("after it left: %s", got)
	}
}

func TestRegistrationsAndOpenCallsAreBounded(t *testing.T) { // HOST-148
	h := newHost(t)
	c := h.connect()
	for name, r := range map[string]*api.RPCRegistrationRequest{
		"no name": register("", nil, nil, 0), "a name with blanks": register("a b", nil, nil, 0),
		"an argument twice": register("f", []string{"a", "a"}, nil, 0), "a default that is no path": register("f", []string{"a"}, map[string]string{"a": "1+1"}, 0),
		"a default without a name":   register("f", nil, map[string]string{"": "id"}, 0),
		"a default with a long name": register("f", nil, map[string]string{strings.Repeat("x", maxName+1): "id"}, 0),
		"many arguments":             register("f", make([]string, maxArguments+1), nil, 0), "nothing": nil,
	} {
		if got := c.register(r, true); got != api.NotificationResponse_REQUEST_MALFORMED {
			t.Errorf("%s: %v", name, got)
		}
	}
	for i := range maxRegistered + 1 {
		want := api.NotificationResponse_OK
		if i == maxRegistered {
			want = api.NotificationResponse_REQUEST_MALFORMED
		}
		if got := c.register(register(fmt.Sprintf("f%d", i), nil, nil, 600), true); got != want {
			t.Fatalf("function %d: %v, want %v", i, got, want)
		}
	}
	caller := h.connect()
	answers := make(chan string, maxOutstanding+1)
	for range maxOutstanding + 1 {
		go func() { answers <- caller.invoke(inApp("f1()")) }()
	}
	if got := <-answers; !strings.HasPrefix(got, "FAILED: the program that registered f1 has too many calls open") {
		t.Errorf("one call too many: %s", got)
	}
	_ = c.ws.Close()
	for range maxOutstanding {
		if got := <-answers; !strings.Contains(got, "has left") {
			t.Errorf("an open call: %s", got)
		}
	}
}

func FuzzAnInvocationThatIsReadCanBeWrittenAgain(f *testing.F) { // HOST-146
	for _, text := range []string{`f()`, `iterm2.set_name(name: "a\"b")`, `f(a: [1,2,{"x":null}], b: user.x?, c: -1e3)`, "f(a:true,b : \"), c: 1\")", "f(x:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		call, err := parseInvocation(text)
		if err != nil {
			return
		}
		var words []string
		for _, a := range call.arguments {
			if (a.path == "") == (a.value == nil) {
				t.Fatalf("%q: an argument is neither value nor path, or both: %+v", text, a)
			}
			words = append(words, a.name+": "+a.path+string(a.value))
		}
		again, err := parseInvocation(call.name + "(" + strings.Join(words, ", ") + ")")
		if err != nil || again.name != call.name || len(again.arguments) != len(call.arguments) {
			t.Fatalf("%q became %+v, then %+v, %v", text, call, again, err)
		}
	})
}
