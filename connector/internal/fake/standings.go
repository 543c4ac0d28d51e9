package fake

import (
	"context"
	"iter"

	"termpilot/agent"
)

func standing() agent.Standing {
	return agent.Standing{
		Schema: "termpilot.agent-standing.v1", State: agent.Idle, Next: "agent_turn action=result session_id=" + Session,
		Waited: agent.Waited{SessionID: Session, LaunchID: "l-0123456789abcdef", Provider: "claude", TurnID: "t1", Outcome: agent.Done, At: "2026-01-02T03:04:05Z"},
	}
}

// List lists the one agent.
func (Agents) List() ([]agent.Listed, error) {
	return []agent.Listed{{SessionID: Session, LaunchID: "l-0123456789abcdef", Provider: "claude", Cwd: "/srv", Runs: true}}, nil
}

// Standing tells how it stands.
func (Agents) Standing(_ context.Context, id string) (agent.Standing, error) {
	return standing(), otherSession("standing", id)
}

// Standings tells of the one.
func (Agents) Standings(context.Context) ([]agent.Standing, error) {
	return []agent.Standing{standing()}, nil
}

// Follow tells how it stands, and no change.
func (Agents) Follow(ctx context.Context, id string) iter.Seq2[agent.Standing, error] {
	return func(yield func(agent.Standing, error) bool) {
		if yield(standing(), otherSession("follow", id)) {
			<-ctx.Done()
		}
	}
}

// Launches tells of none.
func (Agents) Launches() (<-chan struct{}, func(), error) { return nil, func() {}, nil }
