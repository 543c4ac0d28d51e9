package tunnel

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
)

func TestASupervisorThatEndsWhileItIsAskedIsNone(t *testing.T) { // TUN-34
	for name, end := range map[string]func(net.Conn){
		"with the question unread": func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 1)) },
		"without an answer":        func(c net.Conn) { _, _ = bufio.NewReader(c).ReadString('\n') },
		"within its answer": func(c net.Conn) {
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = io.WriteString(c, `{"status":{"alias":`)
		},
	} {
		dir, err := os.MkdirTemp("", "tp") // short: a socket lives in it
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		l, err := net.Listen("unix", filepath.Join(dir, "c"))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if c, err := l.Accept(); err == nil {
				end(c)
				_ = c.Close()
			}
		}()
		if _, err := put(t.Context(), filepath.Join(dir, "c"), question{Op: opStatus}); !errors.Is(err, errNobody) {
			t.Errorf("%s: got %v", name, err)
		}
		_ = l.Close()
		<-ended
	}
}

func TestWhatASupervisorSaysHasAnEnd(t *testing.T) { // TUN-15
	b := newBench(t)
	f, err := b.place.make("a")
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{files: f, log: &logFile{path: f.log}}
	defer s.log.close()
	s.trim() // there is none yet
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	next := filepath.Join(f.folder, "next")
	go func() {
		ended <- launch(ctx, f, []string{"/bin/sh", "-c", "head -c 1048577 /dev/zero >&2; until [ -e " + next + " ]; do sleep 0.01; done; echo later >&2; exec sleep 300"}, os.Environ(), Secret{testKey})
	}()
	said := func(what string, is func(data []byte) bool) {
		for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) { // between looks
			data, err := os.ReadFile(f.launched)
			if err == nil && is(data) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %d bytes, %v", what, len(data), err)
			}
		}
	}
	said("much", func(data []byte) bool { return len(data) == maxLog+1 })
	s.trim()
	said("nothing", func(data []byte) bool { return len(data) == 0 })
	if err := os.WriteFile(next, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said("the rest", func(data []byte) bool { return string(data) == "later\n" })
	s.trim()
	said("the rest, still", func(data []byte) bool { return string(data) == "later\n" })
	cancel()
	if err := <-ended; !errors.Is(err, fault.Deadline) {
		t.Error(err)
	}
}

func TestASupervisorThatDoesNotComeUpIsEnded(t *testing.T) { // TUN-20
	b := newBench(t)
	f, err := b.place.make("a")
	if err != nil {
		t.Fatal(err)
	}
	pid := filepath.Join(f.folder, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if data, err := os.ReadFile(pid); err == nil && strings.HasSuffix(string(data), "\n") {
				break
			}
			time.Sleep(5 * time.Millisecond) // between looks
		}
		cancel() // as somebody who interrupts
	}()
	err = launch(ctx, f, []string{"/bin/sh", "-c", "echo $$ >" + pid + "; exec sleep 300"}, os.Environ(), Secret{testKey})
	if !errors.Is(err, fault.Deadline) {
		t.Errorf("got %v, want deadline_exceeded", err)
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(data))); err != nil || syscall.Kill(n, 0) == nil {
		t.Errorf("process %d was left behind: %v", n, err)
	}
}
