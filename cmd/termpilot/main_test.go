package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"termpilot/testneeds"
)

// fastExit keeps programs built with the race detector from sleeping for a second at their end.
const fastExit = "GORACE=atexit_sleep_ms=10"

// TestMain registers termpilot with testscript: this test binary is the
// program, for the scripts and for what the program starts of itself.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"termpilot": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// A newcomer's home, on a short path: sockets live below it.
			home, err := os.MkdirTemp("", "tp")
			if err != nil {
				return err
			}
			env.Setenv("HOME", home)
			env.Setenv("TERMPILOT_HOME", filepath.Join(home, "tp"))
			env.Setenv("TMUX_TMPDIR", home) // whose tmux runs is none of a test's business
			env.Setenv("SHELL", "/bin/bash")
			env.Setenv("TERM", "xterm-256color")
			env.Setenv("WORD", "here")
			env.Vars = append(env.Vars, fastExit)
			env.Defer(func() {
				if err := clearAway(home, env.Vars); err != nil {
					env.T().Fatal(err)
				}
			})
			return nil
		},
		Condition: func(name string) (bool, error) {
			program, ok := strings.CutPrefix(name, "have:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			_, err := exec.LookPath(program)
			if err != nil && testneeds.Required(program) {
				return false, fmt.Errorf("%s is required here and is not installed", program)
			}
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit":    exit,
			"session": session,
			"id":      idOf,
			"mode":    mode,
		},
	})
}

// exit CODE COMMAND…: runs the command, which must end with that code.
func exit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exited, ok := err.(*exec.ExitError); ok {
		code = exited.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%s: exit code %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// session VARIABLE [name=value…]: opens a session, waits for its prompt and
// puts its id into the variable.
func session(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: session VARIABLE [name=value…]")
	}
	ts.Check(ts.Exec("termpilot", append([]string{"call", "--json", "create_window"}, args[1:]...)...))
	_, after, _ := strings.Cut(ts.ReadFile("stdout"), `"session_id": "`)
	id, _, ok := strings.Cut(after, `"`)
	if !ok {
		ts.Fatalf("create_window told no session_id")
	}
	ts.Check(ts.Exec("termpilot", "call", "wait_session", "session_ids="+id, "until=prompt", "timeout_seconds=20"))
	ts.Setenv(args[0], id)
}

// idOf is the command id VARIABLE FILE, which puts the id that a command printed into the variable.
func idOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: id VARIABLE FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// mode PERMISSIONS FILE: the file has these permissions.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode PERMISSIONS FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%03o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// clearAway stops the host of a home, sees to it that nothing else is left
// running there, and removes the home.
func clearAway(home string, env []string) error {
	stop := exec.Command("termpilot", "host", "stop", "--force")
	stop.Env = env
	if out, err := stop.CombinedOutput(); err != nil {
		return fmt.Errorf("host stop: %w: %s", err, out)
	}
	for until := time.Now().Add(patient); ; {
		left := processesOf(home)
		if len(left) == 0 {
			return os.RemoveAll(home)
		}
		if time.Now().After(until) {
			return fmt.Errorf("left behind: %s", strings.Join(left, "; "))
		}
		time.Sleep(20 * time.Millisecond) // between looks at /proc
	}
}

// processesOf lists what runs with home in its environment (Linux; elsewhere nothing).
func processesOf(home string) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	var left []string
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte("TERMPILOT_HOME="+home)) {
			continue
		}
		words, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if len(words) == 0 {
			continue // a zombie: its parent has yet to look
		}
		left = append(left, strings.ReplaceAll(string(words), "\x00", " "))
	}
	return left
}
