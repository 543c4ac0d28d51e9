package changes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/changes"
)

// instances counts this process's own inotify instances.
func instances(t *testing.T) (n int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}

func TestAllWatchesTakeOneInstance(t *testing.T) { // WAKE-1, WAKE-5
	var all []*changes.Folder
	folders := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	for i := range 30 {
		w, err := changes.Watch(folders[i%3])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	if n := instances(t); n != 1 {
		t.Errorf("%d instances", n)
	}
	if err := os.WriteFile(filepath.Join(folders[1], "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 30; i += 3 {
		<-all[i].C
	}
	for i, w := range all {
		if len(w.C) > 0 && i%3 != 1 {
			t.Errorf("watch %d was woken by another folder", i)
		}
	}
	for _, w := range all {
		w.Close()
		w.Close()
	}
	if n := instances(t); n != 0 {
		t.Errorf("%d instances are left", n)
	}
}

func TestAFolderThatGoesWakesAndLeavesNothing(t *testing.T) { // WAKE-1, WAKE-5
	folder := filepath.Join(t.TempDir(), "a")
	for range 3 { // the name comes again, the folder is another
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		w, err := changes.Watch(folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		select {
		case <-w.C:
		case <-time.After(patience):
			t.Fatal("its end woke nobody")
		}
		w.Close()
	}
	if n := instances(t); n != 0 {
		t.Errorf("%d instances are left", n)
	}
}
