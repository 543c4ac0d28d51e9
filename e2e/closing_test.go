package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/testneeds"
)

// Closing, with the programs that sessions really hold, on the host and in a
// tmux server of the test's own.

// closeItem is one session of a close or an inspection.
type closeItem struct {
	ID                 string `json:"session_id"`
	Backend            string
	State, Code        string
	Reason             string
	Evidence           []string
	Processes          []closeProgram
	Detached           []closeProgram
	Survivors          []closeProgram
	Interruption, Exit string
	Closure            string `json:"closure_status"`
	Chats              []struct {
		CLI         string
		PID         int
		ID          string `json:"chat_id"`
		Source      string `json:"identity_source"`
		Verified    bool
		Persistence string
		State       string
		Resume      *struct{ Argv []string }
	} `json:"cli_sessions"`
}

type closeProgram struct {
	PID         int
	Name, State string
}

type closeResult struct {
	Operation, Status, Code, Reason, Hint string
	Force                                 bool
	DryRun                                bool `json:"dry_run"`
	Target                                struct {
		Kind, ID string
		IDs      []string `json:"session_ids"`
	}
	Recovery string      `json:"recovery_id"`
	Path     string      `json:"recovery_path"`
	Closed   []closeItem `json:"closed_sessions"`
	Skipped  []closeItem `json:"skipped_sessions"`
	Failed   []closeItem `json:"failed_sessions"`
	Unknown  []closeItem `json:"unknown_sessions"`
}

func (r closeResult) items() []closeItem {
	return slices.Concat(r.Closed, r.Skipped, r.Failed, r.Unknown)
}

// ground is a terminal with a client, and bystanders that no close may touch.
type ground struct {
	t          *testing.T
	h          home
	c          *client
	backend    string
	socket     string // of its tmux server
	flags      []string
	bystanders []int
}

// everyGround runs f on the host and in tmux, side by side.
func everyGround(t *testing.T, f func(g *ground)) {
	for _, backend := range []string{"host", "tmux"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			g := newGround(t, backend)
			f(g)
			for _, pid := range g.bystanders {
				if syscall.Kill(pid, 0) != nil {
					t.Errorf("a bystander, process %d, is gone", pid)
				}
			}
		})
	}
}

func newGround(t *testing.T, backend string) *ground {
	h := newHome(t)
	h.extra = []string{"PATH=" + h.dir + "/bin:" + os.Getenv("PATH")}
	g := &ground{t: t, h: h, backend: backend, flags: []string{"--backend", backend}}
	for name, text := range map[string]string{".bash_profile": "", ".bashrc": "", ".zshrc": "", ".config/fish/config.fish": "", ".vimrc": "set swapfile directory=. updatecount=1\n"} {
		if name != ".vimrc" {
			text = "export PATH=" + h.dir + "/bin:" + os.Getenv("PATH") + "\n"
		}
		if name == ".bash_profile" {
			text += "PROMPT_COMMAND='sleep 0.1'\n" // prompts run programs: git, most often
		}
		g.put(name, text, 0o600)
	}
	g.put(".local/share/fish/generated_completions/none", "", 0o600) // else a new user's fish reads all manuals at first
	python := testneeds.Program(t, "python3")
	out, err := exec.Command(python, "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	agent, err := os.ReadFile(filepath.Join("testdata", "agent.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude", "codex", "grok", "kiro-cli"} {
		g.put("bin/"+name, "#!"+strings.TrimSpace(string(out))+"\n"+string(agent), 0o700)
	}
	if backend == "tmux" {
		testneeds.Program(t, "tmux")
		g.socket = filepath.Join(h.dir, "s")
		g.flags = append(g.flags, "--tmux-socket", g.socket)
		t.Cleanup(func() {
			cmd := exec.Command("tmux", "-S", g.socket, "kill-server")
			cmd.Env = h.env()
			_ = cmd.Run() // it ends with its last session
		})
	}
	g.c = serve(t, h, g.flags...)
	for _, argv := range [][]string{{"sleep", "1000"}, {h.dir + "/bin/claude", "busy"}} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = h.env()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		g.bystanders = append(g.bystanders, cmd.Process.Pid)
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	}
	return g
}

func (g *ground) put(name, text string, mode os.FileMode) {
	g.t.Helper()
	path := filepath.Join(g.h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) open(more map[string]any) (*session, opened) {
	g.t.Helper()
	args := map[string]any{"backend": g.backend, "cwd": g.h.dir, "profile": "bash"}
	for k, v := range more {
		args[k] = v
	}
	tool := "create_window"
	if args["window_id"] != nil {
		tool = "create_tab"
		delete(args, "backend")
	}
	var o opened
	g.c.call(tool, args, &o)
	return g.c.at(g.h, fmt.Sprint(args["profile"]), o.ID), o
}

func (g *ground) inspect(id string) closeItem {
	g.t.Helper()
	var r struct{ Sessions []closeItem }
	g.c.call("inspect_sessions", map[string]any{"session_id": id}, &r)
	if len(r.Sessions) != 1 {
		g.t.Fatalf("inspect %s: %+v", id, r)
	}
	return r.Sessions[0]
}

// until inspects a session until it is as wanted.
func (g *ground) until(id, what string, so func(closeItem) bool) closeItem {
	g.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(50 * time.Millisecond) { // programs start and end without an event
		item := g.inspect(id)
		if so(item) {
			return item
		}
		if time.Now().After(end) {
			g.t.Fatalf("%s: never %s: %+v\nscreen:\n%s", g.backend, what, item, g.c.at(g.h, "", id).read("all").Content)
		}
	}
}

func (g *ground) close(tool string, args map[string]any) closeResult {
	g.t.Helper()
	var r closeResult
	g.c.call(tool, args, &r)
	g.receiptIsTrue(r)
	if (r.Status == "closed" || r.Status == "dry_run") != (r.Code == "") && r.Status != "noop" || (r.Code != "") != (r.Hint != "") {
		g.t.Errorf("%s: status %s, code %q, hint %q", tool, r.Status, r.Code, r.Hint)
	}
	return r
}

// receiptIsTrue compares what was told with what was written down.
func (g *ground) receiptIsTrue(r closeResult) {
	g.t.Helper()
	if r.Recovery == "" {
		for _, item := range r.items() {
			if item.Closure == "closed" || item.Exit != "not_attempted" || item.Interruption != "not_attempted" {
				g.t.Errorf("%s without a receipt: %+v", r.Operation, item)
			}
		}
		return
	}
	info, err := os.Stat(r.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		g.t.Errorf("receipt %s: %v", r.Path, err)
	}
	var list struct {
		Recoveries []struct {
			ID                string `json:"recovery_id"`
			Operation, Status string
			Host              string
			Began, Updated    time.Time
			Sessions          []closeItem
		}
	}
	g.c.call("list_recoveries", map[string]any{"recovery_id": r.Recovery}, &list)
	if len(list.Recoveries) != 1 {
		g.t.Fatalf("receipt %s: %+v", r.Recovery, list)
	}
	written := list.Recoveries[0]
	if written.Operation != r.Operation || written.Status != r.Status || written.Host == "" || written.Began.IsZero() || written.Updated.Before(written.Began) || len(written.Sessions) != len(r.items()) {
		g.t.Errorf("receipt: got %+v, told was %+v", written, r)
	}
	for _, item := range r.items() {
		i := slices.IndexFunc(written.Sessions, func(w closeItem) bool { return w.ID == item.ID })
		if i < 0 || fmt.Sprintf("%+v", jsonOf(written.Sessions[i])) != fmt.Sprintf("%+v", jsonOf(item)) {
			g.t.Errorf("receipt: told was %+v, written is %+v", item, written.Sessions)
		}
	}
}

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// lists reports whether the terminal still lists a session.
func (g *ground) lists(id string) bool {
	g.t.Helper()
	return slices.ContainsFunc(g.c.sessions(), func(s listed) bool { return s.ID == id })
}

// listsSoon is lists of a session that another process has opened, which the
// terminal tells a moment later.
func (g *ground) listsSoon(id string) bool {
	g.t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { // between looks
		if g.lists(id) {
			return true
		}
	}
	return false
}

// lives reports whether a process has not ended.
func lives(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// endAll ends processes that a test has left behind on purpose.
func endAll(t *testing.T, programs []closeProgram) {
	for _, p := range programs {
		t.Cleanup(func() { _ = syscall.Kill(p.PID, syscall.SIGKILL) })
	}
}

// untilFile waits until a file holds some text.
func (g *ground) untilFile(name, text string) {
	g.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(50 * time.Millisecond) { // a program writes when it likes
		data, _ := os.ReadFile(filepath.Join(g.h.dir, name))
		if strings.Contains(string(data), text) {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("%s never holds %q", name, text)
		}
	}
}
