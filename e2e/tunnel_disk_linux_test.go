package e2e

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAFullDiskEndsNothing(t *testing.T) { // TUN-36
	if os.Getuid() != 0 {
		t.Skip("only root can make a small disk")
	}
	tunnelClients(t, func(t *testing.T, w *world) {
		disk := filepath.Join(w.dir, "disk")
		if err := os.Mkdir(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
			t.Skipf("no small disk can be made: %v", err)
		}
		defer func() {
			err := syscall.Unmount(disk, 0)
			for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); err = syscall.Unmount(disk, 0) {
				time.Sleep(10 * time.Millisecond) // what tunnel-client started ends after it, without an event
			}
			if err != nil {
				_ = syscall.Unmount(disk, syscall.MNT_DETACH)
				t.Errorf("the disk is in use: %v", err)
			}
		}()
		w.base = []string{"TERMPILOT_HOME=" + filepath.Join(disk, "tp")}
		fill := func() {
			f, err := os.Create(filepath.Join(disk, "filler"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(f, zeros{}) // until there is no room
			_ = f.Close()
		}
		fill()
		if out, errs, code := w.setup(); code != 1 || !strings.Contains(errs, "storage_failed") || !strings.Contains(errs, "room") {
			t.Errorf("setup on a full disk: %d\n%s%s", code, out, errs)
		}
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			t.Fatal(err)
		}
		w.mustSetup()
		first, _ := w.status()
		fill()
		w.mustTool("list_sessions", map[string]any{})
		if out, errs, code := w.setup("--read-only"); code != 1 || !strings.Contains(errs, "storage_failed") {
			t.Errorf("other settings on a full disk: %d\n%s%s", code, out, errs)
		}
		if s, code := w.status(); code != 0 || s.PID != first.PID || s.ClientPID != first.ClientPID {
			t.Errorf("what ran was touched: %d %+v", code, s)
		}
		if err := syscall.Kill(first.ClientPID, syscall.SIGKILL); err != nil { // the next cannot write its pid file either
			t.Fatal(err)
		}
		s := w.until("another client, or why there is none", func(s tunnelStatus) bool {
			return s.Restarts > 0 && (s.Ready && s.ClientPID != first.ClientPID || s.Restarts > 1)
		})
		t.Logf("on a full disk: %+v", s)
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			t.Fatal(err)
		}
		w.until("ready with room", func(s tunnelStatus) bool { return s.Ready })
		if _, errs, code := w.chatgpt("disconnect"); code != 0 {
			t.Errorf("disconnect: %d %s", code, errs)
		}
		w.base = nil
	})
}

// zeros never end.
type zeros struct{}

func (zeros) Read(data []byte) (int, error) {
	clear(data)
	return len(data), nil
}
