package connector

import (
	"context"
	"fmt"
	"strings"
	"time"

	"termpilot/agent"
	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/terminal"
)

type waitSessionIn struct {
	RunID      string          `json:"run_id,omitempty" jsonschema:"the run to wait for; or give session_ids"`
	SessionIDs []string        `json:"session_ids,omitempty" jsonschema:"exact ids from list_sessions" min:"1" max:"32"`
	Mode       string          `json:"mode" jsonschema:"any or all of session_ids" enum:"any,all" default:"any"`
	Until      pilot.WaitUntil `json:"until" jsonschema:"command: what runs ends; prompt: ready for a command; text: pattern shows; quiet: no output for a while; exit: the session ends; turn: its agent has answered or asks" enum:"command,prompt,text,quiet,exit,turn" default:"command"`
	Pattern    string          `json:"pattern,omitempty" jsonschema:"for until=text" max:"1024"`
	Regex      bool            `json:"regex" jsonschema:"pattern is a regular expression (RE2)" default:"false"`
	Timeout    int             `json:"timeout_seconds" jsonschema:"0 looks and returns; the server caps it" min:"0" max:"3600" default:"30"`
	MaxChars   int             `json:"max_output_chars" jsonschema:"most characters of a run's output" min:"1" max:"131072" default:"32768"`
	Reduce     bool            `json:"reduce" jsonschema:"shorten repetition and noise" default:"true"`
}

var waitSession = define(head{
	name: "wait_session", title: "Wait for a run or session", set: core, access: reads,
	about: "Wait for a run, or until any or all sessions reach a state. Types nothing. When time is up, call it again.",
}, func(ctx context.Context, c call, in waitSessionIn) (pilot.WaitResult, error) {
	if err := in.valid(); err != nil {
		return pilot.WaitResult{}, err
	}
	if in.Until == untilTurn {
		return waitForTurns(ctx, c, in)
	}
	return c.pilot.Wait(ctx, pilot.WaitRequest{
		RunID: in.RunID, SessionIDs: in.SessionIDs, All: in.Mode == "all", Until: in.Until,
		Pattern: in.Pattern, Regex: in.Regex, Timeout: in.timeout(), MaxChars: in.MaxChars, Reduce: in.Reduce,
		Progress: c.progress,
	})
}, waitWords).as("run", "run_command")

func (in waitSessionIn) valid() error {
	no := func(detail, hint string) error {
		return &fault.Error{Op: "wait_session", Code: fault.InvalidArgument, Detail: detail, Hint: hint}
	}
	switch {
	case in.RunID == "" && len(in.SessionIDs) == 0:
		return no(`one of "run_id" and "session_ids" is needed`, "pass run_id as run_command returned it, or session_ids")
	case in.RunID != "" && len(in.SessionIDs) > 0:
		return no(`"run_id" and "session_ids" exclude each other`, "pass one of run_id and session_ids")
	case in.Until == untilTurn && in.RunID != "":
		return no(`"run_id" is none of an agent's turns`, "pass the session_ids of agents")
	case in.Until == pilot.UntilText && in.Pattern == "":
		return no(`parameter "pattern" is missing`, "pass pattern, or another until than text")
	}
	return nil
}

// timeout is never 0, which would ask for the engine's default.
func (in waitSessionIn) timeout() time.Duration {
	return max(time.Duration(in.Timeout)*time.Second, time.Millisecond)
}

// untilTurn is what only agents can tell.
const untilTurn pilot.WaitUntil = "turn"

// waitForTurns waits for the turns of agents.
func waitForTurns(ctx context.Context, c call, in waitSessionIn) (pilot.WaitResult, error) {
	if c.agents == nil {
		return pilot.WaitResult{}, &fault.Error{Op: "wait_session", Code: fault.Unsupported, Detail: "this server has no agents", Hint: "use another until"}
	}
	r, err := c.agents.Wait(ctx, agent.WaitRequest{Sessions: in.SessionIDs, All: in.Mode == "all", Timeout: min(in.timeout(), c.maxWait)})
	if err != nil {
		return pilot.WaitResult{}, err
	}
	out := pilot.WaitResult{TimedOut: r.TimedOut, Sessions: []pilot.WaitSession{}}
	for _, w := range r.Sessions {
		reason := "turn " + w.TurnID + ": " + string(w.Outcome)
		if w.Reason != "" {
			reason += ": " + w.Reason
		}
		out.Sessions = append(out.Sessions, pilot.WaitSession{SessionID: w.SessionID, Matched: w.Over(), Reason: reason, State: pilot.UnknownState})
	}
	return out, nil
}

func waitWords(r pilot.WaitResult) (line, text string) {
	if r.Run != nil {
		line, text = runWords(*r.Run)
		if r.TimedOut {
			line = "time is up; " + line
		}
		return line, text
	}
	matched := 0
	var b strings.Builder
	for _, s := range r.Sessions {
		word := "not matched"
		if s.Matched {
			matched++
			word = "matched"
		}
		fmt.Fprintln(&b, terminal.OneLine(fmt.Sprintf("%s %s, %s: %s %s", s.SessionID, word, s.State, s.Reason, s.Text), 0))
	}
	line = fmt.Sprintf("%d of %s matched", matched, count(len(r.Sessions), "session"))
	if r.TimedOut {
		line = "time is up; " + line
	}
	return line, b.String()
}
