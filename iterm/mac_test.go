package iterm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"termpilot/doctor"
	"termpilot/fault"
	"termpilot/terminal"
)

// macVariable says what is tried on a Mac: "read" looks at what is there,
// "windows" also opens, types into, arranges and closes windows of its own.
const macVariable = "TERMPILOT_MAC_CHECK"

// TestOnAMac tries with iTerm2 itself what could only be read about it. Its
// sub-tests are the list in specs/iterm.md.
func TestOnAMac(t *testing.T) {
	mode := os.Getenv(macVariable)
	if mode != "read" && mode != "windows" {
		t.Skipf("set %s to read, or to windows: task mac:check", macVariable)
	}
	c := New(ITerm2(os.Getenv))
	t.Cleanup(func() { c.Disconnect() })
	tryAll(t, c, mode == "windows")
}

// TestWhatIsTriedOnAMacIsTriedOnTheHost runs the same against termpilot's host,
// so that the attempts themselves are known to work.
func TestWhatIsTriedOnAMacIsTriedOnTheHost(t *testing.T) { // ITERM-81
	h := newHostProcess(t)
	h.start()
	c := New(Options{Name: "iterm2", Dial: h.dial})
	t.Cleanup(func() { c.Disconnect() })
	tryAll(t, c, true)
}

func tryAll(t *testing.T, c *Client, windows bool) {
	t.Run("checks", func(t *testing.T) {
		for _, r := range doctor.Run(t.Context(), c.Checks(true)).Results {
			t.Logf("%s: %s: %s (%s) %s", r.ID, r.State, r.Summary, r.Evidence, r.Next)
			if r.State == doctor.Fail {
				t.Errorf("%s failed", r.ID)
			}
		}
	})
	list, err := c.Sessions(t.Context())
	if err != nil {
		t.Fatalf("nothing more can be tried: %v (%s)", err, fault.HintOf(err))
	}
	t.Logf("%d sessions", len(list)) // its protocol is in the evidence of a check
	t.Run("read", func(t *testing.T) {
		for _, s := range list {
			tryReading(t, c, s)
		}
	})
	if !windows {
		t.Logf("%s=windows would also open, type into, arrange and close windows of its own", macVariable)
		return
	}
	for _, try := range []struct {
		name string
		do   func(*testing.T, *Client, terminal.Session)
	}{
		{"creation tells in time", tryCreation},
		{"command words", tryCommand},
		{"prompts and their order", tryPrompts},
		{"name and title", tryNames},
		{"sizes", trySizes},
		{"focus is kept and given", tryFocus},
		{"a hidden tab's screen", tryHidden},
		{"group close", tryGroups},
	} {
		t.Run(try.name, func(t *testing.T) {
			s := own(t, c, terminal.OpenSpec{Rows: 24, Columns: 80})
			try.do(t, c, s)
		})
	}
}

// own opens a session and closes it with the test.
func own(t *testing.T, c *Client, spec terminal.OpenSpec) terminal.Session {
	t.Helper()
	s, err := c.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context()) // which ends before what is cleaned up
	t.Cleanup(func() {
		if err := c.Close(ctx, s.ID, terminal.Force); err != nil && !errors.Is(err, fault.SessionEnded) {
			t.Error(err)
		}
	})
	return s
}

func tryReading(t *testing.T, c *Client, s terminal.Session) {
	screen, err := c.Screen(t.Context(), s.ID, terminal.Range{})
	if errors.Is(err, fault.Unsupported) {
		t.Logf("%s: %v", s.ID, err)
		return
	}
	if err != nil || len(screen.Rows) != int(screen.End-screen.Top) || screen.Columns != s.Columns {
		t.Errorf("%s: %d rows, %d to %d, %d columns of %d: %v", s.ID, len(screen.Rows), screen.Top, screen.End, screen.Columns, s.Columns, err)
	}
	if s.Rows > 0 && len(screen.Rows) != s.Rows {
		t.Errorf("%s: listed with %d rows, read with %d", s.ID, s.Rows, len(screen.Rows))
	}
	p, err := c.Prompt(t.Context(), s.ID, "")
	t.Logf("%s: %dx%d, job %q, prompt %d, typed %d: %v", s.ID, s.Columns, s.Rows, s.Job, p.State, p.Typed, err)
}

// eventually waits for what notifications tell.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); {
		if time.Since(began) > patience {
			t.Fatalf("not within %v: %s", patience, what)
		}
		timer := time.NewTimer(20 * time.Millisecond)
		<-timer.C
	}
}

func tryCreation(t *testing.T, c *Client, s terminal.Session) {
	if s.Window == "" || s.Tab == "" || s.Rows != 24 || s.Columns != 80 {
		t.Errorf("got %+v", s)
	}
	for d := terminal.Right; d <= terminal.Above; d++ {
		pane := own(t, c, terminal.OpenSpec{Place: terminal.InSplit, Beside: s.ID, Direction: d})
		if pane.Tab != s.Tab {
			t.Errorf("direction %d: got %+v", d, pane)
		}
		if err := c.Close(t.Context(), pane.ID, terminal.Force); err != nil {
			t.Error(err)
		}
	}
}

func tryCommand(t *testing.T, c *Client, _ terminal.Session) {
	s := own(t, c, terminal.OpenSpec{
		Cwd: "/", Env: map[string]string{"TERMPILOT_TRY": "a \"b\" $$c$$ ~\té"}, Command: "printf '[%s]\\n' \"$TERMPILOT_TRY\" \"$PWD\"\nread x",
	})
	eventually(t, "the command got its words", func() bool {
		text := screenText(t, c, s.ID)
		return strings.Contains(text, "[a \"b\" $$c$$ ~") && strings.Contains(text, "é]") && strings.Contains(text, "[/]")
	})
	if err := c.Send(t.Context(), s.ID, []byte("\r")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session ended with its command", func() bool { _, err := c.Prompt(t.Context(), s.ID, ""); return !isListed(t, c, s.ID) || err != nil })
}

func screenText(t *testing.T, c *Client, id terminal.ID) string {
	screen, err := c.Screen(t.Context(), id, terminal.Range{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, row := range screen.Rows {
		b.WriteString(row.Text + "\n")
	}
	return b.String()
}

func isListed(t *testing.T, c *Client, id terminal.ID) bool {
	for _, s := range sessions(t, c) {
		if s.ID == id {
			return true
		}
	}
	return false
}

// tryPrompts runs a command and holds its events to their order.
func tryPrompts(t *testing.T, c *Client, s terminal.Session) {
	events := watch(t, c, s.ID)
	sent, mine := false, ""
	for e, err := range events {
		if err != nil {
			t.Fatalf("no prompt marks? %v", err)
		}
		t.Logf("event %d, prompt %s in state %d, typed %d", e.Kind, e.Prompt.ID, e.Prompt.State, e.Prompt.Typed)
		switch {
		case !sent && e.Prompt.State == terminal.Editing && e.Prompt.Typed == terminal.No:
			sent = true
			if err := c.Send(t.Context(), s.ID, []byte("echo 'one two'; (exit 3)\r")); err != nil {
				t.Fatal(err)
			}
		case e.Kind == terminal.Started:
			mine = e.Prompt.ID
		}
		if e.Kind == terminal.Ended && mine != "" && e.Prompt.ID == mine {
			if e.Prompt.Exit == nil || *e.Prompt.Exit != 3 {
				t.Errorf("ended with %v", e.Prompt.Exit)
			}
			break
		}
	}
	if mine == "" {
		t.Skip("the shell shows no prompt marks: install iTerm2's shell integration, or termpilot's")
	}
	p, err := c.Prompt(t.Context(), s.ID, mine)
	if err != nil || p.State != terminal.Finished {
		t.Fatalf("got %+v, %v", p, err)
	}
	screen, err := c.Screen(t.Context(), s.ID, terminal.Range{Kind: terminal.Cells, Span: p.Output})
	if err != nil || len(screen.Rows) != 1 || screen.Rows[0].Text != "one two" {
		t.Errorf("its output is %+v, %v", screen.Rows, err)
	}
}

func tryNames(t *testing.T, c *Client, s terminal.Session) {
	for _, name := range []string{`"oak" \(x) é`, "", "ash"} {
		if err := c.Rename(t.Context(), s.ID, name); err != nil || one(t, c, s.ID).Name != name {
			t.Errorf("%q: %v, listed as %q", name, err, one(t, c, s.ID).Name)
		}
	}
	if err := c.Send(t.Context(), s.ID, []byte("printf '\\033]2;a title\\007'; read x\r")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the title shows, and the name stays", func() bool {
		x := one(t, c, s.ID)
		return x.Title == "a title" && x.Name == "ash"
	})
}

func trySizes(t *testing.T, c *Client, s terminal.Session) {
	if err := c.Resize(t.Context(), s.ID, 20, 60); err != nil {
		t.Fatal(err)
	}
	pane := own(t, c, terminal.OpenSpec{Place: terminal.InSplit, Beside: s.ID})
	err := c.Resize(t.Context(), pane.ID, 20, 40)
	got := one(t, c, pane.ID)
	t.Logf("a pane of 60 columns' half was asked to have 40: %v; it has %d", err, got.Columns)
	if err == nil && got.Columns <= 30 {
		t.Errorf("got %+v", got)
	}
}

func tryFocus(t *testing.T, c *Client, s terminal.Session) {
	if err := c.Focus(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	for what, spec := range map[string]terminal.OpenSpec{
		"a window": {}, "a tab": {Place: terminal.InTab, Window: s.Window}, "a pane": {Place: terminal.InSplit, Beside: s.ID},
	} {
		other := own(t, c, spec)
		if other.Current || !one(t, c, s.ID).Current {
			t.Errorf("%s took the focus", what)
		}
		if err := c.Focus(t.Context(), other.ID); err != nil {
			t.Error(err)
		}
		if err := c.Focus(t.Context(), s.ID); err != nil {
			t.Error(err)
		}
	}
}

// tryHidden measures how soon a tab that nobody sees tells that its screen changed.
func tryHidden(t *testing.T, c *Client, s terminal.Session) {
	hidden := own(t, c, terminal.OpenSpec{Place: terminal.InTab, Window: s.Window})
	if err := c.Focus(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	events := watch(t, c, hidden.ID)
	began := time.Time{}
	for e, err := range events {
		if err != nil {
			t.Fatalf("no screen update within 10 s: %v", err)
		}
		if began.IsZero() {
			began = time.Now()
			if err := c.Send(t.Context(), hidden.ID, []byte("# seen\r")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if e.Kind == terminal.Output {
			t.Logf("its screen update came after %v", time.Since(began))
			return
		}
	}
	t.Error("no screen update of a hidden tab came within 10 s: whoever waits must look by himself")
}

func tryGroups(t *testing.T, c *Client, s terminal.Session) {
	tab := own(t, c, terminal.OpenSpec{Place: terminal.InTab, Window: s.Window})
	pane := own(t, c, terminal.OpenSpec{Place: terminal.InSplit, Beside: tab.ID})
	if err := c.CloseTab(t.Context(), tab.Tab, terminal.Force); err != nil || isListed(t, c, tab.ID) || isListed(t, c, pane.ID) {
		t.Errorf("the tab: %v", err)
	}
	if err := c.CloseWindow(t.Context(), s.Window, terminal.Force); err != nil || isListed(t, c, s.ID) {
		t.Errorf("the window: %v", err)
	}
	if err := c.CloseTab(t.Context(), fmt.Sprint(1<<30), terminal.Force); !errors.Is(err, fault.TabNotFound) {
		t.Errorf("a tab that is not there: %v", err)
	}
}
