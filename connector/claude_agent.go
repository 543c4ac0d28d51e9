package connector

import (
	"context"
	"fmt"

	"termpilot/agent"
	"termpilot/terminal"
)

// launchIn is what all tools that launch an agent take.
type launchIn struct {
	Prompt     string            `json:"prompt,omitempty" jsonschema:"first"`
	Cwd        string            `json:"cwd,omitempty" jsonschema:"absolute"`
	Model      string            `json:"model,omitempty" jsonschema:"id"`
	Effort     string            `json:"effort,omitempty" jsonschema:"level"`
	WriteScope string            `json:"write_scope,omitempty" jsonschema:"read_only"`
	SessionID  string            `json:"session_id,omitempty" jsonschema:"run inside" min:"1"`
	Env        map[string]string `json:"env,omitempty" jsonschema:"added"`
}

// launch makes the function of a tool that launches one kind of agent.
func launch(preset string) func(context.Context, call, launchIn) (agent.LaunchReceipt, error) {
	return func(ctx context.Context, c call, in launchIn) (agent.LaunchReceipt, error) {
		return c.agents.Launch(ctx, agent.LaunchRequest{
			Preset: preset, Prompt: in.Prompt, Cwd: in.Cwd, Model: in.Model, Effort: in.Effort,
			WriteScope: in.WriteScope, SessionID: in.SessionID, Env: in.Env, Delegate: true,
		})
	}
}

var claudeAgent = define(head{
	name: "claude_agent", title: "Launch Claude Code", set: agents, access: writes, destroys: true, reaches: true,
	about: "Launch Claude Code. Returns once prompt is submitted; wait with wait_command, or wait_session until=turn.",
}, launch("claude"), launchedWords)

// launchedWords says what was launched, and how it stands.
func launchedWords(r agent.LaunchReceipt) (line, text string) {
	line = fmt.Sprintf("%s is %s in session %s", r.Provider, r.State, r.SessionID)
	if r.TurnID != "" {
		line += ", its prompt was submitted as turn " + r.TurnID + "; wait with: " + r.WaitCommand
	}
	if r.Reason != "" {
		line += "; " + r.Reason
	}
	return terminal.OneLine(line, 0), ""
}
