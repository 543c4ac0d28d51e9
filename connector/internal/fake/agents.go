package fake

import (
	"context"
	"time"

	"termpilot/agent"
	"termpilot/fault"
)

// Agents launches nothing. It says that an agent runs in the fake's one session.
type Agents struct{}

func otherSession(op, id string) error {
	if id == Session {
		return nil
	}
	return &fault.Error{Op: op, Session: id, Code: fault.AgentNotFound, Detail: "there is no such agent", Hint: "use the fake's session"}
}

// Launch tells of a launch.
func (Agents) Launch(_ context.Context, r agent.LaunchRequest) (agent.LaunchReceipt, error) {
	return agent.LaunchReceipt{
		Schema: "termpilot.agent-launch.v1", SessionID: Session, LaunchID: "l-0123456789abcdef", Provider: r.Preset, State: "ready",
		Resume: agent.Resume{Argv: []string{"claude", "--resume", "c1"}},
	}, nil
}

func turn(id string, outcome agent.Outcome) (agent.TurnReceipt, error) {
	return agent.TurnReceipt{Schema: "termpilot.agent-turn.v1", SessionID: id, Provider: "claude", TurnID: "t1", Outcome: outcome, State: "busy"}, otherSession("turn", id)
}

// Send tells of a turn at work.
func (Agents) Send(_ context.Context, r agent.SendRequest) (agent.TurnReceipt, error) {
	return turn(r.SessionID, agent.Pending)
}

// Status tells of the same.
func (Agents) Status(_ context.Context, id, _ string) (agent.TurnReceipt, error) {
	return turn(id, agent.Pending)
}

// Recover tells of the same.
func (Agents) Recover(_ context.Context, id, _ string) (agent.TurnReceipt, error) {
	return turn(id, agent.Pending)
}

// Result tells of an answer.
func (Agents) Result(_ context.Context, r agent.ResultRequest) (agent.TurnReceipt, error) {
	t, err := turn(r.SessionID, agent.Done)
	t.Text = "the answer"
	return t, err
}

// Wait tells of a turn that is done.
func (Agents) Wait(_ context.Context, r agent.WaitRequest) (agent.WaitReceipt, error) {
	receipt := agent.WaitReceipt{Schema: "termpilot.agent-wait.v1"}
	for _, id := range r.Sessions {
		if err := otherSession("wait", id); err != nil {
			return agent.WaitReceipt{}, err
		}
		receipt.Sessions = append(receipt.Sessions, agent.Waited{SessionID: id, Outcome: agent.Done, At: time.Unix(0, 0).UTC().Format(time.RFC3339)})
	}
	return receipt, nil
}

// Ask tells of a question.
func (Agents) Ask(_ context.Context, id string) (agent.Approval, error) {
	return agent.Approval{
		SessionID: id, Asks: true, Kind: "permission", Question: []string{"May I?"}, Digest: "d1",
		Choices: []agent.ApprovalChoice{{Number: 1, Label: "Yes", Means: "once"}, {Number: 2, Label: "No", Means: "no"}},
	}, otherSession("approval", id)
}

// Answer says that it was answered.
func (Agents) Answer(_ context.Context, id, digest string, yes bool) (agent.Approval, error) {
	word := map[bool]string{true: "yes", false: "no"}[yes]
	return agent.Approval{SessionID: id, Question: []string{}, Choices: []agent.ApprovalChoice{}, Digest: digest, Answered: word}, otherSession("approval", id)
}

// Configure says that it was changed.
func (Agents) Configure(_ context.Context, id, model, effort string) (agent.Configured, error) {
	return agent.Configured{SessionID: id, Model: model, Effort: effort, Shows: "Set model to " + model}, otherSession("configure", id)
}
