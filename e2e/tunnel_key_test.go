package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestTheKeyIsNowhere(t *testing.T) { // TUN-5, TUN-6, TUN-7, TUN-38
	tunnelClients(t, func(t *testing.T, w *world) {
		path := filepath.Join(w.dir, "my keys", ".env")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("MY_RUNTIME_KEY='"+canary+"' # mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"setup", "--tunnel-id", tunnelID, "--tunnel-client", w.client, "--base-url", w.plane.URL(), "--runtime-key", "env:MY_RUNTIME_KEY", "--env-file", path, "--at-login"}
		out, errs, code := w.chatgpt(args...)
		if code != 0 || !strings.Contains(out, ".env, line 1") {
			t.Fatalf("setup: %d\n%s%s", code, out, errs)
		}
		s, _ := w.status()
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.LogPath), "leak"), nil, 0o600); err != nil { // the stand-in prints its key
			t.Fatal(err)
		}
		session := w.mustTool("create_window", map[string]any{"profile": "bash", "backend": "host"})["session_id"]
		ran := w.mustTool("run_command", map[string]any{"session_id": session, "command": "env; cat /proc/$PPID/environ | tr '\\0' '\\n'", "reduce": false})
		if text := fmt.Sprint(ran["output"]); strings.Contains(text, "canary") || strings.Contains(text, "MY_RUNTIME_KEY") || strings.Contains(text, "CONTROL_PLANE") || !strings.Contains(text, "HOME=") {
			t.Errorf("a session sees the key or its variable:\n%s", text)
		}
		w.tmuxKnowsNoKey()
		w.plane.Answer(401)
		w.until("refused", func(s tunnelStatus) bool { return s.Polling == "failing" })
		for _, cmd := range [][]string{{"status"}, {"status", "--json"}, {"doctor"}, {"doctor", "--json"}} {
			w.chatgpt(cmd...)
		}
		w.plane.Answer(0)
		for _, text := range w.said {
			if strings.Contains(text, "canary") {
				t.Errorf("it was printed:\n%s", text)
			}
		}
		err := filepath.WalkDir(w.dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || file == path {
				return err
			}
			if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte("canary")) {
				t.Errorf("it is in %s", file)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range lines {
			if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte("canary")) {
				t.Errorf("it is in the arguments %s: %q", file, data)
			}
		}
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range environs {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if data, err := os.ReadFile(file); err == nil && pid != s.ClientPID && bytes.Contains(data, []byte("canary_7Q2x")) {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
				t.Errorf("it is in the environment of %q", line)
			}
		}
		unit := filepath.Join(w.dir, ".config", "systemd", "user", "termpilot-termpilot.service")
		if text, err := os.ReadFile(unit); err != nil || !bytes.Contains(text, []byte("chatgpt")) {
			t.Errorf("the unit: %v\n%s", err, text)
		}
		if _, _, code := w.chatgpt("disconnect"); code != 0 {
			t.Errorf("disconnect: %d", code)
		}
		if _, err := os.Lstat(unit); !os.IsNotExist(err) {
			t.Errorf("the unit is still there: %v", err)
		}
	})
}

// tmuxKnowsNoKey has the server behind the tunnel start a tmux server, whose
// environment all of its later sessions get.
func (w *world) tmuxKnowsNoKey() {
	w.t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		w.t.Log("tmux is missing: its environment is not looked at")
		return
	}
	tmux := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Env = w.env()
		out, _ := cmd.CombinedOutput() // what it says is looked at
		return string(out)
	}
	defer tmux("kill-server")
	session := w.mustTool("create_window", map[string]any{"profile": "bash", "backend": "tmux"})["session_id"]
	ran := w.mustTool("run_command", map[string]any{"session_id": session, "command": "env", "reduce": false})
	for what, text := range map[string]string{"tmux": tmux("show-environment", "-g"), "its session": fmt.Sprint(ran["output"])} {
		if strings.Contains(text, "canary") || strings.Contains(text, "MY_RUNTIME_KEY") || strings.Contains(text, "CONTROL_PLANE") || !strings.Contains(text, "HOME=") {
			w.t.Errorf("the environment of %s:\n%s", what, text)
		}
	}
}
