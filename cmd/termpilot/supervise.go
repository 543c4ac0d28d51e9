package main

import (
	"context"
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"termpilot/connector"
	"termpilot/fault"
	"termpilot/tunnel"
)

func (a *app) tunnelSuperviseCommand() *cobra.Command {
	var alias, keyFrom string
	var keyFD int
	var atLogin bool
	cmd := &cobra.Command{
		Use:     "supervise",
		Short:   "Keep a tunnel that was set up running, in the foreground",
		Example: "  termpilot chatgpt supervise --alias termpilot",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if atLogin && !tunnel.StartsAtLogin(alias, a.getenv) {
				a.note("%s is no longer started at login", alias)
				return nil // a failure would be tried again
			}
			place, err := a.tunnelPlace()
			if err != nil {
				return err
			}
			c, err := tunnel.Load(place, alias)
			if err != nil {
				return err
			}
			var key tunnel.Secret
			if keyFD >= 0 {
				hand := os.NewFile(uintptr(keyFD), "key")
				key, err = tunnel.ReadKey(hand)
				_ = hand.Close() // all of it was read
			} else {
				key, keyFrom, err = a.findKey(cmd.Context(), c)
			}
			if err != nil {
				return err
			}
			err = a.supervise(cmd.Context(), place, c, key, keyFrom)
			if atLogin && errors.Is(err, fault.TunnelBusy) {
				a.note("%v", err)
				return nil // it runs, which is what was asked for
			}
			return err
		},
	}
	aliasFlag(cmd, &alias)
	f := cmd.Flags()
	f.IntVar(&keyFD, "key-fd", -1, "read the key from this file descriptor, as setup hands it over")
	f.StringVar(&keyFrom, "key-from", "", "where that key was found, in words")
	f.BoolVar(&atLogin, "at-login", false, "started by the file that setup --at-login wrote: do nothing when it is gone, or when a supervisor runs")
	for _, name := range []string{"key-fd", "key-from", "at-login"} {
		_ = f.MarkHidden(name) // it is between setup and this
	}
	return cmd
}

func (a *app) findKey(ctx context.Context, c tunnel.Config) (tunnel.Secret, string, error) {
	sources, err := a.keySources(c.EnvFile)
	if err != nil {
		return tunnel.Secret{}, "", err
	}
	return c.Key.Resolve(ctx, sources)
}

// superviseCommands are how this program is started as the supervisor of an
// alias: with the key handed over, and at login.
func superviseCommands(alias string) (withKey tunnel.Command, atLogin []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	if alias, err = tunnel.Alias(alias); err != nil {
		return nil, nil, err
	}
	words := func(more ...string) []string {
		return append([]string{self, "chatgpt", "supervise", "--alias", alias}, more...)
	}
	withKey = func(keyFD int, keyFrom string) []string {
		return words("--key-fd", strconv.Itoa(keyFD), "--key-from", keyFrom)
	}
	return withKey, words("--at-login"), nil
}

// supervise serves the tools as the configuration says, to the tunnel alone.
// Where this process was started with secrets in its environment, which a shell
// that it starts could read, another takes its place.
func (a *app) supervise(ctx context.Context, place tunnel.Place, c tunnel.Config, key tunnel.Secret, keyFrom string) error {
	if len(tunnel.Secrets(c, os.Environ())) > 0 {
		command, _, err := superviseCommands(c.Alias)
		if err != nil {
			return err
		}
		return tunnel.Replace(c, command, key, keyFrom)
	}
	var s settings
	words := &cobra.Command{Use: "serve", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
	s.serverFlags(words)
	words.SetArgs(c.Serve)
	if err := words.ExecuteContext(ctx); err != nil {
		return usage(err)
	}
	s.alias = c.Alias
	if !words.Flags().Changed("text") {
		s.text = connector.TextSummary // ChatGPT's model sees the structured result as well
	}
	d, err := a.deck(s)
	if err != nil {
		return err
	}
	defer d.close()
	return tunnel.Supervise(ctx, tunnel.Options{
		Place: place, Config: c, Key: key, KeyFrom: keyFrom,
		Handler: d.server.Handler(connector.HTTPOptions{Stateless: true}),
		Version: version(), Getenv: a.getenv, Log: d.log,
	})
}
