package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

type focusSessionIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id from list_sessions"`
}

var focusSession = define(head{
	name: "focus_session", title: "Focus a session", set: layout, access: writes, idempotent: true,
	about: "Give a session the person's keyboard focus.",
}, func(ctx context.Context, c call, in focusSessionIn) (pilot.Arranged, error) {
	return c.pilot.Focus(ctx, in.SessionID)
}, func(a pilot.Arranged) (line, text string) {
	word := "the focus is at "
	if !a.Session.IsCurrent {
		word = "asked for, but the focus is not at "
	}
	return word + terminal.OneLine(a.Session.SessionID, 0), sessionLine(a.Session)
}).as("session", "list_sessions")
