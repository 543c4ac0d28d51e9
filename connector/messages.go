package connector

//lint:file-ignore SA1019 messages are for the versions up to 2025-11-25, in which they are not deprecated

import (
	"context"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/agent"
)

// levels are those of messages, the lowest first.
var levels = []mcp.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// announceMessages says that a client may set a level for messages.
func announceMessages(c *mcp.ServerCapabilities) { c.Logging = &mcp.LoggingCapabilities{} }

// checkLevel refuses a level that is none: the SDK takes any word.
func checkLevel(params mcp.Params) error {
	if p, ok := params.(*mcp.SetLoggingLevelParams); ok && !slices.Contains(levels, p.Level) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("there is no such level; use one of %q", levels)}
	}
	return nil
}

// message tells how an agent stands to a client that set a level: the SDK sends
// nothing to any other.
func message(ctx context.Context, to *mcp.ServerSession, now agent.Standing) error {
	return to.Log(ctx, &mcp.LoggingMessageParams{Level: "notice", Logger: "termpilot.agents", Data: cleaned(now)})
}
