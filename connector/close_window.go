package connector

import (
	"context"

	"termpilot/closing"
)

type closeWindowIn struct {
	WindowID  string `json:"window_id,omitempty" jsonschema:"exact id; or the session_id or nickname of a session in it" max:"256"`
	SessionID string `json:"session_id,omitempty" max:"256" jsonschema:"exact id"`
	Nickname  string `json:"nickname,omitempty" max:"256" jsonschema:"exact name"`
	Force     bool   `json:"force" jsonschema:"also interrupt what is at work" default:"false"`
	DryRun    bool   `json:"dry_run" jsonschema:"do nothing" default:"false"`
}

var closeWindow = define(head{
	name: "close_window", title: "Close a window", set: closes, access: writes, destroys: true,
	about: "Close a window with all its sessions, or none of them, as close_session does.",
}, func(ctx context.Context, c call, in closeWindowIn) (closing.Result, error) {
	return c.closer.Close(ctx, closing.Request{
		Operation: closing.CloseWindow, ID: in.WindowID, SessionID: in.SessionID, Name: in.Nickname, Force: in.Force, DryRun: in.DryRun,
	})
}, closedWords).like(closeSession)
