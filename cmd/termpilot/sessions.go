package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) sessionsCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:        "sessions",
		Short:      "List the sessions that live",
		SuggestFor: []string{"ls", "list", "ps"},
		Example:    "  termpilot sessions\n  termpilot sessions --json",
		Args:       cobra.NoArgs,
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, _ []string) error {
			listing, err := d.pilot.Sessions(ctx, "")
			if done, err := a.asJSON(listing, err); done {
				return err
			}
			a.tellBackends(s, listing.Backends)
			var rows [][]string
			for _, one := range listing.Sessions {
				rows = append(rows, []string{
					one.SessionID, one.Backend, one.Name, string(one.Readiness.State), one.Job,
					fmt.Sprintf("%dx%d", one.Columns, one.Rows), one.Cwd, one.Title,
				})
			}
			if err := ctx.Err(); err != nil { // whoever was asked last had no time to answer
				return err
			}
			if len(rows) == 0 {
				if _, ill := silent(listing.Backends); !ill {
					a.note("no session lives; open one with termpilot new")
				}
				return nil
			}
			return a.printTable([]string{"SESSION", "BACKEND", "NAME", "STATE", "JOB", "SIZE", "FOLDER", "TITLE"}, rows)
		}),
	}
	s.flags(cmd)
	return a.withJSON(cmd)
}
