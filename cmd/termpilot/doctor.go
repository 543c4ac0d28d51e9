package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"termpilot/doctor"
	"termpilot/terminal"
	"termpilot/tunnel"
)

func (a *app) doctorCommand() *cobra.Command {
	var s settings
	var ask bool
	cmd := &cobra.Command{
		Use:        "doctor",
		Short:      "Check every part, from the ground up, and say what to mend first",
		SuggestFor: []string{"diagnose", "diagnostics"},
		Long: "Check every part, from the ground up, and say what to mend first.\n\n" +
			"Nothing is started or changed. Exit codes: 0 nothing failed, 1 something did.",
		Example: "  termpilot doctor\n  termpilot doctor --ask\n  termpilot doctor --json",
		Args:    cobra.NoArgs,
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, _ []string) error {
			sources, err := a.keySources("")
			if err != nil {
				return err
			}
			return a.reportHealth(doctor.Run(ctx, d.checks(a.getenv, tunnel.Viewpoint{Sources: sources}, ask)))
		}),
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&ask, "ask", false, "try iTerm2 as far as macOS asks you to allow it, which may open a dialog")
	return a.withJSON(cmd)
}

// reportHealth prints a report, with the one thing to do first as the last line.
func (a *app) reportHealth(r doctor.Report) error {
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		a.printHealth(r)
	}
	if r.State == doctor.Fail {
		return &outcome{code: exitFailed}
	}
	return nil
}

func (a *app) printHealth(r doctor.Report) {
	colour := map[doctor.State]style{doctor.Pass: green, doctor.Warn: yellow, doctor.Unknown: yellow, doctor.Fail: red, doctor.Skipped: dim}
	for _, one := range r.Results {
		mark := a.paint(a.out, colour[one.State], fmt.Sprintf("%-7s", one.State))
		fmt.Fprintf(a.out, "%s  %-22s %s\n", mark, one.ID, terminal.OneLine(one.Summary, 0))
		if one.Evidence != "" {
			fmt.Fprintf(a.out, "%9s%-22s %s\n", "", "", a.paint(a.out, dim, terminal.OneLine(one.Evidence, 0)))
		}
		if one.Next != "" && one.State != doctor.Pass {
			fmt.Fprintf(a.out, "%9s%-22s next: %s\n", "", "", terminal.OneLine(inCommands(one.Next), 0))
		}
	}
	if first, found := r.First(); found {
		fmt.Fprintf(a.out, "\nfirst: %s: %s\n", first.ID, terminal.OneLine(first.Summary, 0))
		return
	}
	fmt.Fprintln(a.out, "\nnothing needs mending")
}
