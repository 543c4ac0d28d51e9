package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"termpilot/doctor"
	"termpilot/terminal"
	"termpilot/tunnel"
)

func (a *app) tunnelStatusCommand() *cobra.Command {
	var alias string
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Say how the connection stands",
		Long:    "Say how the connection stands.\n\nExit codes: 0 a call would be answered, or the first poll has not returned yet; 1 it runs but would not be;\n3 its supervisor does not answer; 4 it does not run or was never set up.",
		Example: "  termpilot chatgpt status\n  termpilot chatgpt status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := a.tunnelPlace()
			if err != nil {
				return err
			}
			s, err := tunnel.Inspect(cmd.Context(), place, alias)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(s)
			} else {
				a.printTunnel(s)
			}
			switch {
			case err != nil:
				return err
			case !s.Running:
				return &outcome{code: exitGone}
			case !s.Ready && (s.Polling != tunnel.PollingPending || s.ServerError != ""):
				return &outcome{code: exitFailed}
			}
			return nil
		},
	}
	aliasFlag(cmd, &alias)
	return a.withJSON(cmd)
}

func (a *app) printTunnel(s tunnel.Status) {
	yes := func(b bool) string {
		if b {
			return a.paint(a.out, green, "yes")
		}
		return a.paint(a.out, red, "no")
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(a.out, "%-14s  %s\n", name, text)
		}
	}
	plain := func(name, text string) { line(name, terminal.OneLine(text, 0)) }
	plain("alias", s.Alias)
	plain("tunnel", s.TunnelID)
	line("running", yes(s.Running)+inBrackets(s.Running, fmt.Sprintf("supervisor %d, version %s, %s", s.PID, s.Version, lasting(s.Since))))
	line("healthy", yes(s.Healthy)+inBrackets(s.ClientPID != 0, fmt.Sprintf("tunnel-client %d, version %s, %s", s.ClientPID, s.ClientVersion, lasting(s.ClientSince))))
	line("ready", yes(s.Ready))
	plain("polling", string(s.Polling)+inBrackets(!s.LastPoll.IsZero(), fmt.Sprintf("the last success was %d s ago", s.PollAge)))
	plain("polls fail", s.LastError)
	plain("key", s.KeyFrom)
	if s.Polling != tunnel.PollingOK { // tunnel-client asks once, at its start
		plain("key refused", s.KeyError)
	}
	plain("MCP server", fmt.Sprintf("%d tools", s.Tools)+inBrackets(s.ServerError != "", s.ServerError))
	if s.Running {
		plain("calls", fmt.Sprint(s.Calls)+inBrackets(s.Calls > 0, "the last was "+ago(s.LastCall)))
		plain("restarts", fmt.Sprint(s.Restarts)+inBrackets(s.Restarts > 0, s.LastExit))
	}
	if s.CallErrors > 0 {
		plain("calls failed", fmt.Sprint(s.CallErrors)+inBrackets(true, "the last was "+ago(s.LastCallFailed)+": "+s.LastCallError))
	}
	plain("log", s.LogPath)
}

func inBrackets(when bool, text string) string {
	if !when {
		return ""
	}
	return " (" + terminal.OneLine(text, 0) + ")"
}

func lasting(t time.Time) string { return "for " + time.Since(t).Round(time.Second).String() }

func ago(t time.Time) string { return time.Since(t).Round(time.Second).String() + " ago" }

func (a *app) tunnelDoctorCommand() *cobra.Command {
	var s settings
	var alias, envFile string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check every layer between ChatGPT and your shells, and say which to mend first",
		Long: "Check every layer between ChatGPT and your shells, and say which to mend first.\n\n" +
			"Nothing is started or changed. Exit codes: 0 nothing failed, 1 something did.",
		Example: "  termpilot chatgpt doctor\n  termpilot chatgpt doctor --json",
		Args:    cobra.NoArgs,
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, _ []string) error {
			sources, err := a.keySources(envFile)
			if err != nil {
				return err
			}
			return a.reportHealth(doctor.Run(ctx, d.checks(a.getenv, tunnel.Viewpoint{Alias: alias, Sources: sources, Wanted: true}, false)))
		}),
	}
	s.flags(cmd)
	aliasFlag(cmd, &alias)
	cmd.Flags().StringVar(&envFile, "env-file", "", "the .env file that sets the key's variable (default: the one that setup used)")
	return a.withJSON(cmd)
}

func (a *app) tunnelDisconnectCommand() *cobra.Command {
	var alias string
	cmd := &cobra.Command{
		Use:   "disconnect",
		Short: "End the connection of this machine",
		Long: "End the connection of this machine.\n\n" +
			"The supervisor and its tunnel-client end, and what starts them at login is removed. Sessions go on, and the tunnel\n" +
			"at OpenAI stays. It may be repeated.",
		Example: "  termpilot chatgpt disconnect",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := a.tunnelPlace()
			if err != nil {
				return err
			}
			e, err := tunnel.Disconnect(cmd.Context(), place, alias, a.getenv)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(e)
			}
			if e.WasRunning {
				fmt.Fprintf(a.out, "disconnected %s: the supervisor %d and tunnel-client %d have ended; the tunnel at OpenAI stays\n", e.Alias, e.PID, e.ClientPID)
			} else {
				fmt.Fprintf(a.out, "%s was not connected\n", e.Alias)
			}
			if e.LoginFile != "" {
				fmt.Fprintf(a.out, "removed %s\n", e.LoginFile)
			}
			return nil
		},
	}
	aliasFlag(cmd, &alias)
	return a.withJSON(cmd)
}
