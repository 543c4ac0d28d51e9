package host

import (
	"strings"
	"testing"

	"termpilot/iterm/api"
	"termpilot/testneeds"
)

// invokeOn calls a method of a session and returns its result, or the status of its error.
func (c *apiClient) invokeOn(session, invocation string) string {
	c.t.Helper()
	r := c.call(&api.InvokeFunctionRequest{
		Context:    &api.InvokeFunctionRequest_Method_{Method: &api.InvokeFunctionRequest_Method{Receiver: &session}},
		Invocation: &invocation,
	}).GetInvokeFunctionResponse()
	if e := r.GetError(); e != nil {
		return e.GetStatus().String()
	}
	return r.GetSuccess().GetJsonResult()
}

func (c *apiClient) typeAt(session, prompt, text string) string {
	c.t.Helper()
	return c.invokeOn(session, "termpilot.type_at(prompt: "+encode(prompt)+", text: "+encode(text)+")")
}

func TestTextIsTypedAtAFreshPromptAlone(t *testing.T) { // HOST-190
	t.Parallel() // it waits more than it works
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			h := newHost(t)
			c := h.connect()
			for what, disturb := range map[string]func(id string){
				"a key":  func(id string) { c.send(id, "\x01") },
				"text":   func(id string) { c.send(id, "abc"); c.awaitScreen(id, "abc") },
				"output": func(id string) { c.call(&api.InjectRequest{SessionId: []string{id}, Data: []byte("noise")}) },
				"a command": func(id string) {
					c.send(id, "sh -c 'until [ -e ~/over ]; do sleep 0.05; done'\r")
					waitUntil(t, "it runs", func() bool { return c.promptView(id).State == "running" })
				},
			} {
				id := c.openReady(shell)
				fresh := c.promptView(id).ID
				if got := c.typeAt(id, "00000000-0000-4000-8000-000000000000", "echo never\r"); got != "false" {
					t.Errorf("at another prompt: %s", got)
				}
				disturb(id)
				if got := c.typeAt(id, fresh, "echo never\r"); got != "false" {
					t.Errorf("after %s: %s", what, got)
				}
				if what == "a command" {
					h.write("over", "")
					c.awaitEnd(id)
					c.awaitPrompt(id)
				}
				c.send(id, "\x05\x15echo ty''ped\r") // all that is sent arrives in order
				c.awaitScreen(id, "typed")
				if text := c.screen(id); strings.Contains(text, "never") {
					t.Errorf("after %s it was typed:\n%s", what, text)
				}
				c.awaitEnd(id)
				c.awaitPrompt(id)
				waitUntil(t, "it takes pastes", func() bool { return c.promptView(id).Paste })
				if got := c.typeAt(id, c.promptView(id).ID, "\x1b[200~echo ag''ain\x1b[201~\r"); got != "true" {
					t.Errorf("at the next prompt: %s", got)
				}
				c.awaitScreen(id, "again")
			}
		})
	}
}

func TestNothingIsTypedWhereAnotherProgramReads(t *testing.T) { // HOST-190
	c := newHost(t).connect()
	id := c.openReady("bash")
	for _, command := range []string{"bind 'set enable-bracketed-paste off'", "bash --norc", "stty icanon; cat"} {
		c.send(id, command+"\r")
		waitUntil(t, "it is another's turn", func() bool {
			v := c.promptView(id)
			return v.State == "running" || !v.Paste
		})
		if got := c.typeAt(id, c.promptView(id).ID, "x"); got != "false" {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := c.typeAt(c.open("sh"), "", "x"); got != "false" {
		t.Errorf("without marks: %s", got)
	}
	for id, want := range map[string]string{"": "INVALID_ID", "nobody": "INVALID_ID"} {
		if got := c.typeAt(id, "p", "x"); got != want {
			t.Errorf("session %q: %s", id, got)
		}
	}
}

func TestNothingIsTypedThatWouldBeCopied(t *testing.T) { // HOST-190
	h := &server{broadcasts: [][]string{{"a", "b"}, {"c"}}}
	for id, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false} {
		if got := h.copied(&session{id: id}); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
