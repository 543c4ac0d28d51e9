package host

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/private"
	"termpilot/process"
	"termpilot/testneeds"
)

// place points this process, and hosts that it starts, at a folder of their own.
func place(t *testing.T) Location {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TERMPILOT_HOME", filepath.Join(dir, "state"))
	t.Setenv("TERMPILOT_TEST_HOST", "1")
	t.Setenv("HOME", dir)
	loc, err := Paths(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Stop(context.Background(), true) })
	return loc
}

func TestOfManyStartersOneStartsTheHostAndAllFindIt(t *testing.T) { // HOST-5
	loc := place(t)
	var wg sync.WaitGroup
	pids := make([]int, 8)
	for i := range pids {
		wg.Go(func() {
			status, err := Start(t.Context(), os.Args[0], "serve")
			if err != nil {
				t.Error(err)
			}
			pids[i] = status.PID
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == 0 || pid == os.Getpid() {
			t.Fatalf("pids %v", pids)
		}
	}
	p, err := process.Lookup(pids[0])
	if err != nil || p.PPID == os.Getpid() || p.SID != p.PID { // HOST-6
		t.Errorf("the host is not detached: %+v", p)
	}
	for path, want := range map[string]os.FileMode{ // HOST-2
		loc.Folder: 0o700, loc.Home: 0o700, loc.Socket: 0o600, loc.Attach: 0o600, loc.Lock: 0o600, loc.Log: 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if err := Stop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context()); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("after stop: %v", err)
	}
	waitUntil(t, "its process is gone", func() bool {
		p, err := process.Lookup(pids[0])
		return err != nil || p.State == process.Zombie
	})
}

func TestARemovedSocketComesBack(t *testing.T) { // HOST-90
	loc := place(t)
	status, err := Start(t.Context(), os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, remove := range []string{loc.Socket, loc.Attach, loc.Folder} {
		if err := os.RemoveAll(remove); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "both sockets answer", func() bool {
			conn, err := Dial(t.Context())
			if err == nil {
				_ = conn.Close()
			}
			again, other := Inspect(t.Context())
			return err == nil && other == nil && again.PID == status.PID
		})
		if info, err := os.Stat(loc.Socket); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
}

func TestASocketThatCannotComeBackIsSaidOnce(t *testing.T) { // HOST-90
	t.Parallel() // it waits more than it works
	said := &counter{word: "cannot be accepted"}
	h := newHost(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(said, nil)) })
	away := h.loc.Folder + "-away"
	if err := errors.Join(os.Rename(h.loc.Folder, away), os.Symlink(filepath.Join(h.home, "none"), h.loc.Folder)); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "both sockets are missed", func() bool { return said.n.Load() >= 2 })
	end := time.Now().Add(4 * acceptPause)
	waitUntil(t, "time passes", func() bool { return time.Now().After(end) })
	if err := errors.Join(os.Remove(h.loc.Folder), os.Rename(away, h.loc.Folder)); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "it answers again", func() bool { _, err := inspect(t.Context(), h.loc); return err == nil })
	if n := said.n.Load(); n != 2 {
		t.Errorf("it is said %d times", n)
	}
}

func TestAHostThatDoesNotAnswerIsNotSaidToBeGone(t *testing.T) { // HOST-91
	place(t)
	status, err := Start(t.Context(), os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(status.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(status.PID, syscall.SIGCONT) }()
	waitUntil(t, "it stands still", func() bool {
		p, err := process.Lookup(status.PID)
		return err == nil && p.State == process.Stopped
	})
	for name, call := range map[string]func(context.Context) error{
		"status": func(ctx context.Context) error { _, err := Inspect(ctx); return err },
		"start":  func(ctx context.Context) error { _, err := Start(ctx, os.Args[0]); return err },
		"stop":   func(ctx context.Context) error { return Stop(ctx, true) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := call(ctx); !errors.Is(err, fault.Deadline) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func TestStopRefusesWhileSessionsLiveUnlessForced(t *testing.T) { // HOST-8
	loc := place(t)
	if _, err := Start(t.Context(), os.Args[0]); err != nil {
		t.Fatal(err)
	}
	c := connectTo(t, loc.Socket)
	id := c.openReady("bash")
	if err := Stop(t.Context(), false); !errors.Is(err, fault.Refused) {
		t.Errorf("stop: %v", err)
	}
	if exit, out := c.run(id, "echo alive"); exit != 0 || out != "alive" {
		t.Errorf("the session: %d %q", exit, out)
	}
	if err := Stop(t.Context(), true); err != nil {
		t.Errorf("forced stop: %v", err)
	}
}

func TestAHostTakesOverFromADeadOneAndOnlyFromADeadOne(t *testing.T) { // HOST-3
	loc := place(t)
	if err := private.Folder(loc.Home); err != nil {
		t.Fatal(err)
	}
	if err := private.Folder(loc.Folder); err != nil {
		t.Fatal(err)
	}
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: loc.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	_ = stale.Close()
	if _, err := Dial(t.Context()); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("dialling the stale socket: %v", err)
	}
	if _, err := Start(t.Context(), os.Args[0]); err != nil {
		t.Fatal(err)
	}
	err = Serve(t.Context(), Options{})
	if !errors.Is(err, errTaken) || !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("a second host: %v", err)
	}
	if _, err := Inspect(t.Context()); err != nil {
		t.Errorf("the first is gone: %v", err)
	}
}

func TestAHostWhoseLockWasRemovedKeepsItsPlace(t *testing.T) { // HOST-3
	h := newHost(t)
	id := h.connect().open("sh")
	other := Options{Env: append(slices.Clone(h.env), "HOME="+t.TempDir())}
	for range 3 {
		if err := os.Remove(h.loc.Lock); err != nil {
			t.Fatal(err)
		}
		if err := Serve(t.Context(), other); !errors.Is(err, errTaken) { // at once, or when the lock is there again
			t.Fatalf("a second host: %v", err)
		}
		waitUntil(t, "the lock is there again, and held", func() bool {
			if _, err := os.Stat(h.loc.Lock); err != nil {
				return false
			}
			lock := lockAt(h.loc.Lock)
			defer lock.Close()
			free, err := lock.TryLock()
			return err == nil && !free
		})
	}
	if got := h.connect().list().String(); !strings.Contains(got, id) {
		t.Errorf("the session is out of reach: %s", got)
	}
	c := h.mustAdmitSuite()
	if err := os.Remove(c.Socket + ".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := newHost(t, func(o *Options) { o.Env = append(slices.Clone(o.Env), "HOME="+h.home) }).admitSuite(); !errors.Is(err, fault.Refused) {
		t.Errorf("a second host of the HOME: %v", err)
	}
}

func TestWhatIsNoSocketIsNeverRemoved(t *testing.T) { // HOST-3
	loc := place(t)
	_ = private.Folder(loc.Home)
	_ = private.Folder(loc.Folder)
	if err := os.WriteFile(loc.Socket, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), Options{}); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(loc.Socket); string(data) != "precious" {
		t.Errorf("it was touched: %q", data)
	}
}

func TestALinkOrFileInPlaceOfTheFolderIsRefused(t *testing.T) { // HOST-4
	loc := place(t)
	_ = private.Folder(loc.Home)
	if err := os.Symlink(t.TempDir(), loc.Folder); err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), Options{}); !errors.Is(err, fault.NotAllowed) {
		t.Errorf("got %v", err)
	}
}

func TestAProgramThatIsNoHostIsReportedWithTheLogsLastLine(t *testing.T) { // HOST-7
	place(t)
	_, err := Start(t.Context(), "/bin/sh", "-c", "echo no such flag >&2; exit 2")
	if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("got %v", err)
	}
}

func TestAnIdleHostEndsByItself(t *testing.T) { // HOST-9
	place(t)
	began := time.Now()
	if err := Serve(t.Context(), Options{Idle: 300 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 300*time.Millisecond || took > patience {
		t.Errorf("after %v", took)
	}
}

func TestPathsFollowTheEnvironmentAndFitASocket(t *testing.T) { // HOST-1
	long := "/" + strings.Repeat("x", 120)
	for _, test := range []struct {
		env                  map[string]string
		home, folder, socket string
	}{
		{map[string]string{"HOME": "/h"}, "/h/.local/state/termpilot", "/h/.local/state/termpilot/host", ""},
		{map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/run/u"}, "/s/termpilot", "/run/u/termpilot", ""},
		{map[string]string{"HOME": "/h", "TERMPILOT_HOME": "/t", "XDG_RUNTIME_DIR": "/run/u"}, "/t", "/t/host", "/t/host/api.sock"},
		{map[string]string{"HOME": long}, long + "/.local/state/termpilot", "/tmp/termpilot-", ""},
	} {
		loc, err := Paths(func(name string) string { return test.env[name] })
		if err != nil || loc.Home != test.home || !strings.HasPrefix(loc.Folder, test.folder) || test.socket != "" && loc.Socket != test.socket {
			t.Errorf("%v: %+v %v", test.env, loc, err)
		}
		if len(loc.Attach) >= 100 || len(loc.Socket) >= 100 {
			t.Errorf("too long: %+v", loc)
		}
	}
	if _, err := Paths(func(string) string { return "relative" }); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a relative TERMPILOT_HOME: %v", err)
	}
}

func TestADaemonStartedUnderNohupPassesNoIgnoredOrBlockedSignalOn(t *testing.T) { // HOST-12
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("needs /proc")
	}
	loc := place(t)
	testneeds.Program(t, "python3")
	// A parent that ignores and blocks what it can, as some service managers do.
	const parent = `import os,signal,sys
for s in range(1, 32):
    if s not in (9, 19):
        try: signal.signal(s, signal.SIG_IGN)
        except OSError: pass
signal.pthread_sigmask(signal.SIG_BLOCK, {1, 2, 3, 13, 15, 17, 18, 20, 21, 22})
os.execv(sys.argv[1], sys.argv[1:])`
	cmd := exec.Command("nohup", "python3", "-c", parent, os.Args[0])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	waitUntil(t, "it answers", func() bool { _, err := Inspect(t.Context()); return err == nil })
	c := connectTo(t, loc.Socket)
	for _, shell := range shells {
		if _, ok := findProfile(os.Environ(), shell); !ok {
			continue
		}
		id := c.openReady(shell)
		_, out := c.run(id, "grep -E '^Sig(Ign|Blk)' /proc/self/status")
		for line := range strings.SplitSeq(out, "\n") {
			if name, bits, ok := strings.Cut(line, ":"); ok && strings.Trim(bits, "\t 0") != "" {
				t.Errorf("%s: %s:%s", shell, name, bits)
			}
		}
		// The hangup must end what runs.
		c.send(id, "sleep 66\r")
		waitUntil(t, "sleep is in front", func() bool { return c.variable(id, "jobName") == `"sleep"` })
		c.closeSession(id, false)
		if left := c.variable(id, "termpilot.survivors"); left != "null" {
			t.Errorf("%s: left behind: %s", shell, left)
		}
	}
	if err := Stop(t.Context(), true); err != nil {
		t.Error(err)
	}
}

func TestAHostThatIsStartedWhileAnotherEndsTakesOver(t *testing.T) { // HOST-3, HOST-5
	loc := place(t)
	if _, err := Start(t.Context(), os.Args[0]); err != nil {
		t.Fatal(err)
	}
	c := connectTo(t, loc.Socket)
	id := c.open("", "Termpilot Shell Command", quote(`trap "" HUP TERM; echo up; while :; do sleep 0.05; done`)) // takes a while to end
	c.awaitScreen(id, "up")
	if _, err := ask(t.Context(), loc, hello{V: 1, Op: "stop", Force: true}); err != nil {
		t.Fatal(err)
	}
	first, err := Inspect(t.Context())
	waitUntil(t, "it no longer answers", func() bool { _, err := Inspect(t.Context()); return err != nil })
	status, err2 := Start(t.Context(), os.Args[0])
	if err2 != nil || err == nil && status.PID == first.PID {
		t.Errorf("first %+v %v, second %+v %v", first, err, status, err2)
	}
}

func TestFoldersThatAKilledHostLeftAreRemoved(t *testing.T) { // HOST-3
	loc := place(t)
	_ = private.Folder(loc.Home)
	_ = private.Folder(loc.Folder)
	left := filepath.Join(loc.Folder, sessionFolder+"123")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), os.Args[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}

func FuzzNoFrameEndsTheHost(f *testing.F) { // HOST-71
	f.Add([]byte("H\x00\x00\x00\x02{}"))
	f.Add([]byte("H\xff\xff\xff\xff"))
	f.Add(append([]byte("H\x00\x00\x00\x32"), `{"v":1,"op":"attach","session":"x","columns":-1} `...))
	h := newHost(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(strings.ToLower(string(data)), "stop") {
			return
		}
		conn, err := dial(t.Context(), h.loc.Attach)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(data)
		_ = conn.Close()
		if _, err := inspect(t.Context(), h.loc); err != nil {
			t.Fatalf("after %q: %v", data, err)
		}
	})
}
