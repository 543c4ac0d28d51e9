package main

import (
	"testing"
	"time"

	"termpilot/agent"
)

func TestAWaitEndsWithTheCodeOfWhatItWaitedFor(t *testing.T) { // CLI-51
	ended := func(all ...agent.Outcome) (list []agent.Waited) {
		for _, o := range all {
			list = append(list, agent.Waited{SessionID: "s", Outcome: o, At: "2026-01-02T03:04:05Z"})
		}
		return list
	}
	for name, one := range map[string]struct {
		receipt agent.WaitReceipt
		asked   agent.WaitRequest
		want    int
	}{
		"done":           {agent.WaitReceipt{Sessions: ended(agent.Done)}, agent.WaitRequest{}, exitOK},
		"an error":       {agent.WaitReceipt{Sessions: ended(agent.Failed)}, agent.WaitRequest{}, exitFailed},
		"interrupted":    {agent.WaitReceipt{Sessions: ended(agent.Interrupted)}, agent.WaitRequest{}, exitFailed},
		"not known":      {agent.WaitReceipt{Sessions: ended(agent.Unknown)}, agent.WaitRequest{}, exitFailed},
		"gone":           {agent.WaitReceipt{Sessions: ended(agent.Exited)}, agent.WaitRequest{}, exitGone},
		"another chat":   {agent.WaitReceipt{Sessions: ended(agent.Replaced)}, agent.WaitRequest{}, exitGone},
		"an approval":    {agent.WaitReceipt{Sessions: ended(agent.Waiting)}, agent.WaitRequest{}, exitRunning},
		"a limit":        {agent.WaitReceipt{Sessions: ended(agent.RateLimited)}, agent.WaitRequest{}, exitLimited},
		"all, one ill":   {agent.WaitReceipt{Sessions: ended(agent.Done, agent.Failed)}, agent.WaitRequest{All: true}, exitFailed},
		"no time":        {agent.WaitReceipt{TimedOut: true, Sessions: []agent.Waited{{Outcome: agent.Pending}}}, agent.WaitRequest{}, exitRunning},
		"time is over":   {agent.WaitReceipt{TimedOut: true, Sessions: []agent.Waited{{Outcome: agent.Pending}}}, agent.WaitRequest{Timeout: time.Second}, exitTimeout},
		"any of several": {agent.WaitReceipt{Sessions: append(ended(agent.Done), agent.Waited{Outcome: agent.Pending})}, agent.WaitRequest{}, exitOK},
	} {
		if got := exitCode(waitOutcome(one.receipt, one.asked)); got != one.want {
			t.Errorf("%s: %d, want %d", name, got, one.want)
		}
	}
}

func TestATurnOfWhichNothingIsKnownIsNoSuccess(t *testing.T) { // CLI-52
	for o, want := range map[agent.Outcome]int{agent.Pending: exitOK, agent.Done: exitOK, agent.Unknown: exitFailed} {
		if got := exitCode(turnOutcome(agent.TurnReceipt{Outcome: o})); got != want {
			t.Errorf("%s: %d, want %d", o, got, want)
		}
	}
}
