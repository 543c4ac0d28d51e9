package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"termpilot/fault"
)

// app is one invocation: its streams and environment, and what its flags said.
type app struct {
	in     io.Reader
	out    io.Writer
	errs   io.Writer
	getenv func(string) string

	json    bool // --json
	started bool // the command line was understood, and the command runs
}

// run carries out one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == "hook" { // there is no time for building the others, and nothing to say of how it is called
		a.hook(ctx, args[1:])
		return exitOK
	}
	root := a.rootCommand(args)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	at, err := root.ExecuteContextC(ctx)
	if err == nil || readerLeft(err) {
		return exitOK
	}
	hint := fault.HintOf(err)
	if at.Name() != "call" { // which speaks of tools by their names
		hint = inCommands(hint)
	}
	o, told := errors.AsType[*outcome](err)
	if told && o.hint != "" {
		hint = o.hint
	}
	switch {
	case !a.started:
		err = usage(err)
	case ctx.Err() != nil && (!told || o.cause == nil): // whatever it broke is not worth telling; what came of it is
		err, hint = errors.New("interrupted"), ""
	}
	code := exitCode(err)
	if code == exitUsage && hint == "" {
		hint = a.usageHint(at)
	}
	if text := err.Error(); text != "" {
		if at.Name() != "call" && errors.Is(err, fault.SessionNotFound) { // which takes ids alone
			text = strings.Replace(text, "exactly this id", "exactly this id or this name", 1)
		}
		a.complain(text, hint)
	}
	return code
}

// usageHint names the help that tells what is right, and what was meant where that is plain.
func (a *app) usageHint(at *cobra.Command) string {
	hint := fmt.Sprintf("see %s --help", at.CommandPath())
	words := at.Flags().Args()
	switch {
	case a.started:
	case at.HasSubCommands() && len(words) > 0:
		at.SuggestionsMinimumDistance = 2
		if meant := at.SuggestionsFor(words[0]); len(meant) > 0 {
			return fmt.Sprintf("did you mean %s %s? %s", at.CommandPath(), strings.Join(meant, " or "), hint)
		}
	case at.ValidateArgs(words) != nil:
		return fmt.Sprintf("usage: %s; %s", at.UseLine(), hint)
	case strings.Contains(at.Use, "-- COMMAND"): // a flag is wrong, and the command's own may have been taken for one
		return "what belongs to COMMAND goes behind --; " + hint
	}
	return hint
}

// readerLeft reports whether an error says no more than that whoever read the
// output has seen enough of it, as head does.
func readerLeft(err error) bool {
	write, ok := errors.AsType[*fs.PathError](err)
	return ok && write.Path == os.Stdout.Name() && errors.Is(write, syscall.EPIPE)
}

// rootCommand is the command line, with as many of its commands as args need.
func (a *app) rootCommand(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "termpilot",
		Short: "Let MCP clients see and safely drive your terminals",
		Long: "Let MCP clients see and safely drive your terminals.\n\n" +
			"Without arguments, and with standard input not a terminal, it is an MCP server over stdio.",
		Example:       "  termpilot demo\n  termpilot run -- make test\n  claude mcp add --scope user termpilot -- termpilot serve",
		Version:       version(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.started = true
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	serve := a.serveCommand()
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if a.interactive() {
			return cmd.Help()
		}
		serve.SetContext(cmd.Context())
		return serve.RunE(serve, nil)
	}
	root.SetHelpCommand(a.helpCommand(root))
	under := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
		for _, cmd := range commands {
			cmd.GroupID = title
			root.AddCommand(cmd)
		}
	}
	if len(args) == 0 && !a.interactive() || len(args) > 0 && args[0] == serve.Name() {
		under("MCP clients", serve) // a server starts for every client, and is spared the flags of the rest
		return root
	}
	under("Look at sessions", a.sessionsCommand(), a.readCommand(), a.attachCommand())
	under("Work in sessions", a.runCommand(), a.sendCommand(), a.keysCommand())
	under("Open, arrange and close sessions",
		a.newCommand(), a.tabCommand(), a.splitCommand(), a.profilesCommand(), a.focusCommand(), a.resizeCommand(), a.renameCommand(), a.closeCommand(), a.recoverCommand())
	under("Coding agents", a.agentCommand(), a.waitCommand())
	under("MCP clients", serve, a.chatgptCommand(), a.toolsCommand(), a.callCommand(), a.demoCommand())
	under("This installation", a.doctorCommand(), a.hostCommand(), a.shellCommand(), a.completionCommand(), a.reduceCommand())
	root.SetHelpCommandGroupID("This installation")
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // Tab was pressed
		a.completeFlags(root)
	}
	return root
}

// group is a command that only holds others.
func group(use, short, example string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}

// withJSON gives a command that prints data its --json flag.
func (a *app) withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object (\"v\": 1)")
	return cmd
}

func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
		Example: "  termpilot help run",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage(fmt.Errorf("unknown command %q", strings.Join(args, " ")))
			}
			return cmd.Help()
		},
	}
	return completes(cmd, func(_ context.Context, before []string) (words []cobra.Completion) {
		at, rest, err := root.Find(before)
		if err != nil || len(rest) > 0 {
			return nil
		}
		for _, child := range at.Commands() {
			if !child.IsAvailableCommand() {
				continue
			}
			words = append(words, cobra.CompletionWithDesc(child.Name(), child.Short))
		}
		return words
	})
}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish",
		Short:     "Print the completion script of a shell",
		Example:   "  termpilot completion fish > ~/.config/fish/completions/termpilot.fish",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.out)
			default:
				return cmd.Root().GenFishCompletion(a.out, true)
			}
		},
	}
}

// interactive reports whether a person may sit at the standard input.
func (a *app) interactive() bool {
	f, ok := a.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
