package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"termpilot/pilot"
)

func (a *app) focusCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:     "focus SESSION",
		Short:   "Give a session the keyboard focus",
		Example: "  termpilot focus acorn",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.arrange(cmd.Context(), s, args[0], (*pilot.Pilot).Focus, func(now pilot.SessionInfo) error {
				if !now.IsCurrent {
					return &outcome{code: exitFailed, cause: errors.New("focus: the terminal took it, but the focus is elsewhere")}
				}
				return nil
			})
		},
	}
	s.flags(cmd)
	return a.completesSession(a.withJSON(cmd), 0)
}

func (a *app) resizeCommand() *cobra.Command {
	var s settings
	var rows, columns int
	cmd := &cobra.Command{
		Use:   "resize SESSION",
		Short: "Ask for another size of a session and print the one that it got",
		Long: "Ask for another size of a session and print the one that it got.\n\n" +
			"A session that shares its window gets what the others leave it.",
		Example: "  termpilot resize acorn --columns 120 --rows 40",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rows == 0 && columns == 0 {
				return usage(errors.New("no size: give --rows, --columns or both"))
			}
			resize := func(p *pilot.Pilot, ctx context.Context, id string) (pilot.Arranged, error) {
				return p.Resize(ctx, id, rows, columns)
			}
			return a.arrange(cmd.Context(), s, args[0], resize, func(now pilot.SessionInfo) error {
				fmt.Fprintf(a.out, "%dx%d\n", now.Columns, now.Rows)
				return nil
			})
		},
	}
	s.flags(cmd)
	cmd.Flags().IntVar(&rows, "rows", 0, "height in cells (default: as it is)")
	cmd.Flags().IntVar(&columns, "columns", 0, "width in cells (default: as it is)")
	return a.completesSession(a.withJSON(cmd), 0)
}

func (a *app) renameCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "rename SESSION [NAME]",
		Short: "Give a session another name, or take its name away",
		Long: "Give a session another name, or take its name away.\n\n" +
			"A name has at most 64 characters, and no other session that lives may have it, in whatever case.",
		Example: "  termpilot rename acorn build\n  termpilot rename build",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 2 {
				name = args[1]
			}
			rename := func(p *pilot.Pilot, ctx context.Context, id string) (pilot.Arranged, error) {
				return p.Rename(ctx, id, name)
			}
			return a.arrange(cmd.Context(), s, args[0], rename, func(pilot.SessionInfo) error { return nil })
		},
	}
	s.flags(cmd)
	return a.completesSession(a.withJSON(cmd), 0)
}

// arrange does something with the session that word names, and says how it is
// then: as JSON, or as say does.
func (a *app) arrange(
	ctx context.Context, s settings, word string,
	do func(*pilot.Pilot, context.Context, string) (pilot.Arranged, error), say func(pilot.SessionInfo) error,
) error {
	d, err := a.deck(s)
	if err != nil {
		return err
	}
	defer d.close()
	id, err := d.pilot.Named(ctx, word)
	if err != nil {
		return err
	}
	arranged, err := do(d.pilot, ctx, id)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(arranged)
	}
	return say(arranged.Session)
}

func (a *app) profilesCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "List the profiles that a new session can have",
		Long: "List the profiles that a new session can have.\n\n" +
			"It starts nothing: the host has to run to tell its own.",
		Example: "  termpilot profiles\n  termpilot profiles --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.deck(s)
			if err != nil {
				return err
			}
			defer d.close()
			listing, err := d.pilot.Profiles(cmd.Context(), "")
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(listing)
			}
			a.tellBackends(s, listing.Backends)
			var rows [][]string
			for _, p := range listing.Profiles {
				word := ""
				if p.IsDefault {
					word = "default"
				}
				rows = append(rows, []string{p.Backend, p.Name, word})
			}
			if len(rows) == 0 {
				return nil
			}
			return a.printTable([]string{"BACKEND", "PROFILE", ""}, rows)
		},
	}
	s.flags(cmd)
	return a.withJSON(cmd)
}

// tellBackends tells of the backends that could not be asked. That one does not
// run is worth a word only to somebody who asked for it.
func (a *app) tellBackends(s settings, list []pilot.BackendInfo) {
	for _, b := range list {
		if b.State == "unavailable" || b.State != "ok" && slices.Contains(s.backends, b.Name) {
			a.note("%s: %s: %s", b.Name, b.State, b.Reason)
		}
	}
}
