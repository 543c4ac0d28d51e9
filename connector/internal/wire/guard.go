package wire

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Guard makes m forgiving: a repeated initialize is answered as the first was,
// and a panic in a handler costs that one call. log may be nil.
func Guard(m *mcp.Server, log *slog.Logger) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m.AddReceivingMiddleware(survivePanics(log), repeatInitialize())
}

// repeatInitialize answers an initialize on a session that had one, which the
// SDK refuses. Clients repeat it after they were restarted behind a pipe that
// was not. What a server says of itself is the same for every session.
func repeatInitialize() mcp.Middleware {
	var first atomic.Pointer[mcp.InitializeResult]
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != methodInitialize {
				return next(ctx, method, req)
			}
			res, err := next(ctx, method, req)
			if done, ok := res.(*mcp.InitializeResult); ok && err == nil {
				first.CompareAndSwap(nil, done)
				return res, nil
			}
			known := first.Load()
			params, ok := req.GetParams().(*mcp.InitializeParams)
			if known == nil || !ok || params == nil {
				return res, err
			}
			again := *known
			again.ProtocolVersion = handshake(params.ProtocolVersion)
			return &again, nil
		}
	}
}

// handshake returns the version to agree on when a client asks for one: the
// client's, if it is known and has a handshake, else the newest that has.
func handshake(asked string) string {
	for _, v := range mcp.SupportedProtocolVersions() {
		if v == asked && v < statelessVersion {
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
					log.Error("handler panicked", "method", method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
					res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
				}
			}()
			return next(ctx, method, req)
		}
	}
}
