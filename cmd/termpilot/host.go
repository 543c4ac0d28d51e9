package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"termpilot/fault"
	"termpilot/host"
	"termpilot/terminal"
	"termpilot/tunnel"
)

func (a *app) hostCommand() *cobra.Command {
	return group("host", "Look after the headless terminal host",
		"  termpilot host status\n  eval \"$(termpilot host env)\"\n  termpilot host stop --force",
		a.hostStartCommand(), a.hostStatusCommand(), a.hostEnvCommand(), a.hostStopCommand(), a.hostServeCommand())
}

// startHost starts this program once more, as the host.
func startHost(ctx context.Context) (host.Status, error) {
	self, err := os.Executable()
	if err != nil {
		return host.Status{}, err
	}
	forgetSecrets() // a program in a session can read what the host was started with
	return host.Start(ctx, self, "host", "serve")
}

// forgetSecrets takes out of this process's environment, and so of that of what it
// starts, what lets others in: the tunnel's key, and the token of an HTTP server.
func forgetSecrets() {
	for _, name := range append(tunnel.Secrets(tunnel.Config{}, os.Environ()), tokenVariable) {
		_ = os.Unsetenv(name)
	}
}

// hostReport is what host start and host status print.
type hostReport struct {
	Running bool `json:"running"`
	*host.Status
}

func (a *app) reportHost(status host.Status) error {
	if a.json {
		return a.printJSON(hostReport{Running: true, Status: &status})
	}
	fmt.Fprintf(a.out, "%s, process %d, since %s, %s\n", a.paint(a.out, green, "running"),
		status.PID, status.Started.Local().Format(time.DateTime), plural(status.Sessions, "session"))
	fmt.Fprintf(a.out, "version  %s\nsocket   %s\nlog      %s\n", terminal.OneLine(status.Version, 0), status.Socket, status.Log)
	if status.Version != version() {
		a.note("the host is of version %s, this program of %s; stop the host to renew it", status.Version, version())
	}
	return nil
}

func (a *app) hostStartCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "start",
		Short:   "Start the host, unless it runs",
		Example: "  termpilot host start",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, err := startHost(cmd.Context())
			if err != nil {
				return err
			}
			return a.reportHost(status)
		},
	})
}

func (a *app) hostStatusCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "status",
		Short:   "Say whether the host runs, and where",
		Example: "  termpilot host status\n  termpilot host status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, err := host.Inspect(cmd.Context())
			if err == nil {
				return a.reportHost(status)
			}
			if !errors.Is(err, fault.BackendUnavailable) {
				return err
			}
			if a.json {
				if err := a.printJSON(hostReport{}); err != nil {
					return err
				}
			} else {
				a.note("the host is not running; it starts when a session is opened")
			}
			return &outcome{code: exitGone}
		},
	})
}

// suiteVariables is what host env prints: the variables by which programs made
// for iTerm2 find their server and are let in.
type suiteVariables struct {
	Env    map[string]string `json:"env"`
	Socket string            `json:"socket"`
}

func (a *app) hostEnvCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "env",
		Short: "Print the variables with which programs made for iTerm2 reach the host",
		Example: "  eval \"$(termpilot host env)\"\n" +
			"  termpilot host env --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := host.CheckSuite(); err != nil {
				return err
			}
			if _, err := startHost(cmd.Context()); err != nil {
				return err
			}
			c, err := host.AdmitSuite(cmd.Context())
			if err != nil {
				return err
			}
			v := suiteVariables{Socket: c.Socket, Env: map[string]string{
				"IT2_SUITE": c.Suite, "ITERM2_COOKIE": c.Cookie, "ITERM2_KEY": c.Key,
			}}
			if a.json {
				return a.printJSON(v)
			}
			for _, name := range slices.Sorted(maps.Keys(v.Env)) {
				fmt.Fprintf(a.out, "export %s=%s\n", name, v.Env[name]) // letters, digits and dashes
			}
			return nil
		},
	})
}

func (a *app) hostStopCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "stop",
		Short:   "Stop the host",
		Example: "  termpilot host stop\n  termpilot host stop --force",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 15*time.Second)
			defer cancel()
			err := host.Stop(ctx, force)
			if errors.Is(err, fault.BackendUnavailable) {
				a.note("the host is not running")
				return nil
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also when sessions live: their programs are ended")
	return cmd
}

func (a *app) hostServeCommand() *cobra.Command {
	var idle time.Duration
	var level string
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Be the host, in the foreground",
		Example: "  termpilot host serve --log-level debug",
		Args:    cobra.NoArgs,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := a.logger(level)
			if err != nil {
				return usage(err)
			}
			return host.Serve(cmd.Context(), host.Options{Version: version(), Idle: idle, Log: logger})
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", 0, "leave after this long without sessions and clients (default 30m)")
	cmd.Flags().StringVar(&level, "log-level", "info", "what to tell on standard error: debug, info, warn or error")
	return cmd
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
