package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"termpilot/connector"
	"termpilot/fault"
)

func (a *app) callCommand() *cobra.Command {
	var s settings
	var raw string
	cmd := &cobra.Command{
		Use:   "call TOOL [name=value…]",
		Short: "Call a tool as an MCP client would, without a client",
		Long: "Call a tool as an MCP client would, without a client.\n\n" +
			"Each value is read as the type that the tool gives the parameter; termpilot tools TOOL tells it. A list is\n" +
			"JSON, or its items separated by commas; an object is JSON.",
		Example: "  termpilot call create_window profile=zsh\n" +
			"  termpilot call run_command session_id=ID command='git status' timeout_seconds=10\n" +
			"  termpilot call send_keys session_id=ID keys=ctrl_c,enter",
		Args: cobra.MinimumNArgs(1),
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, args []string) error {
			input, err := toolInput(d.server.Tools(), args[0], args[1:], raw)
			if err != nil {
				return err
			}
			result := d.server.Call(ctx, args[0], input)
			if result.IsError {
				return result.Err
			}
			if a.json {
				return a.printJSON(result.Structured)
			}
			return a.printText(result.Text)
		}),
	}
	s.serverFlags(cmd)
	cmd.Flags().StringVar(&raw, "args", "", "the arguments as one JSON object, in place of name=value")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		words := a.toolWords(cmd.Context(), args)
		if len(args) == 0 {
			return words, noFiles
		}
		return words, noFiles | cobra.ShellCompDirectiveNoSpace // a value follows
	}
	return a.withJSON(cmd)
}

// toolInput is the arguments of a tool as JSON. A tool that is not offered has
// no schema to read words by; calling it says what is wrong.
func toolInput(tools []connector.ToolInfo, name string, words []string, raw string) (json.RawMessage, error) {
	if raw != "" {
		if len(words) > 0 {
			return nil, usage(errors.New("--args and name=value exclude each other"))
		}
		if !json.Valid([]byte(raw)) {
			return nil, usage(errors.New("--args is not JSON"))
		}
		return json.RawMessage(raw), nil
	}
	for _, tool := range tools {
		if tool.Name != name {
			continue
		}
		args, err := arguments(tool.InputSchema, words)
		if err != nil {
			return nil, usage(&fault.Error{
				Op: "call " + name, Code: fault.InvalidArgument, Err: err,
				Hint: fmt.Sprintf("see termpilot tools %s", name),
			})
		}
		return json.Marshal(args)
	}
	return json.RawMessage("{}"), nil
}

func (a *app) toolsCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:     "tools [TOOL]",
		Short:   "List the tools, or explain one",
		Example: "  termpilot tools\n  termpilot tools run_command\n  termpilot tools --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: a.withDeck(&s, func(_ context.Context, d *deck, args []string) error {
			tools := d.server.Tools()
			if len(args) == 1 {
				return a.explainTool(tools, args[0])
			}
			if a.json {
				return a.printJSON(struct {
					Tools []connector.ToolInfo `json:"tools"`
				}{tools})
			}
			var rows [][]string
			for _, tool := range tools {
				rows = append(rows, []string{tool.Name, tool.Toolset, accessWord(tool), tool.Title})
			}
			return a.printTable([]string{"TOOL", "TOOLSET", "ACCESS", "WHAT IT DOES"}, rows)
		}),
	}
	s.serverFlags(cmd)
	return completesFirst(a.withJSON(cmd), func(ctx context.Context) []cobra.Completion { return a.toolWords(ctx, nil) })
}

// accessWord says in a word what a tool does to the world.
func accessWord(tool connector.ToolInfo) string {
	switch {
	case tool.ReadOnly:
		return "reads"
	case tool.Destructive:
		return "can destroy"
	default:
		return "writes"
	}
}

func (a *app) explainTool(tools []connector.ToolInfo, name string) error {
	for _, tool := range tools {
		if tool.Name != name {
			continue
		}
		if a.json {
			return a.printJSON(tool)
		}
		fmt.Fprintf(a.out, "%s (%s, %s)\n%s\n\n", a.paint(a.out, bold, tool.Name), tool.Toolset, accessWord(tool), tool.Description)
		return a.printParameters(tool.InputSchema)
	}
	return &fault.Error{
		Op: "tools", Code: fault.InvalidArgument, Detail: fmt.Sprintf("no tool %q is offered", name),
		Hint: "see termpilot tools",
	}
}
