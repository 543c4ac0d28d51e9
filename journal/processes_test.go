package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/fault"
)

func TestAHeldLockEndsInAnError(t *testing.T) { // JRN-14
	dir := folder(t)
	j := open(t, dir, Options{Patience: 20 * time.Millisecond})
	other := open(t, dir, Options{})
	unlock, err := other.lock(t.Context(), syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), 1); !errors.Is(err, fault.Storage) || fault.HintOf(err) == "" {
		t.Errorf("append: %v", err)
	}
	for _, err := range j.Records(t.Context(), Position{}) {
		if !errors.Is(err, fault.Storage) {
			t.Errorf("read: %v", err)
		}
	}
	unlock()
	add(t, j, 1, 1)
}

func TestALockFileThatWasRemovedIsNoLock(t *testing.T) { // JRN-15
	dir := folder(t)
	j := open(t, dir, Options{Patience: 20 * time.Millisecond})
	add(t, j, 1, 1)
	if err := os.Remove(filepath.Join(dir, "runs.lock")); err != nil {
		t.Fatal(err)
	}
	unlock, err := open(t, dir, Options{}).lock(t.Context(), syscall.LOCK_EX) // of the file that is there now
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), 1); !errors.Is(err, fault.Storage) {
		t.Errorf("two write at once: %v", err)
	}
	unlock()
	add(t, j, 2, 2)
}

func TestSeveralWritersLoseNothing(t *testing.T) { // JRN-15
	dir := folder(t)
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		j := open(t, dir, Options{MaxFile: 400, Patience: time.Minute})
		wg.Go(func() {
			for n := range each {
				if err := j.Append(t.Context(), entry{N: w*1000 + n}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, gap := all(t, open(t, dir, Options{}), Position{})
	next := make([]int, writers)
	for _, n := range got {
		if w := n / 1000; n%1000 != next[w] {
			t.Fatalf("writer %d: record %d came for %d", w, n%1000, next[w])
		}
		next[n/1000]++
	}
	if len(got) != writers*each || gap {
		t.Errorf("%d records, gap %v", len(got), gap)
	}
}

// TestMain also serves as the processes that the tests kill or starve.
func TestMain(m *testing.M) {
	if dir := os.Getenv("JOURNAL_WRITER"); dir != "" {
		os.Exit(writer(dir))
	}
	os.Exit(m.Run())
}

// writer appends until it is killed, or its files may not grow any more. It says
// which records were kept.
func writer(dir string) int {
	signal.Ignore(syscall.SIGXFSZ) // so that a write over the limit is an error, as on a full disk
	if limit, _ := strconv.ParseUint(os.Getenv("JOURNAL_LIMIT"), 10, 64); limit > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return 3
		}
	}
	from, _ := strconv.Atoi(os.Getenv("JOURNAL_FROM"))
	j, err := Open(dir, "runs", Options{})
	if err != nil {
		fmt.Println(err)
		return 4
	}
	for n := from; ; n++ {
		if err := j.Append(context.Background(), entry{N: n, Text: strings.Repeat("x", 5000)}); err != nil {
			fmt.Println(fault.CodeOf(err))
			return 5
		}
		fmt.Println(n)
	}
}

// start runs a writer; lines are what it says.
func start(t *testing.T, dir string, from int, limit string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JOURNAL_WRITER="+dir, fmt.Sprintf("JOURNAL_FROM=%d", from), "JOURNAL_LIMIT="+limit)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func TestAKilledWriterLosesNothingThatItWasTold(t *testing.T) { // JRN-16
	dir := folder(t)
	told := 0
	for round := range 8 {
		cmd, lines := start(t, dir, told+1, "")
		for stop := told + 1 + 7*round; lines.Scan(); {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(lines.Text())
			}
			told = n
			if n == stop {
				_ = cmd.Process.Kill() // it writes the next one right now
			}
		}
		_ = cmd.Wait()
		got, gap := all(t, open(t, dir, Options{}), Position{})
		if gap || len(got) < told {
			t.Fatalf("round %d: %d records of %d that were told, gap %v", round, len(got), told, gap)
		}
		want(t, fmt.Sprint("round ", round), got, count(1, len(got)))
		told = len(got) // what was written, but not told any more, counts too
	}
}

func TestAFullDiskIsToldAndNothingHalfWrittenCounts(t *testing.T) { // JRN-17
	dir := folder(t)
	cmd, lines := start(t, dir, 1, "52000")
	told, last := 0, ""
	for lines.Scan() {
		last = lines.Text()
		if n, err := strconv.Atoi(last); err == nil {
			told = n
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 5 || last != string(fault.Storage) {
		t.Fatalf("the writer ended with %v, and said %q", err, last)
	}
	if told != 10 {
		t.Errorf("%d records of 5 kB were told in 52 kB", told)
	}
	info, err := os.Stat(files(t, dir)[0])
	if err != nil || info.Size() > 51200 {
		t.Errorf("%d bytes are left (%v)", info.Size(), err)
	}
	j := open(t, dir, Options{})
	got, _ := all(t, j, Position{})
	want(t, "full", got, count(1, told))
	add(t, j, told+1, told+1)
	got, _ = all(t, j, Position{})
	want(t, "with room again", got, count(1, told+1))
}

func BenchmarkAppend(b *testing.B) {
	j := open(b, folder(b), Options{})
	for b.Loop() {
		if err := j.Append(context.Background(), entry{N: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNote(b *testing.B) {
	j := open(b, folder(b), Options{})
	for b.Loop() {
		if err := j.Note(context.Background(), entry{N: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
