package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"termpilot/connector"
	"termpilot/host"
	"termpilot/terminal"
	"termpilot/tunnel"
)

func (a *app) chatgptCommand() *cobra.Command {
	return group("chatgpt", "Connect ChatGPT to this machine's terminals",
		"  termpilot chatgpt setup --tunnel-id tunnel_…\n  termpilot chatgpt status",
		a.tunnelSetupCommand(), a.tunnelStatusCommand(), a.tunnelDoctorCommand(), a.tunnelDisconnectCommand(), a.tunnelSuperviseCommand())
}

// aliasFlag is on every command about a tunnel.
func aliasFlag(cmd *cobra.Command, alias *string) {
	cmd.Flags().StringVar(alias, "alias", tunnel.DefaultAlias, "name of the connection, where there are several")
}

func (a *app) tunnelPlace() (tunnel.Place, error) {
	where, err := host.Paths(a.getenv)
	return tunnel.Place{Home: where.Home, Sockets: where.Folder}, err
}

// keySources are where a key's variable is looked for: the process, then the
// file that was named, else .env here, else the one in the configuration folder.
func (a *app) keySources(envFile string) (tunnel.Sources, error) {
	s := tunnel.Sources{Getenv: a.getenv}
	if envFile != "" {
		path, err := filepath.Abs(envFile)
		s.EnvFile = path
		return s, err
	}
	if here, err := filepath.Abs(".env"); err == nil {
		s.Fallbacks = append(s.Fallbacks, here)
	}
	config := a.getenv("XDG_CONFIG_HOME")
	if home := a.getenv("HOME"); config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	if filepath.IsAbs(config) {
		s.Fallbacks = append(s.Fallbacks, filepath.Join(config, "termpilot", ".env"))
	}
	return s, nil
}

func (a *app) tunnelSetupCommand() *cobra.Command {
	var s settings
	var c tunnel.Config
	var key, envFile string
	var atLogin, foreground bool
	cmd := &cobra.Command{
		Use:   "setup --tunnel-id ID",
		Short: "Check everything, then connect ChatGPT through OpenAI's tunnel-client",
		Long: "Check everything, then connect ChatGPT through OpenAI's tunnel-client.\n\n" +
			"The tunnel and its runtime key are made at platform.openai.com. The key is only ever referred to:\n" +
			"as env:NAME (in the environment or a .env file), file:/path or, on macOS, keychain:SERVICE.\n" +
			"Run it again to change settings; what runs as asked already is left alone.",
		Example: "  termpilot chatgpt setup --tunnel-id tunnel_0123456789abcdef0123456789abcdef\n" +
			"  termpilot chatgpt setup --tunnel-id tunnel_… --env-file ~/.config/termpilot/.env --at-login --read-only",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.validate(); err != nil {
				return usage(err)
			}
			ref, err := tunnel.ParseReference(key)
			if err != nil {
				return err
			}
			c.Key = ref
			if c.Serve, err = serveFlags(cmd); err != nil {
				return err
			}
			r := tunnel.Request{Config: c, AtLogin: atLogin, Version: version()}
			if r.Sources, err = a.keySources(envFile); err != nil {
				return err
			}
			if r.Command, r.LoginCommand, err = superviseCommands(c.Alias); err != nil {
				return err
			}
			if !a.json {
				r.Step = func(name, detail string) {
					fmt.Fprintf(a.out, "%s  %-14s %s\n", a.paint(a.out, green, "ok"), name, terminal.OneLine(detail, 0))
				}
			}
			return a.setUpTunnel(cmd.Context(), r, foreground)
		},
	}
	s.serverFlags(cmd)
	aliasFlag(cmd, &c.Alias)
	f := cmd.Flags()
	f.Lookup("text").DefValue = connector.TextSummary // what supervise makes of it
	f.StringVar(&c.TunnelID, "tunnel-id", "", "id of the tunnel: tunnel_ and 32 letters or digits")
	f.StringVar(&key, "runtime-key", "env:"+tunnel.DefaultKeyVariable, "where the runtime key is: env:NAME, file:/path or keychain:SERVICE")
	f.StringVar(&envFile, "env-file", "", "the .env file that sets the key's variable (default ./.env, then the one in the configuration folder)")
	f.StringVar(&c.Client, "tunnel-client", "", "path of tunnel-client (default: on PATH)")
	f.StringVar(&c.BaseURL, "base-url", tunnel.DefaultBaseURL, "the control plane")
	f.BoolVar(&atLogin, "at-login", false, "also start it at each login, by systemd or launchd")
	f.BoolVar(&foreground, "foreground", false, "stay, and be the supervisor")
	return a.withJSON(cmd)
}

// serveFlags are the flags of the MCP server that were given, as words for the supervisor.
func serveFlags(cmd *cobra.Command) ([]string, error) {
	var s settings
	own := &cobra.Command{}
	s.serverFlags(own)
	var words []string
	var failed error
	own.Flags().VisitAll(func(known *pflag.Flag) {
		given := cmd.Flags().Lookup(known.Name)
		if !given.Changed {
			return
		}
		values := []string{given.Value.String()}
		if list, ok := given.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if known.Name == "tripwire" || known.Name == "tmux-socket" && strings.ContainsRune(value, '/') { // the supervisor runs in another folder
				path, err := filepath.Abs(value)
				value, failed = path, errors.Join(failed, err)
			}
			words = append(words, "--"+known.Name+"="+value)
		}
	})
	return words, failed
}

func (a *app) setUpTunnel(ctx context.Context, r tunnel.Request, foreground bool) error {
	place, err := a.tunnelPlace()
	if err != nil {
		return err
	}
	if foreground {
		c, key, origin, err := tunnel.Prepare(ctx, place, r)
		if err != nil {
			return err
		}
		return a.supervise(ctx, place, c, key, origin)
	}
	status, err := tunnel.Setup(ctx, place, r)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(status)
	}
	fmt.Fprintf(a.out, "\nChatGPT can reach this machine now. In ChatGPT, with developer mode on:\n"+
		"  1. open Plugins, then + and Add custom MCP server (https://chatgpt.com/plugins)\n"+
		"  2. choose Connection: Tunnel, not Server URL\n"+
		"  3. enter %s, and no authentication\n"+
		"  4. in a chat, switch the plugin on and ask for your terminal sessions\n\n"+
		"termpilot chatgpt status tells how it stands; termpilot chatgpt disconnect ends it.\n", a.paint(a.out, bold, status.TunnelID))
	return nil
}
