package connector

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termpilot/agent"
	"termpilot/closing"
	"termpilot/fault"
	"termpilot/pilot"
	machine "termpilot/process"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// calls is how each tool is called for a session, its window or a run in it. A
// tool that is missing here fails the tests of this file.
var calls = map[string]string{
	"list_sessions":       `{}`,
	"get_current_session": `{}`,
	"read_terminal":       `{"session_id":"SESSION"}`,
	"run_command":         `{"session_id":"SESSION","command":"sleep 30","timeout_seconds":30}`,
	"wait_session":        `{"session_ids":["SESSION"],"until":"exit","timeout_seconds":30}`,
	"diagnostics":         `{}`,
	"send_text":           `{"session_id":"SESSION","text":"x"}`,
	"send_keys":           `{"session_id":"SESSION","keys":["enter"]}`,
	"create_window":       `{}`,
	"create_tab":          `{"window_id":"WINDOW"}`,
	"split_pane":          `{"session_id":"SESSION","direction":"right"}`,
	"focus_session":       `{"session_id":"SESSION"}`,
	"resize_session":      `{"session_id":"SESSION","rows":10}`,
	"rename_session":      `{"session_id":"SESSION","name":"acorn"}`,
	"list_profiles":       `{}`,
	"inspect_sessions":    `{}`,
	"close_session":       `{"session_id":"SESSION","force":true}`,
	"close_tab":           `{"session_id":"SESSION","force":true}`,
	"close_window":        `{"window_id":"WINDOW","force":true}`,
	"clean_all_sessions":  `{"dry_run":true}`,
	"list_recoveries":     `{}`,
	"claude_agent":        `{"session_id":"SESSION","prompt":"x"}`,
	"codex_agent":         `{"session_id":"SESSION","prompt":"x"}`,
	"grok_agent":          `{"session_id":"SESSION","prompt":"x"}`,
	"composer_agent":      `{"session_id":"SESSION","prompt":"x"}`,
	"launch_agent":        `{"agent":"opencode","session_id":"SESSION","prompt":"x"}`,
	"agent_turn":          `{"session_id":"SESSION","action":"send","text":"x"}`,
	"agent_approval":      `{"session_id":"SESSION","action":"respond","digest":"d","choice":"yes"}`,
	"agent_configure":     `{"session_id":"SESSION","model":"x"}`,
}

// opens are the tools that make sessions, which no allowlist can name.
var opens = []string{"create_window", "create_tab", "split_pane"}

// yard is a real engine over a fake terminal with two sessions, the second of
// which has the focus, a telling name, and a run that printed a secret.
type yard struct {
	f            *terminaltest.Fake
	mine, other  terminal.Session
	run          string
	dir          string
	beforeWrites int
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{f: terminaltest.NewFake(t, terminaltest.Options{}), dir: t.TempDir()}
	y.f.On("show", terminaltest.Prints("the secret word\n\x1b]2;secret title\x07", 0))
	p := y.pilot(t, pilot.Options{})
	for _, name := range []string{"mine", "secret name"} {
		opened, err := p.Open(t.Context(), pilot.OpenRequest{Name: name, Focus: name != "mine"})
		if err != nil {
			t.Fatal(err)
		}
		s := terminal.Session{ID: terminal.ID(opened.SessionID), Window: opened.WindowID}
		if name == "mine" {
			y.mine = s
		} else {
			y.other = s
		}
	}
	res, err := p.Run(t.Context(), pilot.RunRequest{SessionID: string(y.other.ID), Command: "show"})
	if err != nil || res.Status != pilot.Completed {
		t.Fatal(res, err)
	}
	y.run = res.RunID
	y.beforeWrites = y.writes()
	return y
}

// writes counts what changed something.
func (y *yard) writes() (n int) {
	for _, method := range []string{"send", "open", "close", "focus", "resize", "rename", "close tab", "close window"} {
		n += y.f.Calls(method)
	}
	return n
}

func (y *yard) pilot(t *testing.T, o pilot.Options) *pilot.Pilot {
	t.Helper()
	o.Backends, o.Processes, o.Dir = []terminal.Backend{y.f}, y.f.Facts(), y.dir
	p, err := pilot.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (y *yard) server(t *testing.T, po pilot.Options, o Options) *Server {
	t.Helper()
	p := y.pilot(t, po)
	o.Pilot, o.Closer = p, closing.New(closing.Options{Pilot: p, Dir: filepath.Join(y.dir, "recovery"), Machine: emptyMachine{}})
	o.Agents = agent.New(agent.Options{Pilot: p, Dir: filepath.Join(y.dir, "agents"), Self: "/none"})
	s := New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// emptyMachine has no processes, so that none of this machine's is taken for a fake session's.
type emptyMachine struct{}

func (emptyMachine) Snapshot() (*machine.Table, error)      { return &machine.Table{}, nil }
func (emptyMachine) Lookup(int) (machine.Process, error)    { return machine.Process{}, machine.ErrGone }
func (emptyMachine) OpenFiles(int) ([]string, error)        { return nil, machine.ErrGone }
func (emptyMachine) Variable(int, string) (string, bool)    { return "", false }
func (emptyMachine) Device(string) (uint64, error)          { return 0, machine.ErrNoTTY }
func (emptyMachine) Ticks(int) (uint64, error)              { return 0, machine.ErrGone }
func (emptyMachine) Signal(int, time.Time, os.Signal) error { return machine.ErrGone }

// args is how a tool is called for a session.
func args(t *testing.T, tool string, s terminal.Session) json.RawMessage {
	t.Helper()
	text, ok := calls[tool]
	if !ok {
		t.Fatalf("%s: say in calls how it is called", tool)
	}
	return json.RawMessage(strings.NewReplacer("SESSION", string(s.ID), "WINDOW", s.Window).Replace(text))
}

func TestReadOnlyHoldsForEveryTool(t *testing.T) { // MCP-34, POLICY-1
	y := newYard(t)
	s := y.server(t, pilot.Options{ReadOnly: true}, Options{ReadOnly: true})
	deep := y.server(t, pilot.Options{ReadOnly: true}, Options{}) // as if a writing tool were listed by mistake
	for _, tool := range table {
		listed := slices.Contains(names(s), tool.name)
		if listed != (tool.access == reads) {
			t.Errorf("%s: listed is %v", tool.name, listed)
		}
		if tool.access == reads {
			continue
		}
		for _, server := range []*Server{s, deep} {
			if got := server.Call(t.Context(), tool.name, args(t, tool.name, y.mine)); fault.CodeOf(got.Err) != fault.NotAllowed {
				t.Errorf("%s: got %s", tool.name, got.Text)
			}
		}
	}
	if n := y.writes() - y.beforeWrites; n != 0 {
		t.Errorf("%d calls changed something", n)
	}
}

func TestAnAllowlistHoldsForEveryTool(t *testing.T) { // POLICY-2
	y := newYard(t)
	s := y.server(t, pilot.Options{Allow: []terminal.ID{y.mine.ID}, MaxWait: time.Millisecond}, Options{})
	check := func(tool string, args json.RawMessage, refused bool) {
		t.Helper()
		got := s.Call(t.Context(), tool, args)
		if refused && fault.CodeOf(got.Err) != fault.NotAllowed {
			t.Errorf("%s %s: got %s", tool, args, got.Text)
		}
		told := got.Text + string(got.Structured)
		if !strings.Contains(string(args), string(y.other.ID)) && strings.Contains(told, string(y.other.ID)) || strings.Contains(told, "secret") {
			t.Errorf("%s %s: it tells of a hidden session: %s", tool, args, told)
		}
	}
	for _, tool := range table {
		data := args(t, tool.name, y.other)
		names := strings.Contains(string(data), string(y.other.ID)) || strings.Contains(string(data), `"window_id"`)
		check(tool.name, data, names || slices.Contains(opens, tool.name))
		if slices.Contains(opens, tool.name) { // beside an allowed session as well
			check(tool.name, args(t, tool.name, y.mine), true)
		}
		if _, takesRun := tool.in().property("run_id"); takesRun {
			of := ""
			if tool.name == "read_terminal" { // which needs a session as well
				of = `"session_id":"` + string(y.mine.ID) + `","source":"command",`
			}
			check(tool.name, json.RawMessage(`{`+of+`"run_id":"`+y.run+`"}`), true)
		}
	}
	if n := y.writes() - y.beforeWrites; n != 0 {
		t.Errorf("%d calls changed something", n)
	}
	if got := s.Call(t.Context(), "get_current_session", nil); fault.CodeOf(got.Err) != fault.NoCurrentSession {
		t.Errorf("the session that has the focus is hidden: got %s", got.Text)
	}
	for _, tool := range []string{"read_terminal", "send_text", "focus_session", "resize_session", "rename_session"} {
		if got := s.Call(t.Context(), tool, args(t, tool, y.mine)); got.IsError {
			t.Errorf("%s of the allowed session: %s", tool, got.Text)
		}
	}
}

func TestToolsetsHoldForEveryTool(t *testing.T) { // MCP-34
	y := newYard(t)
	for _, one := range Toolsets() {
		s := y.server(t, pilot.Options{ReadOnly: true}, Options{Toolsets: []string{one}})
		for _, tool := range table {
			offered := slices.Contains(names(s), tool.name)
			if offered != (string(tool.set) == one) {
				t.Errorf("--toolsets %s: %s: offered is %v", one, tool.name, offered)
			}
			if offered {
				continue
			}
			if got := s.Call(t.Context(), tool.name, args(t, tool.name, y.mine)); fault.CodeOf(got.Err) != fault.NotAllowed {
				t.Errorf("--toolsets %s: %s: got %s", one, tool.name, got.Text)
			}
		}
	}
}

func TestNoToolWaitsLongerThanTheLongestWait(t *testing.T) { // WAIT-8
	y := newYard(t)
	s := y.server(t, pilot.Options{MaxWait: 50 * time.Millisecond}, Options{})
	for _, tool := range table {
		if _, waits := tool.in().property("timeout_seconds"); !waits {
			continue
		}
		data := args(t, tool.name, y.mine)
		if !strings.Contains(string(data), `"timeout_seconds":30`) {
			t.Errorf("%s: say in calls how it waits", tool.name)
		}
		began := time.Now()
		if got := s.Call(t.Context(), tool.name, data); got.IsError || time.Since(began) > patience {
			t.Errorf("%s: after %v: %s", tool.name, time.Since(began), got.Text)
		}
	}
}

func TestSelectorsAreExactForEveryTool(t *testing.T) { // FIND-1, FIND-2
	y := newYard(t)
	s := y.server(t, pilot.Options{MaxWait: time.Millisecond}, Options{})
	for _, tool := range table {
		if text := string(args(t, tool.name, y.mine)); !strings.Contains(text, string(y.mine.ID)) && !strings.Contains(text, y.mine.Window) {
			continue
		}
		id := string(y.mine.ID)
		for _, selector := range []string{"", " ", "active", "all", "current", "*", "mine", "secret title", id[:len(id)-1], id + "*", " " + id, "w", "\\u0000"} {
			data := json.RawMessage(strings.NewReplacer("SESSION", selector, "WINDOW", selector).Replace(calls[tool.name]))
			got := s.Call(t.Context(), tool.name, data)
			switch code := fault.CodeOf(got.Err); code {
			case fault.SessionNotFound, fault.WindowNotFound, fault.InvalidArgument:
				if selector == "mine" && code == fault.SessionNotFound && !strings.Contains(fault.HintOf(got.Err), id+" (mine)") {
					t.Errorf("%s %q: the hint is %q", tool.name, selector, fault.HintOf(got.Err))
				}
			default:
				t.Errorf("%s %q: got %s", tool.name, selector, got.Text)
			}
		}
	}
	if n := y.writes() - y.beforeWrites; n != 0 {
		t.Errorf("%d calls changed something", n)
	}
}
