package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"termpilot/shellint"
)

func (a *app) shellCommand() *cobra.Command {
	return group("shell", "Install prompt marks into your shells, so that commands can be run in them",
		"  termpilot shell install zsh\n  termpilot shell check",
		a.shellPrintCommand(), a.shellInstallCommand(), a.shellUninstallCommand(), a.shellCheckCommand())
}

// oneShell takes exactly one shell that is integrated.
func oneShell() (cobra.PositionalArgs, []string) {
	return cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), shellNames()
}

func shellNames() []string {
	var names []string
	for _, s := range shellint.Shells() {
		names = append(names, s.Name)
	}
	return names
}

func (a *app) shellPrintCommand() *cobra.Command {
	args, names := oneShell()
	return &cobra.Command{
		Use:     "print " + strings.Join(names, "|"),
		Short:   "Print a shell's integration script",
		Example: "  termpilot shell print bash > ~/.termpilot.bash",
		Args:    args, ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			script, err := shellint.Script(args[0])
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.out, script)
			return err
		},
	}
}

func (a *app) shellInstallCommand() *cobra.Command {
	args, names := oneShell()
	return &cobra.Command{
		Use:   "install " + strings.Join(names, "|"),
		Short: "Add the integration to a shell's startup file",
		Long: "Add the integration to a shell's startup file.\n\n" +
			"The script goes into termpilot's home, and one block that reads it to the end of the startup file.\n" +
			"Sessions of the headless host need no installation.",
		Example: "  termpilot shell install zsh",
		Args:    args, ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.placeOf(args[0])
			if err != nil {
				return err
			}
			script, err := shellint.Script(args[0])
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(p.script), 0o700); err != nil {
				return err
			}
			if err := renameio.WriteFile(p.script, []byte(script), 0o600); err != nil {
				return err
			}
			changed, err := p.edit(func(text string) (string, error) {
				without, err := withoutBlock(p.startup, text)
				if err != nil || strings.Contains(text, p.block()) {
					return text, err
				}
				return withBlock(without, p.block()), nil
			})
			if err != nil {
				return err
			}
			if !changed {
				a.note("%s has it already", p.startup)
				return nil
			}
			a.note("added to %s; shells that start from now on have it", p.startup)
			return nil
		},
	}
}

func (a *app) shellUninstallCommand() *cobra.Command {
	args, names := oneShell()
	return &cobra.Command{
		Use:     "uninstall " + strings.Join(names, "|"),
		Short:   "Take the integration out of a shell's startup file",
		Example: "  termpilot shell uninstall zsh",
		Args:    args, ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.placeOf(args[0])
			if err != nil {
				return err
			}
			changed, err := p.edit(func(text string) (string, error) { return withoutBlock(p.startup, text) })
			if err != nil {
				return err
			}
			if err := os.Remove(p.script); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if changed {
				a.note("removed from %s", p.startup)
			} else {
				a.note("%s does not have it", p.startup)
			}
			return nil
		},
	}
}

// shellState is how a shell stands, for shell check.
type shellState struct {
	Shell     string `json:"shell"`
	Path      string `json:"path"` // "" when it is not installed on this machine
	Startup   string `json:"startup_file"`
	Installed bool   `json:"installed"` // the startup file reads a script that is there
	Current   bool   `json:"current"`   // and the script is the one that this program would install
}

func (a *app) shellCheckCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "check",
		Short:   "Say which shells have the integration in their startup files",
		Example: "  termpilot shell check --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var states []shellState
			for _, name := range shellNames() {
				p, err := a.placeOf(name)
				if err != nil {
					return err
				}
				state, err := p.state(name)
				if err != nil {
					return err
				}
				states = append(states, state)
			}
			if a.json {
				return a.printJSON(struct {
					Shells []shellState `json:"shells"`
				}{states})
			}
			var rows [][]string
			for _, s := range states {
				word := "not installed"
				switch {
				case s.Installed && s.Current:
					word = "installed"
				case s.Installed:
					word = "installed, but of another version: install it again"
				}
				rows = append(rows, []string{s.Shell, word, s.Startup})
			}
			return a.printTable([]string{"SHELL", "INTEGRATION", "STARTUP FILE"}, rows)
		},
	})
}
