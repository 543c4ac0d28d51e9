package e2e

import (
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"termpilot/testneeds"
)

// tmux runs tmux on the home's default server.
func (h home) tmux(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("tmux", args...)
	cmd.Env, cmd.Dir = h.env(), h.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tmuxHome is a home with a tmux server, as its user started it.
func tmuxHome(t *testing.T) home {
	t.Helper()
	testneeds.Program(t, "tmux")
	h := newHome(t)
	h.tmux(t, "new-session", "-d", "-s", "mine", "-x", "80", "-y", "24", "exec cat")
	t.Cleanup(func() {
		cmd := exec.Command("tmux", "kill-server")
		cmd.Env = h.env()
		_ = cmd.Run() // it may have ended
	})
	return h
}

func TestTheToolsWorkOnTmux(t *testing.T) { // TMUX-31
	everyShell(t, func(t *testing.T, shell string) {
		h := tmuxHome(t)
		c := serve(t, h, "--backend", "tmux")
		s := c.open(h, shell, map[string]any{"backend": "tmux"})
		s.expect("true", want{exit: code(0)})
		s.expect("sh -c 'exit 7'", want{exit: code(7)})
		s.expect("printf 'a\\n\\nb'", want{exit: code(0), output: "a\n\nb"})
		s.expect("printf abc", want{exit: code(0), output: "abc"})
		s.expect("seq 1 3; false", want{exit: code(1), output: "1\n2\n3"})
		s.expect("echo 'a;b' \"c d\" ';' -l Enter", want{exit: code(0), output: "a;b c d ; -l Enter"})
		s.expect("printf '%0100d|\\n' 7", want{exit: code(0), output: strings.Repeat("0", 99) + "7|"})
		s.expect("echo one\necho two", want{exit: code(0), output: "one\ntwo"})
		if r := s.run("seq 1 5000"); r.Status != "completed" || !strings.HasSuffix(r.Output, "5000\n") && !strings.HasSuffix(r.Output, "5000") {
			t.Errorf("seq: %+v", r)
		}
		if r := s.runFor("cat", 3*time.Second); r.Status != "waiting_input" && r.Status != "running" {
			t.Errorf("cat: %+v", r)
		}
		s.text("typed\r")
		s.until("text", "typed", 10*time.Second)
		s.interrupt()
		if r := s.runFor("sleep 60", time.Second); r.Status != "running" {
			t.Errorf("sleep: %+v", r)
		}
		s.interrupt()

		pane, _, _ := strings.Cut(s.ID, "@")
		h.tmux(t, "copy-mode", "-t", pane)
		s.expect("echo lost", want{exit: code(0), output: "lost"})
		h.tmux(t, "send-keys", "-t", pane, "-X", "cancel")
		h.tmux(t, "split-window", "-d", "-t", pane, "exec cat")
		h.tmux(t, "set-window-option", "-t", pane, "synchronize-panes", "on")
		file := filepath.Join(h.dir, "n")
		s.expect("echo one >> "+file, want{exit: code(0)})
		s.expect("cat "+file, want{exit: code(0), output: "one"})

		if r := s.run("exit 3"); r.Status != "session_ended" || r.ExitCode == nil || *r.ExitCode != 3 {
			t.Errorf("exit 3: %+v", r)
		}
		if got := h.tmux(t, "list-panes", "-t", "mine", "-F", "#{pane_current_command}"); got != "cat" {
			t.Errorf("the user's pane runs %q", got)
		}
	})
}

func TestAUsersOwnPaneIsDriven(t *testing.T) { // TMUX-30
	everyShell(t, func(t *testing.T, shell string) {
		h := tmuxHome(t)
		if _, errs, status := h.termpilot(t, "shell", "install", shell); status != 0 {
			t.Fatal(errs)
		}
		c := serve(t, h, "--backend", "tmux")
		if all := c.sessions(); len(all) != 1 {
			t.Fatalf("listed are %+v", all)
		}
		h.tmux(t, "new-window", "-d", "-t", "mine", shell)
		h.tmux(t, "new-window", "-d", "-t", "mine", "exec bash --norc --noprofile")
		all := c.sessions()
		if len(all) != 3 {
			t.Fatalf("listed are %+v", all)
		}
		s := c.at(h, shell, all[1].ID)
		s.until("prompt", "", 10*time.Second)
		s.expect("printf abc; false", want{exit: code(1), output: "abc"})
		s.expect("echo 'x  y'", want{exit: code(0), output: "x  y"})

		// A shell that says nothing counts as starting at first.
		bare := c.at(h, "bash", all[2].ID)
		if f := c.try("run_command", with(bare, map[string]any{"command": "true"}), nil); f == nil || f.Code != "no_integration" {
			t.Errorf("a shell without marks: %+v", f)
		}
	})
}

// A prompt that stood there before the server came is not typed at, until the
// shell has shown it anew.
func TestAnIdlePaneOfBeforeTakesOneEnter(t *testing.T) { // TMUX-32
	h := tmuxHome(t)
	if _, errs, status := h.termpilot(t, "shell", "install", "bash"); status != 0 {
		t.Fatal(errs)
	}
	h.tmux(t, "new-window", "-d", "-t", "mine", "exec bash")
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(h.tmux(t, "capture-pane", "-p", "-t", "mine:1"), "#") && !strings.Contains(h.tmux(t, "capture-pane", "-p", "-t", "mine:1"), "$") {
		if time.Now().After(deadline) {
			t.Fatal("the shell shows no prompt")
		}
		time.Sleep(10 * time.Millisecond) // nobody tells
	}
	c := serve(t, h, "--backend", "tmux")
	s := c.at(h, "bash", c.sessions()[1].ID)
	f := c.try("run_command", with(s, map[string]any{"command": "true"}), nil)
	if f == nil || f.Code != "prompt_unverified" || !strings.Contains(f.Hint, "press enter") {
		t.Errorf("at a prompt of before: %+v", f)
	}
	s.keys("enter")
	s.until("prompt", "", 10*time.Second)
	s.expect("echo known", want{exit: code(0), output: "known"})
}

func TestAttachShowsAPaneOfTmux(t *testing.T) { // CLI-43
	h := tmuxHome(t)
	h.tmux(t, "new-window", "-d", "-t", "mine", "exec cat")
	out, errs, status := h.termpilot(t, "sessions", "--json")
	if status != 0 {
		t.Fatal(errs)
	}
	var list struct{ Sessions []listed }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Sessions) != 2 {
		t.Fatalf("%v in %s", err, out)
	}
	cmd := exec.Command(binary, "attach", list.Sessions[1].ID)
	cmd.Env, cmd.Dir = append(h.env(), "TERM=xterm-256color"), h.dir
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, terminal) // ends with the visit
	}()
	deadline := time.Now().Add(10 * time.Second)
	for h.tmux(t, "list-clients", "-F", "#{client_control_mode} #{window_index}") != "0 1" {
		if time.Now().After(deadline) {
			t.Fatalf("the clients are %q", h.tmux(t, "list-clients"))
		}
		time.Sleep(10 * time.Millisecond) // tmux tells nobody who comes
	}
	h.tmux(t, "detach-client", "-s", "mine")
	if err := cmd.Wait(); err != nil {
		t.Errorf("after detaching: %v", err)
	}
	<-done
	_ = terminal.Close()
}
