package connector

import (
	"context"
	"fmt"
	"time"

	"termpilot/pilot"
	"termpilot/terminal"
)

type runCommandIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id from list_sessions"`
	Command   string `json:"command" jsonschema:"typed as given; several lines and here-documents are fine" min:"1" max:"16384"`
	Wait      bool   `json:"wait_for_completion" jsonschema:"false: return once submitted" default:"true"`
	Timeout   int    `json:"timeout_seconds" jsonschema:"how long to wait; the server caps it. The command goes on after it" min:"0" max:"3600" default:"30"`
	MaxChars  int    `json:"max_output_chars" jsonschema:"most characters" min:"1" max:"131072" default:"32768"`
	Reduce    bool   `json:"reduce" jsonschema:"shorten repetition and noise" default:"true"`
	Force     bool   `json:"force" jsonschema:"run a command that looks destructive; only if the person means it" default:"false"`
}

var runCommand = define(head{
	name: "run_command", title: "Run a command", set: core, access: writes, destroys: true, reaches: true,
	about: "Type a command at a session's proven, empty shell prompt and return its output and exit code. Refused when the session is not ready. status=running: go on with wait_session.",
}, func(ctx context.Context, c call, in runCommandIn) (pilot.RunResult, error) {
	return c.pilot.Run(ctx, pilot.RunRequest{
		SessionID: in.SessionID, Command: in.Command, NoWait: !in.Wait || in.Timeout == 0,
		Timeout: time.Duration(in.Timeout) * time.Second, MaxChars: in.MaxChars, Reduce: in.Reduce, Force: in.Force,
		Progress: c.progress,
	})
}, runWords)

// nextStep says what may be done about a run that is not over.
func nextStep(r pilot.RunResult) string {
	switch {
	case r.Status == pilot.WaitsInput && r.Kind == pilot.KindPassword:
		return "the person types it, or send_keys ctrl_c leaves it"
	case r.Status == pilot.WaitsInput:
		return "send_text answers it, send_keys ctrl_c or ctrl_d leaves it"
	case r.Status == pilot.Continues:
		return "send_text finishes it, send_keys ctrl_c leaves it"
	case r.Status == pilot.StillRunning && r.Kind == pilot.KindFullScreen:
		return "read_terminal shows it, send_keys and send_text drive it"
	case r.Status == pilot.StillRunning, r.Status == pilot.Submitted:
		return "wait_session with this run_id goes on"
	}
	return ""
}

// runWords says how a run stands.
func runWords(r pilot.RunResult) (line, text string) {
	line = string(r.Status)
	if r.Kind != "" {
		line += " (" + terminal.OneLine(r.Kind, 0) + ")"
	}
	goesOn := r.Status == pilot.StillRunning || r.Status == pilot.Submitted
	switch {
	case r.ExitCode != nil:
		line += fmt.Sprintf(", exit code %d", *r.ExitCode)
		if r.Status == pilot.Completed && r.ExitReason != "" { // of an output that is not told, or not all of it
			line += ", " + terminal.OneLine(r.ExitReason, 0)
		}
	case !goesOn && r.ExitReason != "":
		line += ", exit code not known: " + terminal.OneLine(r.ExitReason, 0)
	}
	line += fmt.Sprintf(", %d ms, run %s in %s", r.DurationMS, terminal.OneLine(r.RunID, 0), terminal.OneLine(r.SessionID, 0))
	if next := nextStep(r); next != "" {
		line += "; " + next
	}
	return line + hidden(r.Masked) + leftOut(r.Omitted, r.TruncatedHead), r.Output
}
