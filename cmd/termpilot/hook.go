package main

import (
	"github.com/spf13/cobra"

	"termpilot/agent"
)

// hookCommand is what coding agents call when something happened. It says nothing
// and succeeds whatever happens: an agent must not be kept from its work.
func (a *app) hookCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "hook VENDOR [JSON]",
		Short:   "Take what a coding agent tells by its hooks",
		Example: "  termpilot hook claude < event.json",
		Args:    cobra.ArbitraryArgs,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			argument := ""
			if len(args) > 1 {
				argument = args[len(args)-1]
			}
			_ = agent.Hook(cmd.Context(), args[0], a.getenv, a.in, argument) // nobody could act on it here
			return nil
		},
	}
}
