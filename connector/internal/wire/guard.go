package wire

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/fault"
)

// Guard makes m forgiving: a repeated initialize is answered with self, which
// is what m says of itself in the first; a tool that failed is an error result
// of [Describe]'s form; a panic in a handler costs that one call. log may be nil.
func Guard(m *mcp.Server, self mcp.InitializeResult, log *slog.Logger) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m.AddReceivingMiddleware(describeFaults, survivePanics(log), repeatInitialize(self))
}

// CloseSessions ends every session of m. It waits for their calls: cancel them first.
func CloseSessions(m *mcp.Server) {
	for session := range m.Sessions() {
		_ = session.Close() // its error is why it was closing already
	}
}

// repeatInitialize answers an initialize on a session that has begun, which
// the SDK refuses. Clients repeat it after they were restarted behind a pipe
// that was not.
func repeatInitialize(self mcp.InitializeResult) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			session, ok := req.GetSession().(*mcp.ServerSession)
			params, ok2 := req.GetParams().(*mcp.InitializeParams)
			if method != methodInitialize || !ok || !ok2 || params == nil || session.InitializeParams() == nil {
				return next(ctx, method, req)
			}
			again := self
			again.ProtocolVersion = handshake(params.ProtocolVersion)
			return &again, nil
		}
	}
}

// handshake returns the version to agree on when a client asks for one: the
// client's, if it is known and has a handshake, else the newest that has.
func handshake(asked string) string {
	for _, v := range mcp.SupportedProtocolVersions() {
		if v == asked && v < StatelessVersion {
			return v
		}
	}
	return handshakeVersion
}

// survivePanics turns a panic into an internal error of the one request.
func survivePanics(log *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if v := recover(); v != nil {
					res, err = broken(method, Panicked(log, method, v))
				}
			}()
			return next(ctx, method, req)
		}
	}
}

// Panicked logs what a handler panicked with, and says what came of it.
func Panicked(log *slog.Logger, method string, v any) error {
	if log != nil {
		log.Error("handler panicked", "method", method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	}
	return &fault.Error{Op: "call", Code: fault.Internal, Detail: "the tool broke", Hint: "read the session before anything else, and report this"}
}

// broken answers a request whose handler panicked.
func broken(method string, cause error) (mcp.Result, error) {
	if method != methodCall {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
	}
	res := CallResult()
	res.SetError(cause)
	return res, nil
}
