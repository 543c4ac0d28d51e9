package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"termpilot/shellint"
)

func (a *app) shellCommand() *cobra.Command {
	return group("shell", "Install prompt marks into your shells, so that commands can be run in them",
		"  termpilot shell install zsh\n  termpilot shell check",
		a.shellPrintCommand(), a.shellInstallCommand(), a.shellUninstallCommand(), a.shellCheckCommand())
}

// forShell makes a command that takes exactly one shell that is integrated.
func forShell(verb, short, long, example string, run func(shell string) error) *cobra.Command {
	names := shellNames()
	return &cobra.Command{
		Use:       verb + " " + strings.Join(names, "|"),
		Short:     short,
		Long:      long,
		Example:   example,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE:      func(_ *cobra.Command, args []string) error { return run(args[0]) },
	}
}

func shellNames() []string {
	var names []string
	for _, s := range shellint.Shells() {
		names = append(names, s.Name)
	}
	return names
}

func (a *app) shellPrintCommand() *cobra.Command {
	return forShell("print", "Print a shell's integration script", "", "  termpilot shell print bash > ~/.termpilot.bash",
		func(shell string) error {
			script, err := shellint.Script(shell)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.out, script)
			return err
		})
}

func (a *app) shellInstallCommand() *cobra.Command {
	const short = "Add the integration to a shell's startup file"
	return a.withJSON(forShell("install", short, short+".\n\n"+
		"The script goes below ~/.local/share, and one block that reads it to the end of the startup file, whose former\n"+
		"text is kept beside it. Sessions of the headless host need no installation.",
		"  termpilot shell install zsh",
		func(shell string) error {
			in, err := shellint.Install(shell, a.getenv("HOME"))
			if err != nil {
				return err
			}
			if elsewhere := shellint.Elsewhere(shell, a.getenv); elsewhere != "" {
				a.note("%s reads its startup file from %s: add the last lines of %s there", shell, elsewhere, in.File)
			}
			return a.reportInstallation(in, "added to %s; shells that start from now on have it", "%s has it already")
		}))
}

func (a *app) shellUninstallCommand() *cobra.Command {
	return a.withJSON(forShell("uninstall", "Take the integration out of a shell's startup file", "",
		"  termpilot shell uninstall zsh",
		func(shell string) error {
			in, err := shellint.Uninstall(shell, a.getenv("HOME"))
			if err != nil {
				return err
			}
			return a.reportInstallation(in, "removed from %s", "%s does not have it")
		}))
}

// reportInstallation tells what a call did to a startup file, in one of two sentences.
func (a *app) reportInstallation(in shellint.Installation, changed, unchanged string) error {
	switch {
	case a.json:
		return a.printJSON(in)
	case in.Changed:
		a.note(changed, in.File)
		if in.Backup != "" {
			a.note("its former text is in %s", in.Backup)
		}
	default:
		a.note(unchanged, in.File)
	}
	return nil
}

func (a *app) shellCheckCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "check",
		Short:   "Say which shells have the integration in their startup files",
		Example: "  termpilot shell check --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var found []shellint.Installation
			var rows [][]string
			for _, name := range shellNames() {
				in, err := shellint.Installed(name, a.getenv("HOME"))
				if err != nil {
					return err
				}
				word := "not installed"
				switch {
				case in.Present && in.Current:
					word = "installed"
				case in.Present:
					word = "installed, but of another version: install it again"
				}
				found = append(found, in)
				rows = append(rows, []string{name, word, in.File})
			}
			if a.json {
				return a.printJSON(struct {
					Shells []shellint.Installation `json:"shells"`
				}{found})
			}
			return a.printTable([]string{"SHELL", "INTEGRATION", "STARTUP FILE"}, rows)
		},
	})
}
