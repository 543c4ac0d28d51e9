package connector

import (
	"context"

	"termpilot/agent"
)

// launcher is the name of an agent that can be launched.
type launcher string

func (launcher) among() []string {
	names, _ := agent.Launchers()
	return names
}

type launchAgentIn struct {
	Agent launcher `json:"agent" jsonschema:"which"`
	launchIn
}

// launchAgent launches every agent that there is: those with a tool of their own,
// too, and any that is added.
var launchAgent = define(head{
	name: "launch_agent", title: "Launch an agent", set: agents, access: writes, destroys: true, reaches: true,
	about: "Launch any agent like claude_agent.",
}, func(ctx context.Context, c call, in launchAgentIn) (agent.LaunchReceipt, error) {
	return launch(string(in.Agent))(ctx, c, in.launchIn)
}, launchedWords).like(claudeAgent)
