package pilot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/lazy"
)

// lockFile is an open lock file. The system calls are made here: nothing waits
// for such a file, and an os.File for every command costs more than the lock.
type lockFile struct {
	fd     int
	path   string
	before sending // what the file told when it was locked
	named  bool    // it tells the holder
}

// sending is the last that a process sent to a session under its lock, and of which
// the terminal may show nothing yet.
type sending struct {
	By int       `json:"sent_by"`
	At time.Time `json:"sent_at"`
}

// errRemoved says that a lock file is no longer in its place: who locked it would
// lock another file than those who come later.
var errRemoved = errors.New("the lock file was removed")

func openLock(path string) (*lockFile, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(path, flags, 0o600)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Open(path, flags, 0o600)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &lockFile{fd: fd, path: path}, nil
}

// lock takes the lock if it is free. errRemoved when the file was removed.
func (f *lockFile) lock(mine holder) (bool, error) {
	size, locked, err := f.try()
	f.before, f.named = sending{}, false
	if !locked || size == 0 {
		return locked, err
	}
	line := f.line()
	_ = json.Unmarshal(line, &f.before) // where it tells nothing, nothing is known
	if len(line) > 0 && f.before.At.IsZero() {
		f.name(mine) // in place of one that died
	}
	return true, nil
}

// name writes the holder into the file. The text only names it to others: a failed
// write loses that, not the lock.
func (f *lockFile) name(h holder) {
	f.named = true
	_, _ = unix.Pwrite(f.fd, append(h.json(), '\n'), 0)
}

// json is the holder as encoding/json makes it, as that of a record is.
func (h holder) json() []byte {
	b := strconv.AppendInt([]byte(`{"pid":`), int64(h.PID), 10)
	b = appendString(append(b, `,"what":`...), h.What)
	b = h.Since.AppendFormat(append(b, `,"since":"`...), time.RFC3339Nano)
	return append(b, `"}`...)
}

// try takes the lock if it is free, and tells how long the file is.
func (f *lockFile) try() (size int64, locked bool, err error) {
	switch err := unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return 0, false, nil
	case err != nil:
		return 0, false, &fs.PathError{Op: "lock", Path: f.path, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil || st.Nlink == 0 {
		_ = unix.Flock(f.fd, unix.LOCK_UN)
		return 0, false, errRemoved
	}
	return st.Size, true, nil
}

// holder reads who holds the lock.
func (f *lockFile) holder() (other holder) {
	_ = json.Unmarshal(f.line(), &other) // torn or blotted out: the holder is not named
	other.What = oneLine(other.What)
	return other
}

// line is what the file tells.
func (f *lockFile) line() []byte {
	text := make([]byte, 512)
	n, _ := unix.Pread(f.fd, text, 0)
	line, _, _ := bytes.Cut(text[:max(n, 0)], []byte("\n")) // behind it may be the rest of a longer one
	return line
}

// unlock takes the holder's text out, so that nobody reads it as that of the
// next holder, leaves what was sent last, and drops the lock.
func (f *lockFile) unlock(last sending) {
	switch {
	case !f.named && last == f.before: // it stands there
	case last.At.IsZero():
		_ = unix.Ftruncate(f.fd, 0)
	default:
		text := last.At.AppendFormat(fmt.Appendf(nil, `{"sent_by":%d,"sent_at":"`, last.By), time.RFC3339Nano)
		_, _ = unix.Pwrite(f.fd, append(text, "\"}\n"...), 0)
	}
	_ = unix.Flock(f.fd, unix.LOCK_UN) // a child that is just being started may have a copy of fd
}

func (f *lockFile) close() { _ = unix.Close(f.fd) }

var lockFileName = lazy.Regexp(`^[0-9a-f]{24}\.[a-z]+$`)

// sweep removes lock files that nobody has held since a time: every session
// leaves some. One is removed only by who holds it, and who opened it before then
// finds it removed.
func sweep(dir string, before time.Time) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	entries, err := d.ReadDir(sweepMost)
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) || !lockFileName().MatchString(e.Name()) {
			continue
		}
		f, err := openLock(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		if _, locked, _ := f.try(); locked {
			_ = os.Remove(f.path)
			_ = unix.Flock(f.fd, unix.LOCK_UN)
		}
		f.close()
	}
}
