package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termpilot/testneeds"
)

// scene is a session in which something is, and what a close makes of it.
type scene struct {
	name    string
	open    map[string]any
	typed   string // at the prompt
	keys    []string
	state   string
	process string   // that it must show, with its state: "sleep foreground"
	file    string   // that says, once it is there, that the process is as it will be
	left    []string // the survivors, whoever closes it
	exit    string   // of a forced close; "" is not asked about
	after   func(g *ground)
}

const (
	worker = "setopt monitor\nzmodload zsh/system zsh/zselect\n" + // as powerlevel10k starts its own
		"sysopen -r -o cloexec -u wfd <(exec 0</dev/null 2>/dev/null; { while syswrite x; do zselect -t 100; done } & exec =true)\n" +
		"\"$HOME/bin/gitstatusd-linux-x86_64\" 1000 </dev/null >/dev/null 2>&1 &!\n"
	stubbornJob = `python3 -c "import signal,time
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)
open('armed','w').write('yes')
time.sleep(1000)" &`
)

var scenes = []scene{
	{name: "an idle bash", state: "idle", exit: "not_needed"},
	{name: "an idle zsh with helpers", open: map[string]any{"profile": "zsh"}, state: "idle", exit: "not_needed"},
	{name: "an idle fish", open: map[string]any{"profile": "fish"}, state: "idle", exit: "not_needed"},
	{name: "typed text", typed: "echo unfinished", state: "waiting", exit: "not_needed"},
	{name: "sleep", typed: "sleep 1000", keys: []string{"enter"}, state: "busy", process: "sleep foreground", exit: "exited"},
	{name: "a stopped job", typed: "sleep 1000", keys: []string{"enter", "ctrl_z"}, state: "busy", process: "sleep stopped", exit: "exited"},
	{name: "a background job", typed: "sleep 1000 &", keys: []string{"enter"}, state: "busy", process: "sleep background", exit: "exited"},
	{name: "a job that ignores it", typed: stubbornJob, keys: []string{"enter"}, state: "busy", process: "python3 background", exit: "unknown", file: "armed", left: []string{"python3"}},
	{name: "nohup", typed: "nohup sleep 1000 >/dev/null 2>&1 &", keys: []string{"enter"}, state: "busy", process: "sleep background", exit: "exited"},
	{name: "setsid", typed: "setsid sleep 1000 &", keys: []string{"enter"}, state: "idle", exit: "not_needed", left: []string{"sleep"}},
	{name: "vim with unsaved text", typed: "vim unsaved.txt", keys: []string{"enter"}, state: "busy", process: "vim foreground", after: func(g *ground) {
		if swap, err := os.ReadFile(filepath.Join(g.h.dir, ".unsaved.txt.swp")); err != nil || !strings.Contains(string(swap), "precious words") {
			g.t.Errorf("vim's swap file: %v, %d bytes", err, len(swap))
		}
	}},
	{name: "a REPL", typed: "python3 -q", keys: []string{"enter"}, state: "waiting", process: "python3 foreground", exit: "exited"},
	{name: "a nested shell", typed: "bash --norc", keys: []string{"enter"}, state: "waiting", process: "bash foreground"},
	{name: "a replaced shell", typed: "exec sleep 1000", keys: []string{"enter"}, state: "busy", process: "sleep foreground", exit: "exited"},
	{name: "a program of its own", open: map[string]any{"command": "sleep 1000", "keep_open": false}, state: "busy", process: "sleep foreground", exit: "exited"},
}

func TestASessionIsClosedOnlyWhenNothingIsLost(t *testing.T) {
	everyGround(t, func(g *ground) {
		for _, program := range []string{"zsh", "fish", "vim"} {
			testneeds.Program(g.t, program)
		}
		sleep, err := os.ReadFile(testneeds.Program(g.t, "sleep"))
		if err != nil {
			g.t.Fatal(err)
		}
		g.put("bin/gitstatusd-linux-x86_64", string(sleep), 0o700)
		rc, _ := os.ReadFile(filepath.Join(g.h.dir, ".zshrc"))
		g.put(".zshrc", string(rc)+worker, 0o600)
		other, _ := g.open(nil) // a session that no close is about
		other.text("sleep 1001")
		other.keys("enter")
		for _, s := range scenes {
			g.play(s)
		}
		if item := g.inspect(other.ID); item.State != "busy" || item.Processes[0].Name != "sleep" {
			g.t.Errorf("the session beside them is %+v", item)
		}
	})
}

// play sets a scene, looks at it, and closes it in every way.
func (g *ground) play(s scene) {
	t := g.t
	t.Helper()
	session, o := g.open(s.open)
	if s.typed != "" {
		session.text(s.typed)
	}
	for i, key := range s.keys {
		if i > 0 { // the program must have come before the next key
			g.until(o.ID, "in front", func(item closeItem) bool {
				return len(item.Processes) > 0 && strings.HasPrefix(s.process, item.Processes[0].Name+" ")
			})
		}
		session.keys(key)
	}
	item := g.until(o.ID, s.name, func(item closeItem) bool {
		shows := s.process == ""
		for _, p := range item.Processes {
			shows = shows || p.Name+" "+p.State == s.process
		}
		return item.State == s.state && shows && len(item.Detached) >= detachedOf(s)
	})
	if s.file != "" {
		g.untilFile(s.file, "yes")
	}
	if s.process == "vim foreground" {
		session.text("i")
		session.text("precious words")
		session.until("text", "precious words", soon)
		g.untilFile(".unsaved.txt.swp", "precious words")
	}
	endAll(t, slices.Concat(item.Processes, item.Detached))
	if item.Closure != "pending" || item.Reason == "" || len(item.Evidence) == 0 || (item.Code == "") != (s.state == "idle") {
		t.Errorf("%s: inspected: %+v", s.name, item)
	}
	id := map[string]any{"session_id": o.ID}
	dry := g.close("close_session", map[string]any{"session_id": o.ID, "dry_run": true})
	idle := s.state == "idle"
	if idle != (dry.Status == "dry_run") || !dry.DryRun || dry.Recovery != "" || !idle && (dry.Status != "refused" || dry.Code != "activity_"+s.state) {
		t.Errorf("%s: dry run: %+v", s.name, dry)
	}
	if !idle {
		if r := g.close("close_session", id); r.Status != "refused" || r.Code != "activity_"+s.state || len(r.Skipped) != 1 || r.Recovery != "" || !g.lists(o.ID) {
			t.Errorf("%s: closed without force: %+v", s.name, r)
		}
		id["force"] = true
	}
	r := g.close("close_session", id)
	if r.Status != "closed" || len(r.Closed) != 1 || g.lists(o.ID) || r.Force == idle || r.Target.Kind != "session" || !slices.Equal(r.Target.IDs, []string{o.ID}) {
		t.Errorf("%s: close: %+v", s.name, r)
		return
	}
	done := r.Closed[0]
	endAll(t, done.Survivors)
	if s.exit != "" && done.Exit != s.exit || done.Closure != "closed" || done.Backend != g.backend {
		t.Errorf("%s: closed: %+v, want exit %s", s.name, done, s.exit)
	}
	var left []string
	for _, p := range done.Survivors {
		left = append(left, p.Name)
		if slices.Contains(s.left, p.Name) && !lives(p.PID) {
			t.Errorf("%s: %+v is said to live on", s.name, p)
		}
	}
	if s.open["profile"] == nil && !slices.Equal(left, s.left) {
		t.Errorf("%s: survivors %v, want %v", s.name, left, s.left)
	}
	for _, p := range item.Processes {
		if lives(p.PID) && !slices.Contains(left, p.Name) {
			t.Errorf("%s: %+v lives on, and nobody said so", s.name, p)
		}
	}
	if s.after != nil {
		s.after(g)
	}
}

func detachedOf(s scene) int {
	if s.name == "setsid" {
		return 1
	}
	return 0
}
