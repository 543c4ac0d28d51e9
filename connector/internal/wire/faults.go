package wire

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/fault"
)

// maxFault is the longest message or hint that leaves, in bytes.
const maxFault = 2 << 10

// ErrClosing is the cause of the end of the calls that a closing server cancels.
var ErrClosing = errors.New("the server is closing")

// describeFaults is the one place where a failed call gets its form: an error
// result whose text is {"code","message","hint"}. There is no structured
// content in it: clients would hold that against the tool's output schema and
// hide the real error.
func describeFaults(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		called, ok := res.(*mcp.CallToolResult)
		if err != nil || !ok || called == nil || called.GetError() == nil {
			return res, err
		}
		called.Content = []mcp.Content{&mcp.TextContent{Text: Describe(called.GetError())}}
		called.StructuredContent = nil
		return called, nil
	}
}

// Describe puts a failure into the form in which it leaves: a JSON object of
// code, message and hint.
func Describe(err error) string {
	code, hint := fault.CodeOf(err), fault.HintOf(err)
	if code == fault.Internal {
		code, hint = known(err, hint)
	}
	text, failed := AppendJSON(nil, struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
		Hint    string     `json:"hint"`
	}{code, Clip(Clean(err.Error()), maxFault), Clip(Clean(hint), maxFault)})
	if failed != nil {
		return `{"code":"internal","message":"the failure could not be put into words","hint":""}`
	}
	return string(text)
}

// known names the failures of the context package, which carry no code.
func known(err error, hint string) (fault.Code, string) {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, ErrClosing):
		if hint == "" {
			hint = "read the session before anything else: whether the call took effect is not known"
		}
		return fault.Deadline, hint
	case hint == "":
		return fault.Internal, "call diagnostics, and report this message if it stays"
	}
	return fault.Internal, hint
}

// complete is the results that say of themselves that they are complete, as every
// result of 2026-07-28 does. The SDK lets nobody say so but what it answers by itself
// and what is read.
var complete = sync.OnceValue(func() (all struct {
	call mcp.CallToolResult
	read mcp.ReadResourceResult
},
) {
	const said = `{"resultType":"complete","content":[],"contents":[]}`
	if err := errors.Join(all.call.UnmarshalJSON([]byte(said)), all.read.UnmarshalJSON([]byte(said))); err != nil {
		panic(err)
	}
	return all
})

// CallResult returns an empty result of a tool.
func CallResult() *mcp.CallToolResult {
	res := complete().call
	return &res
}

// ReadResult returns an empty result of a read.
func ReadResult() *mcp.ReadResourceResult {
	res := complete().read
	return &res
}
