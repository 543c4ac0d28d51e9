package host

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// attended is a connection as a client's is served, and its other end.
func attended(t *testing.T) (ours *wire, theirs *net.UnixConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	door, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	theirs, err = net.DialUnix("unix", nil, door.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := door.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), theirs.Close() })
	w, err := newWire(conn)
	if err != nil {
		t.Fatal(err)
	}
	return w, theirs
}

func TestWhatDoesNotFitIsWrittenWhenThereIsRoom(t *testing.T) { // HOST-81
	ours, theirs := attended(t)
	sent := bytes.Repeat([]byte("0123456789"), 1<<20)
	written := make(chan error)
	go func() {
		n, err := ours.Conn.Write(sent)
		if n != len(sent) {
			t.Errorf("wrote %d bytes", n)
		}
		_ = ours.Close()
		written <- err
	}()
	got, err := io.ReadAll(theirs)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestAWriteThatFindsNoRoomEndsWithItsTime(t *testing.T) { // HOST-81
	ours, theirs := attended(t)
	go func() {
		_, _ = theirs.Read(make([]byte, 1)) // it is under way
		_ = ours.Conn.SetWriteDeadline(time.Unix(1, 0))
	}()
	if n, err := ours.Conn.Write(make([]byte, 10<<20)); !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
}

func TestAReadWaitsAndEndsAsAnyOther(t *testing.T) { // HOST-81
	ours, theirs := attended(t)
	p := make([]byte, 8)
	if n, err := ours.Read(nil); n != 0 || err != nil {
		t.Errorf("read %d bytes into nothing, %v", n, err)
	}
	go func() { _, _ = theirs.Write([]byte("late")) }()
	if n, err := ours.Read(p); string(p[:n]) != "late" || err != nil {
		t.Errorf("got %q, %v", p[:n], err)
	}
	_ = theirs.Close()
	if n, err := ours.Read(p); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, err := ours.Write(p); err == nil {
		t.Error("wrote to nobody")
	}
	_ = ours.Close()
	if _, err := ours.Read(p); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read from a closed connection: %v", err)
	}
}
