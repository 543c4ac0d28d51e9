package tmux

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"termpilot/terminal"
)

func TestASessionThatIsToGoGoes(t *testing.T) { // TMUX-12
	s := newServer(t)
	s.run("new-session", "-d", "-s", "kept")
	s.run("new-session", "-d", "-s", "passing")
	leave := s.person(t, "passing", 80, 24)
	s.run("set-option", "-t", "passing", "destroy-unattached", "on")
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	if len(list) != 2 {
		t.Fatalf("%d sessions", len(list))
	}
	leave()
	until(t, "the session that nobody is attached to is gone", func() bool {
		return s.run("list-sessions", "-F", "#{session_name}") == "kept"
	})
	if got := only(t, b); got.ID != list[0].ID {
		t.Errorf("left is %+v", got)
	}
}

func TestASleepingListenerHoldsNobodyUp(t *testing.T) { // TMUX-13
	s := newServer(t)
	s.run("new-session", "-d", "-x", "80", "-y", "24")
	b := s.backend()
	p := only(t, b)
	l, err := b.present()
	must(t, err)
	if l.version.n < 302 {
		t.Skip("this tmux cannot pause")
	}
	l.mu.Lock()
	listener := l.listeners["$0"].conn.cmd.Process
	l.mu.Unlock()
	must(t, listener.Signal(syscall.SIGSTOP))
	file := filepath.Join(s.home, "done")
	must(t, b.Send(ctx(t), p.ID, []byte("for i in $(seq 1 60); do seq 1 5000; sleep 0.05; done; echo LAST; touch "+file+"\r")))
	until(t, "the program is done although nobody listens", func() bool { _, err := os.Stat(file); return err == nil })
	must(t, listener.Signal(syscall.SIGCONT))
	until(t, "its tail is read", func() bool {
		got, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Tail, Count: 10})
		must(t, err)
		return strings.Contains(text(got.Rows), "\n4999\n5000\nLAST\n")
	})
}
