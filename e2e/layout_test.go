package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"termpilot/testneeds"
)

// opened is what the tools that open a session answer.
type opened struct {
	ID      string `json:"session_id"`
	Window  string `json:"window_id"`
	Tab     string `json:"tab_id"`
	Name    string
	RunID   string `json:"run_id"`
	Reason  string
	Session listed
}

// listed is a session as list_sessions shows it.
type listed struct {
	ID            string `json:"session_id"`
	Window        string `json:"window_id"`
	Tab           string `json:"tab_id"`
	Name, Title   string
	Cwd           string
	IsCurrent     bool `json:"is_current"`
	Rows, Columns int
	Readiness     readiness
}

func (c *client) sessions() []listed {
	c.t.Helper()
	var l struct{ Sessions []listed }
	c.call("list_sessions", map[string]any{}, &l)
	return l.Sessions
}

// listed is the session as list_sessions shows it now.
func (s *session) listed() listed {
	s.t.Helper()
	for _, one := range s.c.sessions() {
		if one.ID == s.ID {
			return one
		}
	}
	s.t.Fatalf("%s is not listed", s.ID)
	return listed{}
}

// at is a session that was opened by hand.
func (c *client) at(h home, shell, id string) *session {
	return &session{t: c.t, c: c, h: h, shell: shell, ID: id}
}

func TestALayoutIsBuiltAndArranged(t *testing.T) {
	h := newHome(t)
	c := serve(t, h)
	var window, tab opened
	c.call("create_window", map[string]any{"profile": "bash", "rows": 30, "columns": 90, "focus": true}, &window)
	c.call("create_tab", map[string]any{"window_id": window.Window, "profile": "bash", "env": map[string]any{"WORD": "in the tab"}, "cwd": h.dir}, &tab)
	if tab.Window != window.Window || tab.Tab == window.Tab || tab.Session.Readiness.State != "ready" {
		t.Fatalf("got %+v beside %+v", tab, window)
	}
	c.at(h, "bash", tab.ID).expect(`echo "$WORD"; pwd`, want{exit: code(0), output: "in the tab\n" + h.dir})

	panes := map[string]opened{}
	for _, side := range []string{"right", "below", "left", "above"} {
		var pane opened
		c.call("split_pane", map[string]any{"session_id": tab.ID, "direction": side, "profile": "bash"}, &pane)
		if pane.Tab != tab.Tab || pane.Window != tab.Window {
			t.Errorf("%s: got %+v", side, pane)
		}
		panes[side] = pane
		c.at(h, "bash", pane.ID).expect("stty size", want{exit: code(0), output: fmt.Sprintf("%d %d", pane.Session.Rows, pane.Session.Columns)})
	}
	all := c.sessions()
	at := func(id string) int { return slices.IndexFunc(all, func(s listed) bool { return s.ID == id }) }
	middle := at(tab.ID)
	if len(all) != 6 || at(panes["left"].ID) > middle || at(panes["above"].ID) > middle || at(panes["right"].ID) < middle || at(panes["below"].ID) < middle {
		t.Errorf("the panes are in another order: %+v", all)
	}
	names := map[string]bool{}
	for _, s := range all {
		if s.Name == "" || names[s.Name] {
			t.Errorf("the name %q is empty or is given twice", s.Name)
		}
		names[s.Name] = true
	}

	// Nobody asked for the focus since.
	var current listed
	if c.call("get_current_session", map[string]any{}, &current); current.ID != window.ID {
		t.Errorf("the focus went to %+v", current)
	}
	var now struct{ Session listed }
	c.call("focus_session", map[string]any{"session_id": panes["left"].ID}, &now)
	if c.call("get_current_session", map[string]any{}, &current); current.ID != panes["left"].ID || !now.Session.IsCurrent {
		t.Errorf("the focus is at %+v, the answer was %+v", current, now)
	}

	c.call("resize_session", map[string]any{"session_id": window.ID, "columns": 70}, &now)
	size := fmt.Sprintf("%d %d", now.Session.Rows, now.Session.Columns)
	c.at(h, "bash", window.ID).expect("stty size", want{exit: code(0), output: size})

	var profiles struct {
		Profiles []struct {
			Backend, Name string
			IsDefault     bool `json:"is_default"`
		}
	}
	c.call("list_profiles", map[string]any{}, &profiles)
	if len(profiles.Profiles) < 2 || profiles.Profiles[0].Name != "Default" || !profiles.Profiles[0].IsDefault {
		t.Errorf("got %+v", profiles)
	}
}

func TestACommandOfANewSessionRunsInTheUsersShellAndLeavesIt(t *testing.T) {
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "alias greet='echo from the alias'")
		command := "greet; echo \"two  blanks\" 'and $HOME'\nsh -c 'exit 7'"
		var o opened
		s.c.call("create_window", map[string]any{"profile": shell, "command": command, "cwd": s.h.dir}, &o)
		if o.RunID == "" || o.Reason != "" {
			t.Fatalf("got %+v", o)
		}
		fresh := s.c.at(s.h, shell, o.ID)
		s.compare(command, fresh.wait(o.RunID, soon), want{exit: code(7), output: "from the alias\ntwo  blanks and $HOME"})
		fresh.expect("echo the shell is there", want{exit: code(0), output: "the shell is there"})

		// A command that goes on is in front, and its shell behind it.
		s.c.call("create_window", map[string]any{"profile": shell, "command": "cat", "cwd": s.h.dir}, &o)
		fresh = s.c.at(s.h, shell, o.ID)
		fresh.text("to cat\r")
		fresh.until("text", "to cat", soon)
		fresh.interrupt()
		fresh.expect("echo after it", want{exit: code(0), output: "after it"})

		// Unless it is asked otherwise, when the session ends with the command.
		s.c.call("create_window", map[string]any{"profile": shell, "command": "sleep 1; exit 9", "keep_open": false}, &o)
		if o.RunID != "" || o.Reason != "" {
			t.Errorf("got %+v", o)
		}
		var r struct {
			Sessions []struct {
				Matched  bool
				ExitCode *int `json:"exit_code"`
			}
		}
		s.c.call("wait_session", map[string]any{"session_ids": []string{o.ID}, "until": "exit", "timeout_seconds": 20}, &r)
		if !r.Sessions[0].Matched || shown(r.Sessions[0].ExitCode) != "9" {
			t.Errorf("got %+v, exit %s", r, shown(r.Sessions[0].ExitCode))
		}
	})
}

func TestACommandThatCannotBeTypedIsNotTyped(t *testing.T) {
	testneeds.Program(t, "bash")
	s := open(t, "bash", `echo reading; read answer; echo "[$answer]"`)
	var o opened
	s.c.call("create_window", map[string]any{"profile": "bash", "command": "echo typed", "cwd": s.h.dir}, &o)
	if o.ID == "" || o.RunID != "" || !strings.Contains(o.Reason, "session_not_ready") {
		t.Errorf("got %+v", o)
	}
	if screen := s.c.at(s.h, "bash", o.ID).read("screen").Content; strings.Contains(screen, "typed") {
		t.Errorf("it was typed: %s", screen)
	}
	before := len(s.c.sessions())
	if f := s.c.try("create_window", map[string]any{"command": "rm -rf /"}, nil); f == nil || f.Code != "command_blocked" || len(s.c.sessions()) != before {
		t.Errorf("got %+v", f)
	}
}

func TestTwoServersGiveNoNameTwice(t *testing.T) {
	h := newHome(t)
	servers := []*client{serve(t, h), serve(t, h)}
	var mu sync.Mutex
	given := map[string]int{}
	var wg sync.WaitGroup
	for _, c := range servers {
		for i := range 6 {
			_, ch := c.post("tools/call", map[string]any{"name": "create_window", "arguments": map[string]any{"profile": "bash", "name": []string{"", "Wanted", "wanted"}[i%3]}})
			wg.Go(func() {
				var o opened
				r := c.await("create_window", ch)
				f := c.settle("create_window", r, &o)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case f == nil:
					given[strings.ToLower(o.Name)]++
				case f.Code == "name_taken":
					given["refused"]++
				default:
					t.Errorf("got %+v", f)
				}
			})
		}
	}
	wg.Wait()
	if given["wanted"] != 1 || given["refused"] != 7 || len(given) != 6 {
		t.Errorf("got %v", given)
	}
}

func TestANameIsFreeWhenItsSessionHasEnded(t *testing.T) {
	h := newHome(t)
	c, other := serve(t, h), serve(t, h)
	var o opened
	c.call("create_window", map[string]any{"profile": "bash", "name": " Build "}, &o)
	f := other.try("create_window", map[string]any{"name": "bUILD"}, nil)
	if o.Name != "Build" || f == nil || f.Code != "name_taken" || !strings.Contains(f.Message, o.ID) {
		t.Fatalf("got %+v and %+v", o, f)
	}
	s := c.at(h, "bash", o.ID)
	s.text("exit\r")
	s.until("exit", "", soon)
	other.call("create_window", map[string]any{"profile": "bash", "name": "build"}, &o)
	var now struct{ Session listed }
	c.call("rename_session", map[string]any{"session_id": o.ID, "name": "日本 é"}, &now)
	c.call("create_window", map[string]any{"profile": "bash", "name": "build"}, nil)
	if now.Session.Name != "日本 é" {
		t.Errorf("got %+v", now)
	}
	for _, name := range []string{"a\nb", "a\x1b[1mb", "current", strings.Repeat("x", 65)} {
		if f := c.try("rename_session", map[string]any{"session_id": o.ID, "name": name}, nil); f == nil || f.Code != "invalid_argument" && f.Code != "too_large" {
			t.Errorf("%q: got %+v", name, f)
		}
	}
}

func TestServersThatAreLimitedKeepToIt(t *testing.T) {
	h := newHome(t)
	c := serve(t, h)
	one, two, hidden := c.open(h, "bash", nil), c.open(h, "bash", nil), c.open(h, "bash", map[string]any{"name": "hidden"})
	limited := serve(t, h, "--session-id", one.ID, "--session-id", two.ID)
	if all := limited.sessions(); len(all) != 2 || all[0].ID != one.ID || all[1].ID != two.ID {
		t.Errorf("got %+v", all)
	}
	limited.at(h, "bash", two.ID).expect("echo allowed", want{exit: code(0), output: "allowed"})
	for tool, args := range map[string]map[string]any{
		"create_window": {}, "create_tab": {"window_id": "w"}, "split_pane": {"session_id": one.ID, "direction": "right"},
		"run_command": {"session_id": hidden.ID, "command": "true"}, "rename_session": {"session_id": hidden.ID, "name": "x"},
	} {
		if f := limited.try(tool, args, nil); f == nil || f.Code != "not_allowed" {
			t.Errorf("%s: got %+v", tool, f)
		}
	}
	f := limited.try("rename_session", map[string]any{"session_id": one.ID, "name": "hidden"}, nil)
	if f == nil || f.Code != "name_taken" || strings.Contains(f.Message, hidden.ID) {
		t.Errorf("got %+v", f)
	}
}
