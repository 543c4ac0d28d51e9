package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

// openIn is what all tools that open a session take.
type openIn struct {
	Command  string            `json:"command,omitempty" jsonschema:"typed at its first prompt" max:"16384"`
	KeepOpen bool              `json:"keep_open" jsonschema:"false: the session ends with command" default:"true"`
	Cwd      string            `json:"cwd,omitempty" jsonschema:"absolute path" max:"4096"`
	Env      map[string]string `json:"env,omitempty" jsonschema:"added to the environment" max:"128"`
	Profile  string            `json:"profile,omitempty" jsonschema:"from list_profiles" max:"256"`
	Name     string            `json:"name,omitempty" jsonschema:"at most 64 characters; default a free one" max:"256"`
	Focus    bool              `json:"focus" jsonschema:"take the person's focus" default:"false"`
}

func (in openIn) request() pilot.OpenRequest {
	return pilot.OpenRequest{
		Command: in.Command, Ends: in.Command != "" && !in.KeepOpen, Cwd: in.Cwd, Env: in.Env,
		Profile: in.Profile, Name: in.Name, Focus: in.Focus,
	}
}

type createWindowIn struct {
	Backend string `json:"backend,omitempty" jsonschema:"which terminal; default the first that can" enum:"host,iterm2,tmux"`
	openIn
	Rows    int `json:"rows,omitempty" jsonschema:"height in cells" min:"2" max:"1000"`
	Columns int `json:"columns,omitempty" jsonschema:"width in cells" min:"10" max:"1000"`
}

var createWindow = define(head{
	name: "create_window", title: "Open a terminal window", set: layout, access: writes, destroys: true, reaches: true,
	about: "Open a window with a new session in the login shell.",
}, func(ctx context.Context, c call, in createWindowIn) (pilot.Opened, error) {
	request := in.request()
	request.Backend, request.Rows, request.Columns = in.Backend, in.Rows, in.Columns
	return c.pilot.Open(ctx, request)
}, openedWords).as("session", "list_sessions")

// openedWords says what was opened, and how its command stands.
func openedWords(o pilot.Opened) (line, text string) {
	line = "opened session " + terminal.OneLine(o.SessionID, 0) + " named " + terminal.OneLine(o.Name, 0)
	switch {
	case o.RunID != "":
		line += ", its command runs as run " + terminal.OneLine(o.RunID, 0)
	case o.Reason != "":
		line += "; its command was not typed: " + terminal.OneLine(o.Reason, 0)
	}
	return line, sessionLine(o.Session)
}
