package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termpilot/testneeds"
)

func TestChatGPTRunsACommandThroughTheTunnel(t *testing.T) { // TUN-1, TUN-20, TUN-30, TUN-31
	tunnelClients(t, func(t *testing.T, w *world) {
		out, errs, code := w.setup()
		if code != 0 {
			t.Fatalf("setup: %d\n%s%s", code, out, errs)
		}
		for _, want := range []string{"ok  tunnel-client", "found in the variable CONTROL_PLANE_API_KEY", "knows the tunnel lab", "a poll succeeded", "Connection: Tunnel", tunnelID} {
			if !strings.Contains(out, want) {
				t.Errorf("setup does not say %q:\n%s", want, out)
			}
		}
		if hello, err := w.call("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "openai-mcp", "version": "1.0.0"}}); err != nil || !bytes.Contains(hello, []byte(`"termpilot"`)) {
			t.Errorf("initialize: %v %s", err, hello)
		}
		if list, err := w.call("tools/list", map[string]any{}); err != nil || !bytes.Contains(list, []byte(`"run_command"`)) {
			t.Errorf("tools/list: %v %.200s", err, list)
		}
		session := w.mustTool("create_window", map[string]any{"profile": "bash", "backend": "host"})["session_id"]
		ran := w.mustTool("run_command", map[string]any{"session_id": session, "command": "echo through; (exit 3)"})
		if ran["status"] != "completed" || ran["exit_code"] != 3.0 || ran["output"] != "through\n" && ran["output"] != "through" {
			t.Errorf("run_command: %v", ran)
		}
		w.until("all four calls are counted", func(s tunnelStatus) bool { return s.Calls == 4 }) // tunnel-client says so after it has answered
		s, code := w.status()
		if code != 0 || !s.Running || !s.Healthy || !s.Ready || s.Polling != "ok" || s.RunsTunnel != tunnelID || s.Tools < 9 {
			t.Errorf("status: %d %+v", code, s)
		}
		out, errs, code = w.chatgpt("doctor")
		if code != 0 || !strings.Contains(out, "pass     tunnel.polling") || !strings.Contains(out, "pass     tunnel.calls") || !strings.Contains(out, "pass     sessions.marks") {
			t.Errorf("doctor: %d\n%s%s", code, out, errs)
		}
		if out, _, code = w.chatgpt("disconnect"); code != 0 || !strings.Contains(out, "have ended") {
			t.Errorf("disconnect: %d %s", code, out)
		}
		if alive(s.PID) || alive(s.ClientPID) {
			t.Errorf("after disconnect: supervisor %v, client %v", alive(s.PID), alive(s.ClientPID))
		}
		if s, code := w.status(); code != 4 || s.Running {
			t.Errorf("status after disconnect: %d %+v", code, s)
		}
		if out, _, code = w.chatgpt("disconnect"); code != 0 || !strings.Contains(out, "was not connected") {
			t.Errorf("disconnect again: %d %s", code, out)
		}
		if out, _, _ := w.termpilot(t, "sessions"); !strings.Contains(out, fmt.Sprint(session)) {
			t.Errorf("the session did not outlive the tunnel:\n%s", out)
		}
	})
}

func TestTheTunnelHealsByItself(t *testing.T) { // TUN-10, TUN-11, TUN-12, TUN-32
	tunnelClients(t, func(t *testing.T, w *world) {
		w.mustSetup()
		before, _ := w.status()
		if err := syscall.Kill(before.ClientPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s := w.until("a new client", func(s tunnelStatus) bool {
			return s.ClientPID != 0 && s.ClientPID != before.ClientPID && s.Healthy
		})
		if s.Restarts != 1 || !strings.Contains(s.LastExit, "killed") || s.PID != before.PID {
			t.Errorf("after the client was killed: %+v", s)
		}
		if list, err := w.call("tools/list", map[string]any{}); err != nil || !bytes.Contains(list, []byte("run_command")) {
			t.Errorf("the next call: %v %.100s", err, list)
		}
		w.until("ready again", func(s tunnelStatus) bool { return s.Ready })

		w.plane.Down()
		down := w.until("failing", func(s tunnelStatus) bool { return s.Polling == "failing" })
		if down.Ready || down.LastError == "" {
			t.Errorf("with the control plane down: %+v", down)
		}
		if _, code := w.status(); code != 1 {
			t.Errorf("status with the control plane down: %d, want 1", code)
		}
		if out, _, code := w.chatgpt("doctor"); code != 1 || !strings.Contains(out, "fail     tunnel.polling") {
			t.Errorf("doctor with the control plane down: %d\n%s", code, out)
		}
		w.plane.Up(t)
		up := w.until("ready after the control plane is back", func(s tunnelStatus) bool { return s.Ready })
		if up.ClientPID != s.ClientPID {
			t.Errorf("the client was started anew although it heals by itself: %+v", up)
		}

		// The supervisor is killed: its client ends with it or is ended by the next one.
		if err := syscall.Kill(up.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(soon); alive(up.PID) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // its end comes without an event
		}
		if s, code := w.status(); code != 4 || s.Running {
			t.Errorf("status after the supervisor was killed: %d %+v", code, s)
		}
		w.mustSetup()
		again, _ := w.status()
		if !again.Ready || again.PID == up.PID || alive(up.ClientPID) {
			t.Errorf("after a new setup: %+v; the old client lives: %v", again, alive(up.ClientPID))
		}
	})
}

func TestSetupTellsWhatIsWrong(t *testing.T) { // TUN-2, TUN-3, TUN-4, TUN-21, TUN-22
	tunnelClients(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			name    string
			args    []string
			env     string
			prepare func()
			code    int
			says    string
		}{
			{"no id", []string{"--tunnel-id", ""}, canary, nil, 2, "no tunnel id"},
			{"an id in upper case", []string{"--tunnel-id", strings.ToUpper(tunnelID)}, canary, nil, 2, "no tunnel id"},
			{"an id one short", []string{"--tunnel-id", tunnelID[:len(tunnelID)-1]}, canary, nil, 2, "no tunnel id"},
			{"an id with a line end", []string{"--tunnel-id", tunnelID + "\n"}, canary, nil, 2, "line end"},
			{"a key as id", []string{"--tunnel-id", canary}, canary, nil, 2, "API key, not a tunnel id"},
			{"an alias with a path", []string{"--alias", "../x"}, canary, nil, 2, "no alias"},
			{"no key", nil, "", nil, 7, "key_missing"},
			{"an admin key", nil, "sk-admin-" + canary, nil, 7, "admin key"},
			{"an id as key", nil, tunnelID, nil, 7, "there is a tunnel id"},
			{"a key with a blank", nil, canary + " ", nil, 7, "blanks"},
			{"a wrong key", nil, "sk-wrong", nil, 7, "401 invalid_api_key"},
			{"an unknown tunnel", []string{"--tunnel-id", strings.Replace(tunnelID, "0", "9", 1)}, canary, nil, 4, "404 tunnel_not_found"},
			{"no tunnel-client", []string{"--tunnel-client", "/none/such"}, canary, nil, 1, "client_missing"},
			{"another program", []string{"--tunnel-client", "/bin/true"}, canary, nil, 1, "tells no version"},
			{"a base URL with a password", []string{"--base-url", "https://me:secret@127.0.0.1"}, canary, nil, 2, "base URL"},
			{"a service that is ill", nil, canary, func() { w.plane.Answer(500) }, 1, "answered 500"},
			{"a service that is down", nil, canary, func() { w.plane.Answer(0); w.plane.Down() }, 1, "no connection to 127.0.0.1"},
			{"a key without Use", nil, canary, func() { w.plane.Up(t); w.plane.AnswerPolls(403) }, 7, "may not use the tunnel"},
		} {
			if c.prepare != nil {
				c.prepare()
			}
			w.extra = nil
			if c.env != "" {
				w.extra = []string{"CONTROL_PLANE_API_KEY=" + c.env}
			}
			args := append([]string{"setup", "--tunnel-id", tunnelID, "--tunnel-client", w.client, "--base-url", w.plane.URL()}, c.args...)
			out, errs, code := w.chatgpt(args...)
			if code != c.code || !strings.Contains(errs, c.says) || !strings.Contains(errs, "hint:") {
				t.Errorf("%s: got %d, want %d saying %q:\n%s%s", c.name, code, c.code, c.says, out, errs)
			}
			if strings.Contains(out+errs, "canary_7Q2x") || strings.Contains(errs, "me:secret") {
				t.Errorf("%s: it shows a secret:\n%s%s", c.name, out, errs)
			}
		}
		w.extra = nil
	})
}

func TestAQuickCallIsNotBehindASlowOneInTheTunnel(t *testing.T) { // TUN-13
	tunnelClients(t, func(t *testing.T, w *world) {
		w.mustSetup()
		var sessions []any
		for range 8 {
			sessions = append(sessions, w.mustTool("create_window", map[string]any{"profile": "bash", "backend": "host"})["session_id"])
		}
		var wg sync.WaitGroup
		here := filepath.Join(w.dir, "here")
		if err := os.Mkdir(here, 0o700); err != nil {
			t.Fatal(err)
		}
		for i, s := range sessions { // each ends when all have begun: one after the other they never would
			command := fmt.Sprintf("touch %s/%d; until [ $(ls %s | wc -l) = %d ]; do sleep 0.1; done", here, i, here, len(sessions))
			wg.Go(func() {
				if r, err := w.tool("run_command", map[string]any{"session_id": s, "command": command}); err != nil || r["exit_code"] != 0.0 {
					t.Errorf("a call that waits for the others: %v %v", r, err)
				}
			})
		}
		wg.Wait()
		slow := make(chan struct{})
		go func() {
			defer close(slow)
			_, _ = w.tool("run_command", map[string]any{"session_id": sessions[0], "command": "sleep 50", "timeout_seconds": 55})
		}()
		w.untilRuns(sessions[0])
		began := time.Now()
		w.mustTool("list_sessions", map[string]any{})
		t.Logf("a quick call during a slow one took %v", time.Since(began))
		select {
		case <-slow:
			t.Error("the slow call had ended before the quick one was answered")
		default:
		}
		w.mustTool("send_keys", map[string]any{"session_id": sessions[0], "keys": []string{"ctrl_c"}})
		<-slow
	})
}

func TestNoStrangersProcessIsTouched(t *testing.T) { // TUN-8, TUN-9
	w := newWorld(t, standIn(t))
	w.mustSetup()
	s, _ := w.status()
	if _, _, code := w.chatgpt("disconnect"); code != 0 {
		t.Fatalf("disconnect: %d", code)
	}
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	folder := filepath.Dir(s.LogPath)
	pid := strconv.Itoa(stranger.Process.Pid)
	recycled := []byte(`{"pid":` + pid + `,"start":"2020-01-01T00:00:00Z"}`)
	for name, data := range map[string][]byte{"client.pid": []byte(pid + "\n"), "lock.holder": recycled} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, code := w.status(); code != 4 || s.Running {
		t.Errorf("status: %d %+v", code, s)
	}
	if out, _, code := w.chatgpt("disconnect"); code != 0 || !strings.Contains(out, "was not connected") {
		t.Errorf("disconnect: %d %s", code, out)
	}
	w.mustSetup()
	if !alive(stranger.Process.Pid) {
		t.Error("a stranger's process was ended")
	}
	// A process that holds the lock and does not say who it is is left alone, too.
	if _, _, code := w.chatgpt("disconnect"); code != 0 {
		t.Fatalf("disconnect: %d", code)
	}
	if err := os.WriteFile(filepath.Join(folder, "lock.holder"), recycled, 0o600); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(testneeds.Program(t, "flock"), filepath.Join(folder, "lock"), "sleep", "60")
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Process.Kill(); _ = holder.Wait() }()
	for end := time.Now().Add(soon); exec.Command("flock", "-n", filepath.Join(folder, "lock"), "true").Run() == nil; time.Sleep(10 * time.Millisecond) { // until it has the lock
		if time.Now().After(end) {
			t.Fatal("the lock was not taken")
		}
	}
	if _, errs, code := w.chatgpt("disconnect"); code != 1 || !strings.Contains(errs, "did not sign up") {
		t.Errorf("disconnect with a stranger in the lock: %d %s", code, errs)
	}
	if !alive(holder.Process.Pid) || !alive(stranger.Process.Pid) {
		t.Error("a stranger's process was ended")
	}
	_ = syscall.Kill(-holder.Process.Pid, syscall.SIGKILL)
	_ = exec.Command("pkill", "-KILL", "-P", strconv.Itoa(holder.Process.Pid)).Run() // its sleep holds the lock too
}

func TestSetupAgainDoesTheRightThing(t *testing.T) { // TUN-23, TUN-24
	w := newWorld(t, standIn(t))
	w.mustSetup()
	first, _ := w.status()
	w.mustSetup()
	if same, _ := w.status(); same.PID != first.PID || same.ClientPID != first.ClientPID {
		t.Errorf("the same again: %+v, want what ran before: %+v", same, first)
	}
	w.base = []string{"NO_PROXY=corp.example"}
	w.mustSetup()
	if other, _ := w.status(); other.PID == first.PID || alive(first.PID) {
		t.Errorf("with another network: %+v, before: %+v", other, first)
	}
	w.mustSetup("--read-only")
	changed, _ := w.status()
	if changed.PID == first.PID || alive(first.PID) || alive(first.ClientPID) || changed.Tools >= first.Tools {
		t.Errorf("with other settings: %+v, before: %+v", changed, first)
	}
	if _, err := w.tool("run_command", map[string]any{"session_id": "x", "command": "true"}); err == nil {
		t.Error("a read-only server ran a command")
	}
	w.mustSetup("--alias", "Second_One")
	if out, _, code := w.chatgpt("status", "--alias", "second-one"); code != 0 || !strings.Contains(out, "second-one") {
		t.Errorf("the second alias: %d %s", code, out)
	}
	if s, _ := w.status(); s.PID != changed.PID {
		t.Errorf("the first was touched: %+v", s)
	}
	if _, _, code := w.chatgpt("disconnect", "--alias", "second_one"); code != 0 {
		t.Errorf("disconnect of the second: %d", code)
	}
	var wg sync.WaitGroup
	codes := make([]int, 2)
	for i := range codes {
		wg.Go(func() {
			cmd := exec.Command(binary, "chatgpt", "setup", "--tunnel-id", tunnelID, "--tunnel-client", w.client, "--base-url", w.plane.URL(), "--alias", "third")
			cmd.Env = append(w.env(), "CONTROL_PLANE_API_KEY="+canary)
			_ = cmd.Run() // its code is what is looked at
			codes[i] = cmd.ProcessState.ExitCode()
		})
	}
	wg.Wait()
	if codes[0] != 0 && codes[1] != 0 || codes[0] != 0 && codes[0] != 7 || codes[1] != 0 && codes[1] != 7 {
		t.Errorf("two setups at once: %v", codes)
	}
	if _, _, code := w.chatgpt("disconnect", "--alias", "third"); code != 0 {
		t.Errorf("disconnect of the third: %d", code)
	}
}
