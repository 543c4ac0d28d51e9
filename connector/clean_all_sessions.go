package connector

import (
	"context"

	"termpilot/closing"
)

type cleanAllIn struct {
	Force  bool `json:"force" jsonschema:"also interrupt what is at work" default:"false"`
	DryRun bool `json:"dry_run" jsonschema:"do nothing" default:"false"`
}

var cleanAllSessions = define(head{
	name: "clean_all_sessions", title: "Close all idle sessions", set: closes, access: writes, destroys: true,
	about: "Close every session that is idle, as close_session does; others are skipped, and told.",
}, func(ctx context.Context, c call, in cleanAllIn) (closing.Result, error) {
	return c.closer.Close(ctx, closing.Request{Operation: closing.CleanAll, Force: in.Force, DryRun: in.DryRun})
}, closedWords).like(closeSession)
