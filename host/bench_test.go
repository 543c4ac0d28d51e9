package host

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"termpilot/iterm/api"
	"termpilot/shellint"
	"termpilot/testneeds"
)

// BenchmarkTrueThroughTheAPI types true into bash and waits for its end by
// notification; BenchmarkTrueOverABarePTY does the same in the same shell with
// our marks, with nothing in between.
func BenchmarkTrueThroughTheAPI(b *testing.B) {
	c := newHost(b).connect()
	id := c.openReady("bash")
	for b.Loop() {
		c.send(id, "true\r")
		c.awaitEnd(id)
		c.awaitPrompt(id)
		c.seen = c.seen[:0] // the starts, which would have to be passed over each time
	}
}

func BenchmarkTrueOverABarePTY(b *testing.B) {
	home := b.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		b.Fatal(err)
	}
	argv, env, _, err := shellint.Inject("/bin/bash", home, "secret", []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"})
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("/bin/bash", argv[1:]...)
	cmd.Env = env
	f, err := pty.Start(cmd)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = f.Close() }()
	buf := make([]byte, 64<<10)
	var seen strings.Builder
	prompt := func() {
		for !strings.Contains(seen.String(), "133;B") {
			n, err := f.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			seen.Write(buf[:n])
		}
		seen.Reset()
	}
	prompt()
	for b.Loop() {
		_, _ = f.WriteString("true\r")
		prompt()
	}
}

// TestFiftyMegabytesOfOutputLeaveOthersAnswered is the measure of a flood:
// bounded memory, all of it seen, and other sessions answered within 50 ms.
func TestFiftyMegabytesOfOutputLeaveOthersAnswered(t *testing.T) { // HOST-50
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := newHost(t).connect()
	other := c.openReady("bash")
	id := c.openReady("bash")
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	size := 50_000_000
	if testneeds.Race {
		size /= 10 // it is about races then, not about speed
	}
	fresh := c.promptView(id).ID
	c.send(id, fmt.Sprintf("yes 0123456789abcdef | head -c %d; echo END\r", size))
	began := time.Now()
	var waits []time.Duration
	late := lateness(t)
	pace := time.NewTicker(2 * time.Millisecond)
	defer pace.Stop()
	for c.promptView(id).ID == fresh {
		<-pace.C
		at := time.Now()
		c.screen(other)
		waits = append(waits, time.Since(at))
		at = time.Now()
		c.screen(id)
		waits = append(waits, time.Since(at))
	}
	took := time.Since(began)
	slices.Sort(waits)
	var after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d MB in %v; %d reads meanwhile: median %v, worst %v; heap +%d MB", size/1_000_000, took, len(waits), waits[len(waits)/2], waits[len(waits)-1], grown>>20)
	// A read wakes a few goroutines, one after the other: of the host, and of the client.
	machine := late()
	if worst := waits[len(waits)*99/100]; worst > 50*time.Millisecond+8*machine && !testneeds.Race {
		t.Errorf("the 99th of 100 reads took %v, and the 99th of 100 goroutines woke %v late", worst, machine)
	}
	if grown > 64<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	if got := c.screen(id); !strings.Contains(got, "END") {
		t.Errorf("the end: %q", got)
	}
}

// lateness measures how late goroutines wake that do nothing else, from now until
// it is asked for the 99th of 100.
func lateness(t *testing.T) (late func() time.Duration) {
	t.Helper()
	const every = time.Millisecond
	var waits []time.Duration
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			at := time.Now()
			select {
			case <-over:
				return
			case <-time.After(every):
				waits = append(waits, time.Since(at)-every)
			}
		}
	}()
	stop := sync.OnceFunc(func() {
		close(over)
		<-done
	})
	t.Cleanup(stop)
	return func() time.Duration {
		stop()
		if len(waits) == 0 {
			return 0
		}
		slices.Sort(waits)
		return waits[len(waits)*99/100]
	}
}

func BenchmarkFloodOfOutput(b *testing.B) {
	c := newHost(b).connect()
	id := c.openReady("bash")
	const size = 10_000_000
	b.SetBytes(size)
	for b.Loop() {
		c.send(id, fmt.Sprintf("yes 0123456789abcdef | head -c %d\r", size))
		c.awaitEnd(id)
		c.awaitPrompt(id)
	}
}

func BenchmarkListing200Sessions(b *testing.B) {
	c := newHost(b).connect()
	for range 200 {
		c.open("sh")
	}
	for b.Loop() {
		c.call(&api.ListSessionsRequest{})
	}
}
