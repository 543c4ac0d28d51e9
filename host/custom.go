package host

import (
	"bytes"

	"termpilot/iterm/api"
)

// customBegins is how a program addresses clients by an escape sequence:
// OSC 1337 ; Custom=id=IDENTITY:PAYLOAD.
var customBegins = []byte("Custom=id=")

// customSequence splits what follows OSC 1337. false when it is something else.
func customSequence(payload []byte) (identity, text string, ok bool) {
	rest, ok := bytes.CutPrefix(payload, customBegins)
	if !ok {
		return "", "", false
	}
	id, body, ok := bytes.Cut(rest, []byte(":"))
	return clean(string(id)), clean(string(body)), ok
}

// tellCustom passes a program's words on to the clients that listen. mu is held.
func (s *session) tellCustom(payload []byte) bool {
	identity, text, ok := customSequence(payload)
	if ok {
		s.tell(about(api.NotificationType_NOTIFY_ON_CUSTOM_ESCAPE_SEQUENCE, s.id), func() *api.Notification {
			return &api.Notification{CustomEscapeSequenceNotification: &api.CustomEscapeSequenceNotification{
				Session: &s.id, SenderIdentity: &identity, Payload: &text,
			}}
		})
	}
	return ok
}
