package connector

import (
	"context"
	"fmt"
	"strings"

	"termpilot/pilot"
	"termpilot/terminal"
)

type listProfilesIn struct {
	Backend string `json:"backend,omitempty" jsonschema:"only this terminal" enum:"host,iterm2,tmux"`
}

var listProfiles = define(head{
	name: "list_profiles", title: "List profiles", set: layout, access: reads,
	about: "List the profiles, such as shells, that new sessions can have.",
}, func(ctx context.Context, c call, in listProfilesIn) (pilot.ProfileListing, error) {
	return c.pilot.Profiles(ctx, in.Backend)
}, func(l pilot.ProfileListing) (line, text string) {
	var b strings.Builder
	for _, p := range l.Profiles {
		word := ""
		if p.IsDefault {
			word = " default"
		}
		fmt.Fprintf(&b, "%s%s %s\n", p.Backend, word, terminal.OneLine(p.Name, 0))
	}
	return count(len(l.Profiles), "profile") + backendWords(l.Backends), b.String()
}).as("backends", "list_sessions")
