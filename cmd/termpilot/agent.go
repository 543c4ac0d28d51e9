package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"termpilot/agent"
	"termpilot/terminal"
)

func (a *app) agentCommand() *cobra.Command {
	return group("agent", "Launch coding agents in terminals, and work with them",
		"  termpilot agent launch claude --prompt 'mend the tests'\n  termpilot agent turn acorn 'now the docs'\n  termpilot agent result acorn",
		a.agentLaunchCommand(), a.agentTurnCommand(), a.agentStatusCommand(), a.agentResultCommand(), a.agentApprovalCommand(), a.agentConfigureCommand(),
		a.agentExecCommand())
}

func (a *app) agentLaunchCommand() *cobra.Command {
	var s settings
	var r agent.LaunchRequest
	var env []string
	var alone bool
	names, _ := agent.Launchers()
	cmd := &cobra.Command{
		Use:   "launch " + strings.Join(names, "|"),
		Short: "Launch a coding agent, and give it its first prompt",
		Long: "Launch a coding agent, and give it its first prompt.\n\n" +
			"It runs in a session of its own, which ends with it, or with --session at the prompt of one that is there. The\n" +
			"agent works with the person's own configuration; only what tells of its turns is added, for this launch.\n" +
			"Exit codes: 0 launched, 5 launched but the prompt was not sent, 7 refused.",
		Example:   "  termpilot agent launch claude --prompt 'mend the tests' --cwd ~/work\n  termpilot agent launch codex --write-scope read_only",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		PreRunE: func(*cobra.Command, []string) (err error) {
			r.Env, err = a.environment(env)
			return err
		},
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, args []string) (err error) {
			r.Preset, r.Delegate = args[0], !alone
			if len(s.backends) == 1 {
				r.Backend = s.backends[0]
			}
			if r.Cwd != "" || r.SessionID == "" {
				if r.Cwd, err = filepath.Abs(r.Cwd); err != nil {
					return err
				}
			}
			if r.SessionID != "" {
				if r.SessionID, err = d.pilot.Named(ctx, r.SessionID); err != nil {
					return err
				}
			}
			receipt, err := d.agents.Launch(ctx, r)
			if err != nil {
				return err
			}
			return a.reportLaunch(receipt, r.Prompt != "")
		}),
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&r.Prompt, "prompt", "", "its first prompt")
	f.StringVar(&r.Cwd, "cwd", "", "the folder to work in (default: this one, or that of the session)")
	f.StringVar(&r.Model, "model", "", "the model (default: the agent's)")
	f.StringVar(&r.Effort, "effort", "", "how hard it thinks (default: the agent's)")
	f.StringVar(&r.Name, "name", "", "name of the new session")
	f.StringVar(&r.WriteScope, "write-scope", "", "read_only: let it change no files, as far as the agent can be held to that")
	f.StringVar(&r.SessionID, "session", "", "launch it at the prompt of this session")
	f.StringVar(&r.OperationID, "operation", "", "an id of yours: a launch with the same one is told about, not done again")
	f.StringArrayVar(&env, "env", nil, "NAME=VALUE, or NAME for its value here, added to its environment (repeatable)")
	f.BoolVar(&alone, "no-delegation", false, "forbid it to launch other agents")
	return a.withJSON(cmd)
}

func (a *app) reportLaunch(r agent.LaunchReceipt, prompted bool) error {
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(a.out, terminal.OneLine(r.SessionID, 0))
		a.note("%s is %s in session %s", r.Provider, r.State, r.SessionID)
		if r.Reason != "" {
			a.note("%s", r.Reason)
		}
		if r.TurnID != "" {
			a.note("wait for its answer with: %s", r.WaitCommand)
		}
	}
	if prompted && r.TurnID == "" {
		return &outcome{code: exitRunning}
	}
	return nil
}

func (a *app) agentTurnCommand() *cobra.Command {
	var s settings
	var operation, text string
	cmd := &cobra.Command{
		Use:   "turn SESSION [TEXT]",
		Short: "Give an agent a prompt, and return when it has it",
		Long: "Give an agent a prompt, and return when it has it.\n\n" +
			"Without TEXT, what standard input holds is the prompt. Nothing is typed unless the agent that was launched there is\n" +
			"in the foreground, asks nothing, works on nothing and has an empty composer.\n" +
			"Exit codes: 0 it has it, 1 that it took it is not known, 7 refused.",
		Example: "  termpilot agent turn acorn 'now the docs'\n  termpilot agent turn acorn --operation 17 < prompt.md",
		Args:    cobra.RangeArgs(1, 2),
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			text, err = a.textUpTo(args[1:], agent.MaxPrompt)
			return err
		},
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			r, err := d.agents.Send(ctx, agent.SendRequest{SessionID: id, Text: text, OperationID: operation})
			return cmp.Or(a.reportTurn(r, err), turnOutcome(r))
		}),
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&operation, "operation", "", "an id of yours: the turn is sent at most once")
	return a.completesSession(a.withJSON(cmd))
}

// turnOutcome ends a turn with a code of its own where it is not known that the
// agent took it: the report said why.
func turnOutcome(r agent.TurnReceipt) error {
	if r.Outcome == agent.Unknown {
		return &outcome{code: exitFailed}
	}
	return nil
}

func (a *app) agentStatusCommand() *cobra.Command {
	var s settings
	var operation string
	cmd := &cobra.Command{
		Use:     "status SESSION",
		Short:   "Say how an agent and its turn stand",
		Example: "  termpilot agent status acorn\n  termpilot agent status acorn --operation 17",
		Args:    cobra.ExactArgs(1),
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			return a.reportTurn(d.agents.Status(ctx, id, operation))
		}),
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&operation, "operation", "", "the turn that had this id (default: the last)")
	return a.completesSession(a.withJSON(cmd))
}

func (a *app) agentResultCommand() *cobra.Command {
	var s settings
	var r agent.ResultRequest
	cmd := &cobra.Command{
		Use:     "result SESSION",
		Short:   "Print the answer to an agent's turn, as the agent told it",
		Example: "  termpilot agent result acorn\n  termpilot agent result acorn --operation 17 --max-chars 2000",
		Args:    cobra.ExactArgs(1),
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			r.SessionID = id
			receipt, err := d.agents.Result(ctx, r)
			if done, err := a.asJSON(receipt, err); done {
				return err
			}
			if receipt.Outcome != agent.Done {
				a.note("the turn ended: %s %s", receipt.Outcome, receipt.Reason)
			}
			if receipt.NextOffset > 0 {
				a.note("the rest begins at --offset %d", receipt.NextOffset)
			}
			return a.printText(receipt.Text)
		}),
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&r.OperationID, "operation", "", "the turn that had this id (default: the last that ended)")
	f.IntVar(&r.Offset, "offset", 0, "leave out so many characters at its beginning")
	f.IntVar(&r.MaxChars, "max-chars", 0, "most characters (default all)")
	return a.completesSession(a.withJSON(cmd))
}

func (a *app) reportTurn(r agent.TurnReceipt, err error) error {
	if done, err := a.asJSON(r, err); done {
		return err
	}
	rows := [][]string{{"agent", r.Provider + ", " + r.State}, {"turn", string(r.Outcome)}}
	if r.Reason != "" {
		rows = append(rows, []string{"reason", r.Reason})
	}
	if r.Outcome == agent.Pending {
		rows = append(rows, []string{"wait", r.WaitCommand})
	}
	return a.printTable([]string{"SESSION", r.SessionID}, rows)
}

func (a *app) agentApprovalCommand() *cobra.Command {
	var s settings
	var digest, answer string
	cmd := &cobra.Command{
		Use:   "approval SESSION",
		Short: "Show what an agent asks, or answer it once",
		Long: "Show what an agent asks, or answer it once.\n\n" +
			"With --answer, the question must still be the one with the digest that was shown. Only a plain yes for this one\n" +
			"time and a no are ever pressed.",
		Example: "  termpilot agent approval acorn\n  termpilot agent approval acorn --digest 5f1c… --answer no",
		Args:    cobra.ExactArgs(1),
		PreRunE: func(*cobra.Command, []string) error {
			if (answer == "") != (digest == "") || answer != "" && answer != "yes" && answer != "no" {
				return usage(errors.New("--answer yes or no needs --digest, and the other way round"))
			}
			return nil
		},
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			if answer == "" {
				return a.reportApproval(d.agents.Ask(ctx, id))
			}
			return a.reportApproval(d.agents.Answer(ctx, id, digest, answer == "yes"))
		}),
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&digest, "digest", "", "of the question, as it was shown")
	cmd.Flags().StringVar(&answer, "answer", "", "yes (this once) or no")
	return a.completesSession(a.withJSON(cmd))
}

func (a *app) reportApproval(r agent.Approval, err error) error {
	if done, err := a.asJSON(r, err); done {
		return err
	}
	switch {
	case r.Answered != "":
		a.note("answered %s", r.Answered)
		return nil
	case !r.Asks:
		a.note("it asks nothing")
		return nil
	}
	var b strings.Builder
	b.WriteString(strings.Join(r.Question, "\n") + "\n")
	for _, c := range r.Choices {
		fmt.Fprintf(&b, "  %d. %s (%s)\n", c.Number, c.Label, c.Means)
	}
	b.WriteString("digest " + r.Digest)
	return a.printText(b.String())
}

func (a *app) agentConfigureCommand() *cobra.Command {
	var s settings
	var model, effort string
	cmd := &cobra.Command{
		Use:     "configure SESSION",
		Short:   "Change the model or effort of an agent, for its session alone",
		Example: "  termpilot agent configure acorn --model sonnet",
		Args:    cobra.ExactArgs(1),
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			r, err := d.agents.Configure(ctx, id, model, effort)
			if done, err := a.asJSON(r, err); done {
				return err
			}
			return a.printText(r.Shows)
		}),
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&model, "model", "", "as the agent's own menu names it")
	cmd.Flags().StringVar(&effort, "effort", "", "how hard it thinks")
	return a.completesSession(a.withJSON(cmd))
}

// agentExecCommand is what a launch lets the terminal run: it becomes the agent.
func (a *app) agentExecCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "exec FOLDER",
		Short:   "Become the agent of a launch",
		Example: "  termpilot agent exec /home/me/.local/state/termpilot/agents/l-0123456789abcdef",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return agent.Exec(cmd.Context(), args[0], os.Environ())
		},
	}
}
