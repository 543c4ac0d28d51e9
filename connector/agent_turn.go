package connector

import (
	"context"
	"fmt"

	"termpilot/agent"
	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/terminal"
)

type agentTurnIn struct {
	SessionID   string `json:"session_id" jsonschema:"exact id"`
	Action      string `json:"action" jsonschema:"recover: what became of a send" enum:"send,status,result,recover" default:"status"`
	Text        string `json:"text,omitempty" jsonschema:"for send"`
	OperationID string `json:"operation_id,omitempty" jsonschema:"yours: sent at most once"`
	Offset      int    `json:"offset,omitempty" jsonschema:"of result"`
	MaxChars    int    `json:"max_chars" jsonschema:"of result" default:"32768"`
}

var agentTurn = define(head{
	name: "agent_turn", title: "Prompt an agent", set: agents, access: writes, destroys: true, reaches: true,
	about: "Prompt a launched agent without waiting, or tell how its turn stands.",
}, func(ctx context.Context, c call, in agentTurnIn) (agent.TurnReceipt, error) {
	if (in.Action == "send") != (in.Text != "") {
		return agent.TurnReceipt{}, &fault.Error{
			Op: "agent_turn", Session: in.SessionID, Code: fault.InvalidArgument, Detail: `"text" is for action=send, which needs it`, Hint: "pass text with send alone",
		}
	}
	if in.MaxChars < 1 || in.MaxChars > pilot.MaxChars { // its schema has no room to say so
		return agent.TurnReceipt{}, &fault.Error{
			Op: "agent_turn", Session: in.SessionID, Code: fault.InvalidArgument, Detail: fmt.Sprintf(`parameter "max_chars" is %d`, in.MaxChars),
			Hint: fmt.Sprintf("pass max_chars as an integer from 1 to %d, and offset for what is behind them", pilot.MaxChars),
		}
	}
	switch in.Action {
	case "send":
		return c.agents.Send(ctx, agent.SendRequest{SessionID: in.SessionID, Text: in.Text, OperationID: in.OperationID})
	case "result":
		return c.agents.Result(ctx, agent.ResultRequest{SessionID: in.SessionID, OperationID: in.OperationID, Offset: in.Offset, MaxChars: in.MaxChars})
	case "recover":
		return c.agents.Recover(ctx, in.SessionID, in.OperationID)
	}
	return c.agents.Status(ctx, in.SessionID, in.OperationID)
}, func(r agent.TurnReceipt) (line, text string) {
	line = fmt.Sprintf("turn %s of %s: %s; the agent is %s", r.TurnID, r.Provider, r.Outcome, r.State)
	if r.Reason != "" {
		line += "; " + r.Reason
	}
	if r.Outcome == agent.Pending {
		line += "; wait with: " + r.WaitCommand
	}
	if r.NextOffset > 0 {
		line += fmt.Sprintf("; the rest begins at offset %d", r.NextOffset)
	}
	return terminal.OneLine(line, 0), r.Text
}).as("resume", "claude_agent")
