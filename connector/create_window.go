package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

type createWindowIn struct {
	Backend string            `json:"backend,omitempty" jsonschema:"which terminal; default the first that can" enum:"host,iterm2,tmux"`
	Command string            `json:"command,omitempty" jsonschema:"run this in place of a shell" max:"16384"`
	Cwd     string            `json:"cwd,omitempty" jsonschema:"absolute path" max:"4096"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"added to the environment" max:"128"`
	Profile string            `json:"profile,omitempty" jsonschema:"Default, or on the host a shell: bash, zsh, fish" max:"256"`
	Name    string            `json:"name,omitempty" jsonschema:"a name to know it by" max:"256"`
	Rows    int               `json:"rows,omitempty" jsonschema:"height in cells" min:"2" max:"1000"`
	Columns int               `json:"columns,omitempty" jsonschema:"width in cells" min:"10" max:"1000"`
	Focus   bool              `json:"focus" jsonschema:"take the person's focus" default:"false"`
}

var createWindow = define(head{
	name: "create_window", title: "Open a terminal window", set: layout, access: writes, destroys: true, reaches: true,
	about: "Open a window with a new session and return the session.",
}, func(ctx context.Context, c call, in createWindowIn) (pilot.SessionInfo, error) {
	return c.pilot.Open(ctx, pilot.OpenRequest{
		Backend: in.Backend, Command: in.Command, Cwd: in.Cwd, Env: in.Env, Profile: in.Profile,
		Name: in.Name, Rows: in.Rows, Columns: in.Columns, Focus: in.Focus,
	})
}, func(s pilot.SessionInfo) (line, text string) {
	return "opened session " + terminal.OneLine(s.SessionID, 0), sessionLine(s)
}).as("readiness", "list_sessions")
