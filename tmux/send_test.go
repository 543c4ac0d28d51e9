package tmux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
)

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
			line = fmt.Sprintf("<%v %s>", mode, line) // the first time's stand there still
			must(t, b.Send(ctx(t), p.ID, []byte(line+"\r")))
			want := strings.NewReplacer("日本語 é", "M-fM-^WM-%M-fM-^\\M-,M-hM-*M-^^ M-CM-)").Replace(line)
			until(t, "cat tells "+line, func() bool {
				got, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Tail, Count: 200})
				return err == nil && strings.Contains(text(got.Rows), "\n"+want+"\n")
			})
		}
		must(t, b.Send(ctx(t), p.ID, []byte("\f\r")))
		s.run("clear-history", "-t", "%0")
	}
}

// old reports whether the server stops panes in copy mode.
func old(t *testing.T, b *Backend) bool {
	t.Helper()
	l, err := b.present()
	must(t, err)
	return l.version.freezes()
}
