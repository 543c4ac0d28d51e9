package pilot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

func testLocks(t *testing.T, dir string) *locks {
	t.Helper()
	l, err := newLocks(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

// take takes the lock of a session's runs, or returns the refusal.
func take(t *testing.T, l *locks, what string) (release func(), err error) {
	t.Helper()
	return l.acquire(t.Context(), "test", "s", lockRun, what, 0)
}

// refusedFor waits until a lock that another process holds is refused by its name.
func refusedFor(t *testing.T, l *locks, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) { // nothing tells of it
		release, err := take(t, l, "run d")
		if err == nil {
			release()
			t.Fatalf("it is free, and not held by %q", want)
		}
		if strings.Contains(err.Error(), want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a second holder: %v, want %q", err, want)
		}
	}
}

func TestAHolderThatDiedIsNotNamed(t *testing.T) { // RUN-21
	dir := t.TempDir()
	one, two := testLocks(t, dir), testLocks(t, dir)
	if _, err := take(t, one, "run a"); err != nil {
		t.Fatal(err)
	}
	refusedFor(t, two, "run a of process")
	file := one.held[lockFileOf("s", lockRun)].file
	file.close() // as by the kernel: the text stays
	release, err := take(t, two, "run b")
	if err != nil {
		t.Fatal(err)
	}
	three := testLocks(t, dir)
	if _, err := take(t, three, "run c"); err == nil || !strings.Contains(err.Error(), "run b of process") {
		t.Errorf("in place of the dead one: %v", err)
	}
	release()
	release, err = take(t, three, "run c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := take(t, two, "run d"); err == nil || strings.Contains(err.Error(), "run b") {
		t.Errorf("after it: %v", err)
	}
	release()
}

func TestALockIsTakenAgainAndAgain(t *testing.T) { // RUN-21
	dir := t.TempDir()
	one, two := testLocks(t, dir), testLocks(t, dir)
	for range 3 {
		for _, pair := range [][2]*locks{{one, two}, {two, one}} {
			release, err := take(t, pair[0], "run a")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := take(t, pair[1], "run b"); !errors.Is(err, fault.Busy) || strings.Contains(err.Error(), "run c") {
				t.Errorf("a second holder: %v", err)
			}
			refusedFor(t, pair[1], "run a of process")
			if _, err := take(t, pair[0], "run c"); !errors.Is(err, fault.Busy) {
				t.Errorf("a second holder in one process: %v", err)
			}
			release()
			release() // once is enough, twice does no harm
		}
	}
}

func TestALockFileThatWasRemovedLocksNothing(t *testing.T) { // RUN-21
	dir := t.TempDir()
	one, two := testLocks(t, dir), testLocks(t, dir)
	release, err := take(t, one, "run a")
	if err != nil {
		t.Fatal(err)
	}
	release() // its file stays open
	files, _ := filepath.Glob(filepath.Join(dir, "locks", "*.run"))
	if len(files) != 1 {
		t.Fatalf("got %q", files)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if release, err = take(t, two, "run b"); err != nil {
		t.Fatal(err)
	}
	if _, err := take(t, one, "run c"); !errors.Is(err, fault.Busy) {
		t.Errorf("two hold it: %v", err)
	}
	release()
	if release, err = take(t, one, "run c"); err != nil {
		t.Fatal(err)
	}
	release()
}

func TestOldLockFilesAreRemoved(t *testing.T) { // RUN-36
	dir := t.TempDir()
	one := testLocks(t, dir)
	name := func(n int) string { return strings.Repeat("0", 23) + string(rune('0'+n)) + ".run" }
	old := time.Now().Add(-2 * lockAge)
	put := func(name string, at time.Time) string {
		path := filepath.Join(dir, "locks", name)
		if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gone, held, young, other := put(name(1), old), put(name(2), old), put(name(3), time.Now()), put("named.json", old)
	f, err := openLock(held)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if _, locked, err := f.try(); !locked {
		t.Fatal(err)
	}
	release, err := take(t, one, "run a")
	if err != nil {
		t.Fatal(err)
	}
	release()
	for path, stays := range map[string]bool{gone: false, held: true, young: true, other: true} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

func TestLockFilesDoNotStayOpenWithoutEnd(t *testing.T) { // RUN-36
	l := testLocks(t, t.TempDir())
	for range 2 {
		for n := range 3 * keptFiles {
			release, err := l.acquire(t.Context(), "test", terminal.ID(fmt.Sprint("s", n)), lockRun, "run", 0)
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		if n := len(l.files); n > keptFiles {
			t.Errorf("%d are open", n)
		}
	}
	l.close()
	if n := len(l.files); n != 0 {
		t.Errorf("%d are open after the end", n)
	}
}

// What another process has just sent may not show yet: the next who types waits a
// moment, even when somebody else held the lock in between.
func TestWhatAnotherProcessSentIsGivenTime(t *testing.T) { // RUN-41
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		one, two, three := testLocks(t, dir), testLocks(t, dir), testLocks(t, dir)
		one.pid, two.pid, three.pid = 1, 2, 3
		held := func(l *locks, do func()) (took time.Duration) {
			t.Helper()
			release, err := l.acquire(t.Context(), "test", "s", lockType, "x", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			do()
			began := time.Now()
			l.settle(t.Context(), "s")
			return time.Since(began)
		}
		nothing := func() {}
		for range 2 {
			if took := held(one, func() { one.sent("s") }); took != 0 {
				t.Errorf("its own sending held it up for %v", took)
			}
			if took := held(one, nothing); took != 0 {
				t.Errorf("its own sending of before held it up for %v", took)
			}
			release, err := two.acquire(t.Context(), "test", "s", lockType, "x", 0)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond) // of the bubble's own clock
			release()
			if took := held(three, nothing); took != dealtWith-100*time.Millisecond {
				t.Errorf("100 ms after the sending it waited %v", took)
			}
			if took := held(two, nothing); took != 0 {
				t.Errorf("later it waited %v", took)
			}
		}
		release, err := one.acquire(t.Context(), "test", "s", lockType, "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		one.sent("s")
		release()
		if _, err := one.acquire(t.Context(), "test", "s", lockType, "y", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(namedAfter) // by the clock of the bubble
		synctest.Wait()
		if _, err := two.acquire(t.Context(), "test", "s", lockType, "z", 0); err == nil || !strings.Contains(err.Error(), "y of process 1") {
			t.Errorf("who holds it: %v", err)
		}
	})
}
