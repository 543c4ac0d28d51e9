package e2e

import (
	"strings"
	"testing"
	"time"

	"termpilot/testneeds"
)

// Programs inside programs: REPLs, passwords, full screens, shells in shells.

func TestAReplIsWaitedForAndNeverRunInto(t *testing.T) { // B47
	testneeds.Program(t, "python3")
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		r := s.expect("python3 -q", want{status: "waiting_input", output: ">>> "})
		if f := s.c.try("run_command", with(s, map[string]any{"command": "echo hi"}), nil); f == nil || f.Code != "session_not_ready" {
			t.Errorf("run in a REPL: %+v, want session_not_ready", f)
		}
		s.text("1/0")
		s.keys("enter")
		s.until("text", "ZeroDivisionError", soon)
		s.text("exit(4)")
		s.keys("enter")
		if r = s.wait(r.RunID, soon); r.ExitCode == nil || *r.ExitCode != 4 {
			t.Errorf("exit(4): %+v", r)
		}
	})
}

func TestAPasswordIsKnownByTheTerminalNotByWords(t *testing.T) { // B48
	testneeds.Program(t, "python3")
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		r := s.run(`python3 -c "import getpass;p=getpass.getpass('tell: ');print(len(p))"`)
		if r.Status != "waiting_input" || r.Kind != "password" {
			t.Fatalf("status %s kind %s, want waiting_input password", r.Status, r.Kind)
		}
		const secret = "canary-7f3a9"
		s.text(secret)
		s.keys("enter")
		last := s.wait(r.RunID, soon)
		if last.ExitCode == nil || *last.ExitCode != 0 || !strings.Contains(last.Output, "12") {
			t.Errorf("after the password: %+v", last)
		}
		if strings.Contains(s.read("all").Content+last.Output, secret) {
			t.Error("the password shows")
		}
		s.expect("echo 'password: '", want{exit: code(0), output: "password: "})
		if got := s.read("screen").Readiness.State; got != "ready" {
			t.Errorf("a printed word made the state %s", got)
		}
		for _, file := range grep(t, s.h.dir, secret) {
			t.Errorf("the password is written in %s", file)
		}
	})
}

func TestAShellWithoutMarksInsideAShellIsRefused(t *testing.T) { // B49
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		r := s.run("env -i bash --norc --noprofile")
		if r.Status != "waiting_input" && r.Status != "running" || r.ExitCode != nil {
			t.Fatalf("a nested shell: %+v", r)
		}
		f := s.c.try("run_command", with(s, map[string]any{"command": "false"}), nil)
		if f == nil || f.Code != "session_not_ready" {
			t.Fatalf("run inside it: %+v, want session_not_ready", f)
		}
		if !strings.Contains(f.Message, "bash") {
			t.Errorf("the refusal does not name what runs: %s", f.Message)
		}
		s.text("exit 5")
		s.keys("enter")
		if r = s.wait(r.RunID, soon); r.ExitCode == nil || *r.ExitCode != 5 {
			t.Errorf("the nested shell's end: %+v, want 5", r)
		}
	})
}

func TestAFullScreenProgramIsSaidQuicklyAndLeavesHistoryIntact(t *testing.T) { // B50
	testneeds.Program(t, "less")
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		s.expect("echo before", want{exit: code(0), output: "before"})
		began := time.Now()
		r := s.run("less /etc/services")
		if r.Status != "running" || r.Kind != "full_screen" {
			t.Fatalf("less: status %s kind %s, want running full_screen", r.Status, r.Kind)
		}
		if took := time.Since(began); took > soon {
			t.Errorf("took %v to say so", took)
		}
		screen := s.read("screen")
		if !screen.Alternate || strings.Contains(screen.Content, "before") {
			t.Errorf("the screen is not less's alone: %q", screen.Content)
		}
		if screen.Readiness.State != "full_screen" {
			t.Errorf("readiness %s, want full_screen", screen.Readiness.State)
		}
		s.text("q")
		s.compare("less", s.wait(r.RunID, soon), want{exit: code(0)})
		if all := s.read("all").Content; !strings.Contains(all, "before") {
			t.Errorf("what was before is gone:\n%s", all)
		}
		s.run(`printf '\033[?1049h'`)
		s.expect("echo right", want{exit: code(0), output: "right"})
	})
}

func TestAStoppedJobAndAnIgnoredInterrupt(t *testing.T) { // B51
	stopped := map[string]int{"bash": 148, "zsh": 148, "fish": 0}
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "").ready()
		r := s.runFor("sleep 99", time.Second)
		s.keys("ctrl_z")
		r = s.wait(r.RunID, soon)
		if r.Status != "completed" || r.ExitCode == nil || *r.ExitCode != stopped[shell] {
			t.Errorf("a stopped job: status %s exit %v, want completed %d", r.Status, r.ExitCode, stopped[shell])
		}
		s.expect("echo next", want{exit: code(0), output: "next"})
		if shell == "fish" {
			return
		}
		path, end := s.gate("gate")
		r = s.runFor("sh -c \"trap '' INT; echo begun-\\$((40+2)); read x <"+path+"\"", time.Second)
		s.until("text", "begun-42", soon)
		s.keys("ctrl_c")
		if r = s.wait(r.RunID, time.Second); r.Status != "running" {
			t.Errorf("an ignored interrupt: status %s, want running", r.Status)
		}
		end()
		s.compare("an ignored interrupt", s.wait(r.RunID, soon), want{exit: code(0), output: "begun-42\n^C"})
	})
}
