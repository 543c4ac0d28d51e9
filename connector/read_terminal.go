package connector

import (
	"context"
	"fmt"

	"termpilot/pilot"
	"termpilot/terminal"
)

type readTerminalIn struct {
	SessionID string       `json:"session_id" jsonschema:"exact id from list_sessions"`
	Source    pilot.Source `json:"source" jsonschema:"since: what came after cursor; command: the output of run_id or of the last command" enum:"screen,history,all,since,command" default:"screen"`
	Cursor    string       `json:"cursor,omitempty" jsonschema:"for source=since: the cursor of an earlier read"`
	RunID     string       `json:"run_id,omitempty" jsonschema:"for source=command"`
	MaxLines  int          `json:"max_lines" jsonschema:"most lines" min:"1" max:"2000" default:"200"`
	MaxChars  int          `json:"max_chars" jsonschema:"most characters" min:"1" max:"131072" default:"32768"`
	Reduce    bool         `json:"reduce" jsonschema:"shorten repetition and noise" default:"true"`
	Pattern   string       `json:"pattern,omitempty" jsonschema:"only lines that hold it: better than reading a whole log" max:"1024"`
	Regex     bool         `json:"regex" jsonschema:"pattern is a regular expression (RE2)" default:"false"`
	Context   int          `json:"context" jsonschema:"lines around each match" min:"0" max:"20" default:"0"`
}

var readTerminal = define(head{
	name: "read_terminal", title: "Read a terminal", set: core, access: reads,
	about: "Read a session's text. No read disturbs another: source=since takes and returns a cursor.",
}, func(ctx context.Context, c call, in readTerminalIn) (pilot.ReadResult, error) {
	return c.pilot.Read(ctx, pilot.ReadRequest{
		SessionID: in.SessionID, Source: in.Source, Cursor: in.Cursor, RunID: in.RunID,
		MaxLines: in.MaxLines, MaxChars: in.MaxChars, Reduce: in.Reduce, Pattern: in.Pattern, Regex: in.Regex, Context: in.Context,
	})
}, func(r pilot.ReadResult) (line, text string) {
	line = fmt.Sprintf("%s of %s, %s", count(r.LineCount, "line"), terminal.OneLine(r.SessionID, 0), r.Readiness.State)
	if r.Matches > 0 {
		line += fmt.Sprintf(", %d matching", r.Matches)
	}
	if r.Cursor != "" {
		line += ", cursor " + terminal.OneLine(r.Cursor, 0)
	}
	return line + hidden(r.Masked) + leftOut(r.Omitted, r.TruncatedHead), r.Content
}).as("readiness", "list_sessions")

// hidden says how many secrets show as ***.
func hidden(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + count(n, "secret") + " hidden"
}

// leftOut says what an answer does not hold.
func leftOut(o pilot.Omitted, head bool) string {
	s := ""
	if o.Lines > 0 {
		s += fmt.Sprintf("; %s left out", count(o.Lines, "line"))
	} else if o.HowToGet != "" {
		s += "; not all of it stands in one place"
	}
	if o.HowToGet != "" {
		s += ": " + terminal.OneLine(o.HowToGet, 0)
	}
	if head {
		s += "; the first lines are no longer kept"
	}
	return s
}
