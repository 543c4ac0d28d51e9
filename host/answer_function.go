package host

import (
	"encoding/json"
	"strings"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// invokeFunction runs the built-in functions that name things. Their arguments
// are JSON texts: iterm2.set_name(name: "build").
func invokeFunction(c *client, in *api.InvokeFunctionRequest) (*api.InvokeFunctionResponse, error) {
	failed := func(status api.InvokeFunctionResponse_Status, why string) (*api.InvokeFunctionResponse, error) {
		return &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Error_{
			Error: &api.InvokeFunctionResponse_Error{Status: status.Enum(), ErrorReason: ptr(why)},
		}}, nil
	}
	name, argument, value, ok := parseInvocation(in.GetInvocation())
	if !ok {
		return failed(api.InvokeFunctionResponse_REQUEST_MALFORMED, "the invocation cannot be read")
	}
	receiver := in.GetMethod().GetReceiver()
	found := false
	switch {
	case name == "iterm2.set_name" && argument == "name":
		if s, live := c.host.live(receiver); live && receiver != "" {
			c.host.rename(s, value)
			found = true
		}
	case name == "iterm2.set_title" && argument == "title":
		found = c.host.retitle(receiver, value)
	default:
		return failed(api.InvokeFunctionResponse_FAILED, "this host does not have that function")
	}
	if !found {
		return failed(api.InvokeFunctionResponse_INVALID_ID, "no such receiver")
	}
	return &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Success_{
		Success: &api.InvokeFunctionResponse_Success{JsonResult: ptr("null")},
	}}, nil
}

// parseInvocation reads a call with one text argument.
func parseInvocation(text string) (name, argument, value string, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return "", "", "", false
	}
	argument, rest, ok = strings.Cut(strings.TrimSuffix(rest, ")"), ":")
	if !ok || json.Unmarshal([]byte(strings.TrimSpace(rest)), &value) != nil {
		return strings.TrimSpace(name), "", "", !ok
	}
	return strings.TrimSpace(name), strings.TrimSpace(argument), value, true
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
