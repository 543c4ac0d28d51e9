package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"termpilot/agent"
	"termpilot/fault"
)

func (a *app) waitCommand() *cobra.Command {
	var s settings
	var r agent.WaitRequest
	cmd := &cobra.Command{
		Use:   "wait --session SESSION…",
		Short: "Sleep until the turn of an agent ends, and print its receipt",
		Long: "Sleep until the turn of an agent ends, and print its receipt.\n\n" +
			"It ends as well when the agent asks for an approval. With several sessions any of them is enough, unless --all.\n" +
			"Exit codes: 0 done, 1 ended by an error, interrupted or not known, 3 the time was over, 4 the agent is gone or holds another\n" +
			"chat, 5 it goes on (--timeout 0) or waits for an approval, 6 a limit was reached.",
		Example: "  termpilot wait --session acorn\n  termpilot wait --session acorn --session birch --all --timeout 1h",
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if len(r.Sessions) == 0 {
				return usage(errors.New("wait needs --session"))
			}
			return nil
		},
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, _ []string) (err error) {
			for i, word := range r.Sessions {
				if r.Sessions[i], err = d.pilot.Named(ctx, word); err != nil {
					return err
				}
			}
			receipt, err := d.agents.Wait(ctx, r)
			if errors.Is(err, fault.AgentNotFound) {
				return &outcome{code: exitGone, cause: err, hint: "launch one with termpilot agent launch; a command is waited for with termpilot call wait_session session_ids=" + r.Sessions[0]}
			}
			if err != nil {
				return err
			}
			if err := a.printJSON(receipt); err != nil {
				return err
			}
			return waitOutcome(receipt, r)
		}),
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&r.Sessions, "session", nil, "the agent's session (repeatable)")
	f.StringArrayVar(&r.Cursors, "cursor", nil, "event_cursor of a receipt: what ends behind it (one for each session, in their order)")
	timeVar(f, &r.Timeout, "timeout", 10*time.Minute, "longest time to wait, such as 90s or 5m; 0 looks and returns")
	f.BoolVar(&r.All, "all", false, "wait for all sessions, not for any")
	return a.withJSON(cmd)
}

// waitOutcome says with which code a wait ends: for all sessions the gravest, for
// any that of the one that ended.
func waitOutcome(r agent.WaitReceipt, asked agent.WaitRequest) error {
	code, word := exitOK, ""
	if r.TimedOut {
		code, word = exitTimeout, "the time was over"
		if asked.Timeout == 0 {
			code, word = exitRunning, "it goes on"
		}
	}
	for _, one := range r.Sessions {
		if !one.Over() || r.TimedOut {
			continue
		}
		if c := codeOf(one.Outcome); graver(c, code) {
			code, word = c, fmt.Sprintf("%s: %s", one.SessionID, one.Outcome)
			if one.Reason != "" {
				word += ": " + one.Reason
			}
		}
	}
	if code == exitOK {
		return nil
	}
	return &outcome{code: code, cause: errors.New("wait: " + word)}
}

func codeOf(o agent.Outcome) int {
	switch o {
	case agent.Done:
		return exitOK
	case agent.RateLimited:
		return exitLimited
	case agent.Exited, agent.Replaced:
		return exitGone
	case agent.Waiting:
		return exitRunning
	}
	return exitFailed
}

// graver orders the codes of several sessions.
func graver(x, y int) bool {
	order := map[int]int{exitOK: 0, exitRunning: 1, exitLimited: 2, exitFailed: 3, exitGone: 4}
	return order[x] > order[y]
}
