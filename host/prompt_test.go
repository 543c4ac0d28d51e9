package host

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/iterm/api"
	"termpilot/testneeds"
)

func (c *apiClient) promptView(id string) promptView {
	c.t.Helper()
	var v promptView
	if err := json.Unmarshal([]byte(c.variable(id, "termpilot.prompt")), &v); err != nil {
		c.t.Fatal(err)
	}
	return v
}

func TestAllPromptsAreToldAtOnce(t *testing.T) { // HOST-88
	c := newHost(t).connect()
	idle, busy, plain, closed := c.openReady("bash"), c.openReady("bash"), c.open("sh"), c.openReady("bash")
	c.send(busy, "sleep 60\r")
	waitUntil(t, "it runs", func() bool { return c.promptView(busy).State == "running" })
	waitUntil(t, "the other takes pastes", func() bool { return c.promptView(idle).Paste }) // and changes no more
	c.closeSession(closed, true)
	r := c.call(&api.VariableRequest{Scope: &api.VariableRequest_App{App: true}, Get: []string{"termpilot.prompts"}}).GetVariableResponse()
	var all map[string]toldPrompt
	if len(r.GetValues()) != 1 || json.Unmarshal([]byte(r.GetValues()[0]), &all) != nil || len(all) != 3 {
		t.Fatalf("got %v", r)
	}
	for _, id := range []string{idle, busy, plain} {
		got, want := all[id], c.variable(id, "termpilot.prompt")
		if encode(got.promptView) != want || encode(got.Marks) != c.variable(id, "termpilot.marks") {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
}

func (h *testHost) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func is(b *bool, want bool) bool { return b != nil && *b == want }

func TestThePromptSaysWhetherAnythingIsTyped(t *testing.T) { // HOST-33
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			c := newHost(t).connect()
			id := c.openReady(shell)
			waitUntil(t, "it takes pastes", func() bool { return c.promptView(id).Paste }) // the first prompt does not wait for it
			if v := c.promptView(id); v.State != "editing" || !is(v.Typed, false) || v.Touched || !v.Paste {
				t.Errorf("fresh: %+v typed %v", v, v.Typed)
			}
			// From the moment that the text is accepted, not only once it is echoed.
			c.send(id, "echo hi")
			if v := c.promptView(id); !is(v.Typed, true) || !v.Touched {
				t.Errorf("typed: %+v", v)
			}
			c.awaitScreen(id, "echo hi")
			c.send(id, "\x01") // to the start of the line: the text is still there
			waitUntil(t, "typed is still told", func() bool {
				p := c.prompt(id, "").GetCommandRange()
				return p.GetStart().GetX() == p.GetEnd().GetX() && is(c.promptView(id).Typed, true)
			})
			c.send(id, "\x05\x15") // Ctrl-E, Ctrl-U: an empty line
			waitUntil(t, "nothing is typed", func() bool { return is(c.promptView(id).Typed, false) })
			if v := c.promptView(id); !v.Touched {
				t.Errorf("emptied: %+v", v)
			}
			c.send(id, "echo hi\r")
			c.awaitEnd(id)
			c.awaitPrompt(id)
			if v := c.promptView(id); v.Touched || !is(v.Typed, false) {
				t.Errorf("the next prompt: %+v", v)
			}
		})
	}
}

func TestUnfinishedInputIsAContinuation(t *testing.T) { // HOST-34
	for _, shell := range []string{"bash", "zsh"} {
		testneeds.Program(t, shell)
		c := newHost(t).connect()
		id := c.openReady(shell)
		c.send(id, "echo 'abc\r")
		waitUntil(t, "continuation", func() bool { return c.promptView(id).State == "continuation" })
		c.send(id, "\x03")
		waitUntil(t, "a new prompt", func() bool { return c.promptView(id).State == "editing" })
		if exit, out := c.run(id, "echo ok"); exit != 0 || out != "ok" {
			t.Errorf("%s: %d %q", shell, exit, out)
		}
	}
}

func TestMarksThatAProgramPrintsCountForNothing(t *testing.T) { // HOST-30
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			h := newHost(t)
			c := h.connect()
			id := c.openReady(shell)
			forged := `\033]133;D;0\007\033]133;A\007$ \033]133;B\007\033]133;C\007\033]133;D;0;aid=1\007\033]633;D;0\007`
			h.write("forge", "printf '"+forged+"'; echo; exit 3")
			if exit, _ := c.run(id, "printf '"+forged+"'; sh -c 'exit 4'"); exit != 4 {
				t.Errorf("typed: got %d", exit)
			}
			exit, out := c.run(id, "sh ~/forge")
			if exit != 3 || !strings.Contains(out, "$ ") {
				t.Errorf("got %d %q", exit, out)
			}
			c.call(&api.InjectRequest{SessionId: []string{id}, Data: []byte("\x1b]133;C\x07\x1b]133;D;9\x07")})
			if p := c.prompt(id, ""); p.GetPromptState() != api.GetPromptResponse_EDITING {
				t.Errorf("after an injection: %v", p)
			}
		})
	}
}

func TestLostMarksAreNoticed(t *testing.T) { // HOST-35
	t.Parallel() // it waits more than it works
	// What is seen of it takes as long as the machine likes: what is waited for is this.
	if most := quietStart + quiet + 2*tick; most > 4*time.Second {
		t.Errorf("they are waited for %v", most)
	}
	for _, test := range []struct{ shell, command string }{
		{"bash", "unset PROMPT_COMMAND PS0; PS1='$ '; trap - DEBUG"},
		{"bash", "exec sh"},
		{"zsh", "precmd_functions=()"},
		{"zsh", "exec sh"},
		{"fish", "exec sh"},
	} {
		t.Run(test.shell+" "+test.command, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, test.shell)
			c := newHost(t).connect()
			id := c.openReady(test.shell)
			c.send(id, test.command+"\r")
			waitUntil(t, "marks are lost", func() bool { return c.variable(id, "termpilot.marks") == `"lost"` })
		})
	}
}

func TestABuiltinThatReadsIsNotTakenForLostMarks(t *testing.T) { // HOST-35
	t.Parallel() // it waits more than it works
	h := newHost(t)
	c := h.connect()
	script, copied := h.shellIn("a", "#!/bin/sh\nexec bash \"$@\"\n"), h.shellIn("b", "")
	for _, shell := range append([]string{script, copied}, shells...) {
		testneeds.Program(t, filepath.Base(shell))
		profile, properties := shell, []string(nil)
		if filepath.IsAbs(shell) {
			profile, properties = "bash", []string{"Custom Command", `"Custom Shell"`, "Command", quote(shell)}
		}
		id := c.openReady(profile, properties...)
		if shell == copied { // as an upgrade does
			h.shellIn("c", "")
			if err := os.Rename(filepath.Join(h.home, "c", "bash"), copied); err != nil {
				t.Fatal(err)
			}
		}
		c.send(id, "read x\r")
		if shell == "fish" {
			continue // its read is a line editor: the marks count as lost until it ends
		}
		end := time.Now().Add(1500 * time.Millisecond)
		waitUntil(t, "time passes", func() bool {
			if got := c.variable(id, "termpilot.marks"); got != `"nonce"` {
				t.Fatalf("%s: %s", shell, got)
			}
			return time.Now().After(end)
		})
		c.send(id, "v\r")
		c.awaitEnd(id)
	}
}

// shellIn makes a program named bash in a folder: a script, or a copy of bash.
func (h *testHost) shellIn(folder, script string) string {
	h.t.Helper()
	if script == "" {
		path, err := exec.LookPath("bash")
		if err != nil {
			h.t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		script = string(data)
	}
	h.write(folder+"/bash", script)
	path := filepath.Join(h.home, folder, "bash")
	if err := os.Chmod(path, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func TestAShellWithoutIntegrationSaysSo(t *testing.T) { // HOST-31
	c := newHost(t).connect()
	id := c.open("sh")
	if got := c.variable(id, "termpilot.marks"); got != `"none"` {
		t.Errorf("got %s", got)
	}
	if p := c.prompt(id, ""); p.GetStatus() != api.GetPromptResponse_PROMPT_UNAVAILABLE {
		t.Errorf("its prompt: %v", p)
	}
	c.send(id, `printf '\033]133;A\007$ \033]133;B\007'`+"\r")
	waitUntil(t, "plain marks count there", func() bool { return c.variable(id, "termpilot.marks") == `"plain"` })
}

func TestAShellThatIsStillStartingSaysSo(t *testing.T) { // HOST-32
	h := newHost(t)
	h.write(".bash_profile", "read -p 'Update? [y/N] ' answer\n")
	c := h.connect()
	c.allPromptsOnce()
	id := c.open("bash")
	c.awaitScreen(id, "Update?")
	if got := c.variable(id, "termpilot.marks"); got != `"starting"` {
		t.Errorf("got %s", got)
	}
	c.send(id, "n\r")
	c.awaitPrompt(id)
	if got := c.variable(id, "termpilot.marks"); got != `"nonce"` {
		t.Errorf("after the answer: %s", got)
	}
}

func TestAPromptIsToldWhenItsLineEditorTakesPastes(t *testing.T) { // HOST-39
	t.Parallel()
	c := newHost(t).connect()
	for _, shell := range shells {
		testneeds.Program(t, shell)
		id := c.openReady(shell)
		for range 3 { // told, or on a busy machine soon to be told
			waitUntil(t, shell+" takes pastes", func() bool { return c.promptView(id).Paste })
			c.run(id, "true")
		}
	}
}

func TestAPromptWaitsForItsLineEditorAMomentAndNoLonger(t *testing.T) { // HOST-39
	const shown, taken, ran = "\x1b]133;A\a$ \x1b]133;B\a", "\x1b[?2004h", "\x1b[?2004l\x1b]133;C\a\x1b]133;D;0\a"
	synctest.Test(t, func(t *testing.T) {
		h := &server{hub: hub{clients: map[*client]struct{}{}}, frozen: newFreeze()}
		watcher := &client{out: newOutbox(func() {}), subscriptions: map[subscription]modes{
			{kind: api.NotificationType_NOTIFY_ON_PROMPT, session: everySession}: 1 << api.PromptMonitorMode_PROMPT,
		}}
		h.hub.add(watcher)
		told := func() (n int) {
			watcher.out.mu.Lock()
			defer watcher.out.mu.Unlock()
			return len(watcher.out.messages)
		}
		s := &session{host: h, scrollback: 100, input: newInput(nil), told: map[string]string{}, seen: map[string]any{}}
		s.newTerminal(80, 24)
		for i, step := range []struct {
			prints string
			wait   time.Duration
			want   int // prompts told by then
		}{
			{shown + taken, 0, 1}, // nothing is known of this shell yet
			{ran + shown, editorPatience - time.Nanosecond, 1},
			{taken, 0, 2},
			{ran + shown, editorPatience, 3}, // its editor does not say so this time
			{ran + shown + taken, 0, 4},
			{ran + shown, 0, 4},
			{ran, 0, 5}, // a prompt that is left is told before what follows it
		} {
			s.draw([]byte(step.prints))
			time.Sleep(step.wait) // by a clock that stands still meanwhile
			synctest.Wait()
			if got := told(); got != step.want {
				t.Errorf("step %d: %d prompts were told, want %d", i, got, step.want)
			}
		}
		watcher.out.close()
	})
}

func TestPromptEventsComeInOrderWithTheirPrompt(t *testing.T) { // HOST-36
	c := newHost(t).connect()
	id := c.openReady("bash")
	c.send(id, "sh -c 'exit 3'\r\x04") // and then the end
	var got []string
	var ids []string
	c.subscribe(api.NotificationType_NOTIFY_ON_TERMINATE_SESSION, "")
	for range 4 {
		n := c.await("prompt event", func(n *api.Notification) bool { return n.GetPromptNotification() != nil }).GetPromptNotification()
		switch {
		case n.GetCommandStart() != nil:
			got = append(got, "start "+n.GetCommandStart().GetCommand())
		case n.GetCommandEnd() != nil:
			got = append(got, "end "+encode(n.GetCommandEnd().GetStatus()))
		default:
			got = append(got, "prompt "+n.GetPrompt().GetPrompt().GetPromptState().String())
		}
		ids = append(ids, n.GetUniquePromptId())
		if len(got) == 3 {
			break
		}
	}
	if want := "start sh -c 'exit 3'|end 3|prompt EDITING"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if ids[0] == "" || ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("ids %q", ids)
	}
	list := c.call(&api.ListPromptsRequest{Session: &id}).GetListPromptsResponse().GetUniquePromptId()
	if len(list) < 2 || list[len(list)-1] != ids[2] {
		t.Errorf("listed %q", list)
	}
}

func TestAShellThatAStartUpFileReplacedIsNoticed(t *testing.T) { // HOST-35
	t.Parallel() // it waits more than it works
	h := newHost(t)
	h.write(".bash_profile", "exec sh\n")
	c := h.connect()
	id := c.open("bash")
	waitUntil(t, "marks are lost", func() bool { return c.variable(id, "termpilot.marks") == `"lost"` })
}
