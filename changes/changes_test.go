package changes_test

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termpilot/changes"
)

// patience is the longest wait for anything that must come.
const patience = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAWaiterWakesWhenAFileIsMadeWrittenRenamedOrRemoved(t *testing.T) { // WAKE-1
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	w, err := changes.Watch(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	write := func(text string) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(text)
		return err
	}
	for what, do := range []func() error{
		func() error { return write("one") },
		func() error { return write("two") },
		func() error { return os.Rename(path, path+"b") },
		func() error { return os.Remove(path + "b") },
	} {
		for len(w.C) > 0 { // of the step before
			<-w.C
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-w.C:
		case <-time.After(patience):
			t.Fatalf("step %d woke nobody", what)
		}
	}
}

func TestManyWaitOnOneFolder(t *testing.T) { // WAKE-1
	folder := t.TempDir()
	var all []*changes.Folder
	for range 8 {
		w, err := changes.Watch(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		all = append(all, w)
	}
	if err := os.WriteFile(filepath.Join(folder, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, w := range all {
		select {
		case <-w.C:
		case <-time.After(patience):
			t.Fatalf("waiter %d was not woken", i)
		}
	}
}

func TestAMissingFolderCannotBeWatched(t *testing.T) { // WAKE-2
	if w, err := changes.Watch(filepath.Join(t.TempDir(), "none")); err == nil {
		w.Close()
		t.Fatal("a folder that is not there is watched")
	}
}

func TestAWatchThatEndsLeavesTheOthers(t *testing.T) { // WAKE-1
	one, other := t.TempDir(), t.TempDir()
	watch := func(folder string) *changes.Folder {
		w, err := changes.Watch(folder)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first, second, third := watch(one), watch(one), watch(other)
	defer first.Close()
	defer third.Close()
	second.Close()
	for what, step := range map[string]struct {
		folder string
		w      *changes.Folder
	}{"that is watched once more": {one, first}, "of another watch": {other, third}} {
		if err := os.WriteFile(filepath.Join(step.folder, "a"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case <-step.w.C:
		case <-time.After(patience):
			t.Errorf("a change in a folder %s woke nobody", what)
		}
	}
	third.Close()
	third.Close()
	last := watch(other)
	defer last.Close()
	if err := os.Remove(filepath.Join(other, "a")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-last.C:
	case <-time.After(patience):
		t.Error("a new watch was not woken")
	}
	if err := os.RemoveAll(one); err != nil { // a folder that goes takes its watch with it
		t.Fatal(err)
	}
}

func TestWatchesComeAndGoAtOnce(t *testing.T) { // WAKE-1
	folder := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			path := filepath.Join(folder, strconv.Itoa(i))
			for range 20 {
				w, err := changes.Watch(folder)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Error(err)
				}
				select {
				case <-w.C:
				case <-time.After(patience):
					t.Error("it was not woken")
				}
				w.Close()
			}
		})
	}
	all.Wait()
}
