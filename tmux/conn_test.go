package tmux

import (
	"bytes"
	"errors"
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

// fake writes a program that stands for tmux.
func (s *server) fake(script string) string {
	path := filepath.Join(s.home, "faketmux")
	must(s.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	return path
}

// inTime is what three seconds may become on a machine that is busy; less than
// the time that the caller has.
const inTime = patience / 2

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
			if took := time.Since(began); took > inTime {
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
	if !errors.Is(err, fault.Deadline) || time.Since(began) > inTime {
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
	only(t, b) // which may be asked twice: a text may not
	must(t, b.Send(ctx(t), p.ID, []byte("echo still\r")))
	until(t, "it is heard again", func() bool {
		got, err := b.Screen(ctx(t), p.ID, terminal.Range{})
		return err == nil && strings.Contains(text(got.Rows), "\nstill\n")
	})
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
