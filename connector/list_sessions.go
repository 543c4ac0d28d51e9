package connector

import (
	"context"
	"fmt"
	"strings"

	"termpilot/pilot"
	"termpilot/terminal"
)

type listSessionsIn struct {
	Backend string `json:"backend,omitempty" jsonschema:"only this terminal" enum:"host,iterm2,tmux"`
}

var listSessions = define(head{
	name: "list_sessions", title: "List terminal sessions", set: core, access: reads,
	about: "List live terminal sessions with exact ids and whether each is ready for a command. Starts nothing.",
}, func(ctx context.Context, c call, in listSessionsIn) (pilot.Listing, error) {
	return c.pilot.Sessions(ctx, in.Backend)
}, func(l pilot.Listing) (line, text string) {
	var b strings.Builder
	for _, s := range l.Sessions {
		b.WriteString(sessionLine(s) + "\n")
	}
	return count(len(l.Sessions), "session") + backendWords(l.Backends), b.String()
})

// backendWords tells of the backends that could not be asked.
func backendWords(list []pilot.BackendInfo) (words string) {
	for _, backend := range list {
		if backend.State != "ok" {
			words += fmt.Sprintf("; %s: %s", backend.Name, terminal.OneLine(strings.TrimSpace(backend.State+" "+backend.Reason), 0))
		}
	}
	return words
}

// sessionLine is a session in one line.
func sessionLine(s pilot.SessionInfo) string {
	current := ""
	if s.IsCurrent {
		current = " current"
	}
	parts := []string{s.SessionID, s.Backend + current, string(s.Readiness.State), "job=" + s.Job, "cwd=" + s.Cwd}
	for _, more := range [][2]string{{"name=", s.Name}, {"title=", s.Title}} {
		if more[1] != "" {
			parts = append(parts, more[0]+more[1])
		}
	}
	return terminal.OneLine(strings.Join(parts, " "), 0)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
