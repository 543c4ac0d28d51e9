package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"termpilot/iterm/api"
)

const (
	defaultCall    = 5 * time.Second // of a registered function that names no time of its own
	maxRegistered  = 256             // functions of one client
	maxOutstanding = 256             // calls that one client has yet to answer
)

// registration is a function that a client offers.
type registration struct {
	client   *client
	name     string
	required []string          // arguments without a default
	defaults map[string]string // argument → path of a variable
	patience time.Duration
}

// signature names a function and its arguments, whatever their order.
func signature(r *api.RPCRegistrationRequest) string {
	var names []string
	for _, a := range r.GetArguments() {
		names = append(names, a.GetName())
	}
	slices.Sort(names)
	return r.GetName() + "(" + strings.Join(names, ",") + ")"
}

// newRegistration reads a registration. false when it makes no sense.
func newRegistration(c *client, r *api.RPCRegistrationRequest) (*registration, bool) {
	f := &registration{
		client: c, name: r.GetName(), defaults: map[string]string{}, patience: seconds(float64(r.GetTimeout()), defaultCall),
	}
	if !isPath(f.name) || len(r.GetArguments()) > maxArguments || len(r.GetDefaults()) > maxArguments {
		return nil, false
	}
	for _, d := range r.GetDefaults() {
		if !isIdentifier(d.GetName()) || !isPath(strings.TrimSuffix(d.GetPath(), "?")) {
			return nil, false
		}
		f.defaults[d.GetName()] = d.GetPath()
	}
	for _, a := range r.GetArguments() {
		if !isIdentifier(a.GetName()) || slices.Contains(f.required, a.GetName()) {
			return nil, false
		}
		if _, has := f.defaults[a.GetName()]; !has {
			f.required = append(f.required, a.GetName())
		}
	}
	return f, true
}

// takes reports whether the function can be called with these arguments.
func (f *registration) takes(call invocation) bool {
	if f.name != call.name {
		return false
	}
	given := call.names()
	for _, name := range given {
		if _, has := f.defaults[name]; !has && !slices.Contains(f.required, name) {
			return false
		}
	}
	return !slices.ContainsFunc(f.required, func(name string) bool { return !slices.Contains(given, name) })
}

// absent are the arguments that a call leaves to their defaults.
func (f *registration) absent(call invocation) []string {
	given := call.names()
	names := slices.Sorted(maps.Keys(f.defaults))
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(given, name) })
}

// calls are the functions that clients registered, and the calls of them that
// have not been answered yet.
type calls struct {
	mu         sync.Mutex
	registered map[string]*registration // by signature
	waiting    map[string]*waitingCall  // by request id
	last       int
}

// waitingCall is a call that its function's client has yet to answer.
type waitingCall struct {
	client *client
	timer  *time.Timer
	answer func(result string, err error)
}

func newCalls() calls {
	return calls{registered: map[string]*registration{}, waiting: map[string]*waitingCall{}}
}

// register offers a client's function, or takes it back.
func (cs *calls) register(c *client, r *api.RPCRegistrationRequest, on bool) api.NotificationResponse_Status {
	f, ok := newRegistration(c, r)
	if !ok {
		return api.NotificationResponse_REQUEST_MALFORMED
	}
	key := signature(r)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	known, taken := cs.registered[key]
	switch {
	case on && taken:
		return api.NotificationResponse_DUPLICATE_SERVER_ORIGINATED_RPC
	case on && cs.countOf(c) >= maxRegistered:
		return api.NotificationResponse_REQUEST_MALFORMED
	case on:
		cs.registered[key] = f
	case !taken || known.client != c:
		return api.NotificationResponse_NOT_SUBSCRIBED
	default:
		delete(cs.registered, key)
	}
	return api.NotificationResponse_OK
}

// countOf is how many functions a client offers. mu is held.
func (cs *calls) countOf(c *client) (n int) {
	for _, f := range cs.registered {
		if f.client == c {
			n++
		}
	}
	return n
}

// find returns the function that a call means: of several the one that has to
// fill in the fewest arguments.
func (cs *calls) find(call invocation) *registration {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	var found *registration
	for _, key := range slices.Sorted(maps.Keys(cs.registered)) {
		if f := cs.registered[key]; f.takes(call) && (found == nil || len(f.absent(call)) < len(found.absent(call))) {
			found = f
		}
	}
	return found
}

// callRegistered has a client's function called. answer is called once: with
// what that client says, or when the time is over, or when it goes away.
func (h *server) callRegistered(about invocationContext, call invocation, patience time.Duration, answer func(string, error)) {
	f := h.calls.find(call)
	if f == nil {
		answer("", refuseCall(api.InvokeFunctionResponse_FAILED, "no function %s(%s) is registered", call.name, strings.Join(call.names(), ",")))
		return
	}
	rpc := &api.ServerOriginatedRPC{Name: ptr(f.name)}
	for _, a := range call.arguments {
		rpc.Arguments = append(rpc.Arguments, &api.ServerOriginatedRPC_RPCArgument{Name: ptr(a.name), JsonValue: ptr(string(a.value))})
	}
	for _, name := range f.absent(call) {
		value, err := about.follow(f.defaults[name])
		if err != nil {
			answer("", err)
			return
		}
		rpc.Arguments = append(rpc.Arguments, &api.ServerOriginatedRPC_RPCArgument{Name: ptr(name), JsonValue: ptr(value)})
	}
	id, ok := h.calls.await(f.client, min(patience, f.patience), answer)
	if !ok {
		answer("", refuseCall(api.InvokeFunctionResponse_FAILED, "the program that registered %s has too many calls open, or has left", f.name))
		return
	}
	asked := notice(&api.Notification{ServerOriginatedRpcNotification: &api.ServerOriginatedRPCNotification{RequestId: &id, Rpc: rpc}})
	f.client.out.later(asked)
	f.client.out.hurry()
	f.client.out.wake()
}

// await notes a call that a client is to answer.
func (cs *calls) await(c *client, patience time.Duration, answer func(string, error)) (string, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	open := 0
	for _, w := range cs.waiting {
		if w.client == c {
			open++
		}
	}
	if open >= maxOutstanding || c.left.Load() {
		return "", false
	}
	cs.last++
	id := fmt.Sprintf("rpc-%d", cs.last)
	cs.waiting[id] = &waitingCall{client: c, answer: answer, timer: time.AfterFunc(patience, func() {
		cs.finish(id, nil, "", refuseCall(api.InvokeFunctionResponse_TIMEOUT, "the function did not return within %v", patience))
	})}
	return id, true
}

// finish answers a call, once. Only the client that was called may; nil is the host.
func (cs *calls) finish(id string, by *client, result string, err error) {
	cs.mu.Lock()
	w := cs.waiting[id]
	if w == nil || by != nil && w.client != by {
		cs.mu.Unlock()
		return
	}
	delete(cs.waiting, id)
	w.timer.Stop()
	cs.mu.Unlock()
	w.answer(result, err)
}

// forget takes back what a client offered, and ends the calls that it will not answer.
func (cs *calls) forget(c *client) {
	c.left.Store(true)
	cs.mu.Lock()
	var open []string
	for key, f := range cs.registered {
		if f.client == c {
			delete(cs.registered, key)
		}
	}
	for id, w := range cs.waiting {
		if w.client == c {
			open = append(open, id)
		}
	}
	cs.mu.Unlock()
	for _, id := range open {
		cs.finish(id, nil, "", refuseCall(api.InvokeFunctionResponse_FAILED, "the program that registered the function has left"))
	}
}

// rpcResult takes what a registered function returned.
func rpcResult(c *client, in *api.ServerOriginatedRPCResultRequest) (*api.ServerOriginatedRPCResultResponse, error) {
	result, err := "null", error(nil)
	switch said := in.GetResult().(type) {
	case *api.ServerOriginatedRPCResultRequest_JsonValue:
		if result = said.JsonValue; !json.Valid([]byte(result)) {
			err = refuseCall(api.InvokeFunctionResponse_FAILED, "the function returned something that is not JSON")
		}
	case *api.ServerOriginatedRPCResultRequest_JsonException:
		err = refuseCall(api.InvokeFunctionResponse_FAILED, "%s", reasonOf(said.JsonException))
	}
	c.host.calls.finish(in.GetRequestId(), c, result, err)
	return &api.ServerOriginatedRPCResultResponse{}, nil
}

// reasonOf is the reason that an exception gives, else all of it.
func reasonOf(exception string) string {
	var e struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal([]byte(exception), &e) == nil && e.Reason != "" {
		return e.Reason
	}
	return exception
}
