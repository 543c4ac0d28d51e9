package tmux

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
)

func TestNothingButOpenStartsAServer(t *testing.T) { // TMUX-1
	s := newServer(t)
	b := s.backend()
	_, err := b.Sessions(ctx(t))
	if !errors.Is(err, fault.BackendUnavailable) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("listing without a server: %v", err)
	}
	if names, err := b.Profiles(ctx(t)); !errors.Is(err, fault.BackendUnavailable) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("profiles without a server: %q, %v", names, err)
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
