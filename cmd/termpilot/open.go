package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"termpilot/pilot"
	"termpilot/terminal"
)

// opening is what the flags of the commands that open a session say.
type opening struct {
	settings
	request pilot.OpenRequest
	env     []string
	cwd     string
}

// flags gives cmd the flags of a new session.
func (o *opening) flags(cmd *cobra.Command) {
	o.settings.flags(cmd)
	o.tripwireFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&o.request.Name, "name", "", "what to call it (default: a free name)")
	f.StringVar(&o.request.Profile, "profile", "", "of those that termpilot profiles lists, such as zsh (default: the login shell)")
	f.StringVar(&o.cwd, "cwd", "", "the folder to start in (default: this one)")
	f.StringArrayVar(&o.env, "env", nil, "NAME=VALUE, or NAME to pass on a variable of this environment (repeatable)")
	f.BoolVar(&o.request.Ends, "then-close", false, "the session ends with COMMAND; otherwise its shell stays")
	f.BoolVar(&o.request.Focus, "focus", false, "give it the keyboard focus")
}

func (a *app) newCommand() *cobra.Command {
	var o opening
	cmd := &cobra.Command{
		Use:        "new [flags] [-- COMMAND [WORD…]]",
		Short:      "Open a session in a window of its own and print its id",
		SuggestFor: []string{"open", "create"},
		Long: "Open a session in a window of its own and print its id.\n\n" +
			"COMMAND is typed at its first prompt. Without --backend it opens in the host, where no window comes up.",
		Example: "  termpilot new --name build -- make test\n" +
			"  id=$(termpilot new --profile zsh)",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch len(o.backends) {
			case 0:
				o.request.Backend = "host"
			case 1:
				if o.backends[0] != auto {
					o.request.Backend = o.backends[0]
				}
			}
			return a.openIn(cmd.Context(), &o, args, func(context.Context, *pilot.Pilot) error { return nil })
		},
	}
	o.flags(cmd)
	cmd.Flags().IntVar(&o.request.Rows, "rows", 0, "height in cells")
	cmd.Flags().IntVar(&o.request.Columns, "columns", 0, "width in cells")
	return a.withJSON(cmd)
}

func (a *app) tabCommand() *cobra.Command {
	var o opening
	cmd := &cobra.Command{
		Use:   "tab WINDOW [flags] [-- COMMAND [WORD…]]",
		Short: "Open a session in a new tab of a window and print its id",
		Long: "Open a session in a new tab of a window and print its id.\n\n" +
			"WINDOW is the window's id, or a session in it.",
		Example:               "  termpilot tab acorn --name logs -- tail -f app.log",
		Args:                  cobra.MinimumNArgs(1),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.openIn(cmd.Context(), &o, args[1:], func(ctx context.Context, p *pilot.Pilot) (err error) {
				o.request.Place = terminal.InTab
				o.request.Window, err = windowOf(ctx, p, args[0])
				return err
			})
		},
	}
	o.flags(cmd)
	return a.completesSession(a.withJSON(cmd))
}

func (a *app) splitCommand() *cobra.Command {
	var o opening
	var side string
	cmd := &cobra.Command{
		Use:                   "split SESSION [flags] [-- COMMAND [WORD…]]",
		Short:                 "Open a session beside another one and print its id",
		Example:               "  termpilot split acorn --direction below -- htop",
		Args:                  cobra.MinimumNArgs(1),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.openIn(cmd.Context(), &o, args[1:], func(ctx context.Context, p *pilot.Pilot) (err error) {
				o.request.Place, o.request.Direction = terminal.InSplit, pilot.Side(side)
				o.request.Beside, err = p.Named(ctx, args[0])
				return err
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&side, "direction", string(pilot.SideRight), "on which side: right, left, below or above")
	return a.completesSession(a.withJSON(cmd))
}

// openIn opens a session where place says and prints its id.
func (a *app) openIn(ctx context.Context, o *opening, command []string, place func(context.Context, *pilot.Pilot) error) error {
	var err error
	if o.request.Env, err = a.environment(o.env); err != nil {
		return err
	}
	if o.request.Cwd, err = filepath.Abs(o.cwd); err != nil {
		return err
	}
	if len(command) > 0 {
		o.request.Command = shellLine(command)
	} else if o.request.Ends {
		return usage(errors.New("--then-close needs a COMMAND"))
	}
	d, err := a.deck(o.settings)
	if err != nil {
		return err
	}
	defer d.close()
	if err := place(ctx, d.pilot); err != nil {
		return err
	}
	opened, err := d.pilot.Open(ctx, o.request)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(opened)
	} else {
		fmt.Fprintln(a.out, opened.SessionID)
		a.note("the session is named %s", opened.Name)
	}
	if opened.Reason != "" {
		return &outcome{code: exitFailed, cause: fmt.Errorf("open: the session is open, but the command was not typed: %s", inCommands(opened.Reason))}
	}
	return err
}

// environment reads what --env says. A name alone stands for its value here, so
// that a secret need not be in the list of processes.
func (a *app) environment(said []string) (map[string]string, error) {
	env := map[string]string{}
	for _, one := range said {
		name, value, given := strings.Cut(one, "=")
		if !given {
			if value = a.getenv(name); value == "" {
				return nil, usage(fmt.Errorf("--env %s: there is no such variable here", name))
			}
		}
		env[name] = value
	}
	return env, nil
}

// windowOf returns the window that word names: by its id, or by a session in it.
func windowOf(ctx context.Context, p *pilot.Pilot, word string) (string, error) {
	id, err := p.Named(ctx, word)
	if err != nil {
		return "", err
	}
	listing, err := p.Sessions(ctx, "")
	if err != nil {
		return "", err
	}
	for _, s := range listing.Sessions {
		if s.SessionID == id && s.WindowID != "" {
			return s.WindowID, nil
		}
	}
	return word, nil
}
