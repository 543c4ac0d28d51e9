package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// Two servers that use one session in turns: each run has its own output and
// exit code, although the other server's command may have been typed, and have
// ended, the moment before.
func TestRunsOfTwoServersAreNotMixedUp(t *testing.T) { // TERM-39
	ofTwoServers(t, func(t *testing.T, one, other *session) {
		var wg sync.WaitGroup
		for i, s := range []*session{one, other} {
			wg.Go(func() { s.takeTurns(i + 1) })
		}
		wg.Wait()
	})
}

// ofTwoServers has two servers use a session, of each backend, with each shell.
func ofTwoServers(t *testing.T, test func(t *testing.T, one, other *session)) {
	for backend, newIn := range map[string]func(*testing.T) home{
		"host": func(t *testing.T) home { return newHome(t) },
		"tmux": tmuxHome,
	} {
		t.Run(backend, func(t *testing.T) {
			everyShell(t, func(t *testing.T, shell string) {
				h := newIn(t)
				a, b := serve(t, h, "--backend", backend), serve(t, h, "--backend", backend)
				one := a.open(h, shell, nil)
				test(t, one, b.at(h, shell, one.ID))
			})
		})
	}
}

// What one server has just typed may not show yet when the other one runs a command.
func TestACommandIsNotTypedBehindWhatAnotherServerSent(t *testing.T) { // RUN-41
	ofTwoServers(t, func(t *testing.T, one, other *session) {
		for range 4 {
			one.text("half")
			var r runResult
			refused := other.c.try("run_command", with(other, map[string]any{"command": "echo two", "timeout_seconds": 10}), &r)
			if refused == nil || refused.Code != "session_not_ready" {
				t.Fatalf("%+v, %+v", refused, r)
			}
			one.interrupt()
		}
	})
}

// takeTurns runs commands of its own whenever the session is free.
func (s *session) takeTurns(who int) {
	for done := 0; done < 30; {
		output, status := fmt.Sprintf("of-%d-%d", who, done), 10*who+done%10
		command := fmt.Sprintf("echo %s; sh -c 'exit %d'", output, status)
		var r runResult
		refused := s.c.try("run_command", with(s, map[string]any{"command": command, "timeout_seconds": 30, "reduce": false}), &r)
		switch {
		case refused != nil && refused.Code == "session_busy": // the other's turn
			s.until("prompt", "", 30*time.Second)
		case refused != nil:
			s.t.Errorf("%s: %+v", command, refused)
			return
		case r.Status != "completed" || r.ExitCode == nil || *r.ExitCode != status || r.Output != output && r.Output != output+"\n":
			s.t.Errorf("%s: status %s, exit code %v, output %q", command, r.Status, r.ExitCode, r.Output)
			return
		default:
			done++
		}
	}
}
