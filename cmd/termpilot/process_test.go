package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// home makes a newcomer's home and returns the environment of programs in it.
// What was started there is stopped when the test ends, and nothing may be left.
func home(t *testing.T) []string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		t.Fatal(err)
	}
	for _, startup := range []string{".bashrc", ".bash_profile"} {
		if err := os.WriteFile(filepath.Join(dir, startup), []byte("PS1='at your command> '\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"HOME=" + dir, "TMUX_TMPDIR=" + dir, "TERMPILOT_HOME=" + filepath.Join(dir, "tp"), "PATH=" + os.Getenv("PATH"),
		"LANG=C.UTF-8", "SHELL=/bin/bash", "TERM=xterm-256color", fastExit,
	}
	t.Cleanup(func() {
		if err := clearAway(dir, env); err != nil {
			t.Error(err)
		}
	})
	return env
}

func command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command("termpilot", args...)
	cmd.Env = env
	return cmd
}

// output runs termpilot to its end and returns its standard output.
func output(t *testing.T, env []string, args ...string) string {
	t.Helper()
	out, err := command(env, args...).Output()
	if err != nil {
		t.Fatalf("termpilot %s: %v: %s", strings.Join(args, " "), err, stderrOf(err))
	}
	return string(out)
}

func stderrOf(err error) string {
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(exited.Stderr)
	}
	return ""
}

// openSession opens a bash in the host of env and returns its id at its first prompt.
func openSession(t *testing.T, env []string) string {
	t.Helper()
	out := output(t, env, "call", "--json", "create_window", "profile=bash")
	m := regexp.MustCompile(`"session_id": "([^"]+)"`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("create_window told no session_id: %s", out)
	}
	output(t, env, "call", "wait_session", "session_ids="+m[1], "until=prompt", "timeout_seconds=20")
	return m[1]
}

// hostPID is the process of the host of env.
func hostPID(t *testing.T, env []string) int {
	t.Helper()
	m := regexp.MustCompile(`"pid": (\d+)`).FindStringSubmatch(output(t, env, "host", "status", "--json"))
	if m == nil {
		t.Fatal("the host tells no pid")
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// promptly is the time within which serve ends.
const promptly = 2 * time.Second

// endsPromptly is endsWithin for what must end promptly. On a machine that is busy
// it may also take ten times as long as a program that does nothing takes beside it.
func endsPromptly(t *testing.T, cmd *exec.Cmd, code int) {
	t.Helper()
	began := time.Now()
	nothing := command([]string{fastExit}, "version")
	beside := make(chan time.Duration, 1)
	go func() {
		_ = nothing.Run()
		beside <- time.Since(began)
	}()
	endsWithin(t, cmd, patient, code)
	took, idle := time.Since(began), <-beside
	if took > promptly && took > 10*idle {
		t.Errorf("it took %v to end, and one that does nothing %v", took, idle)
	}
}

// endsWithin waits for cmd, which must end by itself with the code, in time.
func endsWithin(t *testing.T, cmd *exec.Cmd, limit time.Duration, code int) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("exit code %d, want %d", got, code)
		}
	case <-time.After(limit):
		_ = cmd.Process.Kill()
		<-ended
		t.Errorf("did not end within %v", limit)
	}
}

// serving starts `termpilot serve` and returns when it has answered a ping.
// Its standard input stays open.
func serving(t *testing.T, env []string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	cmd := command(env, "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ping(t, in, out)
	return cmd, in
}

func ping(t *testing.T, in io.Writer, out io.Reader) {
	t.Helper()
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":7,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, `"id":7`) {
		t.Fatalf("no answer to ping: %q, %v", line, err)
	}
}

func TestServeEndsWithItsInput(t *testing.T) { // CLI-11
	cmd, in := serving(t, home(t))
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	endsPromptly(t, cmd, exitOK)
}

func TestServeEndsWhenItIsTold(t *testing.T) { // CLI-11
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd, _ := serving(t, home(t))
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			endsPromptly(t, cmd, exitOK)
		})
	}
}

func TestServeEndsThoughItsTerminalDoesNotAnswer(t *testing.T) { // CLI-11, MCP-14
	env := home(t)
	id := openSession(t, env)
	pid := hostPID(t, env)
	for name, end := range map[string]func(*exec.Cmd, io.Closer){
		"the end of the input": func(_ *exec.Cmd, in io.Closer) { _ = in.Close() },
		"SIGTERM":              func(cmd *exec.Cmd, _ io.Closer) { _ = cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			cmd, in := serving(t, env)
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
			for n, call := range []string{`"wait_session","arguments":{"session_ids":["` + id + `"],"until":"exit"}`, `"run_command","arguments":{"session_id":"` + id + `","command":"true"}`} {
				if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}`+"\n", 10+n, call); err != nil {
					t.Fatal(err)
				}
			}
			end(cmd, in)
			endsPromptly(t, cmd, exitOK)
		})
	}
}

// The parent is killed, while a sibling keeps the pipe to the server open.
func TestServeEndsWhenItsParentVanishes(t *testing.T) { // CLI-11
	env := home(t)
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	out, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	never, neverEnds, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer never.Close()
	defer neverEnds.Close()
	// sh waits for what never comes, with the server as its child.
	parent := exec.Command("sh", "-c", "termpilot serve <&4 & read wait <&3")
	parent.Env, parent.Stdout, parent.ExtraFiles = env, write, []*os.File{never, in}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), write.Close()
	ping(t, feed, out)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, out) // ends when the server, which holds the other end, has
		ended <- err
	}()
	select {
	case <-ended:
	case <-time.After(patient):
		t.Error("the server outlives its parent")
	}
}

func TestSessionsThatAreNotKnownAreNotCalledNone(t *testing.T) { // CLI-17, CLI-18, CLI-41, CLI-42
	env := home(t)
	openSession(t, env)
	pid := hostPID(t, env)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"sessions": {exitOK, "termpilot: host: unavailable: "},
		"read":     {exitFailed, "backend_unavailable: host gave no answer"},
		"doctor":   {exitFailed, "not all sessions could be listed"},
	} {
		cmd := command(env, args)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want.code || !strings.Contains(string(out), want.says) || strings.Contains(string(out), "no session lives") {
			t.Errorf("%s: exit code %d, want %d:\n%s", args, got, want.code, out)
		}
	}
}

func TestWhoInterruptsIsToldWhatCameOfIt(t *testing.T) { // CLI-31, CLI-45
	env := home(t)
	for _, startup := range []string{".bashrc", ".bash_profile"} {
		if err := os.WriteFile(filepath.Join(strings.TrimPrefix(env[0], "HOME="), startup), []byte("sleep 60\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := command(env, "new", "--", "echo never")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(patient)
	for seen := 0; seen < 5; { // the host has opened it; whoever asked for it hears so before this program has started five times
		if strings.Contains(output(t, env, "sessions", "--json"), `"session_id"`) {
			seen++
		} else if time.Now().After(end) {
			t.Fatal("no session is opened")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	endsWithin(t, cmd, patient, exitFailed)
	if !strings.Contains(said.String(), "the command was not typed") || !strings.Contains(said.String(), "termpilot call wait_session") {
		t.Errorf("said %q", said.String())
	}
}

func TestARunThatIsInterruptedGoesOnAndIsTold(t *testing.T) { // CLI-19, CLI-20
	env := home(t)
	cmd := command(env, "run", "--", "sleep 60")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patient); !strings.Contains(output(t, env, "sessions", "--json"), `"state": "busy"`); {
		if time.Now().After(end) {
			t.Fatal("it does not run")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	endsWithin(t, cmd, patient, exitTimeout)
	for _, want := range []string{"the session is ", "the command still runs, as run r", "wait_session run_id=r"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("said %q, want %q", said.String(), want)
		}
	}
}

func TestTheHostIsStartedWithoutSecrets(t *testing.T) { // TUN-6, CLI-13
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows what a process was started with")
	}
	env := append(home(t), "CONTROL_PLANE_API_KEY=canary", "TERMPILOT_HTTP_TOKEN=canary")
	openSession(t, env)
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", hostPID(t, env)))
	if err != nil || !strings.Contains(string(environ), "TERMPILOT_HOME=") || strings.Contains(string(environ), "canary") {
		t.Errorf("got %q, %v", environ, err)
	}
}

func TestServeOverHTTPWantsItsToken(t *testing.T) { // CLI-12, CLI-13
	env := home(t)
	for _, own := range []bool{false, true} {
		env := append(env, "TERMPILOT_HTTP_TOKEN= ") // nobody could send that
		if own {
			env = append(env, "TERMPILOT_HTTP_TOKEN=the-one-of-the-environment\n")
		}
		cmd := command(env, "serve", "--http", "127.0.0.1:0")
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(errs).ReadString('\n')
		m := regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+/mcp); the bearer token is in (.*)\n`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("said %q, %v", line, err)
		}
		token := "the-one-of-the-environment"
		if !own {
			data, err := os.ReadFile(m[2])
			info, statErr := os.Stat(m[2])
			if err != nil || statErr != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("the token's file: %v, %v, %v", err, statErr, info.Mode())
			}
			token = strings.TrimSpace(string(data))
		}
		if strings.Contains(line, token) {
			t.Error("the token was printed")
		}
		for _, try := range []struct {
			token string
			want  int
		}{{token, http.StatusOK}, {"", http.StatusUnauthorized}, {token + "x", http.StatusUnauthorized}} {
			if got := initialize(t, m[1], try.token); got != try.want {
				t.Errorf("with token %q: status %d, want %d", try.token, got, try.want)
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		endsPromptly(t, cmd, exitOK)
	}
}

func initialize(t *testing.T, url, token string) int {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
