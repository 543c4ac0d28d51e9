package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

type renameSessionIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id from list_sessions"`
	Name      string `json:"name" jsonschema:"one line of at most 64 characters; empty takes the name away" max:"256"`
}

var renameSession = define(head{
	name: "rename_session", title: "Rename a session", set: layout, access: writes, idempotent: true,
	about: "Give a session a name that no other live session has.",
}, func(ctx context.Context, c call, in renameSessionIn) (pilot.Arranged, error) {
	return c.pilot.Rename(ctx, in.SessionID, in.Name)
}, func(a pilot.Arranged) (line, text string) {
	line = terminal.OneLine(a.Session.SessionID, 0) + " has no name now"
	if a.Session.Name != "" {
		line = terminal.OneLine(a.Session.SessionID, 0) + " is now named " + terminal.OneLine(a.Session.Name, 0)
	}
	return line, sessionLine(a.Session)
}).as("session", "list_sessions")
