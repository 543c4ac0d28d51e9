package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

type createTabIn struct {
	WindowID string `json:"window_id" jsonschema:"exact id from list_sessions"`
	openIn
}

var createTab = define(head{
	name: "create_tab", title: "Open a tab", set: layout, access: writes, destroys: true, reaches: true,
	about: "Open a tab in a window, with a new session.",
}, func(ctx context.Context, c call, in createTabIn) (pilot.Opened, error) {
	request := in.request()
	request.Place, request.Window = terminal.InTab, in.WindowID
	return c.pilot.Open(ctx, request)
}, openedWords).as("session", "list_sessions")
