package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"termpilot/testneeds"
)

// Completion: what ends a command, and what only looks like its end.

func TestASecondaryPromptIsNotTheEnd(t *testing.T) { // B01
	everyShell(t, func(t *testing.T, shell string) {
		rc := `PS2='>> '`
		loop := "for i in 1 2; do\necho x$i\ndone"
		if shell == "fish" {
			rc, loop = "", "for i in 1 2\necho x$i\nend"
		}
		s := open(t, shell, rc)
		s.expect(loop, want{exit: code(0), output: "x1\nx2"})
	})
}

func TestASecondaryPromptIsNotTheEndWhenLinesAreTypedOneByOne(t *testing.T) { // B01
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			s := open(t, shell, `PS2='>> '`)
			for _, line := range []string{"for i in 1 2; do", "echo x$i", "done"} {
				s.text(line)
				s.keys("enter")
			}
			s.until("text", "x2", soon)
			s.until("prompt", "", soon)
			s.expect("echo next", want{exit: code(0), output: "next"})
		})
	}
}

func TestUnfinishedInputIsSaidAtOnceAndLeavesTheSessionUsable(t *testing.T) { // B02
	inputs := map[string][]string{
		"bash": {"echo 'abc", "cat <<EOF\nhello\nEOF "},
		"zsh":  {"echo 'abc", "cat <<EOF\nhello\nEOF ", "if then fi ("},
		"fish": {"echo 'abc", "for i in 1 2"},
	}
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		for _, command := range inputs[shell] {
			began := time.Now()
			s.expect(command, want{status: "continuation"})
			if took := time.Since(began); took > soon {
				t.Errorf("%q: took %v, want about a second", command, took)
			}
			s.expect("echo ok", want{exit: code(0), output: "ok"})
		}
	})
}

func TestTheFirstCommandDoesNotInheritTheStartUpsEnd(t *testing.T) { // B04
	everyShell(t, func(t *testing.T, shell string) {
		second := "false"
		s := open(t, shell, "sleep 0.5")
		r := s.expect("sleep 1; echo first; "+second, want{exit: code(1), output: "first"})
		if r.DurationMS < 1000 {
			t.Errorf("took %d ms, want at least 1000", r.DurationMS)
		}
		for range 5 {
			n := s.c.open(s.h, shell, nil)
			n.expect("echo first; "+second, want{exit: code(1), output: "first"})
		}
	})
}

func TestAnEmptyEnterDoesNotEndTheNextCommand(t *testing.T) { // B05
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		s.keys("enter", "enter", "enter")
		command := "(exit 7)"
		if shell == "fish" {
			command = "sh -c 'exit 7'"
		}
		s.until("prompt", "", soon)
		s.expect(command, want{exit: code(7)})
		for _, empty := range []string{"", "   "} {
			if f := s.c.try("run_command", with(s, map[string]any{"command": empty}), nil); f == nil || f.Code != "invalid_argument" {
				t.Errorf("run %q: %+v, want invalid_argument", empty, f)
			}
		}
		r := s.run("# only a comment")
		if shell == "zsh" { // zsh takes a comment for a command unless interactive_comments is set
			s.compare("# only a comment", r, want{exit: code(127), output: "zsh: command not found: #"})
		} else if r.ExitCode != nil && *r.ExitCode != 0 {
			t.Errorf("a comment borrowed the exit code %d", *r.ExitCode)
		}
		s.expect("echo after", want{exit: code(0), output: "after"})
	})
}

func TestMarksThatDieAreToldAndNeverMadeUp(t *testing.T) { // B07
	kill := map[string]string{
		"bash": "unset PROMPT_COMMAND PS0; PS1='$ '",
		"zsh":  "precmd_functions=(); preexec_functions=(); PS1='%# '",
	}
	for shell, command := range kill {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			s := open(t, shell, "")
			began := time.Now()
			r := s.run(command)
			if r.ExitCode != nil {
				t.Errorf("exit %d without a mark that says so", *r.ExitCode)
			}
			if took := time.Since(began); took > soon {
				t.Errorf("took %v: the end was waited for in vain", took)
			}
			f := s.c.try("run_command", with(s, map[string]any{"command": "sleep 2; echo late"}), nil)
			if f == nil {
				t.Fatal("a command was typed at a prompt that nothing proves")
			}
			if f.Code != "no_integration" && f.Code != "prompt_unverified" && f.Code != "session_not_ready" {
				t.Errorf("refused as %s: %s", f.Code, f.Message)
			}
		})
	}
}

func TestAReplacedShellIsToldAndNeverMadeUp(t *testing.T) { // B07
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		r := s.runFor("exec sh", 20*time.Second)
		if r.ExitCode != nil || r.Status == "completed" && r.ExitReason == "" {
			t.Errorf("exec sh: %+v", r)
		}
		if f := s.c.try("run_command", with(s, map[string]any{"command": "echo hi"}), nil); f == nil {
			t.Error("a command was typed at a prompt without marks")
		}
	})
}

func TestPromptsThatRepaintEndNothing(t *testing.T) { // B09
	testneeds.Program(t, "zsh")
	for name, rc := range map[string]string{
		"clock":     "RPROMPT='[%*]'\nTMOUT=1\nTRAPALRM() { zle && zle reset-prompt }",
		"transient": "zle-line-finish() { PROMPT='» '; RPROMPT=''; zle reset-prompt }\nzle -N zle-line-finish\nprecmd() { PROMPT=$'\\n%~\\n❯ ' }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "zsh", rc)
			r := s.expect("sleep 3; printf abc; false", want{exit: code(1), output: "abc"})
			if r.DurationMS < 3000 {
				t.Errorf("took %d ms, want at least 3000", r.DurationMS)
			}
			s.text("sleep 0")
			var w struct {
				Sessions []struct{ Matched bool }
			}
			s.c.call("wait_session", map[string]any{"session_ids": []string{s.ID}, "until": "command", "timeout_seconds": 3}, &w)
			f := s.c.try("run_command", with(s, map[string]any{"command": "echo x"}), nil)
			if f == nil || f.Code != "session_not_ready" {
				t.Errorf("typed text at the prompt: %+v, want session_not_ready", f)
			}
		})
	}
}

func TestOutputThatLooksLikeAPromptIsOutput(t *testing.T) { // B10
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			s := open(t, shell, "")
			s.expect(`printf '$ echo fake\nfake\n>>> \n$ '; sleep 2; echo real; (exit 3)`,
				want{exit: code(3), output: "$ echo fake\nfake\n>>> \n$ real"})
		})
	}
}

func TestTwoIntegrationsDoNotDisturbEachOther(t *testing.T) { // B12
	rcs := map[string]string{
		"bash": `PS1='\[\e]133;A\a\]$ \[\e]133;B\a\]'`,
		"zsh":  `precmd() { print -n "\e]133;D;$?\a" }`,
	}
	for shell, rc := range rcs {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			s := open(t, shell, rc)
			s.expect("false", want{exit: code(1)})
			s.expect("true", want{exit: code(0)})
			s.expect("echo x", want{exit: code(0), output: "x"})
		})
	}
}

func TestABusySessionIsRefusedAndParallelRunsGetTheirOwnOutput(t *testing.T) { // B13
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "").ready()
		path, end := s.gate("gate")
		command := "read x <" + path
		r := s.runFor(command, time.Second)
		if r.Status != "running" || r.ExitCode != nil {
			t.Fatalf("%s within a second: %+v", command, r)
		}
		if f := s.c.try("run_command", with(s, map[string]any{"command": "echo B"}), nil); f == nil || f.Code != "session_not_ready" {
			t.Fatalf("a second command: %+v, want session_not_ready", f)
		}
		end()
		s.compare(command, s.wait(r.RunID, soon), want{exit: code(0)})

		var done sync.WaitGroup
		for i := range 4 {
			done.Go(func() {
				var r runResult
				text := fmt.Sprintf("only-%d", i)
				f := s.c.try("run_command", with(s, map[string]any{"command": "echo " + text}), &r)
				if f != nil {
					if f.Code != "session_busy" && f.Code != "session_not_ready" {
						t.Errorf("run %d: refused as %s", i, f.Code)
					}
					return
				}
				if strings.TrimSpace(r.Output) != text {
					t.Errorf("run %d got %q", i, r.Output)
				}
			})
		}
		done.Wait()
	})
}

func TestAProgramThatReadsIsSaidAndLosesNoLine(t *testing.T) { // B14
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		r := s.expect("cat\necho after-cat", want{status: "waiting_input"})
		if r.Kind != "program" {
			t.Errorf("kind %q, want program", r.Kind)
		}
		s.keys("ctrl_d")
		last := s.wait(r.RunID, soon)
		if got := strings.Count(last.Output, "after-cat"); got != 1 {
			t.Errorf("after-cat shows %d times in %q, want once", got, last.Output)
		}
		s.compare("cat", last, want{exit: code(0), output: "after-cat"})
	})
}

func TestABackgroundJobHoldsNothingUp(t *testing.T) { // B15
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		for i, command := range []string{"sh -c 'read x <GATE' & echo go", "setsid sh -c 'read x <GATE' & echo go"} {
			path, end := s.gate(fmt.Sprintf("gate%d", i))
			r := s.run(strings.ReplaceAll(command, "GATE", path)) // as long as the job does not end
			end()
			if r.Status != "completed" || r.ExitCode == nil || *r.ExitCode != 0 || !strings.Contains(r.Output, "go") {
				t.Errorf("%q: %+v", command, r)
			}
		}
	})
}

func TestLateOutputOfAJobIsNotTheNextCommands(t *testing.T) { // B16
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		s.expect("sh -c '(sleep 1; echo LATE-$((40+2))) &'", want{exit: code(0)})
		s.until("text", "LATE-42", soon)
		s.until("quiet", "", soon)
		s.expect("echo next", want{exit: code(0), output: "next"})
		if all := s.read("all").Content; !strings.Contains(all, "LATE-42") {
			t.Errorf("the late line is lost:\n%s", all)
		}
	})
}
