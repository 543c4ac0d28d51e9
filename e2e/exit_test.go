package e2e

import (
	"strings"
	"testing"
	"time"

	"termpilot/testneeds"
)

// Exit codes, and the ends of sessions.

func TestTheExitCodeSurvivesTheUsersHooks(t *testing.T) { // B17
	rcs := map[string]map[string]string{
		"bash": {
			"string":   `PROMPT_COMMAND='history -a; true'`,
			"array":    `PROMPT_COMMAND=(true 'history -a')`,
			"debug":    `trap 'X=1' DEBUG`,
			"rewrites": "_p() { PS1='> '; }\nPROMPT_COMMAND=_p",
		},
		"zsh": {"precmd": `precmd() { true }`},
	}
	for shell, cases := range rcs {
		for name, rc := range cases {
			t.Run(shell+" "+name, func(t *testing.T) {
				t.Parallel()
				testneeds.Program(t, shell)
				s := open(t, shell, rc)
				s.expect("(exit 3)", want{exit: code(3)})
				s.expect("echo $?", want{exit: code(0), output: "3"})
			})
		}
	}
}

func TestExitCodesAreTheShellsOwn(t *testing.T) { // B18
	cases := []struct {
		command string
		exit    int
		shells  string
	}{
		{"(exit 300)", 44, "bash zsh"},
		{"(exit -1)", 255, "bash zsh"},
		{"nosuch_cmd_x", 127, "bash zsh fish"},
		{"/etc/passwd", 126, "bash zsh fish"},
		{"timeout 1 sleep 5", 124, "bash zsh fish"},
		{"sh -c 'kill -9 $$'", 137, "bash zsh fish"},
		{"false|true", 0, "bash zsh fish"},
		{"set -o pipefail; false|true", 1, "bash zsh"},
		{"! true", 1, "bash zsh fish"},
		{"sleep 1 &", 0, "bash zsh"}, // fish leaves $status as it was
		{"wait %9", 127, "bash"},
	}
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		for _, tc := range cases {
			if !strings.Contains(tc.shells, shell) {
				continue
			}
			r := s.run(tc.command)
			if r.Status != "completed" || r.ExitCode == nil || *r.ExitCode != tc.exit {
				t.Errorf("%q: status %s exit %s (%s), want %d", tc.command, r.Status, shown(r.ExitCode), r.ExitReason, tc.exit)
			}
		}
		r := s.runFor("sleep 20", time.Second)
		s.keys("ctrl_c")
		if r = s.wait(r.RunID, soon); r.ExitCode == nil || *r.ExitCode != 130 {
			t.Errorf("an interrupted sleep: %+v, want 130", r)
		}
	})
}

func TestARefusedLineIsNotACompletedCommand(t *testing.T) { // known trouble 0
	lines := map[string]string{"bash": `echo "a!b"`, "fish": "end end"}
	for shell, line := range lines {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			s := open(t, shell, "")
			r := s.run(line)
			if r.Status != "rejected" || r.ExitCode != nil {
				t.Errorf("%q: status %s, exit %v, want rejected and null", line, r.Status, r.ExitCode)
			}
			s.expect("echo ok", want{exit: code(0), output: "ok"})
		})
	}
}

func TestTheEndOfASessionIsSaidAtOnceWithItsCode(t *testing.T) { // B19
	everyShell(t, func(t *testing.T, shell string) {
		h := newHome(t)
		c := serve(t, h)
		cases := map[string]int{"exit 42": 42, "exec true": 0}
		for command, exit := range cases {
			s := c.open(h, shell, nil)
			began := time.Now()
			r := s.run(command)
			if r.Status != "session_ended" || r.ExitCode == nil || *r.ExitCode != exit {
				t.Errorf("%q: status %s exit %s (%s), want session_ended %d", command, r.Status, shown(r.ExitCode), r.ExitReason, exit)
			}
			if took := time.Since(began); took > soon {
				t.Errorf("%q took %v", command, took)
			}
			f := c.try("run_command", with(s, map[string]any{"command": "echo x"}), nil)
			if f == nil || f.Code != "session_ended" {
				t.Errorf("a later call: %+v, want session_ended", f)
			}
			if got := s.read("all"); got.Readiness.State != "ended" {
				t.Errorf("the ended session reads as %q", got.Readiness.State)
			}
		}
		if shell == "fish" {
			return // fish has no errexit
		}
		s := c.open(h, shell, nil)
		s.expect("set -e", want{exit: code(0)})
		r := s.run("false")
		if r.Status != "session_ended" || r.ExitCode == nil || *r.ExitCode != 1 {
			t.Errorf("false under set -e: status %s exit %v, want session_ended 1", r.Status, r.ExitCode)
		}
	})
}

func TestAnExitThatTheShellRefusesLeavesItAlive(t *testing.T) { // B21
	testneeds.Program(t, "zsh")
	s := open(t, "zsh", "")
	r := s.run("sleep 30 & exit 5")
	if r.Status != "completed" || !strings.Contains(r.Output, "running jobs") {
		t.Errorf("%+v, want completed with zsh's warning", r)
	}
	s.expect("echo alive", want{exit: code(0), output: "alive"})
}

func TestAFastDeathKeepsItsReason(t *testing.T) { // B22
	h := newHome(t)
	c := serve(t, h)
	s := c.open(h, "bash", map[string]any{"command": "sh -c 'echo boom >&2; exit 9'", "keep_open": false})
	var w struct {
		Sessions []struct {
			Matched  bool
			ExitCode *int `json:"exit_code"`
		}
	}
	c.call("wait_session", map[string]any{"session_ids": []string{s.ID}, "until": "exit", "timeout_seconds": 10}, &w)
	if len(w.Sessions) != 1 || !w.Sessions[0].Matched || w.Sessions[0].ExitCode == nil || *w.Sessions[0].ExitCode != 9 {
		t.Errorf("wait for the exit: %+v, want code 9", w)
	}
	if got := s.read("all").Content; !strings.Contains(got, "boom") {
		t.Errorf("the reason is lost: %q", got)
	}
}
