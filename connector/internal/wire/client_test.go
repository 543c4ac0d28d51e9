package wire

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestTheClientOfAMessageIsKnownAndCanBeTold(t *testing.T) { // MCP-4, NOTE-7
	w := newWorld(t)
	ids := make(chan json.RawMessage, 10)
	clients := make(chan *Client, 10)
	w.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if p, ok := req.GetParams().(*mcp.SubscriptionsListenParams); ok {
				ids <- RequestID(p)
				return &mcp.SubscriptionsListenResult{}, nil
			}
			clients <- ClientOf(ctx)
			return next(ctx, method, req)
		}
	})
	c := w.connect(t)
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	for id, more := range map[string]string{
		"9007199254740993": "", `"\u0041b"`: "", "1.5": `,"termpilot/requestId":"7"`, `"forged"`: `,"termpilot/requestId":{}`,
	} {
		c.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{` + meta + more + `}}}`)
		if got := wait(t, ids, "a listen"); string(got) != id {
			t.Errorf("got %s, want %s", got, id)
		}
		if line := wait(t, c.lines, "its answer"); !strings.Contains(line, `"id":`+id+`,"result"`) {
			t.Errorf("answered %s", line)
		}
	}
	for _, params := range []string{`{}`, `{"_meta":7}`, `{"_meta":null,"notifications":{}}`} { // the SDK refuses them
		c.say(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":` + params + `}`)
		if line := wait(t, c.lines, "its answer"); !strings.Contains(line, `"id":1,`) {
			t.Errorf("%s: answered %s", params, line)
		}
	}
	c.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	wait(t, c.lines, "the pong")
	client := wait(t, clients, "a message")
	for client == nil || len(clients) > 0 {
		client = wait(t, clients, "a message")
	}
	if err := client.Notify("notifications/x", map[string]string{"a": "b"}); err != nil {
		t.Error(err)
	}
	if got := wait(t, c.lines, "the notification"); got != `{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"b"}}` {
		t.Error(got)
	}
	select {
	case <-client.Done():
		t.Error("the client still talks")
	default:
	}
	_ = c.in.Close()
	wait(t, client.Done(), "the end of the input")
	if err := wait(t, c.done, "the end"); err != nil {
		t.Error(err)
	}
	if err := client.Notify("notifications/x", nil); err == nil {
		t.Error("nobody is told, without an error")
	}
	if ClientOf(t.Context()) != nil {
		t.Error("a message that came another way has a client")
	}
}
