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
