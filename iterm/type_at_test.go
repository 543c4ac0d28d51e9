package iterm

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

func TestITerm2IsNotAskedToLookAndType(t *testing.T) { // ITERM-95, ITERM-96
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	sessions(t, c)
	collect(t, watch(t, c, sid(1)), terminal.State)
	s.count()
	_, err := c.Follow(t.Context(), sid(1))
	wantCode(t, err, fault.Unsupported)
	_, err = c.TypeAt(t.Context(), sid(1), "p", []byte("x"))
	wantCode(t, err, fault.Unsupported)
	_, err = c.TypeAt(t.Context(), sid(1), "p", []byte("\xff"))
	wantCode(t, err, fault.InvalidArgument)
	_, err = c.Follow(t.Context(), "active")
	wantCode(t, err, fault.SessionNotFound)
	_, err = c.TypeAt(t.Context(), "all", "p", []byte("x"))
	wantCode(t, err, fault.SessionNotFound)
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// ourHost makes the fake announce itself as termpilot's host, with a fresh
// prompt in its session, that answers every invocation with r.
func ourHost(s *fakeServer, w *world, r *api.InvokeFunctionResponse) {
	w.find(guid(1)).vars[varMarks] = "nonce"
	w.find(guid(1)).vars[varPrompt] = map[string]any{"id": "p1", "state": "editing", "typed": false, "touched": false, "paste": true, "cwd": "/"}
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		switch {
		case m.GetInvokeFunctionRequest() != nil:
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_InvokeFunctionResponse{InvokeFunctionResponse: r}})
		case m.GetVariableRequest().GetApp():
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_VariableResponse{VariableResponse: &api.VariableResponse{Values: []string{"1"}}}})
		default:
			return false
		}
		return true
	}
}

func TestTheHostLooksAndTypesInOneRequest(t *testing.T) { // ITERM-95, ITERM-96
	for _, want := range []bool{true, false} {
		w := newWorld(1)
		s := newFakeServer(t, w)
		result := "false"
		if want {
			result = "true"
		}
		ourHost(s, w, &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Success_{
			Success: &api.InvokeFunctionResponse_Success{JsonResult: &result},
		}})
		c := s.client(Options{})
		sessions(t, c)
		s.count()
		events, err := c.Follow(t.Context(), sid(1))
		if err != nil {
			t.Fatal(err)
		}
		first := collect(t, events, terminal.State)[0].Prompt
		if first.ID != "p1" || first.State != terminal.Editing || first.Marks != terminal.MarksNonce || first.Paste != terminal.Yes {
			t.Errorf("got %+v", first)
		}
		if typed, err := c.TypeAt(t.Context(), sid(1), "p1", []byte("\x1b[200~a\"b\x1b[201~\r")); typed != want || err != nil {
			t.Errorf("got %v, %v", typed, err)
		}
		if n := s.count(); n != 2 { // the screen updates, which nobody waits for, and the text
			t.Errorf("%d requests", n)
		}
		s.notifyAll(variableChanged(guid(1), varPrompt, `{"id":"p1","state":"editing","typed":true,"touched":true,"paste":true,"cwd":"/"}`))
		sessions(t, c)
		if err := c.Send(t.Context(), sid(1), []byte("x")); err != nil { // its answer is behind the notification
			t.Fatal(err)
		}
		_, err = c.Follow(t.Context(), sid(1))
		wantCode(t, err, fault.Unsupported)
	}
}

func TestAPromptThatWasLeftIsNotFollowed(t *testing.T) { // TERM-71
	for _, left := range []*api.Notification{commandStarted(guid(1), "p1", "sleep 60"), commandStarted(guid(1), "", "")} {
		w := newWorld(1)
		s := newFakeServer(t, w)
		ourHost(s, w, nil)
		c := s.client(Options{})
		sessions(t, c)
		s.notifyAll(left)                                                // the variable is told behind it
		if err := c.Send(t.Context(), sid(1), []byte("x")); err != nil { // its answer is behind the notification
			t.Fatal(err)
		}
		_, err := c.Follow(t.Context(), sid(1))
		wantCode(t, err, fault.Unsupported)
	}
}

func TestAHostThatCannotLookAndTypeSaysSo(t *testing.T) { // ITERM-96
	failed := func(status api.InvokeFunctionResponse_Status) *api.InvokeFunctionResponse {
		return &api.InvokeFunctionResponse{Disposition: &api.InvokeFunctionResponse_Error_{
			Error: &api.InvokeFunctionResponse_Error{Status: status.Enum(), ErrorReason: proto.String("no")},
		}}
	}
	for status, want := range map[api.InvokeFunctionResponse_Status]fault.Code{
		api.InvokeFunctionResponse_FAILED:     fault.Unsupported,
		api.InvokeFunctionResponse_INVALID_ID: fault.SessionEnded,
	} {
		w := newWorld(1)
		s := newFakeServer(t, w)
		ourHost(s, w, failed(status))
		c := s.client(Options{})
		sessions(t, c)
		_, err := c.TypeAt(t.Context(), sid(1), "p1", []byte("x"))
		wantCode(t, err, want)
	}
}
