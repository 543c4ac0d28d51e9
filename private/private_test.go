package private

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"termpilot/fault"
)

func TestAFolderIsOfThisUserAlone(t *testing.T) {
	dir := t.TempDir()
	fresh := filepath.Join(dir, "a", "fresh")
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fresh, fresh, filepath.Dir(fresh), open} {
		if path != filepath.Dir(fresh) { // made on the way
			if err := Folder(path); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: got %v %v, want mode 0700", path, info.Mode(), err)
		}
	}
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(open, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if err := Folder(path); !errors.Is(err, fault.NotAllowed) {
			t.Errorf("%s: got %v, want not_allowed", path, err)
		}
	}
	if err := Folder(filepath.Join(file, "below")); !errors.Is(err, fault.Storage) {
		t.Errorf("below a file: got %v, want storage_failed", err)
	}
}

func TestAFileIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "f"), filepath.Join(dir, "elsewhere")
	if err := errors.Join(os.WriteFile(elsewhere, []byte("mine"), 0o600), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two, which is longer", ""} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path, 100); err != nil || string(got) != text {
			t.Errorf("got %q %v, want %q", got, err, text)
		}
	}
	if got, _ := os.ReadFile(elsewhere); string(got) != "mine" {
		t.Errorf("the link was followed: got %q", got)
	}
	if err := Write(filepath.Join(dir, "none", "f"), nil); !errors.Is(err, fault.Storage) {
		t.Errorf("without a folder: got %v, want storage_failed", err)
	}
	if err := Write(dir, nil); !errors.Is(err, fault.Storage) {
		t.Errorf("over a folder: got %v, want storage_failed", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestWhatOthersCouldHaveWrittenIsNotRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.WriteFile(at("open"), []byte("x"), 0o644), os.WriteFile(at("long"), []byte(strings.Repeat("x", 11)), 0o600),
		os.WriteFile(at("good"), []byte(strings.Repeat("x", 10)), 0o600), os.Symlink(at("good"), at("link")),
		syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"good": nil, "open": fault.NotAllowed, "long": fault.TooLarge, "link": fault.NotAllowed,
		"pipe": fault.NotAllowed, "folder": fault.NotAllowed, "none": fs.ErrNotExist,
	} {
		if _, err := Read(at(name), 10); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
}

func TestASocketKnowsItsPeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for range 2 { // the second finds the first's socket
		l, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("got %v %v, want mode 0600", info.Mode(), err)
		}
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		if uid, err := Peer(s); err != nil || uid != os.Getuid() {
			t.Errorf("got %d %v, want %d", uid, err, os.Getuid())
		}
		_ = errors.Join(c.Close(), s.Close(), l.Close())
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("kept"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("a file in its place: got %v, want backend_unavailable", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "kept" {
		t.Errorf("the file in its place: got %q", got)
	}
}

func TestAFileThatIsTooLongIsBegunAnewAndItsEndIsKept(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "log"), filepath.Join(dir, "link")
	if had, err := Trim(path, 4); had != 0 || err != nil {
		t.Errorf("there is none: got %d, %v", had, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, add, left, kept string
		had                   int64
	}{
		{path, "1234", "1234", "", 0},
		{link, "56789", "123456789", "", 0},
		{path, "", "", "6789", 9},
		{path, "later", "", "ater", 5}, // no hole stands before what is appended
	} {
		if _, err := f.WriteString(c.add); err != nil {
			t.Fatal(err)
		}
		had, err := Trim(c.path, 4)
		left, _ := os.ReadFile(path)
		kept, _ := os.ReadFile(path + ".1")
		if had != c.had || err != nil || string(left) != c.left || string(kept) != c.kept {
			t.Errorf("%q: got %d, %v, %q left, %q kept", c.add, had, err, left, kept)
		}
	}
	if err := os.WriteFile(path, []byte("much too long"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path+".1"), os.Mkdir(path+".1", 0o700)); err != nil {
		t.Fatal(err)
	}
	had, err := Trim(path, 4)
	if left, _ := os.ReadFile(path); had != 0 || !errors.Is(err, fault.Storage) || string(left) != "much too long" {
		t.Errorf("nothing can be kept: got %d, %v, %q left", had, err, left)
	}
}
