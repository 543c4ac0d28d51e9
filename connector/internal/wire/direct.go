package wire

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is one tool, called with the arguments of a call. tell, if any, is for how
// the call stands; it is not called after the tool has returned.
type Tool func(ctx context.Context, arguments json.RawMessage, tell func(elapsed time.Duration, message string)) (Result, error)

// Result is what a tool answered.
type Result struct {
	Text       string
	Structured json.RawMessage // on one line; nil for none
}

// Direct is how calls of tools of the versions with a handshake are answered
// without the SDK, whose way from a line to a tool and back takes longer than most
// tools do. The zero value leaves all to the SDK.
type Direct struct {
	Find func(name string) (Tool, bool) // what it does not find is the SDK's to answer
	Log  *slog.Logger                   // of panics; nil is silence
}

// Answer is a tool's result as MCP has it.
func (r Result) Answer() *mcp.CallToolResult {
	res := CallResult()
	res.Content = []mcp.Content{&mcp.TextContent{Text: r.Text}}
	if r.Structured != nil {
		res.StructuredContent = r.Structured
	}
	return res
}

// plainCall is a call of a tool that names no version of the protocol.
type plainCall struct {
	tool      Tool
	arguments json.RawMessage
	progress  json.RawMessage // its token; nil for none
}

// plain takes a call apart. false leaves it to the SDK: a method that calls no
// tool, a tool that is not known, a request that stands alone, one before any
// handshake, or anything unusual.
func (c *conn) plain(m message) (call plainCall, ok bool) {
	if c.direct.Find == nil || m.method != methodCall || !c.shaken {
		return call, false
	}
	var said json.RawMessage // the name
	for name, value := range Members(m.params) {
		switch name {
		case "name":
			said = value
		case "arguments":
			call.arguments = value
		case "_meta":
			if !IsObject(value) {
				return call, false
			}
			for name, value := range Members(value) {
				switch {
				case name == metaVersion:
					return call, false
				case name == "progressToken" && usableID(value):
					call.progress = value
				}
			}
		}
	}
	if len(said) == 0 || said[0] != '"' {
		return call, false
	}
	name, ok := unquote(said)
	if !ok {
		return call, false
	}
	call.tool, ok = c.direct.Find(name)
	return call, ok
}

// begin answers a call that was admitted, beside the reading. One goroutine stays
// for the next call: its stack has grown to what a call takes.
func (c *conn) begin(number int64, p *pending, call plainCall) {
	answer := func() {
		defer c.flight.finish(p)
		c.answer(number, p, call)
	}
	select {
	case c.calls <- answer:
	default: // it has another
		c.running.Go(answer)
	}
}

// work answers one call after the other.
func (c *conn) work() {
	for {
		select {
		case answer := <-c.calls:
			answer()
		case <-c.over:
			return
		}
	}
}

func (c *conn) answer(number int64, p *pending, call plainCall) {
	result := c.perform(p.ctx, call)
	admitted, ok := c.flight.take(number)
	if !ok {
		return
	}
	defer c.flight.land(admitted)
	a := answer{Version: "2.0", ID: p.id, Result: result}
	if admitted.cancelled || c.isOver() {
		a = answer{}
	}
	_ = c.deliver(p.batch, a) // who is gone hears nothing
}

// perform calls the tool, and returns its result as JSON. A panic costs this call.
func (c *conn) perform(ctx context.Context, call plainCall) (result json.RawMessage) {
	defer func() {
		if v := recover(); v != nil {
			result = failure(Panicked(c.direct.Log, methodCall, v))
		}
	}()
	var tell func(time.Duration, string)
	if call.progress != nil {
		tell = func(elapsed time.Duration, message string) {
			params, err := json.Marshal(&mcp.ProgressNotificationParams{
				ProgressToken: call.progress, Progress: elapsed.Seconds(), Message: message,
			})
			if err == nil {
				_ = c.Write(ctx, &jsonrpc.Request{Method: methodProgress, Params: params})
			}
		}
	}
	r, err := call.tool(ctx, call.arguments, tell)
	if err != nil {
		return failure(err)
	}
	result = append(result, `{"content":[`...)
	result = appendText(result, r.Text)
	result = append(result, ']')
	if r.Structured != nil {
		result = append(result, `,"structuredContent":`...)
		result = append(result, r.Structured...)
	}
	return append(result, `,"resultType":"complete"}`...)
}

// failure is the result of a call that failed; see describeFaults.
func failure(err error) json.RawMessage {
	result := appendText([]byte(`{"content":[`), Describe(err))
	return append(result, `],"isError":true,"resultType":"complete"}`...)
}

// appendText adds text as a content block.
func appendText(to []byte, text string) []byte {
	to, _ = AppendJSON(append(to, `{"type":"text","text":`...), text) // a string is JSON
	return append(to, '}')
}

// isOver reports whether no more input will be taken.
func (c *conn) isOver() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}
