package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// sockets is a pair of connected sockets.
func sockets(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs = os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}

// blockingPipe is a pipe as a client hands it down.
func blockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var pair [2]int
	if err := unix.Pipe(pair[:]); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(pair[0]), "r"), os.NewFile(uintptr(pair[1]), "w")
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

func TestPipesAreReadWithoutAThreadThatWaits(t *testing.T) { // CLI-48
	in, client := blockingPipe(t)
	from, restore := polled(in, io.Discard)
	if from == in {
		t.Fatal("a pipe is read as it is")
	}
	if _, err := client.WriteString("one"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(from, got); string(got) != "one" {
		t.Fatalf("%q, %v", got, err)
	}
	ended := make(chan error)
	go func() {
		_, err := from.Read(got)
		ended <- err
	}()
	_ = from.(*os.File).Close()
	if err := <-ended; err == nil {
		t.Error("closing ended the reading without an error")
	}
	restore()
	if !waits(descriptor(in)) {
		t.Error("those who share the pipe are left with one that does not wait")
	}
}

func TestOnlyWhatIsPolledAloneIsPolled(t *testing.T) { // CLI-48
	both, _ := sockets(t)
	regular, err := os.CreateTemp(t.TempDir(), "in")
	if err != nil {
		t.Fatal(err)
	}
	defer regular.Close()
	already, _ := blockingPipe(t)
	if err := unix.SetNonblock(descriptor(already), true); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]io.Reader{
		"no file": strings.NewReader(""), "a file": regular, "the output": both, "one that is polled": already,
	} {
		from, restore := polled(in, both)
		if from != in {
			t.Errorf("%s is polled", name)
		}
		restore()
	}
	if !waits(descriptor(both)) {
		t.Error("the output does not wait any more")
	}
}
