package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			r, err := d.pilot.Focus(ctx, id)
			if done, err := a.asJSON(r, err); done {
				return err
			}
			if !r.Session.IsCurrent {
				return &outcome{code: exitFailed, cause: errors.New("focus: the terminal took it, but the focus is elsewhere")}
			}
			return nil
		}),
	}
	s.flags(cmd)
	return a.completesSession(a.withJSON(cmd))
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
		PreRunE: func(*cobra.Command, []string) error {
			if rows == 0 && columns == 0 {
				return usage(errors.New("no size: give --rows, --columns or both"))
			}
			return nil
		},
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			r, err := d.pilot.Resize(ctx, id, rows, columns)
			if done, err := a.asJSON(r, err); done {
				return err
			}
			fmt.Fprintf(a.out, "%dx%d\n", r.Session.Columns, r.Session.Rows)
			return nil
		}),
	}
	s.flags(cmd)
	cmd.Flags().IntVar(&rows, "rows", 0, "height in cells (default: as it is)")
	cmd.Flags().IntVar(&columns, "columns", 0, "width in cells (default: as it is)")
	return a.completesSession(a.withJSON(cmd))
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
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, names []string) error {
			r, err := d.pilot.Rename(ctx, id, strings.Join(names, "")) // one, or none
			_, err = a.asJSON(r, err)
			return err
		}),
	}
	s.flags(cmd)
	return a.completesSession(a.withJSON(cmd))
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
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, _ []string) error {
			listing, err := d.pilot.Profiles(ctx, "")
			if done, err := a.asJSON(listing, err); done {
				return err
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
				if _, ill := silent(listing.Backends); !ill {
					a.note("no backend runs that has profiles; the host starts when a session is opened, or with termpilot host start")
				}
				return nil
			}
			return a.printTable([]string{"BACKEND", "PROFILE", ""}, rows)
		}),
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

// silent returns a backend that gave no answer, if there is one: what it has is not known.
func silent(list []pilot.BackendInfo) (one pilot.BackendInfo, found bool) {
	for _, b := range list {
		if b.State == "unavailable" {
			return b, true
		}
	}
	return one, false
}
