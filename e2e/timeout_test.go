package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Waiting ends; commands go on.

func TestATimeoutEndsTheWaitingOnly(t *testing.T) { // B59
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "").ready()
		command := "for i in 1 2 3 4 5; do echo $i; sleep 1; done"
		if shell == "fish" {
			command = "for i in 1 2 3 4 5; echo $i; sleep 1; end"
		}
		r := s.runFor(command, 3*time.Second)
		if r.Status != "running" || !strings.HasPrefix(r.Output, "1") || r.RunID == "" {
			t.Fatalf("at the time limit: %+v", r)
		}
		s.compare(command, s.wait(r.RunID, soon), want{exit: code(0), output: "1\n2\n3\n4\n5"})
		s.compare(command, s.wait(r.RunID, time.Second), want{exit: code(0), output: "1\n2\n3\n4\n5"})
	})
}

func TestSilenceIsNotAnEnd(t *testing.T) { // B59
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		r := s.expect("sleep 3; echo x", want{exit: code(0), output: "x"})
		if r.DurationMS < 3000 {
			t.Errorf("took %d ms", r.DurationMS)
		}
	})
}

// A shell that is given no time by its machine looks like one that is slow to
// act on Enter, or to begin the command.
func TestAShellThatTakesItsTimeIsNotSaidToWantMore(t *testing.T) { // RUN-39
	rcs := map[string]map[string]string{
		"slow to take Enter": {
			"bash": `bind -x '"\C-x1": sleep 4'; bind '"\C-m": "\C-x1\C-j"'`,
			"zsh":  `slow() { sleep 4; zle accept-line }; zle -N slow; bindkey '^M' slow`,
			"fish": `bind \r 'sleep 4; commandline -f execute'`,
		},
		"slow to begin": {
			"bash": `PS0='$(sleep 4)'`,
			"zsh":  `preexec() { sleep 4 }`,
			"fish": `function slow --on-event fish_preexec; sleep 4; end`,
		},
	}
	for how, rc := range rcs {
		t.Run(how, func(t *testing.T) {
			everyShell(t, func(t *testing.T, shell string) {
				s := open(t, shell, rc[shell])
				s.expect("echo one two; echo three", want{exit: code(0), output: "one two\nthree"})
			})
		})
	}
}

func TestACancelledCallEndsTheWaitingOnly(t *testing.T) { // B60
	s := open(t, "bash", "")
	other := s.c.open(s.h, "bash", nil)
	path, end := s.gate("gate")
	id, ch := s.c.post("tools/call", map[string]any{"name": "run_command", "arguments": with(s, map[string]any{"command": "echo begun-$((40+2)); read -r x <" + path + "; echo woke"})})
	s.until("text", "begun-42", soon)
	s.c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	other.expect("echo ok", want{exit: code(0), output: "ok"})
	select {
	case r := <-ch:
		t.Errorf("a cancelled call was answered: %s", r.Result)
	default:
	}
	f := s.c.try("run_command", with(s, map[string]any{"command": "echo x"}), nil)
	if f == nil || f.Code != "session_not_ready" {
		t.Errorf("the command that goes on: %+v, want session_not_ready", f)
	}
	end()
	s.until("command", "", soon)
	if all := s.read("all").Content; !strings.Contains(all, "\nwoke") {
		t.Errorf("the command was interrupted:\n%s", all)
	}
}

func TestASlowCallHoldsNothingUpAndTellsItsProgress(t *testing.T) {
	s := open(t, "bash", "")
	other := s.c.open(s.h, "bash", nil)
	path, end := s.gate("gate")
	_, ch := s.c.post("tools/call", map[string]any{
		"name": "run_command", "arguments": with(s, map[string]any{"command": "read -r x <" + path, "timeout_seconds": 55}),
		"_meta": map[string]any{"progressToken": "p1"},
	})
	for range 5 {
		s.c.call("list_sessions", map[string]any{}, nil)
		other.expect("true", want{exit: code(0)})
	}
	if len(ch) > 0 {
		t.Error("the slow call ended before the quick ones")
	}
	told := func() bool { s.c.mu.Lock(); defer s.c.mu.Unlock(); return len(s.c.progress) > 0 }
	for late := time.Now().Add(soon); !told(); time.Sleep(20 * time.Millisecond) { // between looks
		if time.Now().After(late) {
			t.Fatal("a long wait told no progress")
		}
	}
	end()
	var r runResult
	s.c.settle("run_command", s.c.await("run_command", ch), &r)
	s.compare("read", r, want{exit: code(0)})
}

func TestAKilledServerLosesNothing(t *testing.T) { // the run is read by a new server
	everyShell(t, func(t *testing.T, shell string) {
		h := newHome(t)
		first := start(t, h)
		first.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "e2e", "version": "1"}})
		s := first.open(h, shell, nil).ready()
		r := s.runFor("sleep 3; echo survived; sh -c 'exit 6'", time.Second)
		if r.Status != "running" || r.RunID == "" {
			t.Fatalf("%+v", r)
		}
		if err := first.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-first.done
		second := serve(t, h)
		s.c = second
		s.compare("after the kill", s.wait(r.RunID, soon), want{exit: code(6), output: "survived"})
		s.expect("echo next", want{exit: code(0), output: "next"})
	})
}

func TestAServerKilledInMidCallLosesNothing(t *testing.T) {
	s := open(t, "bash", "")
	victim := start(t, s.h)
	victim.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "e2e", "version": "1"}})
	victim.post("tools/call", map[string]any{"name": "run_command", "arguments": with(s, map[string]any{"command": "echo begun-$((40+2)); sleep 3; echo lived; (exit 8)"})})
	s.until("text", "begun-42", soon)
	if err := victim.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-victim.done
	s.until("command", "", soon)
	var r struct{ Content string }
	s.c.call("read_terminal", with(s, map[string]any{"source": "command", "reduce": false}), &r)
	if strings.TrimSpace(r.Content) != "begun-42\nlived" {
		t.Errorf("the last command's output: %q, want what it printed before and after the kill", r.Content)
	}
}

func TestAHostThatDiesIsNamedAndTheNextCallRecovers(t *testing.T) {
	s := open(t, "bash", "")
	stdout, _, exit := s.h.termpilot(t, "host", "status", "--json")
	var status struct{ PID int }
	if err := json.Unmarshal([]byte(stdout), &status); err != nil || exit != 0 || status.PID == 0 {
		t.Fatalf("host status --json: %d %v %s", exit, err, stdout)
	}
	_, ch := s.c.post("tools/call", map[string]any{"name": "run_command", "arguments": with(s, map[string]any{"command": "sleep 20"})})
	s.until("text", "sleep 20", soon)
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var r runResult
	if f := s.c.settle("run_command", s.c.await("run_command", ch), &r); f == nil && r.ExitCode != nil {
		t.Errorf("a killed host gave an exit code: %+v", r)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("took %v to notice", took)
	}
	// Its sessions are gone with it, as far as can be told while it does not run.
	if f := s.c.try("run_command", with(s, map[string]any{"command": "true"}), nil); f == nil || f.Code != "backend_unavailable" || f.Hint == "" {
		t.Errorf("a session of the dead host: got %+v, want backend_unavailable", f)
	}
	n := s.c.open(s.h, "bash", nil)
	if f := s.c.try("run_command", with(s, map[string]any{"command": "true"}), nil); f == nil || f.Code != "session_not_found" {
		t.Errorf("a session of the dead host beside a new one: got %+v, want session_not_found", f)
	}
	n.expect("echo again", want{exit: code(0), output: "again"})
}
