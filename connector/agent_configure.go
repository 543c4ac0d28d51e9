package connector

import (
	"context"

	"termpilot/agent"
	"termpilot/terminal"
)

type agentConfigureIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id"`
	Model     string `json:"model,omitempty" jsonschema:"as its menu names it"`
	Effort    string `json:"effort,omitempty" jsonschema:"level"`
}

var agentConfigure = define(head{
	name: "agent_configure", title: "Change an agent's model", set: agents, access: writes, destroys: true, reaches: true,
	about: "Change an agent's model or effort for its session alone.",
}, func(ctx context.Context, c call, in agentConfigureIn) (agent.Configured, error) {
	return c.agents.Configure(ctx, in.SessionID, in.Model, in.Effort)
}, func(r agent.Configured) (line, text string) {
	return "it shows: " + terminal.OneLine(r.Shows, 0), ""
})
