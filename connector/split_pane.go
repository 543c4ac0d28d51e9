package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

type splitPaneIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id of the session to divide"`
	Direction string `json:"direction" jsonschema:"side on which the new session goes" enum:"right,left,below,above"`
	openIn
}

var splitPane = define(head{
	name: "split_pane", title: "Split a pane", set: layout, access: writes, destroys: true, reaches: true,
	about: "Divide a session's pane, with a new session beside it.",
}, func(ctx context.Context, c call, in splitPaneIn) (pilot.Opened, error) {
	request := in.request()
	request.Place, request.Beside, request.Direction = terminal.InSplit, in.SessionID, pilot.Side(in.Direction)
	return c.pilot.Open(ctx, request)
}, openedWords).as("session", "list_sessions")
