package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
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
	endsWithin(t, cmd, 2*time.Second, exitOK)
}

func TestServeEndsWhenItIsTold(t *testing.T) { // CLI-11
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd, _ := serving(t, home(t))
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			endsWithin(t, cmd, 2*time.Second, exitOK)
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
	case <-time.After(3 * time.Second):
		t.Error("the server outlives its parent")
	}
}

func TestServeOverHTTPWantsItsToken(t *testing.T) { // CLI-12, CLI-13
	env := home(t)
	for _, own := range []bool{false, true} {
		env := env
		if own {
			env = append(env, "TERMPILOT_HTTP_TOKEN=the-one-of-the-environment")
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
		endsWithin(t, cmd, 3*time.Second, exitOK)
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

// person is somebody at a terminal who runs termpilot there.
type person struct {
	t   *testing.T
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	seen []byte
	news chan struct{} // has an item when something was seen, and is closed at the end
}

func sit(t *testing.T, env []string, args ...string) *person {
	t.Helper()
	p := &person{t: t, cmd: command(env, args...), news: make(chan struct{}, 1)}
	var err error
	if p.tty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(p.look)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.tty.Close()
		reading.Wait()
	})
	return p
}

func (p *person) look() {
	defer close(p.news)
	buf := make([]byte, 4096)
	for {
		n, err := p.tty.Read(buf)
		p.mu.Lock()
		p.seen = append(p.seen, buf[:n]...)
		p.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
}

func (p *person) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.seen)
}

// sees waits until the terminal has shown text.
func (p *person) sees(text string) {
	p.t.Helper()
	limit := time.After(10 * time.Second)
	for !strings.Contains(p.all(), text) {
		select {
		case _, more := <-p.news:
			if !more && !strings.Contains(p.all(), text) {
				p.t.Fatalf("%v ended without showing %q, but %q", p.cmd.Args, text, p.all())
			}
		case <-limit:
			p.t.Fatalf("%v does not show %q, but %q", p.cmd.Args, text, p.all())
		}
	}
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

func TestPeopleAndClientsShareASession(t *testing.T) { // CLI-25
	env := home(t)
	id := openSession(t, env)
	one := sit(t, env, "attach", id)
	one.sees("at your command> ")
	two := sit(t, env, "attach") // the only session
	two.sees("at your command> ")
	one.types("echo by-$((40+2))-hand\r")
	one.sees("by-42-hand")
	two.sees("by-42-hand")
	output(t, env, "call", "wait_session", "session_ids="+id, "until=prompt", "timeout_seconds=10")
	if got := output(t, env, "run", "--session", id, "--", "echo by-$((40+3))-client"); got != "by-43-client\n" {
		t.Errorf("a client's command printed %q", got)
	}
	one.sees("by-43-client")
	two.types("\x1b[92;5u") // the detach key, as kitty's protocol spells it
	two.sees("come back with termpilot attach " + id)
	endsWithin(t, two.cmd, 3*time.Second, exitOK)
	one.types("\x1c")
	one.sees("come back with")
	endsWithin(t, one.cmd, 3*time.Second, exitOK)
	if got := output(t, env, "run", "--session", id, "--", "echo still here"); got != "still here\n" {
		t.Errorf("after everybody left: %q", got)
	}
}

func TestAttachEndsWithTheSession(t *testing.T) { // CLI-25
	env := home(t)
	id := openSession(t, env)
	one := sit(t, env, "attach", id)
	one.sees("at your command> ")
	one.types("exit 5\r")
	one.sees("the session ended with exit code 5")
	endsWithin(t, one.cmd, 3*time.Second, exitOK)
	gone := sit(t, env, "attach", "nonsense")
	gone.sees("session_not_found")
	endsWithin(t, gone.cmd, 3*time.Second, exitGone)
}

func TestBareTermpilotAtATerminalHelps(t *testing.T) { // CLI-9
	p := sit(t, home(t))
	p.sees("Usage:")
	endsWithin(t, p.cmd, 3*time.Second, exitOK)
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) { // CLI-5
	for _, c := range []struct {
		add  string
		want bool
	}{{"A=b", true}, {"NO_COLOR=1", false}, {"NO_COLOR=", true}, {"TERM=dumb", false}} {
		p := sit(t, append(home(t), c.add), "nonsense")
		p.sees("hint:")
		endsWithin(t, p.cmd, 3*time.Second, exitUsage)
		if got := bytes.ContainsRune([]byte(p.all()), 0x1b); got != c.want {
			t.Errorf("%s: colour %v, want %v: %q", c.add, got, c.want, p.all())
		}
	}
}

func TestAnInterruptedDemoLeavesNothing(t *testing.T) { // CLI-28
	env := home(t)
	tmp := filepath.Join(strings.TrimPrefix(env[0], "HOME="), "t")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	p := sit(t, append(env, "TMPDIR="+tmp), "demo")
	p.sees("sleep 1.5")
	p.types("\x03") // to everybody in the foreground, as a person's Ctrl-C
	p.sees("interrupted")
	endsWithin(t, p.cmd, 10*time.Second, exitFailed)
	nothingLeft(t, tmp)
}

func TestADemoWhoseReaderLeavesLeavesNothing(t *testing.T) { // CLI-28
	env := home(t)
	tmp := filepath.Join(strings.TrimPrefix(env[0], "HOME="), "t")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("termpilot", "demo")
	cmd.Env, cmd.Stdout = append(env, "TMPDIR="+tmp), write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	read.Close()
	_ = cmd.Wait() // it may call the failed writes a failure
	nothingLeft(t, tmp)
}

func TestAReaderThatHasSeenEnoughIsNoFailure(t *testing.T) { // CLI-30
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	cmd := exec.Command("termpilot", "tools")
	var errs strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = home(t), write, &errs
	err = cmd.Run()
	write.Close()
	if err != nil || errs.Len() > 0 {
		t.Errorf("%v: %s", err, errs.String())
	}
}

func nothingLeft(t *testing.T, tmp string) {
	t.Helper()
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left := processesOf(tmp); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}
