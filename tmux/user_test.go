package tmux

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/doctor"
	"termpilot/fault"
	"termpilot/terminal"
)

// patience is the longest wait for anything.
const patience = 20 * time.Second

// only returns the only session of a server.
func only(t *testing.T, b *Backend) terminal.Session {
	t.Helper()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d sessions", len(list))
	}
	return list[0]
}

// until looks again and again until what is waited for is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond) // what tmux shows has no event here
	}
}

func (s *server) shows(t *testing.T, target, text string) {
	t.Helper()
	until(t, target+" shows "+text, func() bool { return strings.Contains(s.try("capture-pane", "-p", "-t", target), text) })
}

func TestNothingButOpenStartsAServer(t *testing.T) { // TMUX-1
	s := newServer(t)
	b := s.backend()
	_, err := b.Sessions(ctx(t))
	if !errors.Is(err, fault.BackendUnavailable) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("listing without a server: %v", err)
	}
	if err := b.Send(ctx(t), "%0@0", []byte("x")); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("typing without a server: %v", err)
	}
	if _, err := os.Stat(s.socket); err == nil {
		t.Fatal("a server was started")
	}
	opened, err := b.Open(ctx(t), terminal.OpenSpec{})
	must(t, err)
	if got := only(t, b); got.ID != opened.ID {
		t.Errorf("got %+v, want %s alone", got, opened.ID)
	}
	must(t, b.Close(ctx(t), opened.ID, terminal.Hangup))
	until(t, "the server ends with its last session", func() bool {
		_, err := b.Sessions(ctx(t))
		return errors.Is(err, fault.BackendUnavailable)
	})
}

// everything that a person could see changed.
func (s *server) everything() string {
	var b strings.Builder
	for _, args := range [][]string{
		{"show-options", "-g"},
		{"show-options", "-s"},
		{"show-window-options", "-g"},
		{"show-environment", "-g"},
		{"show-hooks", "-g"},
		{"list-buffers"},
		{"list-keys"},
		{"list-sessions", "-F", "#{session_id} #{session_name} #{session_group}"},
		{"list-windows", "-a", "-F", "#{session_id} #{window_id} #{window_name} #{window_width}x#{window_height} #{window_active} #{window_layout} #{automatic-rename}"},
		{"list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{pane_title} #{pane_width}x#{pane_height} #{pane_active} #{pane_in_mode} #{remain-on-exit}"},
	} {
		b.WriteString(strings.Join(args, " ") + "\n" + s.run(args...) + "\n")
	}
	for id := range strings.FieldsSeq(s.run("list-sessions", "-F", "#{session_id}")) {
		for _, command := range []string{"show-options", "show-environment", "show-hooks"} {
			b.WriteString(s.run(command, "-t", id) + "\n")
		}
	}
	if strings.Contains(s.try("list-commands", "show-hooks"), "-p") {
		b.WriteString(s.run("show-hooks", "-g", "-w"))
	}
	for id := range strings.FieldsSeq(s.run("list-panes", "-a", "-F", "#{pane_id}")) {
		b.WriteString(s.run("show-options", "-p", "-t", id) + s.run("show-options", "-w", "-t", id) + "\n")
	}
	return b.String()
}

func TestTheUsersServerIsLeftAsItWas(t *testing.T) { // TMUX-2
	s := newServer(t)
	s.run("new-session", "-d", "-s", "one", "-x", "91", "-y", "31")
	s.run("split-window", "-d", "-h", "-t", "one")
	s.run("new-window", "-d", "-t", "one")
	s.run("new-session", "-d", "-s", "two", "-x", "72", "-y", "22")
	s.run("set-hook", "-g", "session-created", "display-message hello")
	s.run("set-buffer", "of the user")
	s.run("set-window-option", "-g", "automatic-rename", "off")
	before := s.everything()
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	if len(list) != 4 {
		t.Fatalf("%d sessions", len(list))
	}
	for _, p := range list {
		_, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Tail, Count: 100})
		must(t, err)
		must(t, b.Send(ctx(t), p.ID, []byte("echo typed\r")))
		until(t, "it is typed", func() bool {
			got, err := b.Screen(ctx(t), p.ID, terminal.Range{})
			must(t, err)
			return len(got.Rows) > 1 && strings.Contains(text(got.Rows), "\ntyped\n")
		})
	}
	if during := s.everything(); during != before {
		t.Errorf("while connected the server is\n%s\nand was\n%s", during, before)
	}
	must(t, b.Disconnect())
	until(t, "we have left", func() bool { return s.run("list-clients") == "" })
	if after := s.everything(); after != before {
		t.Errorf("the server is\n%s\nand was\n%s", after, before)
	}
}

func text(rows []terminal.Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.Text)
		if !r.Soft {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestTheFirstServerOfAUserIsStarted(t *testing.T) { // TMUX-1
	s := newServer(t)
	dir := filepath.Join(s.home, "fresh")
	must(t, os.Mkdir(dir, 0o700))
	b := s.backend(func(o *Options) { o.Socket, o.Env = "", append(s.env, "TMUX_TMPDIR="+dir) })
	s.socket = filepath.Join(dir, serverFolder(), "default") // which newServer's clean-up ends
	_, err := b.Open(ctx(t), terminal.OpenSpec{})
	must(t, err)
	if info, err := os.Stat(filepath.Dir(s.socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v %v", info, err)
	}
}

func TestASessionHasOneIdForAll(t *testing.T) { // TMUX-3
	s := newServer(t)
	s.run("new-session", "-d")
	opener, other := s.backend(), s.backend()
	stop := make(chan struct{})
	seen := make(chan map[terminal.ID]bool)
	go func() {
		ids := map[terminal.ID]bool{}
		for {
			list, err := other.Sessions(context.Background())
			for _, one := range list {
				ids[one.ID] = err == nil
			}
			select {
			case <-stop:
				seen <- ids
				return
			default:
			}
		}
	}()
	want := map[terminal.ID]bool{only(t, opener).ID: true}
	for range 3 {
		session, err := opener.Open(ctx(t), terminal.OpenSpec{})
		must(t, err)
		want[session.ID] = true
		until(t, "the other sees it", func() bool {
			list, err := other.Sessions(ctx(t))
			return err == nil && len(list) == len(want)
		})
	}
	close(stop)
	if got := <-seen; !maps.Equal(got, want) {
		t.Errorf("the other saw %v, opened were %v", got, want)
	}
}

func TestAnIdIsOfOneServerProcess(t *testing.T) { // TMUX-3
	s := newServer(t)
	s.run("new-session", "-d")
	b := s.backend()
	first := only(t, b)
	s.run("respawn-pane", "-k", "-t", "%0")
	if err := b.Send(ctx(t), first.ID, []byte("x")); !errors.Is(err, fault.SessionEnded) {
		t.Errorf("typing into a pane that was respawned: %v", err)
	}
	until(t, "it is missed", func() bool { return only(t, b).ID != first.ID })
	second := only(t, b)
	if first.ID == second.ID {
		t.Error("another program in the pane has the same id")
	}
	s.stop()
	until(t, "the server is missed", func() bool { _, err := b.Sessions(ctx(t)); return err != nil })
	s.run("new-session", "-d")
	third := only(t, b)
	if third.ID == first.ID || third.ID == second.ID {
		t.Error("a pane of another server has the same id")
	}
	if err := b.Send(ctx(t), first.ID, []byte("x")); !errors.Is(err, fault.SessionEnded) {
		t.Errorf("typing into the pane of before: %v", err)
	}
}

// fake writes a program that stands for tmux.
func (s *server) fake(script string) string {
	path := filepath.Join(s.home, "faketmux")
	must(s.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	return path
}

func TestTheCauseIsNamedInTime(t *testing.T) { // TMUX-4
	for _, c := range []struct {
		name string
		make func(s *server) func(*Options)
		want string
	}{
		{"no tmux", func(s *server) func(*Options) {
			return func(o *Options) { o.Program = "/nosuch/tmux" }
		}, "tmux is not installed"},
		{"no server", func(s *server) func(*Options) { s.stop(); return func(*Options) {} }, "no tmux server runs"},
		{"hangs", func(s *server) func(*Options) {
			path := s.fake("exec sleep 30")
			return func(o *Options) { o.Program = path }
		}, "tmux hangs"},
		{"too old", func(s *server) func(*Options) {
			path := s.fake("echo tmux 2.9a")
			return func(o *Options) { o.Program = path }
		}, "too old"},
		{"another version", func(s *server) func(*Options) {
			path := s.fake(`[ "$1" = -V ] && echo tmux 3.3a && exit; echo "protocol version mismatch (client 8, server 7)" >&2; exit 1`)
			return func(o *Options) { o.Program = path }
		}, "another version"},
		{"no socket", func(s *server) func(*Options) {
			path := filepath.Join(s.home, "file")
			must(t, os.WriteFile(path, nil, 0o600))
			return func(o *Options) { o.Socket = path }
		}, "is not a socket"},
		{"stopped", func(s *server) func(*Options) {
			s.signal(syscall.SIGSTOP)
			return func(*Options) {}
		}, "does not answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			s.run("new-session", "-d")
			b := s.backend(c.make(s))
			began := time.Now()
			_, err := b.Sessions(ctx(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			if c.name == "stopped" {
				signalStopped(t, s)
			}
		})
	}
}

// signalStopped lets a stopped server go on.
func signalStopped(t *testing.T, s *server) {
	t.Helper()
	// The process behind the socket is found by what it was started with.
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, path := range all {
		line, err := os.ReadFile(path)
		if err == nil && bytes.Contains(line, []byte(s.socket)) {
			var pid int
			for _, c := range filepath.Base(filepath.Dir(path)) {
				pid = pid*10 + int(c-'0')
			}
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

func TestAServerThatHangsIsSurvived(t *testing.T) { // TMUX-4, TMUX-5
	s := newServer(t)
	s.run("new-session", "-d")
	b := s.backend()
	p := only(t, b)
	s.signal(syscall.SIGSTOP)
	began := time.Now()
	err := b.Send(ctx(t), p.ID, []byte("x"))
	if !errors.Is(err, fault.Deadline) || time.Since(began) > 3*time.Second {
		t.Errorf("got %v after %v", err, time.Since(began))
	}
	signalStopped(t, s)
	until(t, "it answers again", func() bool { _, err := b.Sessions(ctx(t)); return err == nil })

	events, err := b.Watch(ctx(t), p.ID)
	must(t, err)
	s.signal(syscall.SIGKILL)
	var last terminal.Event
	for e, err := range events {
		must(t, err)
		last = e
	}
	if last.Kind != terminal.Gone || last.Exit.Code != nil {
		t.Errorf("the last event is %+v", last)
	}
}

func TestNoCallStartsAProcess(t *testing.T) { // TMUX-6
	s := newServer(t)
	s.run("new-session", "-d")
	log := filepath.Join(s.home, "runs")
	path := s.fake("echo \"$@\" >>" + log + "\nexec " + program() + " \"$@\"")
	b := s.backend(func(o *Options) { o.Program = path })
	p := only(t, b)
	before, err := os.ReadFile(log)
	must(t, err)
	for range 20 {
		must(t, b.Send(ctx(t), p.ID, []byte("true\r")))
		_, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Tail, Count: 50})
		must(t, err)
		_, err = b.Prompts(ctx(t))
		must(t, err)
		only(t, b)
	}
	must(t, b.Rename(ctx(t), p.ID, "x"))
	if after, _ := os.ReadFile(log); !bytes.Equal(before, after) {
		t.Errorf("tmux was run for %q", after[len(before):])
	}
	if n := bytes.Count(before, []byte("\n")); n != 4 { // -V, the list, and two connections
		t.Errorf("tmux was run %d times: %s", n, before)
	}
}

func TestAConnectionThatIsDetachedComesBack(t *testing.T) { // TMUX-5
	s := newServer(t)
	s.run("new-session", "-d", "-s", "a")
	b := s.backend()
	p := only(t, b)
	s.run("detach-client", "-s", "a")
	must(t, b.Send(ctx(t), p.ID, []byte("echo still\r")))
	until(t, "it is heard again", func() bool {
		got, err := b.Screen(ctx(t), p.ID, terminal.Range{})
		return err == nil && strings.Contains(text(got.Rows), "\nstill\n")
	})
}

// old reports whether the server stops panes in copy mode.
func old(t *testing.T, b *Backend) bool {
	t.Helper()
	l, err := b.present()
	must(t, err)
	return l.version.freezes()
}

func TestKeysReachTheProgramOfOnePane(t *testing.T) { // TMUX-10
	s := newServer(t)
	s.run("new-session", "-d", "-x", "80", "-y", "24")
	s.run("split-window", "-d")
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	file := filepath.Join(s.home, "lines")

	s.run("copy-mode", "-t", "%0")
	err = b.Send(ctx(t), list[0].ID, []byte("echo \"one; $USER\" >>"+file+"\r"))
	if old(t, b) {
		if !errors.Is(err, fault.Refused) {
			t.Errorf("got %v", err)
		}
		s.run("send-keys", "-t", "%0", "-X", "cancel")
		err = b.Send(ctx(t), list[0].ID, []byte("echo \"one; $USER\" >>"+file+"\r"))
		s.run("copy-mode", "-t", "%0")
	}
	must(t, err)
	lines := func(want string) func() bool {
		return func() bool { got, _ := os.ReadFile(file); return string(got) == want }
	}
	until(t, "the line typed behind copy mode", lines("one; tester\n"))
	if got := s.run("display-message", "-p", "-t", "%0", "#{pane_in_mode}"); got != "1" {
		t.Error("copy mode was left")
	}
	s.run("send-keys", "-t", "%0", "-X", "cancel")

	s.run("set-window-option", "synchronize-panes", "on")
	must(t, b.Send(ctx(t), list[0].ID, []byte("echo two >>"+file+"\r")))
	until(t, "the line typed into one of two panes", lines("one; tester\ntwo\n"))
	s.run("set-window-option", "synchronize-panes", "off")
	must(t, b.Send(ctx(t), list[1].ID, []byte("echo three >>"+file+"\r")))
	until(t, "the line of the other", lines("one; tester\ntwo\nthree\n"))
	if got := s.run("list-buffers"); got != "" {
		t.Errorf("the buffers are %q", got)
	}

	s.run("select-pane", "-d", "-t", "%0")
	if err := b.Send(ctx(t), list[0].ID, []byte("x")); !errors.Is(err, fault.Refused) {
		t.Errorf("a pane without input: %v", err)
	}
}

func TestTextIsTypedAsItIs(t *testing.T) { // TMUX-11
	s := newServer(t)
	s.run("new-session", "-d", "-x", "100", "-y", "40", "cat -v")
	b := s.backend()
	p := only(t, b)
	for _, mode := range []bool{false, true} {
		if mode && old(t, b) {
			return
		}
		if mode {
			s.run("copy-mode", "-t", "%0")
		}
		for _, line := range []string{
			"Enter", "C-c", "Space", "-n foo", "-l", "--", ";", "a;", "a\\;", "{ x }", "'it''s' \"q\" $HOME ${X} ~", "#{pane_id} #(date) #S", "%end 1 2 3", "日本語 é", "\\033 \\", "`x`",
		} {
			must(t, b.Send(ctx(t), p.ID, []byte("<"+line+">\r")))
			want := strings.NewReplacer("日本語 é", "M-fM-^WM-%M-fM-^\\M-,M-hM-*M-^^ M-CM-)").Replace("<" + line + ">")
			until(t, "cat tells "+line, func() bool {
				got, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Tail, Count: 200})
				return err == nil && strings.Contains(text(got.Rows), "\n"+want+"\n")
			})
		}
		must(t, b.Send(ctx(t), p.ID, []byte("\f\r")))
		s.run("clear-history", "-t", "%0")
	}
}

func TestWhatWasThereIsRead(t *testing.T) { // TMUX-20
	s := newServer(t)
	s.run("new-session", "-d", "-x", "80", "-y", "24", "sh -c '"+
		`printf "%0100d|\n" 7; printf "%079d日x\n" 1; printf "  a   b\n"; seq 1 100; printf "\033[?1049hfull\n"; exec cat'`)
	s.shows(t, "%0", "full")
	b := s.backend()
	p := only(t, b)
	got, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Rows, Count: 200})
	must(t, err)
	all := text(got.Rows)
	for _, want := range []string{strings.Repeat("0", 99) + "7|\n", strings.Repeat("0", 78) + "1日x\n", "\n  a   b\n1\n2\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
	if !got.Alternate || !strings.Contains(all, "full") {
		t.Errorf("alternate is %v in %q", got.Alternate, all)
	}
	must(t, b.Send(ctx(t), p.ID, []byte("\x1b[?1049l\r")))
}

func TestTheDoctorSaysWhatIsSo(t *testing.T) { // TMUX-7
	s := newServer(t)
	b := s.backend()
	states := func() string {
		var got []string
		for _, r := range doctor.Run(ctx(t), b.Checks()).Results {
			got = append(got, r.ID+" "+string(r.State))
		}
		return strings.Join(got, ", ")
	}
	if got, want := states(), "tmux.program pass, tmux.server skipped"; got != want {
		t.Errorf("without a server: got %s, want %s", got, want)
	}
	s.run("new-session", "-d")
	if got, want := states(), "tmux.program pass, tmux.server pass"; got != want {
		t.Errorf("with a server: got %s, want %s", got, want)
	}
}

func TestAPersonIsShownTheSession(t *testing.T) { // TMUX-8
	s := newServer(t)
	s.run("new-session", "-d", "-s", "a b", "-x", "80", "-y", "24")
	s.run("new-window", "-d")
	s.run("split-window", "-d", "-t", ":1")
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	argv, err := b.AttachCommand(ctx(t), list[2].ID)
	must(t, err)
	s.attach(t, argv, 80, 24)
	until(t, "the pane has the focus", func() bool {
		list, err := b.Sessions(ctx(t))
		return err == nil && list[2].Current && !list[0].Current
	})
}
