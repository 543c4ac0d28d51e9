package tmux

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/process"
)

// tmux (3.2 to 3.6) ends, and all of a person's sessions with it, when it learns in one
// look that a client wants to leave, that a pane has printed more, and that the client
// takes again what the pane printed before. It begins its
// look anywhere, so three times.
func TestLeavingWhileAPanePrintsEndsNoServer(t *testing.T) { // TMUX-16
	for range 3 {
		s := newServer(t)
		more := filepath.Join(s.home, "more")
		must(t, unix.Mkfifo(more, 0o600))
		s.write("prints", "read x <"+more+"\nseq 1 20000; echo >"+s.home+"/much\nread x <"+more+"\nseq 1 100; echo >"+s.home+"/all\nread x <"+more+"\n")
		s.run("new-session", "-d", "-x", "80", "-y", "24", "exec cat")
		server, err := strconv.Atoi(s.run("display-message", "-p", "#{pid}"))
		must(t, err)
		b := s.backend()
		only(t, b)
		l, err := b.present()
		must(t, err)
		l.mu.Lock()
		h := l.listeners["$0"]
		l.mu.Unlock()
		printed := func(file string) {
			must(t, os.WriteFile(more, []byte("\n"), 0))
			until(t, "it has printed", func() bool { _, err := os.Stat(filepath.Join(s.home, file)); return err == nil })
		}
		s.run("new-window", "sh "+s.home+"/prints") // tmux looks at what came last last
		h.mu.Lock()                                 // nothing is read of what it prints
		printed("much")
		for range 3 {
			s.run("list-sessions") // and tmux has read it all
		}
		must(t, syscall.Kill(server, syscall.SIGSTOP))
		until(t, "the server stands still", func() bool {
			p, err := process.Lookup(server)
			return err == nil && p.State == process.Stopped
		})
		left := make(chan error, 1)
		go func() { left <- b.Disconnect() }()
		until(t, "the listener is given up", h.conn.isLost)
		printed("all")
		h.mu.Unlock()
		time.Sleep(50 * time.Millisecond) // the rest is read by then, or the server has an easier time
		must(t, <-left)                   // a server that hangs is not waited for
		must(t, syscall.Kill(server, syscall.SIGCONT))
		if got := strings.TrimSpace(s.try("display-message", "-p", "#{pid}")); got != strconv.Itoa(server) {
			t.Errorf("the server was process %d, and now: %s", server, got)
		}
	}
}

func TestAScriptThatRunsTmuxLeavesNoClient(t *testing.T) { // TMUX-15
	s := newServer(t)
	s.run("new-session", "-d")
	path := s.fake(program() + ` "$@"; exit $?`)
	b := s.backend(func(o *Options) { o.Program = path })
	only(t, b)
	must(t, b.Disconnect())
	until(t, "no client is there", func() bool { return s.run("list-clients") == "" })
}
