package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/fault"
)

// awkward is a tool whose results are hard to spell; it fails for arguments.
func awkward(_ context.Context, arguments json.RawMessage, tell func(time.Duration, string)) (Result, error) {
	if tell != nil {
		tell(1500*time.Millisecond, "half\ndone <&>")
	}
	if len(arguments) > 2 {
		return Result{}, &fault.Error{Op: "awkward", Code: fault.NotReady, Detail: "\"<&>\"\x07\u2028", Hint: "wait"}
	}
	return Result{Text: "<&>\u2028\u00e9\x01\"\\\n\xff", Structured: json.RawMessage(`{"a":"\u003c","b":[1.50,null]}`)}, nil
}

// withAwkward is a world with that tool, called in both ways.
func withAwkward(w *world) {
	w.mcp.AddTool(&mcp.Tool{Name: "awkward", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := awkward(ctx, r.Params.Arguments, nil)
			if err != nil {
				failed := CallResult()
				failed.SetError(err)
				return failed, nil
			}
			return res.Answer(), nil
		})
	if known := w.direct.Find; known != nil {
		w.direct.Find = func(name string) (Tool, bool) {
			if name == "awkward" {
				return awkward, true
			}
			return known(name)
		}
	}
}

func TestACallIsAnsweredAsTheSDKWouldAnswerIt(t *testing.T) { // MCP-48
	said := []string{
		`{"name":"awkward"}`, `{"name":"awkward","arguments":null,"_meta":{}}`, `{"name":"awkward","arguments":{},"_meta":{"progressToken":true}}`,
		`{"name":"awkward","arguments":{"fail":1}}`, `{"name":"awkward","arguments":{},"_meta":null}`, `{"name":"awkward","_meta":7}`,
		`{"name":"echo","arguments":{"a": "\u003c<", "b":[ 1.50 ]}}`, `{"name":"nosuch"}`, `{"name":7}`, `{"Name":"echo"}`, `{}`,
		`{"name":"panic"}`, `{"arguments":{},"name":"echo","name":"awkward"}`,
	}
	var heard [2][]any
	i := 0
	inBothWays(t, func(t *testing.T, w *world) {
		withAwkward(w)
		c := w.connect(t)
		if w.direct.Find == nil {
			c.say(callTool("0", "echo"))
			c.hear()
		}
		for id, params := range said {
			c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, id+1, params))
			var answer any
			if err := json.Unmarshal([]byte(c.hear()), &answer); err != nil {
				t.Error(err)
			}
			heard[i] = append(heard[i], answer)
		}
		i++
	})
	for n, params := range said {
		if len(heard[0]) != len(said) || len(heard[1]) != len(said) {
			t.Fatal("not every call was answered")
		}
		if a, b := heard[0][n], heard[1][n]; !reflect.DeepEqual(a, b) {
			t.Errorf("%s\nthrough the SDK: %v\ndirectly:        %v", params, a, b)
		}
	}
}

func TestProgressGoesOutBeforeTheAnswerUnderTheTokenAsItWasSpelled(t *testing.T) { // MCP-22
	w := newWorld(t)
	withAwkward(w)
	c := w.connect(t)
	for _, token := range []string{`"one <"`, "9007199254740993"} {
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"awkward","_meta":{"progressToken":` + token + `}}}`)
		var told struct {
			Method string
			Params struct {
				Token    json.RawMessage `json:"progressToken"`
				Progress float64
				Message  string
			}
		}
		line := c.hear()
		if err := json.Unmarshal([]byte(line), &told); err != nil || told.Method != "notifications/progress" ||
			strings.ReplaceAll(string(told.Params.Token), `\u003c`, "<") != token || told.Params.Progress != 1.5 || told.Params.Message != "half\ndone <&>" {
			t.Errorf("got %s, %v", line, err)
		}
		if line := c.hear(); !strings.Contains(line, `"result"`) {
			t.Errorf("got %s", line)
		}
	}
	c.say(callTool("2", "awkward"))
	if line := c.hear(); !strings.Contains(line, `"result"`) {
		t.Errorf("got %s without a token", line)
	}
}
