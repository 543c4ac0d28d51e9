package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agentScene is a stand-in agent in some state, and what a close makes of it.
type agentScene struct {
	cli, words  string
	state       string
	source      string
	persistence string
	refused     string // the code, without force; "" is closed
	forced      string // the code, with force; "" is closed
}

var agentScenes = []agentScene{
	{"claude", "idle", "idle", "registration", "saved", "", ""},
	{"claude", "new", "idle", "registration", "empty", "", ""},
	{"claude", "busy", "busy", "registration", "saved", "activity_busy", ""},
	{"claude", "waiting", "waiting", "registration", "saved", "activity_waiting", ""},
	{"claude", "silent", "unknown", "registration", "saved", "activity_unknown", ""},
	{"claude", "idle stubborn", "idle", "registration", "saved", "exit_failed", "exit_failed"},
	{"codex", "idle", "idle", "open_file", "saved", "", ""},
	{"codex", "new", "idle", "open_file", "empty", "", ""},
	{"codex", "busy", "busy", "open_file", "saved", "activity_busy", ""},
	{"codex", "waiting", "waiting", "open_file", "saved", "activity_waiting", ""},
	{"grok", "idle", "idle", "registration", "saved", "", ""},
	{"grok", "busy", "busy", "registration", "saved", "activity_busy", ""},
	{"grok", "waiting", "waiting", "registration", "saved", "activity_waiting", ""},
	{"kiro-cli", "idle", "unknown", "", "unknown", "chat_unknown", "chat_unknown"},
}

var resumes = map[string]string{"claude": "claude --resume ", "codex": "codex resume --no-daemon ", "grok": "grok --resume "}

// start runs a stand-in agent in a session, and returns its chat.
func (g *ground) start(s *session, cli, words string) (chat string) {
	g.t.Helper()
	s.text(cli + " " + words)
	s.keys("enter")
	s.until("text", "chat=", 20*time.Second)
	_, rest, _ := strings.Cut(s.read("screen").Content, "chat=")
	if chat, _, _ = strings.Cut(rest, "\n"); len(strings.TrimSpace(chat)) < 36 {
		g.t.Fatalf("%s %s: no chat in %q", cli, words, rest)
	}
	return strings.TrimSpace(chat)[:36]
}

func TestAnAgentIsAskedToEndAndItsChatIsKept(t *testing.T) {
	everyGround(t, func(g *ground) {
		for _, a := range agentScenes {
			name := a.cli + " " + a.words
			s, o := g.open(nil)
			chat := g.start(s, a.cli, a.words)
			item := g.until(o.ID, name, func(item closeItem) bool { return len(item.Chats) == 1 })
			told := item.Chats[0]
			endAll(g.t, item.Processes)
			if a.source == "" {
				chat = ""
			}
			cli, _, _ := strings.Cut(a.cli, "-")
			if told.CLI != cli || told.ID != chat || told.Source != a.source || told.Persistence != a.persistence || told.State != a.state || told.Verified != (a.source != "") || item.State != a.state {
				g.t.Errorf("%s: inspected: %+v", name, item)
			}
			if resumed := a.source != "" && a.persistence == "saved"; resumed != (told.Resume != nil) || resumed && strings.Join(told.Resume.Argv, " ") != resumes[a.cli]+chat {
				g.t.Errorf("%s: resume: %+v", name, told.Resume)
			}
			args := map[string]any{"session_id": o.ID}
			r := g.close("close_session", args)
			if r.Code != a.refused || (a.refused == "") != (r.Status == "closed") {
				g.t.Errorf("%s: closed without force: %+v", name, r)
			}
			if a.refused == "" {
				if done := r.Closed[0]; done.Exit != "exited" || done.Interruption != "not_needed" || lives(told.PID) {
					g.t.Errorf("%s: closed: %+v", name, done)
				}
				continue
			}
			if !g.lists(o.ID) || !lives(told.PID) {
				g.t.Errorf("%s: refused, and is gone", name)
			}
			args["force"] = true
			r = g.close("close_session", args)
			if r.Code != a.forced || (a.forced == "") != (r.Status == "closed") || g.lists(o.ID) == (a.forced == "") || lives(told.PID) == (a.forced == "") {
				g.t.Errorf("%s: closed by force: %+v", name, r)
			}
			if a.forced == "" {
				if done := r.Closed[0]; done.Exit != "exited" || (done.Interruption == "interrupted") != (a.state != "unknown") {
					g.t.Errorf("%s: closed by force: %+v", name, done)
				}
			}
		}
	})
}

func TestTabsAndWindowsAreClosedWholeAndAllThatIsIdleIsCleaned(t *testing.T) {
	everyGround(t, func(g *ground) {
		_, idle := g.open(nil)
		busy, beside := g.open(map[string]any{"window_id": idle.Window})
		var pane opened
		g.c.call("split_pane", map[string]any{"session_id": beside.ID, "direction": "right", "profile": "bash"}, &pane)
		g.until(pane.ID, "idle", func(item closeItem) bool { return item.State == "idle" })
		busy.text("sleep 1000")
		busy.keys("enter")
		g.until(beside.ID, "busy", func(item closeItem) bool { return item.State == "busy" })

		r := g.close("close_tab", map[string]any{"session_id": pane.ID})
		codes := map[string]string{}
		for _, item := range r.Skipped {
			codes[item.ID] = item.Code
		}
		if r.Status != "refused" || r.Code != "activity_busy" || codes[beside.ID] != "activity_busy" || codes[pane.ID] != "neighbour_not_closed" || len(r.Target.IDs) != 2 {
			g.t.Errorf("a tab with a busy session: %+v", r)
		}
		if r = g.close("close_window", map[string]any{"window_id": idle.Window, "dry_run": true}); r.Status != "refused" || len(r.Skipped) != 3 {
			g.t.Errorf("a window with a busy session: %+v", r)
		}
		if r = g.close("close_tab", map[string]any{"tab_id": pane.Tab, "force": true}); r.Status != "closed" || len(r.Closed) != 2 || g.lists(pane.ID) || g.lists(beside.ID) || !g.lists(idle.ID) {
			g.t.Errorf("a tab by force: %+v", r)
		}
		_, second := g.open(map[string]any{"window_id": idle.Window})
		g.until(second.ID, "idle", func(item closeItem) bool { return item.State == "idle" })
		if r = g.close("close_window", map[string]any{"session_id": idle.ID}); r.Status != "closed" || len(r.Closed) != 2 || r.Target.Kind != "window" {
			g.t.Errorf("an idle window: %+v", r)
		}

		want := map[string]string{} // what clean_all_sessions says of each
		for _, one := range []struct{ typed, code string }{{"", ""}, {"", ""}, {"sleep 1000", "activity_busy"}, {"claude idle", ""}, {"claude busy", "activity_busy"}, {"kiro-cli idle", "chat_unknown"}} {
			s, o := g.open(nil)
			want[o.ID] = one.code
			if one.typed != "" {
				s.text(one.typed)
				s.keys("enter")
				item := g.until(o.ID, one.typed, func(item closeItem) bool {
					return len(item.Processes) > 0 && strings.HasPrefix(one.typed, item.Processes[0].Name) && item.Code == one.code
				})
				endAll(g.t, item.Processes)
			}
		}
		if r = g.close("clean_all_sessions", map[string]any{"dry_run": true}); r.Status != "dry_run" || len(r.Closed) != 3 || len(r.Skipped) != 3 {
			g.t.Errorf("clean all, dry run: %+v", r)
		}
		r = g.close("clean_all_sessions", map[string]any{})
		if r.Status != "partial" || len(r.Closed) != 3 || len(r.Skipped) != 3 {
			g.t.Errorf("clean all: %+v", r)
		}
		for _, item := range r.items() {
			if item.Code != want[item.ID] || g.lists(item.ID) == (item.Closure == "closed") {
				g.t.Errorf("clean all: %+v, want %q", item, want[item.ID])
			}
		}
		g.reopens(r)
		if r = g.close("clean_all_sessions", map[string]any{"force": true}); r.Status != "partial" || len(r.Skipped) != 1 || r.Code != "chat_unknown" {
			g.t.Errorf("clean all by force: %+v", r)
		}
	})
}

// reopens has the command line open again what a close has closed.
func (g *ground) reopens(r closeResult) {
	g.t.Helper()
	stdout, stderr, exit := g.h.termpilot(g.t, append([]string{"recover", r.Recovery, "--reopen", "--json"}, g.flags...)...)
	var list struct {
		Recoveries []struct {
			Reopened []struct {
				ID      string `json:"session_id"`
				As      string
				Resumed bool
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || exit != 0 || len(list.Recoveries) != 1 || len(list.Recoveries[0].Reopened) != len(r.Closed) {
		g.t.Fatalf("recover --reopen: %v, exit %d: %s%s", err, exit, stdout, stderr)
	}
	for _, one := range list.Recoveries[0].Reopened {
		i := slices.IndexFunc(r.Closed, func(item closeItem) bool { return item.ID == one.ID })
		if i < 0 || one.Resumed != (len(r.Closed[i].Chats) > 0) || !g.listsSoon(one.As) {
			g.t.Errorf("reopened: %+v", one)
			continue
		}
		if one.Resumed {
			g.c.at(g.h, "bash", one.As).until("text", "chat="+r.Closed[i].Chats[0].ID+" resumed", 20*time.Second)
		}
	}
	if _, _, exit = g.h.termpilot(g.t, append([]string{"recover", r.Recovery, "--reopen"}, g.flags...)...); exit != 7 {
		g.t.Errorf("recover --reopen, once more: exit %d, want 7", exit)
	}
}

func TestACloseThatIsKilledIsTakenUpByTheNext(t *testing.T) {
	everyGround(t, func(g *ground) {
		s, o := g.open(nil)
		chat := g.start(s, "claude", "idle slow")
		pid := g.until(o.ID, "an agent", func(item closeItem) bool { return len(item.Chats) == 1 }).Chats[0].PID
		cmd := exec.Command(binary, append([]string{"close", o.ID}, g.flags...)...)
		cmd.Env = g.h.env()
		if err := cmd.Start(); err != nil {
			g.t.Fatal(err)
		}
		receipts := filepath.Join(g.h.dir, "tp", "recovery")
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) { // the receipt is written by another process
			files, _ := filepath.Glob(filepath.Join(receipts, "r*.json"))
			if len(files) == 1 {
				if data, _ := os.ReadFile(files[0]); strings.Contains(string(data), `"exit": "unknown"`) {
					break
				}
			}
			if time.Now().After(end) {
				g.t.Fatal("the close never asks the agent")
			}
		}
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			g.t.Fatal(err)
		}
		_ = cmd.Wait()
		var list struct {
			Recoveries []struct {
				Status   string
				Sessions []closeItem
			}
		}
		g.c.call("list_recoveries", map[string]any{}, &list)
		if len(list.Recoveries) != 1 || list.Recoveries[0].Status != "executing" {
			g.t.Fatalf("the receipt: %+v", list)
		}
		if item := list.Recoveries[0].Sessions[0]; item.Exit != "unknown" || item.Closure != "pending" || item.Chats[0].ID != chat || item.Chats[0].Resume == nil {
			g.t.Errorf("the receipt: %+v", item)
		}
		if !g.lists(o.ID) {
			g.t.Error("the session is gone")
		}
		r := g.close("close_session", map[string]any{"session_id": o.ID})
		for end := time.Now().Add(20 * time.Second); r.Status == "refused" && strings.HasPrefix(r.Code, "activity") && time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // the agent had just left, and the shell prepares its prompt
			r = g.close("close_session", map[string]any{"session_id": o.ID})
		}
		if r.Status != "closed" || g.lists(o.ID) || lives(pid) {
			g.t.Errorf("the next close: %+v", r)
		}
	})
}

// told is all that is known of what became of sessions: what is written down of
// closes, and what tmux itself says.
func (g *ground) told() string {
	out, errs, _ := g.h.termpilot(g.t, "recover", "--json")
	if g.backend == "tmux" {
		cmd := exec.Command("tmux", "-S", g.socket, "list-panes", "-a", "-F", "#{pid} #{pane_id} #{pane_pid} #{pane_dead} #{pane_dead_status} #{pane_start_command}")
		cmd.Env = g.h.env()
		panes, err := cmd.CombinedOutput()
		errs += fmt.Sprintf("tmux: %v\n%s", err, panes)
	}
	return out + errs
}

func TestASessionThatTermpilotRunsInIsNeverClosed(t *testing.T) {
	everyGround(t, func(g *ground) {
		client, err := os.ReadFile(filepath.Join("testdata", "inside.py"))
		if err != nil {
			g.t.Fatal(err)
		}
		g.put("inside.py", string(client), 0o600)
		s, o := g.open(nil)
		env := fmt.Sprintf("TERMPILOT_HOME=%s/tp ", g.h.dir)
		flags := strings.Join(g.flags, " ")
		for _, args := range []string{o.ID, o.ID + " --force", o.ID + " --tab --force", o.ID + " --window --force"} {
			words := strings.ReplaceAll(args, o.ID, "'"+o.ID+"'")
			if r := s.run(env + binary + " close " + words + " --json " + flags); r.ExitCode == nil || *r.ExitCode != 7 || !strings.Contains(r.Output, `"code": "self_protection"`) {
				g.t.Errorf("close %s, inside: %+v", args, r)
			}
			if !g.lists(o.ID) {
				g.t.Fatalf("close %s: the session is gone\n%s", args, g.told())
			}
		}
		if r := s.run(env + binary + " close --all --force --json " + flags); r.ExitCode == nil || *r.ExitCode != 0 || !strings.Contains(r.Output, `"status": "noop"`) || !strings.Contains(r.Output, "self_protection") {
			g.t.Errorf("close --all, inside: %+v", r)
		}
		r := s.run(env + "python3 inside.py '" + o.ID + "' " + binary + " " + flags)
		if want := "refused self_protection\nrefused self_protection\nrefused self_protection\nnoop self_protection"; strings.TrimSpace(r.Output) != want {
			g.t.Errorf("an MCP server inside: got %q, want %q", r.Output, want)
		}
		if !g.lists(o.ID) {
			g.t.Errorf("the session is gone\n%s", g.told())
		}
	})
}
