// Package private makes and reads what must be this user's alone: folders,
// files and Unix sockets. A link, a stranger's folder, or a file that others can
// read in the place of one is refused, never used and never mended by force.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"termpilot/fault"
)

// Folder makes a folder that is this user's alone (0700), or makes sure that an
// existing one is. NotAllowed for a link, a file or a stranger's folder in its
// place; Storage when it cannot be made. Folders above it that are not there are made
// private too, those that are stay as they are.
func Folder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storage("the folder cannot be made", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return storage("the folder cannot be made", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return storage("the folder cannot be read", err)
	}
	if !info.IsDir() {
		return foreign(path + " is not a folder")
	}
	if owner, ok := Owner(info); !ok || owner != os.Getuid() {
		return foreign(path + " belongs to another user")
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o700); err != nil {
			return storage("the folder cannot be made private", err)
		}
	}
	return nil
}

// Write replaces a file whole: after a crash there is the old one or the new
// one, with mode 0600. A link in its place is replaced, not followed. Storage
// when it cannot be written; the old file is then as it was.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return storage("the file cannot be made", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return storage("the file cannot be written", err)
	}
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = folder.Sync() // not every file system can; the file itself is on disk
		_ = folder.Close()
	}
	return nil
}

// Read returns a file of at most limit bytes that is a regular one of this
// user's own and that nobody else can read. The error of a missing file is
// fs.ErrNotExist; NotAllowed, TooLarge and Storage otherwise.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // a FIFO must not block the open
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case errors.Is(err, syscall.ELOOP):
		return nil, foreign(path + " is a link")
	case err != nil:
		return nil, storage("the file cannot be opened", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, storage("the file cannot be read", err)
	}
	if !info.Mode().IsRegular() {
		return nil, foreign(path + " is not a regular file")
	}
	if owner, ok := Owner(info); !ok || owner != os.Getuid() {
		return nil, foreign(path + " belongs to another user")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, foreign(path + " can be read by others")
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, storage("the file cannot be read", err)
	}
	if int64(len(data)) > limit {
		return nil, &fault.Error{
			Op: "read file", Code: fault.TooLarge, Detail: fmt.Sprintf("%s has more than %d bytes", path, limit),
			Hint: "move that file away",
		}
	}
	return data, nil
}

// Trim begins a file anew, to which others may append at the same time, when it
// has more than most bytes; the last of what it had, at most as much, is kept
// beside it with .1 behind its name. It returns how many bytes it had, and 0 when
// it stays as it is. A link and what is no regular file stay; Storage when what it
// had cannot be kept: then it stays, too.
func Trim(path string, most int64) (had int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() <= most {
		return 0, nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, info.Size()-most, most))
	if err != nil {
		return 0, storage("the file cannot be read", err)
	}
	if err := Write(path+".1", data); err != nil {
		return 0, err
	}
	if err := f.Truncate(0); err != nil { // whoever appends leaves no hole
		return 0, storage("the file cannot be begun anew", err)
	}
	return info.Size(), nil
}

// Owner returns the user whose file it is; false where the system does not tell.
func Owner(info fs.FileInfo) (int, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

func foreign(detail string) error {
	return &fault.Error{
		Op: "use folder", Code: fault.NotAllowed, Detail: detail,
		Hint: "move it away, or set TERMPILOT_HOME to a folder of your own",
	}
}

func storage(detail string, err error) error {
	return &fault.Error{
		Op: "use folder", Code: fault.Storage, Detail: detail,
		Hint: "see that there is room, and that the folder may be written", Err: err,
	}
}
