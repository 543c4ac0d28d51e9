package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"termpilot/pilot"
	"termpilot/terminal"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show what an MCP client can do with your shells",
		Long: "Show what an MCP client can do with your shells.\n\n" +
			"It starts the real server as a client would, opens sessions in a host of its own, and shows each call and\n" +
			"its answer. It changes nothing and leaves nothing behind.",
		Example: "  termpilot demo",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context()) },
	}
}

// stage is a demonstration that runs: a client, its server, and what went wrong.
type stage struct {
	*app
	client *stdioClient
	wrong  []string
}

// demo sets the stage in a home of its own, plays, and clears everything away,
// also when it is interrupted.
func (a *app) demo(ctx context.Context) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "tp-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	env, err := demoEnvironment(home)
	if err != nil {
		return err
	}
	defer func() {
		stop := exec.Command(self, "host", "stop", "--force") // not ctx: it also runs after an interrupt
		stop.Env = env
		if out, failed := stop.CombinedOutput(); failed != nil {
			err = errors.Join(err, fmt.Errorf("stop the demo's host: %w: %s", failed, terminal.OneLine(string(out), 0)))
		}
	}()

	began := time.Now()
	client, err := startServer(ctx, []string{self, "serve"}, env, a.errs)
	if err != nil {
		return err
	}
	defer func() { _ = client.close() }() // the server's last word is not the demo's
	s := &stage{app: a, client: client}
	s.say("An MCP client starts %s and talks to it over stdio (ready after %s).", a.paint(a.out, bold, "termpilot serve"), since(began))
	if err := s.play(home); err != nil {
		return err
	}
	if len(s.wrong) > 0 {
		return fmt.Errorf("demo: not as it should be: %s", strings.Join(s.wrong, "; "))
	}
	s.say("That was termpilot, doing to its own terminals what a model could ask for. Nothing is left behind.")
	s.say("Next: %s", a.paint(a.out, bold, "claude mcp add --scope user termpilot -- termpilot serve"))
	return nil
}

// demoEnvironment is this process's environment with a home of the demo's own,
// so that no shell writes into a person's history or startup files.
func demoEnvironment(home string) ([]string, error) {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "HOME", "TMPDIR", "TERMPILOT_HOME", "ZDOTDIR", "HISTFILE", "BASH_ENV", "ENV":
		default:
			if !strings.HasPrefix(name, "XDG_") {
				env = append(env, entry)
			}
		}
	}
	// Without a startup file zsh asks a newcomer what to put into one.
	err := os.WriteFile(filepath.Join(home, ".zshrc"), []byte("PROMPT='%1~ %# '\n"), 0o600)
	tmp := filepath.Join(home, "tmp") // fish leaves files there
	err = errors.Join(err, os.Mkdir(tmp, 0o700))
	return append(env, "HOME="+home, "TMPDIR="+tmp, "TERMPILOT_HOME="+filepath.Join(home, "state")), err
}

// play is the demonstration itself, act by act.
func (s *stage) play(home string) error {
	shells := installedShells(s.getenv)
	if len(shells) == 0 {
		return errors.New("demo: none of bash, zsh and fish is installed")
	}
	first, err := s.open(shells[0], home)
	if err != nil {
		return err
	}
	acts := []func(session string) error{s.exactOutput, s.failure, s.patience, s.unfinishedTyping, s.slip}
	for _, act := range acts {
		if err := act(first); err != nil {
			return err
		}
	}
	for _, shell := range shells[1:] {
		session, err := s.open(shell, home)
		if err != nil {
			return err
		}
		if err := s.exactOutput(session); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) open(shell, home string) (string, error) {
	s.act("A session in the headless host, with %s in it", shell)
	var opened pilot.Opened
	if err := s.call("create_window", map[string]any{"profile": shell, "name": "demo " + shell, "cwd": home}, &opened); err != nil {
		return "", err
	}
	s.answer("session %s, %dx%d", opened.SessionID, opened.Session.Columns, opened.Session.Rows)
	if opened.Session.Readiness.State == pilot.Ready {
		return opened.SessionID, nil
	}
	return opened.SessionID, s.prompt(opened.SessionID, shell+" showed no prompt")
}

// prompt waits for a session's empty prompt; wrong says what it means when there is none.
func (s *stage) prompt(session, wrong string) error {
	var waited pilot.WaitResult
	if err := s.call("wait_session", map[string]any{"session_ids": []string{session}, "until": "prompt", "timeout_seconds": 20}, &waited); err != nil {
		return err
	}
	if s.check(len(waited.Sessions) == 1 && waited.Sessions[0].Matched, wrong); len(s.wrong) == 0 {
		s.answer("its prompt stands")
	}
	return nil
}

func (s *stage) exactOutput(session string) error {
	s.act("A command, and exactly its output and exit code: no prompt, no echo")
	r, err := s.run(session, `printf 'one\ntwo  with blanks  \n'`, 20)
	if err != nil {
		return err
	}
	s.check(r.Status == pilot.Completed && exitIs(r, 0), "the first command did not end with 0")
	s.check(strings.TrimRight(r.Output, "\n") == "one\ntwo  with blanks", "the output is not what was printed")
	return nil
}

func (s *stage) failure(session string) error {
	s.act("A command that fails")
	r, err := s.run(session, "ls /no/such/folder", 20)
	if err != nil {
		return err
	}
	s.check(r.Status == pilot.Completed && r.ExitCode != nil && *r.ExitCode != 0, "a failure was not reported")
	return nil
}

func (s *stage) patience(session string) error {
	s.act("A command that takes longer than the caller wants to wait: waiting ends, the command goes on")
	r, err := s.run(session, "sleep 1.5; echo finished", 1)
	if err != nil {
		return err
	}
	s.check(r.Status == pilot.StillRunning && r.ExitCode == nil, "a running command was not called running")
	var waited pilot.WaitResult
	if err := s.call("wait_session", map[string]any{"run_id": r.RunID, "timeout_seconds": 20}, &waited); err != nil {
		return err
	}
	if waited.Run == nil {
		s.check(false, "the wait told nothing of the run")
		return nil
	}
	s.result(*waited.Run)
	s.check(waited.Run.Status == pilot.Completed && exitIs(*waited.Run, 0), "the run did not end with 0")
	return nil
}

func (s *stage) unfinishedTyping(session string) error {
	s.act("Somebody has typed half a command: nothing is typed into it")
	var sent pilot.SendResult
	if err := s.call("send_text", map[string]any{"session_id": session, "text": "echo half a"}, &sent); err != nil {
		return err
	}
	s.answer("delivered")
	var waited pilot.WaitResult
	err := s.call("wait_session", map[string]any{"session_ids": []string{session}, "until": "text", "pattern": "half a", "timeout_seconds": 10}, &waited)
	if err != nil {
		return err
	}
	s.answer("it shows")
	if err := s.refusal("session_not_ready", session, "echo never typed"); err != nil {
		return err
	}
	if err := s.call("send_keys", map[string]any{"session_id": session, "keys": []string{"ctrl_c"}}, &sent); err != nil {
		return err
	}
	s.answer("delivered")
	return s.prompt(session, "ctrl_c did not clear the line")
}

func (s *stage) slip(session string) error {
	s.act("A slip: what looks destructive is refused, unless it is asked for with force")
	return s.refusal("command_blocked", session, "git push --force origin main") // harmless here, should it slip through
}

// refusal runs a command that must be refused with code.
func (s *stage) refusal(code, session, command string) error {
	var r pilot.RunResult
	err := s.call("run_command", map[string]any{"session_id": session, "command": command, "timeout_seconds": 5}, &r)
	failure, ok := errors.AsType[*toolFailure](err)
	switch {
	case ok:
		s.answer("%s: %s", s.paint(s.out, yellow, "refused"), terminal.OneLine(failure.Message, 0))
		if failure.Hint != "" {
			s.answer("%s", s.paint(s.out, dim, "hint: "+terminal.OneLine(failure.Hint, 0)))
		}
		s.check(failure.Code == code, "the refusal was "+failure.Code+", not "+code)
		return nil
	case err != nil:
		return err
	}
	s.result(r)
	s.check(false, code+" was not refused")
	return nil
}

// run runs a command and shows its answer.
func (s *stage) run(session, command string, seconds int) (pilot.RunResult, error) {
	var r pilot.RunResult
	err := s.call("run_command", map[string]any{"session_id": session, "command": command, "timeout_seconds": seconds}, &r)
	if err == nil {
		s.result(r)
	}
	return r, err
}

// call shows a call and makes it.
func (s *stage) call(tool string, args map[string]any, result any) error {
	var words []string
	for _, name := range []string{"profile", "command", "text", "keys", "until", "pattern", "run_id", "timeout_seconds"} {
		if value, ok := args[name]; ok {
			words = append(words, s.paint(s.out, dim, name+"=")+fmt.Sprint(value))
		}
	}
	fmt.Fprintf(s.out, "  %s %s\n", s.paint(s.out, cyan, "→ "+tool), strings.Join(words, " "))
	return s.client.call(tool, args, result)
}

// result shows how a run stands and what it printed.
func (s *stage) result(r pilot.RunResult) {
	word := string(r.Status)
	switch {
	case r.ExitCode == nil:
		word = s.paint(s.out, yellow, word) + " as run " + r.RunID
	case *r.ExitCode == 0:
		word = s.paint(s.out, green, fmt.Sprintf("%s, exit code 0", word))
	default:
		word = s.paint(s.out, red, fmt.Sprintf("%s, exit code %d", word, *r.ExitCode))
	}
	s.answer("%s, after %v", word, time.Duration(r.DurationMS)*time.Millisecond)
	for line := range strings.Lines(r.Output) {
		fmt.Fprintf(s.out, "    %s %s\n", s.paint(s.out, dim, "│"), printable(strings.TrimRight(line, "\n")))
	}
}

func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, "\n"+format+"\n", args...) }

func (s *stage) act(format string, args ...any) {
	fmt.Fprintf(s.out, "\n%s\n", s.paint(s.out, bold, fmt.Sprintf(format, args...)))
}

func (s *stage) answer(format string, args ...any) {
	fmt.Fprintf(s.out, "  %s %s\n", s.paint(s.out, cyan, "←"), fmt.Sprintf(format, args...))
}

// check remembers what was not as promised; the demo goes on and fails at its end.
func (s *stage) check(ok bool, wrong string) {
	if !ok {
		s.wrong = append(s.wrong, wrong)
		fmt.Fprintf(s.out, "  %s\n", s.paint(s.out, red, "✗ "+wrong))
	}
}

func exitIs(r pilot.RunResult, code int) bool { return r.ExitCode != nil && *r.ExitCode == code }

// installedShells lists the integrated shells that are there, by profile name,
// the person's own first.
func installedShells(getenv func(string) string) []string {
	var found []string
	for _, shell := range shellNames() {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		if shell == filepath.Base(getenv("SHELL")) {
			found = append([]string{shell}, found...)
		} else {
			found = append(found, shell)
		}
	}
	return found
}

func since(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }
