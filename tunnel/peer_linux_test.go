package tunnel

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func TestAnotherUserIsNotLetIn(t *testing.T) { // TUN-1
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	d := &door{path: filepath.Join(dir, "s", "x"), serve: func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "welcome")
			_ = conn.Close()
		}
	}}
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for _, path := range []string{dir, filepath.Dir(d.path), d.path} { // as if the folders kept nobody out
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	knock := func(uid uintptr) (said string) {
		done := make(chan struct{})
		go func() { // the thread that is another user ends with it
			defer close(done)
			runtime.LockOSThread()
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uid, ^uintptr(0)); errno != 0 {
				t.Error(errno)
				return
			}
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer syscall.Close(fd)
			if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: d.path}); err != nil {
				t.Error(err)
				return
			}
			data := make([]byte, 100)
			n, _ := syscall.Read(fd, data)
			said = string(data[:max(n, 0)])
		}()
		<-done
		return said
	}
	if got := knock(0); got != "welcome" {
		t.Errorf("this user: got %q", got)
	}
	if got := knock(65534); got != "" {
		t.Errorf("another user: got %q", got)
	}
}
