package closing

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"termpilot/pilot"
	"termpilot/process"
)

// registered makes a process a Claude that holds a chat and tells its status.
func registered(t *testing.T, w *world, dir string, e process.Entry, chat, status string) {
	t.Helper()
	w.vars = map[string]string{"HOME": dir}
	put(t, filepath.Join(dir, ".claude", "sessions", strconv.Itoa(e.PID)+".json"),
		fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/c","startedAt":%d,"status":%q}`, e.PID, chat, e.Start.Add(time.Second).UnixMilli(), status))
	put(t, filepath.Join(dir, ".claude", "projects", "-c", chat+".jsonl"), "{}\n")
}

func TestASessionWithoutAShellIsItsProgram(t *testing.T) { // CLOSE-10, CLOSE-11, CLOSE-15, CLOSE-25
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	s.procs[0].Name, s.state = "claude", pilot.WaitingInput
	registered(t, w, t.TempDir(), s.procs[0], chatID, "idle")
	items, err := w.closer().Inspect(t.Context(), "s1", "")
	if err != nil || len(items[0].Chats) != 1 || items[0].Chats[0].ChatID != chatID || items[0].State != Idle || items[0].Processes[0].PID != s.shell {
		t.Errorf("an agent in place of the shell: got %+v %v", items, err)
	}
	res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
	if res.Status != Closed || res.Closed[0].Exit != exited || res.Closed[0].Chats[0].Resume == nil {
		t.Errorf("closed: got %+v", res)
	}

	s = w.add("s2", "t2", "w1")
	s.procs[0].Name = "htop"
	if res := do(t, w, Request{Operation: CloseSession, SessionID: "s2"}); res.Status != Refused || res.Code != codeBusy {
		t.Errorf("a program in place of the shell: got %+v", res)
	}
}

func TestAShellsWorkerForItsPromptIsNoWork(t *testing.T) { // CLOSE-10
	for _, c := range []struct {
		name string
		set  func(w *world, s *session, p *process.Entry)
		want Activity
	}{
		{"as powerlevel10k has it", func(w *world, _ *session, p *process.Entry) { w.files[p.PID] = []string{"/dev/tty", "/tmp/p10k.fifo"} }, Idle},
		{"with the terminal open", func(w *world, s *session, p *process.Entry) {
			w.files[p.PID] = []string{fmt.Sprintf("/dev/pts/%d", s.shell)}
		}, Busy},
		{"that the shell waits for", func(_ *world, s *session, p *process.Entry) { p.PPID = s.shell }, Busy},
		{"stopped", func(_ *world, _ *session, p *process.Entry) { p.State = process.Stopped }, Busy},
		{"of another name", func(_ *world, _ *session, p *process.Entry) { p.Name = "make" }, Busy},
		{"with work below it", func(w *world, s *session, p *process.Entry) {
			pid := p.PID
			w.start(s, "make", false)
			s.procs[2].PPID = pid
		}, Busy},
		{"with a helper below it", func(w *world, s *session, p *process.Entry) {
			pid := p.PID
			w.start(s, "gitstatusd-linu", false)
			s.procs[2].PPID = pid
		}, Idle},
	} {
		w := newWorld(t)
		s := w.add("s1", "t1", "w1")
		w.start(s, "bash", false)
		s.procs[1].PPID = 1
		c.set(w, s, &s.procs[1])
		items, err := w.closer().Inspect(t.Context(), "s1", "")
		if err != nil || items[0].State != c.want {
			t.Errorf("%s: got %+v %v, want %s", c.name, items, err, c.want)
		}
	}
}

func TestWritingFishsCompletionsIsNoWork(t *testing.T) { // CLOSE-10
	for script, want := range map[string]Activity{"/usr/share/fish/tools/create_manpage_completions.py": Idle, "train.py": Busy} {
		w := newWorld(t)
		s := w.add("s1", "t1", "w1")
		s.procs[0].Name = "fish"
		e := w.start(s, "python3", false)
		s.procs[1].PGID = s.shell // fish starts it before it has job control
		w.argv[e.PID] = []string{"/usr/bin/python3", "-B", script, "--manpath"}
		if items, err := w.closer().Inspect(t.Context(), "s1", ""); err != nil || items[0].State != want {
			t.Errorf("%s: got %+v %v, want %s", script, items, err, want)
		}
	}
}

func TestLoginAndItsShellAreNoWork(t *testing.T) { // CLOSE-10
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	s.procs[0].Name = "login"
	shell := w.start(s, "zsh", true)
	s.state = pilot.Ready
	helper := w.start(s, "gitstatusd-darw", false)
	s.procs[2].PPID, s.procs[2].PGID = shell.PID, shell.PID // in the shell's own group, which is in front
	if items, err := w.closer().Inspect(t.Context(), "s1", ""); err != nil || items[0].State != Idle {
		t.Errorf("got %+v %v", items, err)
	}
	s.procs[1].Name = "vim"
	if items, err := w.closer().Inspect(t.Context(), "s1", ""); err != nil || items[0].State != Busy {
		t.Errorf("login with a program: got %+v %v (%+v)", items, err, helper)
	}
}

func TestHiddenProcessesMakeNothingIdle(t *testing.T) { // CLOSE-11
	w := newWorld(t)
	w.hides = true
	w.add("s1", "t1", "w1")
	if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"}); res.Status != Refused || res.Code != codeUnknown || len(w.effects()) != 0 {
		t.Errorf("got %+v", res)
	}
	e := w.start(w.add("s2", "t2", "w1"), "claude", true)
	registered(t, w, t.TempDir(), e, chatID, "idle")
	if res := do(t, w, Request{Operation: CloseSession, SessionID: "s2"}); res.Status != Refused || res.Code != codeUnknown || len(w.effects()) != 0 {
		t.Errorf("with an idle agent: got %+v", res)
	}
}

func TestAProcessThatCannotBeLookedAtMayBeAnAgent(t *testing.T) { // CLOSE-16
	w := newWorld(t)
	w.start(w.add("s1", "t1", "w1"), "claude", true)
	w.unread = syscall.EMFILE
	if res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: true}); res.Status != Refused || res.Code != codeChat || len(w.effects()) != 0 {
		t.Errorf("got %+v", res)
	}
}

func TestWhatStartedAnAgentIsWorkUnlessItOnlyWaits(t *testing.T) { // CLOSE-11, CLOSE-14
	for _, c := range []struct {
		name, program string
		argv          []string
		want          Activity
	}{
		{"npx", "npm exec @anthr", []string{"npm exec @anthropic-ai/claude-code"}, Idle},
		{"npx's shell", "sh", []string{"sh", "-c", "claude"}, Idle},
		{"node", "node", []string{"node", "/x/@anthropic-ai/claude-code/cli.js"}, Idle},
		{"a script", "bash", []string{"bash", "deploy.sh"}, Busy},
		{"a shell with more to do", "sh", []string{"sh", "-c", "claude; make deploy"}, Busy},
		{"a nested shell", "bash", []string{"bash"}, Busy},
		{"a program", "python3", []string{"python3", "orchestrate.py"}, Busy},
	} {
		w := newWorld(t)
		s := w.add("s1", "t1", "w1")
		parent := w.start(s, c.program, true)
		w.argv[parent.PID] = c.argv
		e := w.start(s, "claude", false)
		s.procs[2].PPID, s.procs[2].PGID = parent.PID, parent.PID
		for i := range s.procs {
			s.procs[i].Foreground = parent.PID
		}
		registered(t, w, t.TempDir(), e, chatID, "idle")
		items, err := w.closer().Inspect(t.Context(), "s1", "")
		if err != nil || items[0].State != c.want || len(items[0].Chats) != 1 {
			t.Errorf("%s: got %+v %v, want %s", c.name, items, err, c.want)
		}
	}
}

func TestEveryChatIsTold(t *testing.T) { // CLOSE-14, CLOSE-15, CLOSE-16
	const inner = "1192f3a1-1111-7222-8333-444444444444"
	for _, c := range []struct {
		name  string
		chats map[int]string // by place: 1 the outer one, 2 the inner one
		group bool           // both are of one process group
		want  []string
		code  string
	}{
		{"an agent and its helper of the same name", map[int]string{1: chatID}, false, []string{chatID}, ""},
		{"a wrapper and the agent", map[int]string{2: inner}, true, []string{inner}, ""},
		{"two that hold chats", map[int]string{1: chatID, 2: inner}, false, []string{chatID, inner}, ""},
		{"one that tells nothing, and another below it", map[int]string{2: inner}, false, []string{"", inner}, codeChat},
	} {
		w := newWorld(t)
		dir := t.TempDir()
		w.vars = map[string]string{"HOME": dir}
		s := w.add("s1", "t1", "w1")
		outer := w.start(s, "claude", true)
		w.start(s, "claude", false)
		s.procs[2].PPID = outer.PID
		if c.group {
			s.procs[2].PGID = outer.PID
		}
		for place, chat := range c.chats {
			registered(t, w, dir, s.procs[place], chat, "idle")
		}
		items, err := w.closer().Inspect(t.Context(), "s1", "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, chat := range items[0].Chats {
			got = append(got, chat.ChatID)
		}
		if !slices.Equal(got, c.want) || items[0].Code != c.code {
			t.Errorf("%s: got %v %q, want %v %q", c.name, got, items[0].Code, c.want, c.code)
		}
	}
}

func TestTextAtThePromptCountsWhileTheAgentIsInTheBackground(t *testing.T) { // CLOSE-11, CLOSE-17
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	e := w.start(s, "claude", false)
	s.procs[1].State = process.Stopped
	registered(t, w, t.TempDir(), e, chatID, "idle")
	for state, want := range map[pilot.ReadyState]Activity{pilot.Ready: Idle, pilot.TypedText: Waiting, pilot.NoIntegration: Unknown} {
		s.state = state
		if items, err := w.closer().Inspect(t.Context(), "s1", ""); err != nil || items[0].State != want {
			t.Errorf("%s: got %+v %v, want %s", state, items, err, want)
		}
	}
}
