package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestATableHoldsThisProcessAndItsParents(t *testing.T) {
	table, err := Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	own, err := table.Of(os.Getpid())
	if err != nil || own.PPID != os.Getppid() {
		t.Errorf("got %+v %v", own, err)
	}
	if same, err := Lookup(os.Getpid()); err != nil || !same.Start.Equal(own.Start) {
		t.Errorf("start: got %v, Lookup says %v %v", own.Start, same.Start, err)
	}
	if chain := table.Ancestors(os.Getpid()); len(chain) < 2 || chain[0] != os.Getpid() || chain[1] != os.Getppid() {
		t.Errorf("ancestors: got %v", chain)
	}
	if _, err := table.Of(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("no process: got %v", err)
	}
}

func TestAScopeHasAlsoWhatLeftTheTerminal(t *testing.T) {
	shell := exec.Command("sh", "-c", "setsid sleep 60 & sleep 60 & wait")
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if table, err := Snapshot(); err == nil {
			scope, _ := table.Scope(shell.Process.Pid)
			for _, e := range scope {
				if p, err := os.FindProcess(e.PID); err == nil && slices.Contains(table.Ancestors(e.PID), shell.Process.Pid) {
					_ = p.Kill()
				}
			}
		}
		_ = shell.Wait()
	})
	var scope []Entry
	sleeps := 0
	for end := time.Now().Add(testPatience); sleeps != 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // they become sleeps without an event
		table, err := Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		scope, err = table.Scope(shell.Process.Pid)
		if err != nil || scope[0].PID != shell.Process.Pid {
			t.Fatalf("got %v %v", scope, err)
		}
		sleeps = 0
		for _, e := range scope {
			if slices.Contains(table.Ancestors(e.PID), shell.Process.Pid) && e.Name == "sleep" {
				sleeps++
			}
		}
	}
	if sleeps != 2 {
		t.Errorf("got %d of the two sleeps: %+v", sleeps, scope)
	}
}

func TestOpenFilesAndVariablesAreThoseOfTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "open")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	if files, err := OpenFiles(os.Getpid()); err != nil || !slices.Contains(files, real) {
		t.Errorf("got %v %v, want %s among them", files, err, real)
	}
	if got, known := Variable(os.Getpid(), "PATH"); known && got == "" {
		t.Errorf("PATH: got %q", got)
	}
	if got, _ := Variable(os.Getpid(), "TERMPILOT_NO_SUCH"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestOpenFilesAreAllOrAnError(t *testing.T) {
	for range maxOpen + 1 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
	}
	if files, err := OpenFiles(os.Getpid()); !errors.Is(err, errTooMany) {
		t.Errorf("got %d files, %v", len(files), err)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for b.Loop() {
		if _, err := Snapshot(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAWholeTableHidesNothing(t *testing.T) {
	_, err := os.Stat("/proc/1/stat")
	table, snapErr := Snapshot()
	if snapErr != nil {
		t.Fatal(snapErr)
	}
	if _, ofErr := table.Of(1); err == nil && (table.Hides || ofErr != nil) {
		t.Errorf("hides %v, the first process: %v", table.Hides, ofErr)
	}
}
