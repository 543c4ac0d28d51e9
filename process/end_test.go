package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestTheEndOfAProcessIsAwaited(t *testing.T) { // WAKE-4
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := Lookup(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := AwaitEnd(short, p.PID, p.Start); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it runs: %v", err)
	}
	if err := AwaitEnd(t.Context(), p.PID, p.Start.Add(-time.Hour)); err != nil {
		t.Errorf("another process with its number: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- AwaitEnd(t.Context(), p.PID, p.Start) }()
	in.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(testPatience):
		t.Error("its end was not noticed")
	}
	_ = cmd.Wait()
	if err := AwaitEnd(t.Context(), p.PID, p.Start); err != nil {
		t.Errorf("after its end: %v", err)
	}
	if !Alive(os.Getpid(), mustLookup(t, os.Getpid()).Start) {
		t.Error("this process does not count as running")
	}
}

func mustLookup(t *testing.T, pid int) Process {
	t.Helper()
	p, err := Lookup(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
