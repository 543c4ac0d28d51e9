package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"termpilot/testneeds"
)

// Processes that come to tmux after a prompt was shown.

// idle waits until by what tmux keeps the shell of the pane is at another prompt
// than before.
func (h home) idle(t *testing.T, pane, before string) string {
	t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // tmux tells nobody
		if path := h.tmux(t, "display-message", "-p", "-t", pane, "#{pane_path}"); strings.Contains(path, ";at=") && path != before {
			return path
		}
	}
	t.Fatal("the shell shows no prompt")
	return ""
}

func TestAnotherProcessKnowsThePromptInTmux(t *testing.T) { // TMUX-33, TMUX-34
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			h := tmuxHome(t)
			id, errs, status := h.termpilot(t, "new", "--backend", "tmux", "--name", "x", "--profile", shell)
			if status != 0 {
				t.Fatal(errs)
			}
			pane, _, _ := strings.Cut(strings.TrimSpace(id), "@")
			run := func(command string) (out, errs string, status int) {
				t.Helper()
				return h.termpilot(t, "run", "--backend", "tmux", "--session", "x", "--", command)
			}
			path := h.idle(t, pane, "")
			for range 2 {
				if out, errs, _ := run("echo hi"); strings.TrimSpace(out) != "hi" {
					t.Errorf("got %q, %s", out, errs)
				}
				path = h.idle(t, pane, path)
			}
			screen := func() string { return h.tmux(t, "capture-pane", "-p", "-t", pane) }
			h.tmux(t, "send-keys", "-t", pane, "-l", "echo half")
			for end := time.Now().Add(soon); !strings.HasSuffix(screen(), "echo half") && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond) // tmux tells nobody
			}
			if out, errs, status := run("echo no"); status == 0 || !strings.Contains(errs, "already holds text") {
				t.Errorf("at a line with text: %q, %s", out, errs)
			}
			if got := screen(); !strings.HasSuffix(got, "echo half") {
				t.Errorf("the screen shows\n%s", got)
			}
			h.tmux(t, "send-keys", "-t", pane, "Enter")
			h.idle(t, pane, path)
			for command, want := range map[string]string{
				`sh -c 'printf "\033[?1049h"; stty raw -echo; echo here; dd count=1 >/dev/null 2>&1; stty sane; printf "\033[?1049l"'`: "full screen",
				`sh -c 'stty -echo; echo here; read x; stty echo'`:                                                                     "password",
			} {
				path := h.idle(t, pane, "")
				h.tmux(t, "send-keys", "-t", pane, "-l", "clear; "+command)
				h.tmux(t, "send-keys", "-t", pane, "Enter")
				for end := time.Now().Add(soon); !strings.HasPrefix(screen(), "here") && time.Now().Before(end); {
					time.Sleep(10 * time.Millisecond) // tmux tells nobody
				}
				if out, errs, status := run("echo no"); status == 0 || !strings.Contains(errs, want) {
					t.Errorf("%s: %q, %s", command, out, errs)
				}
				h.tmux(t, "send-keys", "-t", pane, "Enter")
				h.idle(t, pane, path)
			}
		})
	}
}

func TestAKilledServersRunInTmuxHasItsExitCode(t *testing.T) { // RUN-26, TMUX-15, TMUX-35
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			h := tmuxHome(t)
			first := serve(t, h, "--backend", "tmux")
			s := first.open(h, shell, map[string]any{"backend": "tmux"}).ready()
			pane, _, _ := strings.Cut(s.ID, "@")
			for i, watched := range []bool{true, false} {
				fifo, end := s.gate(fmt.Sprintf("gate%d", i))
				r := s.runFor("sh -c 'read x <"+fifo+"; exit 7'", time.Second)
				if r.Status != "running" {
					t.Fatalf("%+v", r)
				}
				_ = s.c.cmd.Process.Kill()
				<-s.c.done
				if !watched {
					end()
					h.idle(t, pane, "")
				}
				s = serve(t, h, "--backend", "tmux").at(h, shell, s.ID)
				if watched {
					if got := s.wait(r.RunID, time.Second); got.Status != "running" || got.ExitCode != nil {
						t.Errorf("while it runs: %+v", got)
					}
					end()
				}
				if got := s.wait(r.RunID, soon); got.Status != "completed" || got.ExitCode == nil || *got.ExitCode != 7 || got.Output != "" ||
					!strings.Contains(got.ExitReason, "before this process watched") {
					t.Errorf("watched %v: %+v", watched, got)
				}
				s.expect("echo on", want{exit: code(0), output: "on"})
			}
		})
	}
}
