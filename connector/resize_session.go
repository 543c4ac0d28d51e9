package connector

import (
	"context"
	"fmt"

	"termpilot/pilot"
	"termpilot/terminal"
)

type resizeSessionIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id from list_sessions"`
	Rows      int    `json:"rows,omitempty" jsonschema:"height in cells; default as it is" min:"2" max:"1000"`
	Columns   int    `json:"columns,omitempty" jsonschema:"width in cells; default as it is" min:"10" max:"1000"`
}

var resizeSession = define(head{
	name: "resize_session", title: "Resize a session", set: layout, access: writes, idempotent: true,
	about: "Ask for a session's size and return the one that it got: its window or neighbours may not allow more.",
}, func(ctx context.Context, c call, in resizeSessionIn) (pilot.Arranged, error) {
	return c.pilot.Resize(ctx, in.SessionID, in.Rows, in.Columns)
}, func(a pilot.Arranged) (line, text string) {
	return fmt.Sprintf("%s has %d rows and %d columns", terminal.OneLine(a.Session.SessionID, 0), a.Session.Rows, a.Session.Columns), sessionLine(a.Session)
}).as("session", "list_sessions")
