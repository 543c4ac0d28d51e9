package connector

import (
	"context"
	"fmt"
	"strings"

	"termpilot/agent"
	"termpilot/fault"
	"termpilot/terminal"
)

type agentApprovalIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id"`
	Action    string `json:"action" jsonschema:"look or answer" enum:"inspect,respond" default:"inspect"`
	Digest    string `json:"digest,omitempty" jsonschema:"from inspect"`
	Choice    string `json:"choice,omitempty" jsonschema:"yes: this once" enum:"yes,no"`
}

var agentApproval = define(head{
	name: "agent_approval", title: "Answer an agent", set: agents, access: writes, destroys: true, reaches: true,
	about: "Read what an agent asks, or answer it once while it asks the same.",
}, func(ctx context.Context, c call, in agentApprovalIn) (agent.Approval, error) {
	responds := in.Action == "respond"
	if responds != (in.Digest != "") || responds != (in.Choice != "") {
		return agent.Approval{}, &fault.Error{
			Op: "agent_approval", Session: in.SessionID, Code: fault.InvalidArgument, Detail: `"digest" and "choice" are for action=respond, which needs both`,
			Hint: "inspect first, then respond with its digest",
		}
	}
	if responds {
		return c.agents.Answer(ctx, in.SessionID, in.Digest, in.Choice == "yes")
	}
	return c.agents.Ask(ctx, in.SessionID)
}, func(r agent.Approval) (line, text string) {
	switch {
	case r.Answered != "":
		return "answered " + r.Answered, ""
	case !r.Asks:
		return "it asks nothing", ""
	}
	var b strings.Builder
	for _, q := range r.Question {
		b.WriteString(terminal.OneLine(q, 0) + "\n")
	}
	for _, c := range r.Choices {
		fmt.Fprintf(&b, "%d. %s (%s)\n", c.Number, terminal.OneLine(c.Label, 0), c.Means)
	}
	return "it asks (" + r.Kind + "), digest " + r.Digest, b.String()
})
