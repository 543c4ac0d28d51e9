package tunnel

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
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
