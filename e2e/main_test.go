// Package e2e holds the built binary against real programs: shells, MCP
// clients that others wrote, and the hosts and terminals that people use.
// README.md beside this file says which case of which kind is covered where.
package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/tunnel/tunneltest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	tunneltest.Becomes()
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "termpilot")
	build := exec.Command("go", "build", "-o", binary, "termpilot/cmd/termpilot")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// home is a fresh HOME with a host of its own.
type home struct {
	dir   string
	extra []string
	plain bool // without TERMPILOT_HOME: clients that others wrote do not pass it on
	real  bool // it is the person's own, as their environment says
}

// newHome makes a home and sees to it that nothing that was started in it
// outlives the test. Its path is short: sockets live below it.
func newHome(t testing.TB) home {
	t.Helper()
	return made(t, home{})
}

// plainHome is a home that is known by HOME alone.
func plainHome(t *testing.T) home {
	t.Helper()
	return made(t, home{plain: true})
}

func made(t testing.TB, h home) home {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		t.Fatal(err)
	}
	h.dir = dir
	t.Cleanup(func() {
		stop := exec.Command(binary, "host", "stop", "--force")
		stop.Env = h.env()
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("host stop: %v: %s", err, out)
		}
		deadline := time.Now().Add(soon)
		for left := h.processes(); len(left) > 0; left = h.processes() {
			if time.Now().After(deadline) {
				t.Errorf("left behind: %v", left)
				break
			}
			time.Sleep(20 * time.Millisecond) // between looks at /proc
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return h
}

// env is a newcomer's environment: a home, a path, a language.
func (h home) env() []string {
	if h.real {
		return os.Environ()
	}
	env := []string{"HOME=" + h.dir, "TMUX_TMPDIR=" + h.dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "SHELL=/bin/bash"}
	if !h.plain {
		env = append(env, "TERMPILOT_HOME="+filepath.Join(h.dir, "tp"))
	}
	return append(env, h.extra...)
}

// termpilot runs the command line to its end.
func (h home) termpilot(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = h.env()
	cmd.Dir = h.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// processes lists what still runs with this home in its environment, or in a
// folder of it (Linux; elsewhere none).
func (h home) processes() []string {
	var left []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // gone, or another user's
		folder, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if !bytes.Contains(environ, []byte("HOME="+h.dir+"\x00")) && !bytes.Contains(environ, []byte("HOME="+h.dir+"/")) &&
			!strings.HasPrefix(folder+"/", h.dir+"/") {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if len(line) == 0 {
			continue // a zombie: its parent has yet to look
		}
		left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return left
}
