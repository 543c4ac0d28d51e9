package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/testneeds"
)

// shells are those with an integration of ours.
var shells = []string{"bash", "zsh", "fish"}

// everyShell runs f in each shell, side by side.
func everyShell(t *testing.T, f func(t *testing.T, shell string)) {
	t.Helper()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			f(t, shell)
		})
	}
}

// session is a terminal session of a server.
type session struct {
	t     *testing.T
	c     *client
	h     home
	ID    string `json:"session_id"`
	shell string
}

type readiness struct {
	State    string
	Reason   string
	Evidence []string
}

type runResult struct {
	RunID         string `json:"run_id"`
	Status        string
	Kind          string
	ExitCode      *int   `json:"exit_code"`
	ExitReason    string `json:"exit_reason"`
	Output        string
	TruncatedHead bool  `json:"truncated_head"`
	DurationMS    int64 `json:"duration_ms"`
	Cwd           string
	Evidence      []string
	Omitted       struct {
		Lines    int
		HowToGet string `json:"how_to_get"`
	}
}

type readResult struct {
	Content       string
	Cursor        string
	Alternate     bool `json:"alternate_screen"`
	TruncatedHead bool `json:"truncated_head"`
	Readiness     readiness
	Omitted       struct {
		Lines    int
		HowToGet string `json:"how_to_get"`
	}
}

// rcFile is where a shell reads what its user wrote.
func rcFile(shell string) string {
	switch shell {
	case "bash":
		return ".bash_profile"
	case "zsh":
		return ".zshrc"
	default:
		return filepath.Join(".config", "fish", "config.fish")
	}
}

// open opens a session with the shell, whose user wrote rc, on a home and a server of its own.
func open(t *testing.T, shell, rc string) *session {
	t.Helper()
	h := newHome(t)
	if rc != "" {
		path := filepath.Join(h.dir, rcFile(shell))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(rc+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return serve(t, h).open(h, shell, nil)
}

func (c *client) open(h home, shell string, more map[string]any) *session {
	c.t.Helper()
	args := map[string]any{"profile": shell, "cwd": h.dir, "rows": 24, "columns": 80}
	for k, v := range more {
		args[k] = v
	}
	s := &session{t: c.t, c: c, h: h, shell: shell}
	c.call("create_window", args, s)
	if s.ID == "" {
		c.t.Fatal("create_window gave no session_id")
	}
	return s
}

func with(s *session, more map[string]any) map[string]any {
	args := map[string]any{"session_id": s.ID}
	for k, v := range more {
		args[k] = v
	}
	return args
}

// run runs a command, whole and unreduced.
func (s *session) run(command string) runResult {
	s.t.Helper()
	return s.runFor(command, 30*time.Second)
}

func (s *session) runFor(command string, limit time.Duration) runResult {
	s.t.Helper()
	var r runResult
	s.c.call("run_command", with(s, map[string]any{
		"command": command, "timeout_seconds": limit.Seconds(), "reduce": false,
	}), &r)
	return r
}

// ready is a session whose shell shows its prompt: a command of which only the
// first second is waited for begins in it.
func (s *session) ready() *session {
	s.t.Helper()
	s.until("prompt", "", soon)
	return s
}

// gate is a named pipe in the session's home. A command that reads a line of it
// waits until it is opened.
func (s *session) gate(name string) (path string, open func()) {
	s.t.Helper()
	path = filepath.Join(s.h.dir, name)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path, func() {
		s.t.Helper()
		if err := os.WriteFile(path, []byte("on\n"), 0); err != nil {
			s.t.Fatal(err)
		}
	}
}

// wait waits for a run's end.
func (s *session) wait(runID string, limit time.Duration) runResult {
	s.t.Helper()
	var r struct{ Run *runResult }
	s.c.call("wait_session", map[string]any{"run_id": runID, "timeout_seconds": limit.Seconds(), "reduce": false}, &r)
	if r.Run == nil {
		s.t.Fatalf("wait_session %s: no run in the answer", runID)
	}
	return *r.Run
}

// until waits for a state of the session: command, prompt, text, quiet or exit.
func (s *session) until(what, pattern string, limit time.Duration) {
	s.t.Helper()
	args := map[string]any{"session_ids": []string{s.ID}, "until": what, "timeout_seconds": limit.Seconds()}
	if pattern != "" {
		args["pattern"] = pattern
	}
	var r struct {
		TimedOut bool `json:"timed_out"`
		Sessions []struct {
			Matched bool
			Reason  string
		}
	}
	s.c.call("wait_session", args, &r)
	if len(r.Sessions) != 1 || !r.Sessions[0].Matched {
		s.t.Fatalf("wait until %s %q: not within %v: %+v\nscreen:\n%s", what, pattern, limit, r, s.read("all").Content)
	}
}

func (s *session) keys(keys ...string) {
	s.t.Helper()
	s.c.call("send_keys", with(s, map[string]any{"keys": keys}), nil)
}

// interrupt presses Ctrl-C until a fresh prompt stands: a line editor that is
// about to act on another key may keep it back until the next.
func (s *session) interrupt() {
	s.t.Helper()
	for range 4 {
		s.keys("ctrl_c")
		var r struct{ Sessions []struct{ Matched bool } }
		s.c.call("wait_session", map[string]any{"session_ids": []string{s.ID}, "until": "prompt", "timeout_seconds": 2}, &r)
		if len(r.Sessions) == 1 && r.Sessions[0].Matched {
			return
		}
	}
	s.t.Fatalf("%s: Ctrl-C brings no prompt:\n%s", s.shell, s.read("all").Content)
}

func (s *session) text(text string) {
	s.t.Helper()
	s.c.call("send_text", with(s, map[string]any{"text": text}), nil)
}

func (s *session) read(source string) readResult {
	s.t.Helper()
	var r readResult
	s.c.call("read_terminal", with(s, map[string]any{"source": source, "reduce": false, "max_lines": 2000}), &r)
	return r
}

// want is what a run must come to. A nil exit is null.
type want struct {
	status string // "" is completed
	exit   *int
	output string
}

func code(n int) *int { return &n }

func shown(exit *int) string {
	if exit == nil {
		return "null"
	}
	return strconv.Itoa(*exit)
}

// expect runs a command and compares its outcome.
func (s *session) expect(command string, w want) runResult {
	s.t.Helper()
	r := s.run(command)
	s.compare(command, r, w)
	return r
}

func (s *session) compare(command string, r runResult, w want) {
	s.t.Helper()
	if w.status == "" {
		w.status = "completed"
	}
	if r.Status != w.status {
		s.t.Errorf("%s: run %q: status %s, want %s (%s)\nscreen:\n%s", s.shell, command, r.Status, w.status, r.ExitReason, s.read("all").Content)
		return
	}
	switch {
	case r.ExitCode == nil && w.exit != nil:
		s.t.Errorf("%s: run %q: exit null (%s), want %d", s.shell, command, r.ExitReason, *w.exit)
	case r.ExitCode != nil && w.exit == nil:
		s.t.Errorf("%s: run %q: exit %d, want null", s.shell, command, *r.ExitCode)
	case r.ExitCode != nil && *r.ExitCode != *w.exit:
		s.t.Errorf("%s: run %q: exit %d, want %d", s.shell, command, *r.ExitCode, *w.exit)
	case r.ExitCode == nil && r.ExitReason == "" && r.Status == "completed":
		s.t.Errorf("%s: run %q: exit null without a reason", s.shell, command)
	}
	if got := strings.TrimSuffix(r.Output, "\n"); got != w.output {
		s.t.Errorf("%s: run %q: output %q, want %q", s.shell, command, got, w.output)
	}
}
