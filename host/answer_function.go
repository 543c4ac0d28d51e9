package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// function is one that this host has itself. It is a method of the objects
// that on names; on nothing, it is the application's.
type function struct {
	on        []string // session, tab, window
	arguments []string // sorted
	optional  []string
	call      func(h *server, receiver string, call invocation) (result any, err error)
	followed  bool // when the result is true, notifications follow at once
	slow      bool // it takes time: programs start or end
}

func init() { maps.Copy(functions, layoutFunctions) }

// functions are those that InvokeFunction finds before those that clients registered.
var functions = map[string]function{
	"iterm2.set_name": {on: []string{"session"}, arguments: []string{"name"}, call: func(h *server, id string, call invocation) (any, error) {
		var name string
		s, live := h.live(id)
		if !live || !call.get("name", &name) {
			return nil, errArguments
		}
		h.rename(s, name)
		return nil, nil
	}},
	"iterm2.set_title": {on: []string{"tab", "window"}, arguments: []string{"title"}, call: func(h *server, id string, call invocation) (any, error) {
		var title string
		if !call.get("title", &title) || !h.retitle(id, title) {
			return nil, errArguments
		}
		h.lookAtObjects()
		return nil, nil
	}},
	"termpilot.type_at": {on: []string{"session"}, arguments: []string{"prompt", "text"}, call: func(h *server, id string, call invocation) (any, error) {
		var prompt, text string
		s, live := h.live(id)
		if !live || !call.get("prompt", &prompt) || !call.get("text", &text) {
			return nil, errArguments
		}
		return h.typeAt(s, prompt, text), nil
	}, followed: true},
}

// refusedCall is why a function was not called, or did not return.
type refusedCall struct {
	status api.InvokeFunctionResponse_Status
	why    string
}

func (r *refusedCall) Error() string { return r.why }

func refuseCall(status api.InvokeFunctionResponse_Status, format string, args ...any) error {
	return &refusedCall{status: status, why: clean(fmt.Sprintf(format, args...))}
}

// invocationContext is what an invocation is about: the object whose method is
// called, or in whose scope variables are looked up.
type invocationContext struct {
	kind   string // session, tab, window, app
	id     string
	method bool
	get    func(name string) string // a variable, as JSON
}

// invokeFunction calls a function of the host's own, or one that a client
// registered: then it answers when that client does, or when the time is over.
func invokeFunction(c *client, in *api.InvokeFunctionRequest, reply func(proto.Message, error)) {
	answer := func(result string, err error) { reply(functionAnswer(result, err), nil) }
	call, err := parseInvocation(in.GetInvocation())
	if err != nil {
		answer("", refuseCall(api.InvokeFunctionResponse_REQUEST_MALFORMED, "%v", err))
		return
	}
	about, err := c.host.contextOf(in)
	if err != nil {
		answer("", err)
		return
	}
	if err := call.resolve(about); err != nil {
		answer("", err)
		return
	}
	if f, ok := functions[call.name]; ok && f.slow {
		c.beside(func() {
			defer c.survive(func(err error) { reply(nil, err) })
			answer(c.host.callOwn(f, about, call))
		})
		return
	} else if ok {
		if f.followed {
			c.out.lingers()
		}
		result, err := c.host.callOwn(f, about, call)
		if result != "true" {
			c.out.hurry()
		}
		answer(result, err)
		c.out.boundLinger() // it is typed: what this costs nobody waits for
		return
	}
	if about.method {
		answer("", refuseCall(api.InvokeFunctionResponse_FAILED, "this host has no method %s(%s)", call.name, strings.Join(call.names(), ",")))
		return
	}
	c.host.callRegistered(about, call, patienceOf(in), answer)
}

func functionAnswer(result string, err error) *api.InvokeFunctionResponse {
	if err == nil {
		return &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Success_{
			Success: &api.InvokeFunctionResponse_Success{JsonResult: ptr(result)},
		}}
	}
	refused := &refusedCall{status: api.InvokeFunctionResponse_FAILED, why: err.Error()}
	if r, ok := err.(*refusedCall); ok { //nolint:errorlint // made in this file and the next
		refused = r
	}
	return &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Error_{
		Error: &api.InvokeFunctionResponse_Error{Status: refused.status.Enum(), ErrorReason: ptr(refused.why)},
	}}
}

const (
	defaultInvoking = 30 * time.Second
	longestInvoking = time.Hour
)

// patienceOf is how long the caller waits.
func patienceOf(in *api.InvokeFunctionRequest) time.Duration {
	return seconds(in.GetTimeout(), defaultInvoking)
}

// seconds is a positive number of seconds as a duration, otherwise or.
func seconds(n float64, or time.Duration) time.Duration {
	if !(n > 0) || math.IsInf(n, 0) {
		return or
	}
	return time.Duration(min(n*float64(time.Second), float64(longestInvoking)))
}

// contextOf finds the object that an invocation is about.
func (h *server) contextOf(in *api.InvokeFunctionRequest) (invocationContext, error) {
	about := invocationContext{}
	switch context := in.GetContext().(type) {
	case *api.InvokeFunctionRequest_App_:
		return invocationContext{kind: "app", get: h.appScope().get}, nil
	case *api.InvokeFunctionRequest_Session_:
		about.kind, about.id = "session", context.Session.GetSessionId()
	case *api.InvokeFunctionRequest_Tab_:
		about.kind, about.id = "tab", context.Tab.GetTabId()
	case *api.InvokeFunctionRequest_Window_:
		about.kind, about.id = "window", context.Window.GetWindowId()
	case *api.InvokeFunctionRequest_Method_:
		about.id, about.method = context.Method.GetReceiver(), true
	default:
		return about, refuseCall(api.InvokeFunctionResponse_REQUEST_MALFORMED, "the invocation has no context")
	}
	for _, scope := range []struct {
		kind string
		find func(string) []variableScope
	}{
		{"session", func(id string) []variableScope { return h.sessionScopes(id, true) }},
		{"window", h.windowScopes},
		{"tab", h.tabScopes},
	} {
		if about.kind != "" && about.kind != scope.kind || about.id == everySession {
			continue
		}
		if found := scope.find(about.id); found != nil {
			about.kind, about.get = scope.kind, found[0].get
			return about, nil
		}
	}
	return about, refuseCall(api.InvokeFunctionResponse_INVALID_ID, "no such %s", cmp.Or(about.kind, "receiver"))
}

// resolve replaces paths by the values of their variables.
func (call *invocation) resolve(about invocationContext) error {
	for i := range call.arguments {
		a := &call.arguments[i]
		if a.path == "" {
			continue
		}
		value, err := about.follow(a.path)
		if err != nil {
			return err
		}
		a.value = json.RawMessage(value)
	}
	return nil
}

// follow returns the variable at a path. An undefined one is an error, unless
// the path ends with a question mark.
func (about invocationContext) follow(path string) (string, error) {
	name, optional := strings.CutSuffix(path, "?")
	value := about.get(name)
	if value == "null" && !optional {
		return "", refuseCall(api.InvokeFunctionResponse_FAILED, "%s is undefined", name)
	}
	return value, nil
}

func (h *server) callOwn(f function, about invocationContext, call invocation) (string, error) {
	if about.method != (len(f.on) > 0) || about.method && !slices.Contains(f.on, about.kind) {
		return "", refuseCall(api.InvokeFunctionResponse_FAILED, "%s is not to be called on %s", call.name, about.kind)
	}
	given := slices.DeleteFunc(call.names(), func(name string) bool { return slices.Contains(f.optional, name) })
	if !slices.Equal(f.arguments, given) {
		return "", refuseCall(api.InvokeFunctionResponse_FAILED, "%s takes %s", call.name, strings.Join(f.arguments, ", "))
	}
	result, err := f.call(h, about.id, call)
	if err != nil {
		return "", refuseCall(api.InvokeFunctionResponse_FAILED, "%s: %v", call.name, err)
	}
	return encode(result), nil
}

// nicknameVariable is where programs that name the sessions of iTerm2 keep the
// names that they gave, and look for those of others. Here it is the name.
const nicknameVariable = "user.goals_iterm_mcp_nickname"

// nickname names a session by nicknameVariable, null takes the name away. What
// is not a text is dropped.
func (h *server) nickname(s *session, value string) {
	var name string
	if json.Unmarshal([]byte(value), &name) == nil {
		h.rename(s, name)
	}
}

// rename names a session, "" takes the name away, and tells it. Control
// characters are left out.
func (h *server) rename(s *session, name string) {
	name = terminal.OneLine(name, maxName)
	s.facts.mu.Lock()
	changed := s.facts.name != name
	s.facts.name = name
	s.facts.mu.Unlock()
	if !changed {
		return
	}
	s.mu.Lock()
	s.tellVariables()
	s.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tellLayout()
}

// retitle titles a tab or window.
func (h *server) retitle(id, title string) bool {
	title = terminal.OneLine(title, maxName)
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.layout.bySerial[id]; w != nil {
		w.title = title
		return true
	}
	if t := h.layout.tab(id); t != nil {
		t.title = title
		return true
	}
	return false
}
