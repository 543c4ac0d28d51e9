package connector

import (
	"context"

	"termpilot/closing"
)

type closeSessionIn struct {
	SessionID string `json:"session_id,omitempty" jsonschema:"exact id; or nickname" max:"256"`
	Nickname  string `json:"nickname,omitempty" jsonschema:"exact name, in whatever case" max:"256"`
	Force     bool   `json:"force" jsonschema:"also interrupt what is at work, after asking the person" default:"false"`
	DryRun    bool   `json:"dry_run" jsonschema:"say what would happen, and do nothing" default:"false"`
}

var closeSession = define(head{
	name: "close_session", title: "Close a session", set: closes, access: writes, destroys: true,
	about: "Close a session without losing work: refused while something runs; what is needed to resume a coding agent's chat is written down first.",
}, func(ctx context.Context, c call, in closeSessionIn) (closing.Result, error) {
	return c.closer.Close(ctx, closing.Request{
		Operation: closing.CloseSession, SessionID: in.SessionID, Name: in.Nickname, Force: in.Force, DryRun: in.DryRun,
	})
}, closedWords).as("closed_sessions", "inspect_sessions").as("skipped_sessions", "inspect_sessions").
	as("failed_sessions", "inspect_sessions").as("unknown_sessions", "inspect_sessions")
