package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// copyOf puts a copy of a program into a folder.
func copyOf(t *testing.T, program, folder, name string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, name)
}

func TestPathsMayHoldBlanksQuotesAndCommas(t *testing.T) { // TUN-29
	tunnelClients(t, func(t *testing.T, w *world) {
		odd := filepath.Join(w.dir, `My App, it's "here" $HOME 50%`)
		here := filepath.Join(odd, "tp home")
		w.base = []string{"TERMPILOT_HOME=" + here}
		w.client = copyOf(t, w.client, odd, "tunnel-client")
		program := copyOf(t, binary, odd, "term pilot")
		run := func(args ...string) (string, int) {
			cmd := exec.Command(program, append([]string{"chatgpt"}, args...)...)
			cmd.Env = append(w.env(), "TERMPILOT_HOME="+here, "CONTROL_PLANE_API_KEY="+canary)
			cmd.Dir = odd
			out, err := cmd.CombinedOutput()
			if err != nil && cmd.ProcessState == nil {
				t.Fatal(err)
			}
			return string(out), cmd.ProcessState.ExitCode()
		}
		if err := os.WriteFile(filepath.Join(odd, "my key.env"), []byte("K="+canary+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, code := run("setup", "--tunnel-id", tunnelID, "--tunnel-client", "./tunnel-client", "--base-url", w.plane.URL(), "--alias", "My_Odd", "--env-file", "my key.env", "--runtime-key", "K", "--at-login")
		if code != 0 {
			t.Fatalf("setup: %d\n%s", code, out)
		}
		w.mustTool("list_sessions", map[string]any{})
		for _, alias := range []string{"my-odd", "MY_ODD"} {
			if out, code := run("status", "--alias", alias); code != 0 || !strings.Contains(out, "my key.env, line 1") {
				t.Errorf("status of %s: %d\n%s", alias, code, out)
			}
		}
		if out, code := run("doctor", "--alias", "my_odd"); code != 0 {
			t.Errorf("doctor: %d\n%s", code, out)
		}
		if out, code := run("disconnect", "--alias", "My-Odd"); code != 0 || !strings.Contains(out, "have ended") || !strings.Contains(out, "removed ") {
			t.Errorf("disconnect: %d\n%s", code, out)
		}
	})
}

func TestSetupInTheForegroundIsTheSupervisor(t *testing.T) { // TUN-6, TUN-33
	tunnelClients(t, func(t *testing.T, w *world) {
		cmd := exec.Command(binary, "chatgpt", "setup", "--foreground", "--tunnel-id", tunnelID, "--tunnel-client", w.client, "--base-url", w.plane.URL())
		cmd.Env = append(w.env(), "CONTROL_PLANE_API_KEY="+canary)
		cmd.Dir = w.dir
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) { // until it has written what it was asked for
			if out, _, code := w.chatgpt("status"); code == 0 && strings.Contains(out, "ok (") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("it is not ready:\n%s", said.String())
			}
		}
		s, _ := w.status()
		if s.PID != cmd.Process.Pid {
			t.Errorf("the supervisor is %d, want %d", s.PID, cmd.Process.Pid)
		}
		if environ, err := os.ReadFile("/proc/" + strconv.Itoa(s.PID) + "/environ"); err == nil && (bytes.Contains(environ, []byte("canary")) || !bytes.Contains(environ, []byte("HOME="))) {
			t.Error("the key is in the environment that the supervisor was started with")
		}
		if out, _, code := w.chatgpt("status"); code != 0 || !strings.Contains(out, "the variable CONTROL_PLANE_API_KEY") {
			t.Errorf("status does not say where the key was: %d\n%s", code, out)
		}
		w.mustTool("list_sessions", map[string]any{})
		if out, errs, code := w.setup("--foreground"); code != 7 || !strings.Contains(errs, "tunnel_busy") {
			t.Errorf("a second one: %d\n%s%s", code, out, errs)
		}
		began := time.Now()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("it ended with %v:\n%s", err, said.String())
			}
		case <-time.After(soon):
			t.Fatal("SIGTERM does not end it")
		}
		t.Logf("SIGTERM ended it within %v", time.Since(began))
		if alive(s.ClientPID) {
			t.Error("tunnel-client still runs")
		}
		if left, _ := filepath.Glob(filepath.Join(w.dir, "tp", "host", "t*.[cmh]")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		if strings.Contains(said.String(), "canary") {
			t.Errorf("it was printed:\n%s", said.String())
		}
	})
}

func TestWhatStartsAtLoginStartsOnceAndNotAfterDisconnect(t *testing.T) { // TUN-25, TUN-26
	w := newWorld(t, standIn(t))
	path := filepath.Join(w.dir, "key")
	if err := os.WriteFile(path, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	w.mustSetup("--runtime-key", "file:"+path, "--at-login")
	s, _ := w.status()
	if out, errs, code := w.chatgpt("supervise", "--at-login"); code != 0 || !strings.Contains(errs, "another supervisor has this alias") {
		t.Errorf("beside one that runs: %d\n%s%s", code, out, errs)
	}
	if again, _ := w.status(); again.PID != s.PID {
		t.Errorf("it was replaced: %+v", again)
	}
	if _, _, code := w.chatgpt("disconnect"); code != 0 {
		t.Fatalf("disconnect: %d", code)
	}
	if out, errs, code := w.chatgpt("supervise", "--at-login"); code != 0 || !strings.Contains(errs, "no longer started at login") {
		t.Errorf("after disconnect: %d\n%s%s", code, out, errs)
	}
	if out, errs, code := w.setup("--at-login"); code != 2 || !strings.Contains(errs, "this shell's environment alone") {
		t.Errorf("with a key of the shell's: %d\n%s%s", code, out, errs)
	}
}

func TestSetupSaysWhatStandsInItsWay(t *testing.T) { // TUN-35, TUN-36
	w := newWorld(t, standIn(t))
	env := filepath.Join(w.dir, ".env")
	if err := os.WriteFile(env, []byte("CONTROL_PLANE_API_KEY="+canary+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"setup", "--tunnel-id", tunnelID, "--tunnel-client", w.client, "--base-url", w.plane.URL()}
	if out, errs, code := w.chatgpt(args...); code != 0 || !strings.Contains(out, "others can read that file: run chmod 600 "+env) {
		t.Errorf("with a .env that others may read: %d\n%s%s", code, out, errs)
	}
	if out, _, code := w.chatgpt("doctor"); code != 0 || !strings.Contains(out, "warn     tunnel.key") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	if _, _, code := w.chatgpt("disconnect"); code != 0 {
		t.Fatalf("disconnect: %d", code)
	}
	out, _, _ := w.chatgpt("status", "--json")
	if !strings.Contains(out, `"running":false`) && !strings.Contains(out, `"running": false`) {
		t.Errorf("status: %s", out)
	}
	// What is no socket in a socket's place is told and left alone.
	before, err := filepath.Glob(filepath.Join(w.dir, "tp", "host", "*"))
	if err != nil {
		t.Fatal(err)
	}
	w.mustSetup()
	sockets, _ := filepath.Glob(filepath.Join(w.dir, "tp", "host", "t*.m"))
	if len(sockets) != 1 {
		t.Fatalf("the sockets: %v, before: %v", sockets, before)
	}
	if _, _, code := w.chatgpt("disconnect"); code != 0 {
		t.Fatalf("disconnect: %d", code)
	}
	if err := os.Mkdir(sockets[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := w.chatgpt(args...); code != 1 || !strings.Contains(errs, "is not a socket") {
		t.Errorf("with a folder in the socket's place: %d\n%s%s", code, out, errs)
	}
	if err := os.Remove(sockets[0]); err != nil {
		t.Errorf("the folder: %v", err)
	}
	w.mustSetup()
}
