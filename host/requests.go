package host

import (
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"termpilot/fault"
)

// row is how one kind of request is answered. Slow ones are answered beside
// the others, late ones when somebody else has answered; the rest in the order
// in which they came.
type row struct {
	handle func(c *client, body proto.Message) (proto.Message, error)
	slow   bool
	late   func(c *client, body proto.Message, reply func(proto.Message, error))
}

// requests is every request that the host answers, by its number in the
// envelope. An answer without a body is an id alone. What is not here gets the
// API's error text.
var requests map[protoreflect.FieldNumber]row

func init() {
	requests = map[protoreflect.FieldNumber]row{
		100: quick(getBuffer),
		101: quick(getPrompt),
		102: quick(transaction),
		103: quick(notification),
		104: quick(registerTool),
		105: quick(setProfileProperty),
		106: quick(listSessions),
		107: quick(sendText),
		108: slow(createTab),
		109: slow(splitPane),
		110: quick(getProfileProperty),
		111: quick(setProperty),
		112: quick(getProperty),
		113: quick(inject),
		114: quick(activate),
		115: quick(variables),
		116: slow(savedArrangement),
		117: quick(focus),
		118: quick(listProfiles),
		119: quick(rpcResult),
		120: slow(restartSession),
		121: slow(menuItem),
		122: quick(setTabLayout),
		123: quick(getBroadcastDomains),
		124: quick(tmux),
		125: quick(reorderTabs),
		126: quick(preferences),
		127: quick(colorPreset),
		128: quick(selectionRequest),
		129: quick(statusBarComponent),
		130: quick(setBroadcastDomains),
		131: slow(closeThings),
		132: late(invokeFunction),
		133: quick(listPrompts),
		134: quick(screenshot),
	}
}

func quick[Q, R proto.Message](f func(*client, Q) (R, error)) row {
	return row{handle: func(c *client, body proto.Message) (proto.Message, error) { return f(c, body.(Q)) }}
}

func slow[Q, R proto.Message](f func(*client, Q) (R, error)) row {
	r := quick(f)
	r.slow = true
	return r
}

// late is a row whose answer may be given by another goroutine, after the
// request's turn. It must be given, once.
func late[Q proto.Message](f func(*client, Q, func(proto.Message, error))) row {
	return row{late: func(c *client, body proto.Message, reply func(proto.Message, error)) { f(c, body.(Q), reply) }}
}

var errUnknownRequest = errors.New("this host does not know that request; a newer termpilot may")

// errorText is an error as the API tells it: the fault's code first, so that a
// client of ours can tell one from another, then the rest and the hint.
func errorText(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return clean(err.Error())
	}
	text := string(f.Code)
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	if hint := fault.HintOf(err); hint != "" {
		text += " (" + hint + ")"
	}
	return clean(text)
}
