package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"termpilot/fault"
	"termpilot/pilot"
)

func (a *app) sessionsCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List the sessions that live",
		Example: "  termpilot sessions\n  termpilot sessions --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.deck(s)
			if err != nil {
				return err
			}
			defer d.close()
			listing, err := d.pilot.Sessions(cmd.Context(), "")
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(listing)
			}
			for _, b := range listing.Backends {
				if b.State != "ok" {
					a.note("%s: %s: %s", b.Name, b.State, b.Reason)
				}
			}
			var rows [][]string
			for _, one := range listing.Sessions {
				rows = append(rows, []string{
					one.SessionID, one.Backend, one.Name, string(one.Readiness.State), one.Job,
					fmt.Sprintf("%dx%d", one.Columns, one.Rows), one.Cwd, one.Title,
				})
			}
			if len(rows) == 0 {
				return nil
			}
			return a.printTable([]string{"SESSION", "BACKEND", "NAME", "STATE", "JOB", "SIZE", "FOLDER", "TITLE"}, rows)
		},
	}
	s.flags(cmd)
	return a.withJSON(cmd)
}

// only returns the session that args name or, without any, the only one that
// lives: a person may leave out what cannot be mistaken.
func only(ctx context.Context, p *pilot.Pilot, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	listing, err := p.Sessions(ctx, "")
	if err != nil {
		return "", err
	}
	switch len(listing.Sessions) {
	case 1:
		return listing.Sessions[0].SessionID, nil
	case 0:
		return "", &fault.Error{
			Op: "find session", Code: fault.NoCurrentSession, Detail: "no session lives",
			Hint: "open one with termpilot call create_window",
		}
	}
	names := make([]string, len(listing.Sessions))
	for i, s := range listing.Sessions {
		names[i] = s.SessionID
	}
	return "", usage(&fault.Error{
		Op: "find session", Code: fault.InvalidArgument, Detail: strconv.Itoa(len(names)) + " sessions live",
		Hint: "name one of " + strings.Join(names, ", "),
	})
}

func (a *app) readCommand() *cobra.Command {
	var s settings
	var r pilot.ReadRequest
	var source string
	var raw bool
	cmd := &cobra.Command{
		Use:   "read [SESSION]",
		Short: "Print the text of a session",
		Example: "  termpilot read ID\n" +
			"  termpilot read ID --source command\n" +
			"  termpilot read ID --source since --cursor CURSOR",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.deck(s)
			if err != nil {
				return err
			}
			defer d.close()
			if r.SessionID, err = only(cmd.Context(), d.pilot, args); err != nil {
				return err
			}
			r.Source, r.Reduce = pilot.Source(source), !raw
			result, err := d.pilot.Read(cmd.Context(), r)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(result)
			}
			if err := a.printText(result.Content); err != nil {
				return err
			}
			if result.TruncatedHead {
				a.note("the first lines are no longer kept by the terminal")
			}
			if result.Omitted.Lines > 0 {
				a.note("%d lines left out; see --lines, --max-chars and --raw", result.Omitted.Lines)
			}
			return nil
		},
	}
	s.flags(cmd)
	s.maskFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&source, "source", "screen", "screen, history, all, since or command")
	f.StringVar(&r.Cursor, "cursor", "", "for --source since: where the last read ended")
	f.StringVar(&r.RunID, "run", "", "for --source command: the run; otherwise the last command")
	f.IntVar(&r.MaxLines, "lines", 0, "most lines (default 200)")
	f.IntVar(&r.MaxChars, "max-chars", 0, "most characters (default 32768)")
	f.BoolVar(&raw, "raw", false, "leave nothing out of long output but by --lines and --max-chars")
	f.StringVar(&r.Pattern, "pattern", "", "only the lines that hold this text")
	f.BoolVar(&r.Regex, "regex", false, "the pattern is a regular expression (RE2)")
	f.IntVar(&r.Context, "context", 0, "how many lines to show around each that holds the pattern")
	return a.withJSON(cmd)
}

func (a *app) sendCommand() *cobra.Command {
	var s settings
	var keys []string
	var paste bool
	cmd := &cobra.Command{
		Use:   "send SESSION [TEXT]",
		Short: "Type text into a session, or press keys",
		Example: "  termpilot send ID 'yes'\n" +
			"  termpilot send ID --keys ctrl_c,enter",
		Long: "Type text into a session, or press keys.\n\n" +
			"Text is typed exactly as given: no newline is added. With both, the text comes first.\n" +
			"Keys: " + strings.Join(pilot.KeyNames(), " ") + ".",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && len(keys) == 0 {
				return usage(fmt.Errorf("nothing to send: give text or --keys"))
			}
			d, err := a.deck(s)
			if err != nil {
				return err
			}
			defer d.close()
			var result pilot.SendResult
			if len(args) == 2 {
				if result, err = d.pilot.SendText(cmd.Context(), args[0], args[1], paste); err != nil {
					return err
				}
			}
			if len(keys) > 0 {
				if result, err = d.pilot.SendKeys(cmd.Context(), args[0], keys); err != nil {
					return err
				}
			}
			if a.json {
				return a.printJSON(result)
			}
			return nil
		},
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&keys, "keys", nil, "keys to press, such as enter,ctrl_c,f1")
	f.BoolVar(&paste, "paste", false, "send the text as one paste, where the program takes pastes")
	return a.withJSON(cmd)
}
