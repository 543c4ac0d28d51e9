package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

type getCurrentSessionIn struct{}

var getCurrentSession = define(head{
	name: "get_current_session", title: "Get the current session", set: core, access: reads,
	about: "The session that has the person's focus. Fails with no_current_session when none has.",
}, func(ctx context.Context, c call, _ getCurrentSessionIn) (pilot.SessionInfo, error) {
	return c.pilot.Current(ctx)
}, func(s pilot.SessionInfo) (line, text string) {
	return "current session " + terminal.OneLine(s.SessionID, 0), sessionLine(s)
}).each("list_sessions", "sessions")
