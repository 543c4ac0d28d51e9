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

// watchedPair is a connection as a client of the host has it, and its other end.
func watchedPair(t *testing.T) (net.Conn, *net.UnixConn) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.DialUnix("unix", nil, listener.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := watchConn(dialed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}

func TestAWatchedConnectionCarriesBothWaysWhatDoesNotFitAtOnce(t *testing.T) { // HOST-193
	ours, theirs := watchedPair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // far more than a socket holds
	wrote := make(chan error, 1)
	go func() {
		n, err := ours.Write(sent)
		if n != len(sent) {
			err = errors.Join(err, io.ErrShortWrite)
		}
		wrote <- err
	}()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(theirs, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("the host got it wrong: %v", err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	go func() {
		_, err := theirs.Write(sent)
		wrote <- errors.Join(err, theirs.Close())
	}()
	if got, err := io.ReadAll(ours); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("the client got %d bytes of %d, %v", len(got), len(sent), err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

func TestADeadlineEndsWhatAWatchedConnectionWaitsFor(t *testing.T) { // HOST-193
	ours, _ := watchedPair(t)
	ended := make(chan error)
	go func() {
		_, err := ours.Read(make([]byte, 1))
		ended <- err
	}()
	go func() {
		_, err := ours.Write(make([]byte, 8<<20))
		ended <- err
	}()
	if err := ours.SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	}
	if err := ours.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := ours.Read(make([]byte, 1))
		ended <- err
	}()
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after Close: got %v", err)
	}
}
