package api

import (
	"testing"

	"google.golang.org/protobuf/proto"
)

func TestEveryRequestHasAResponseOfTheSameNumber(t *testing.T) { // ITERM-1
	requests := (&ClientOriginatedMessage{}).ProtoReflect().Descriptor().Oneofs().ByName("submessage").Fields()
	responses := (&ServerOriginatedMessage{}).ProtoReflect().Descriptor().Fields()
	for i := range requests.Len() {
		q := requests.Get(i)
		r := responses.ByNumber(q.Number())
		if r == nil {
			t.Errorf("%s (%d) has no response", q.Name(), q.Number())
			continue
		}
		got, want := string(r.Name()), string(q.Name())
		if got[:len(got)-len("response")] != want[:len(want)-len("request")] {
			t.Errorf("number %d is %s and %s", q.Number(), want, got)
		}
	}
	if got, want := requests.Len(), 35; got != want {
		t.Errorf("%d requests, want %d", got, want)
	}
}

// The bytes are written out by hand from the field table.
func TestMessagesEncodeToTheProtocolsBytes(t *testing.T) { // ITERM-1
	for _, c := range []struct {
		name string
		msg  proto.Message
		want string
	}{
		{"send text", &ClientOriginatedMessage{
			Id: proto.Int64(1),
			Submessage: &ClientOriginatedMessage_SendTextRequest{SendTextRequest: &SendTextRequest{
				Session: proto.String("A"), Text: proto.String("ls\r"), SuppressBroadcast: proto.Bool(true),
			}},
		}, "\x08\x01\xda\x06\x0a\x0a\x01A\x12\x03ls\r\x18\x01"},
		{"error", &ServerOriginatedMessage{
			Id: proto.Int64(2), Submessage: &ServerOriginatedMessage_Error{Error: "no"},
		}, "\x08\x02\x12\x02no"},
		{"notification", &ServerOriginatedMessage{
			Submessage: &ServerOriginatedMessage_Notification{Notification: &Notification{
				NewSessionNotification: &NewSessionNotification{SessionId: proto.String("B")},
			}},
		}, "\xc2\x3e\x05\x32\x03\x0a\x01B"},
	} {
		got, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.msg)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}
