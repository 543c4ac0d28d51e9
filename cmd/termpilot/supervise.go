package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"termpilot/connector"
	"termpilot/tunnel"
)

func (a *app) tunnelSuperviseCommand() *cobra.Command {
	var alias string
	var stdin bool
	cmd := &cobra.Command{
		Use:     "supervise",
		Short:   "Keep a tunnel that was set up running, in the foreground",
		Example: "  termpilot chatgpt supervise --alias termpilot",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := a.tunnelPlace()
			if err != nil {
				return err
			}
			c, err := tunnel.Load(place, alias)
			if err != nil {
				return err
			}
			var key tunnel.Secret
			origin := "the setup"
			if stdin {
				key, err = tunnel.ReadKey(a.in)
			} else {
				sources, sourceErr := a.keySources(c.EnvFile)
				if sourceErr != nil {
					return sourceErr
				}
				key, origin, err = c.Key.Resolve(cmd.Context(), sources)
			}
			if err != nil {
				return err
			}
			return a.supervise(cmd.Context(), place, c, key, origin)
		},
	}
	aliasFlag(cmd, &alias)
	cmd.Flags().BoolVar(&stdin, "key-from-stdin", false, "read the key from standard input, as setup hands it over")
	_ = cmd.Flags().MarkHidden("key-from-stdin") // it is between setup and this
	return cmd
}

// supervise serves the tools as the configuration says, to the tunnel alone.
func (a *app) supervise(ctx context.Context, place tunnel.Place, c tunnel.Config, key tunnel.Secret, origin string) error {
	for _, name := range tunnel.Secrets(c, os.Environ()) {
		_ = os.Unsetenv(name) // no host and no shell that is started from here shall have it
	}
	var s settings
	words := &cobra.Command{Use: "serve", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
	s.serverFlags(words)
	words.SetArgs(c.Serve)
	if err := words.ExecuteContext(ctx); err != nil {
		return usage(err)
	}
	if !words.Flags().Changed("text") {
		s.text = connector.TextSummary // ChatGPT's model sees the structured result as well
	}
	d, err := a.deck(s)
	if err != nil {
		return err
	}
	defer d.close()
	return tunnel.Supervise(ctx, tunnel.Options{
		Place: place, Config: c, Key: key, KeyFrom: origin,
		Handler: d.server.Handler(connector.HTTPOptions{Stateless: true}),
		Version: version(), Getenv: a.getenv, Log: d.log,
	})
}
