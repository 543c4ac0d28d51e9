package connector

import (
	"context"
	"fmt"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/terminal"
)

type waitSessionIn struct {
	RunID      string          `json:"run_id,omitempty" jsonschema:"the run to wait for; or give session_ids"`
	SessionIDs []string        `json:"session_ids,omitempty" jsonschema:"exact ids from list_sessions" min:"1" max:"32"`
	Mode       string          `json:"mode" jsonschema:"any or all of session_ids" enum:"any,all" default:"any"`
	Until      pilot.WaitUntil `json:"until" jsonschema:"command: what runs ends; prompt: ready for a command; text: pattern shows; quiet: no output for a while; exit: the session ends" enum:"command,prompt,text,quiet,exit" default:"command"`
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
	case in.Until == pilot.UntilText && in.Pattern == "":
		return no(`parameter "pattern" is missing`, "pass pattern, or another until than text")
	}
	return nil
}

// timeout is never 0, which would ask for the engine's default.
func (in waitSessionIn) timeout() time.Duration {
	return max(time.Duration(in.Timeout)*time.Second, time.Millisecond)
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
