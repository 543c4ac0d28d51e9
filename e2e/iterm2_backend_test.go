package e2e

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// iterm2Home is a home in which the host stands where iTerm2 would: at the place
// of its suite, with the check of cookies switched off by root, as an
// administrator may, so that a terminal that comes back lets its old client in.
func iterm2Home(t *testing.T) home {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can switch the check of cookies off")
	}
	h := newHome(t)
	h.extra = []string{"IT2_SUITE=termpilot"}
	path := filepath.Join(h.dir, "Library", "Application Support", "termpilot", "disable-automation-auth")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(hex.EncodeToString([]byte(path))+" 61DF88DC-3423-4823-B725-22570E01C027"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.appear(t)
	return h
}

// appear starts the host at the suite's place and returns its process.
func (h home) appear(t *testing.T) int {
	t.Helper()
	if out, errs, code := h.termpilot(t, "host", "env"); code != 0 {
		t.Fatalf("host env: %d %s%s", code, out, errs)
	}
	out, errs, code := h.termpilot(t, "host", "status", "--json")
	var status struct{ PID int }
	if err := json.Unmarshal([]byte(out), &status); err != nil || code != 0 || status.PID == 0 {
		t.Fatalf("host status: %d %v %s%s", code, err, out, errs)
	}
	return status.PID
}

func TestITerm2IsDrivenByItsOwnBackend(t *testing.T) { // CLI-40
	h := iterm2Home(t)
	c := serve(t, h, "--backend", "iterm2")
	s := c.open(h, "bash", map[string]any{"name": "acorn"})
	s.expect("echo hello; (exit 4)", want{exit: code(4), output: "hello"})
	var list struct {
		Sessions []struct{ Backend, Name string }
		Backends []struct{ Name, State string }
	}
	c.call("list_sessions", nil, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Backend != "iterm2" || list.Sessions[0].Name != "acorn" || len(list.Backends) != 1 || list.Backends[0].State != "ok" {
		t.Errorf("list: %+v", list)
	}
}

func TestITerm2MayBeKilledAndComeBackUnderARunningServer(t *testing.T) {
	h := iterm2Home(t)
	c := serve(t, h, "--backend", "iterm2")
	s := c.open(h, "bash", nil)
	s.expect("true", want{exit: code(0)})
	pid := h.appear(t)
	_, waiting := c.post("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"session_id": s.ID, "command": "sleep 50", "timeout_seconds": 50}})
	s.until("text", "sleep 50", soon)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var r runResult
	began := time.Now()
	f := c.settle("run_command", c.await("run_command", waiting), &r)
	if took := time.Since(began); took > soon {
		t.Errorf("the waiting call ended after %v", took)
	}
	switch { // how the command ended nobody can know; that it is not known must be said
	case f != nil && f.Code != "backend_unavailable" && f.Code != "session_ended":
		t.Errorf("the waiting call: %+v", f)
	case f == nil && (r.ExitCode != nil || r.Status != "unknown" && r.Status != "session_ended" && r.Status != "running" || r.ExitReason == ""):
		t.Errorf("the waiting call: %+v", r)
	}
	if f := c.try("run_command", with(s, map[string]any{"command": "true"}), nil); f == nil || f.Code != "backend_unavailable" {
		t.Errorf("while it is away: %+v", f)
	}
	h.appear(t)
	again := c.open(h, "bash", nil)
	again.expect("echo back", want{exit: code(0), output: "back"})
	if f := c.try("run_command", with(s, map[string]any{"command": "true"}), nil); f == nil || f.Code != "session_not_found" && f.Code != "session_ended" {
		t.Errorf("the session that went with it: %+v", f)
	}
}
