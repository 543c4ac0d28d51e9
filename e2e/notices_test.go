package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// builtClaude is a program that plays Claude Code as agent's tests know it: their own
// test binary under the vendor's name.
var builtClaude = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "claude")
	out, err := exec.Command("go", "test", "-c", "-o", path, "termpilot/agent").CombinedOutput()
	if err != nil {
		err = errors.Join(err, errors.New(string(out)))
	}
	return path, err
})

// standing is how an agent stands, as its resource says.
type standing struct {
	Session  string `json:"session_id"`
	Provider string `json:"provider"`
	Turn     string `json:"turn_id"`
	State    string `json:"state"`
	Outcome  string `json:"outcome"`
	Waits    bool   `json:"waits_for_approval"`
	Cursor   string `json:"event_cursor"`
	Next     string `json:"next"`
}

func claude(t *testing.T) string {
	t.Helper()
	path, err := builtClaude()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// listened checks what notices.py and notices.mjs print.
func listened(t *testing.T, cmd *exec.Cmd, h home, kinds []string) {
	t.Helper()
	cmd.Env = append(h.env(), "TERMPILOT_TEST_NODE_MODULES="+os.Getenv("TERMPILOT_TEST_NODE_MODULES"))
	cmd.Dir = h.dir
	cmd.Stderr = testWriter{t}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got struct {
		Refused *struct {
			Number     int
			Code, Hint string
		}
		Asks, Done, Gone standing
		Asked, Listed    bool
		Text             string
		Kinds            []string
		Notices          int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Refused != nil && (got.Refused.Code != "agent_not_found" || got.Refused.Hint == "" || got.Refused.Number == 0) {
		t.Errorf("refused: %+v", got.Refused)
	}
	if a := got.Asks; !a.Waits || a.Provider != "claude" || a.Turn == "" || a.Cursor == "" || a.Next != "agent_approval action=inspect session_id="+a.Session || !got.Asked {
		t.Errorf("asks: %+v", got)
	}
	if d := got.Done; d.Waits || d.Outcome != "done" || d.Turn != got.Asks.Turn || d.Next != "agent_turn action=result session_id="+d.Session || got.Text != "the answer" {
		t.Errorf("done: %+v", got)
	}
	if got.Gone.State != "ended" || !got.Listed || !slices.Equal(got.Kinds, kinds) || got.Notices > 20 {
		t.Errorf("%+v", got)
	}
}

func TestThePythonClientIsToldOfAnAgent(t *testing.T) { // NOTE-1, NOTE-4, NOTE-7
	program, stands := python(t, "mcp", "python-mcp"), claude(t)
	for _, mode := range []string{"legacy", "auto"} {
		t.Run(mode, func(t *testing.T) {
			h := plainHome(t)
			cmd := exec.Command(program, filepath.Join(testdata(t), "notices.py"), binary, mode, stands, filepath.Join(h.dir, "log"))
			listened(t, cmd, h, []string{"list_changed", "updated"})
		})
	}
}

func TestTheTypeScriptClientIsToldOfAnAgent(t *testing.T) { // NOTE-1, NOTE-4, NOTE-12
	program, _ := node(t)
	h := plainHome(t)
	cmd := exec.Command(program, filepath.Join(testdata(t), "notices.mjs"), binary, claude(t), filepath.Join(h.dir, "log"))
	listened(t, cmd, h, []string{"message", "updated"})
}

// stands reads how the agent of a session stands.
func (c *client) stands(session string) (one standing) {
	c.t.Helper()
	var res struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(c.request("resources/read", map[string]any{"uri": "termpilot://agents/" + session}), &res); err != nil || len(res.Contents) != 1 {
		c.t.Fatal(err, res)
	}
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &one); err != nil {
		c.t.Fatal(err)
	}
	return one
}

func TestANewServerTellsOfTheAgentOfOneThatWasKilled(t *testing.T) { // NOTE-1, NOTE-8
	h := newHome(t)
	first := serve(t, h)
	var launched struct {
		Session string `json:"session_id"`
	}
	first.call("claude_agent", map[string]any{
		"prompt": "RUN:touch x\nSAY:done", "env": map[string]string{"TERMPILOT_CLAUDE_BIN": claude(t), "STANDIN_LOG": filepath.Join(h.dir, "log")},
	}, &launched)
	uri := map[string]any{"uri": "termpilot://agents/" + launched.Session}
	until := func(c *client, is func(standing) bool) {
		t.Helper()
		for !is(c.stands(launched.Session)) {
			c.told("notifications/resources/updated")
		}
	}
	first.request("resources/subscribe", uri)
	until(first, func(s standing) bool { return s.Waits })
	if err := first.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-first.done

	second := serve(t, h)
	second.request("resources/subscribe", uri)
	if got := second.stands(launched.Session); !got.Waits {
		t.Errorf("after the first server's death: %+v", got)
	}
	var asked struct{ Digest string }
	second.call("agent_approval", map[string]any{"session_id": launched.Session, "action": "inspect"}, &asked)
	second.call("agent_approval", map[string]any{"session_id": launched.Session, "action": "respond", "digest": asked.Digest, "choice": "yes"}, nil)
	until(second, func(s standing) bool { return s.Outcome == "done" })
}
