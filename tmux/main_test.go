package tmux

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"

	"termpilot/process"
	"termpilot/terminal"
	"termpilot/testneeds"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"TMUX", "TMUX_PANE"} {
		_ = os.Unsetenv(name)
	}
	goleak.VerifyTestMain(m)
}

// server is a tmux server of a test's own.
type server struct {
	t      testing.TB
	home   string
	socket string
	env    []string
}

// newServer makes room for a server. It does not start it.
func newServer(t testing.TB) *server {
	t.Helper()
	testneeds.Program(t, "tmux")
	testneeds.Program(t, "bash")
	dir, err := os.MkdirTemp("", "tptmux") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, home: dir, socket: filepath.Join(dir, "s")}
	for _, name := range []string{"shells"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"HOME=" + dir, "SHELL=/bin/bash", "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "USER=tester", "TERM=xterm-256color",
		"TMUX_TMPDIR=" + dir, "HISTFILE=",
	}
	s.write(".tmux.conf", "set -g default-shell /bin/bash\nset -g history-limit 20000\n")
	t.Cleanup(func() {
		s.stop()
		_ = os.RemoveAll(dir)
	})
	return s
}

func (s *server) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// program is the tmux that is tested.
func program() string {
	if path := os.Getenv("TERMPILOT_TEST_TMUX"); path != "" {
		return path
	}
	return "tmux"
}

// stop ends the server and waits for it.
func (s *server) stop() {
	pid := strings.TrimSpace(s.try("display-message", "-p", "#{pid}"))
	s.try("kill-server")
	for end := time.Now().Add(patience); pid != "" && time.Now().Before(end); {
		n, err := strconv.Atoi(pid)
		if p, gone := process.Lookup(n); err != nil || gone != nil || p.State == process.Zombie {
			return
		}
		time.Sleep(2 * time.Millisecond) // there is no event for the end of another's child
	}
}

// try runs tmux on the server, whatever comes of it.
func (s *server) try(args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(), append([]string{"-u", "-S", s.socket}, args...)...)
	cmd.Env = s.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// run is try for what must succeed.
func (s *server) run(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(program(), append([]string{"-u", "-S", s.socket}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// backend returns a backend of the server.
func (s *server) backend(change ...func(*Options)) *Backend {
	o := Options{Socket: s.socket, Env: s.env, Dir: filepath.Join(s.home, "shells"), Program: program()}
	for _, f := range change {
		f(&o)
	}
	b := New(o)
	s.t.Cleanup(func() { _ = b.Disconnect() })
	return b
}

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return c
}

// person attaches a client as a person's terminal does, until leave is called.
func (s *server) person(t testing.TB, session string, columns, rows uint16) (leave func()) {
	t.Helper()
	return s.attach(t, []string{program(), "-u", "-S", s.socket, "attach-session", "-t", session}, columns, rows)
}

// attach runs a command that shows the server, on a terminal of its own.
func (s *server) attach(t testing.TB, argv []string, columns, rows uint16) (leave func()) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = s.env
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, f) // ends with the client
	}()
	leave = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = f.Close()
		<-done
	})
	t.Cleanup(leave)
	for !strings.Contains(s.try("list-clients", "-F", "#{client_control_mode}"), "0") {
		time.Sleep(2 * time.Millisecond) // tmux tells nobody when a client is there
	}
	return leave
}

// signal sends a signal to the server process.
func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	var pid int
	for _, c := range s.run("display-message", "-p", "#{pid}") {
		pid = pid*10 + int(c-'0')
	}
	if err := syscall.Kill(pid, sig); err != nil {
		s.t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// only returns the only session of a server.
func only(t *testing.T, b *Backend) terminal.Session {
	t.Helper()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d sessions", len(list))
	}
	return list[0]
}

// until looks again and again until what is waited for is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond) // what tmux shows has no event here
	}
}

func (s *server) shows(t *testing.T, target, text string) {
	t.Helper()
	until(t, target+" shows "+text, func() bool { return strings.Contains(s.try("capture-pane", "-p", "-t", target), text) })
}

func text(rows []terminal.Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.Text)
		if !r.Soft {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// patience is the longest wait for anything.
const patience = 20 * time.Second
