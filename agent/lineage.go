package agent

import (
	"strconv"

	"termpilot/fault"
)

// lineage says of an agent who started it.
type lineage struct {
	Role       string `json:"role"`           // agent, or subagent where another agent started it
	Parent     string `json:"parent_session"` // the session of that agent
	Depth      int    `json:"depth"`          // 1 where a person or their client started it
	Delegation bool   `json:"delegation_allowed"`
}

// maxDepth is how many agents may stand above one another.
const maxDepth = 3

// The variables that carry a lineage to what an agent starts.
const (
	roleVariable       = "TERMPILOT_AGENT_ROLE"
	parentVariable     = "TERMPILOT_AGENT_PARENT"
	depthVariable      = "TERMPILOT_AGENT_DEPTH"
	delegationVariable = "TERMPILOT_AGENT_DELEGATION"
)

// variables is the lineage as the agent's environment carries it.
func (l lineage) variables() []string {
	allowed := "no"
	if l.Delegation {
		allowed = "yes"
	}
	return []string{
		roleVariable + "=" + l.Role, parentVariable + "=" + l.Parent, depthVariable + "=" + strconv.Itoa(l.Depth),
		delegationVariable + "=" + allowed,
	}
}

// next is the lineage of an agent that this process starts. NotAllowed where an
// agent that may start none did start this process, and where too many stand above
// one another already.
func (a *Agents) next(delegation bool) (lineage, error) {
	l := lineage{Role: "agent", Depth: 1, Delegation: delegation}
	text := a.getenv(depthVariable)
	if text == "" {
		return l, nil
	}
	above, err := strconv.Atoi(text)
	if err != nil || above < 1 {
		return l, refused("launch", "", fault.NotAllowed, depthVariable+" in the environment is not a depth: who started this is not known", "unset it if no agent started this")
	}
	switch {
	case a.getenv(delegationVariable) != "yes":
		return l, refused("launch", "", fault.NotAllowed, "the agent that started this may start no others", "do the work yourself")
	case above >= maxDepth:
		return l, refused("launch", "", fault.NotAllowed, "an agent at depth "+text+" may start no others", "do the work yourself")
	}
	l.Role, l.Depth = "subagent", above+1
	if id := a.getenv(launchVariable); launchID().MatchString(id) {
		if parent, err := readLaunch(a.folder(id)); err == nil {
			l.Parent = parent.Session
		}
	}
	l.Delegation = delegation && l.Depth < maxDepth
	return l, nil
}
