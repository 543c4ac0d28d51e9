package host

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termpilot/process"
)

// TestMain also lets the test binary be a host (for Start) and checks that the
// tests leave nothing behind.
func TestMain(m *testing.M) {
	if os.Getenv("TERMPILOT_TEST_HOST") != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := Serve(ctx, Options{Version: "test", Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	fds := descriptors()
	code := m.Run()
	if code == 0 {
		code = leaks(fds)
	}
	os.Exit(code)
}

func leaks(fds int) int {
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "leak:", err)
		return 1
	}
	if now := descriptors(); now > fds+2 { // the poller and its event descriptor
		fmt.Fprintf(os.Stderr, "leak: %d descriptors, %d before\n", now, fds)
		return 1
	}
	table, err := process.Snapshot()
	if err != nil {
		fmt.Fprintln(os.Stderr, "leak: processes cannot be listed:", err)
		return 1
	}
	if mine := table.Where(func(e process.Entry) bool { return e.PPID == os.Getpid() }); len(mine) > 0 {
		fmt.Fprintf(os.Stderr, "leak: children: %+v\n", mine)
		return 1
	}
	return 0
}

func descriptors() int {
	entries, _ := os.ReadDir("/dev/fd")
	return len(entries)
}

// patience is how long a test waits for something that must come.
const patience = 15 * time.Second

// testHost is a host in the test's process, in a place of its own.
type testHost struct {
	t    testing.TB
	loc  Location
	env  []string
	home string
}

func newHost(t testing.TB, change ...func(*Options)) *testHost {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp") // t.TempDir is too long for a socket on some machines
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	h := &testHost{t: t, home: home}
	h.env = []string{
		"HOME=" + home, "TERMPILOT_HOME=" + filepath.Join(dir, "state"), "PATH=" + os.Getenv("PATH"),
		"SHELL=/bin/bash", "LANG=C.UTF-8", "USER=tester",
	}
	o := Options{Version: "1.2.3", Env: h.env, Idle: -1}
	for _, f := range change {
		f(&o)
	}
	h.env = o.Env
	if h.loc, err = Paths(func(name string) string { return lookup(o.Env, name) }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		_ = os.RemoveAll(dir)
	})
	waitUntil(t, "the host answers", func() bool {
		_, err := inspect(ctx, h.loc)
		return err == nil
	})
	return h
}

// waitUntil waits for what no event announces.
func waitUntil(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}
