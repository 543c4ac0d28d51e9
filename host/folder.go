package host

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"termpilot/fault"
)

// claim is the right to be the host of a location: the held lock and the two
// listening sockets. The lock's file stays referenced here, since the
// collector would close it and so let go of the lock.
type claim struct {
	lock   *flock.Flock
	api    *door
	attach *door
}

var errTaken = errors.New("another host holds the lock")

// occupy takes a location, or fails with errTaken in the chain when a living
// host has it. A socket that a dead host left behind is removed only under the
// lock, and only if it is a socket.
func occupy(ctx context.Context, loc Location) (*claim, error) {
	for _, folder := range []string{loc.Home, loc.Folder} {
		if err := privateFolder(folder); err != nil {
			return nil, err
		}
	}
	lock := flock.New(loc.Lock, flock.SetPermissions(0o600))
	if err := takeLock(ctx, lock, loc); err != nil {
		_ = lock.Close()
		return nil, err
	}
	c := &claim{lock: lock}
	c.sweep(loc.Folder)
	var err error
	if c.api, err = openDoor(loc.Socket); err == nil {
		c.attach, err = openDoor(loc.Attach)
	}
	if err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// endingPatience is how long a host that has closed its sockets may take to end.
const endingPatience = 8 * time.Second

// takeLock takes the lock. A holder that still answers is another host; one
// that does not is ending, and is waited for.
func takeLock(ctx context.Context, lock *flock.Flock, loc Location) error {
	ctx, cancel := context.WithTimeout(ctx, endingPatience)
	defer cancel()
	for {
		held, err := lock.TryLock()
		if err != nil {
			return unavailable("host start", "the lock file cannot be used", err)
		}
		if held {
			return nil
		}
		if conn, err := dial(ctx, loc.Attach); err == nil {
			_ = conn.Close()
			return unavailable("host start", "", errTaken)
		}
		select {
		case <-ctx.Done():
			return unavailable("host start", "", errTaken)
		case <-time.After(10 * time.Millisecond): // a lock is let go of without an event
		}
	}
}

// sweep removes the folders of sessions of a host that was killed.
func (c *claim) sweep(folder string) {
	left, _ := filepath.Glob(filepath.Join(folder, sessionFolder+"*"))
	for _, path := range left {
		_ = os.RemoveAll(path)
	}
}

// sessionFolder begins the name of a session's private folder.
const sessionFolder = "s-"

// release closes and removes the sockets, then lets go of the lock.
func (c *claim) release() {
	c.api.close()
	c.attach.close()
	_ = c.lock.Close()
}

func listen(path string) (*net.UnixListener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, unavailable("host start", "the socket's place cannot be read", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, &fault.Error{
			Op: "host start", Code: fault.BackendUnavailable, Detail: path + " is not a socket",
			Hint: "move that file away: a host never removes what is not a socket",
		}
	default:
		if err := os.Remove(path); err != nil {
			return nil, unavailable("host start", "the stale socket cannot be removed", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, unavailable("host start", "the socket cannot be made", err)
	}
	// The folder is 0700, so nobody else could connect in between.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, unavailable("host start", "the socket cannot be made private", err)
	}
	return l, nil
}

// privateFolder makes a folder that is this user's alone, or makes sure that an
// existing one is: a link, a file or a stranger's folder is refused.
func privateFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
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
	if owner, ok := ownerOf(info); !ok || owner != os.Getuid() {
		return foreign(path + " belongs to another user")
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o700); err != nil {
			return storage("the folder cannot be made private", err)
		}
	}
	return nil
}

func ownerOf(info fs.FileInfo) (int, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

func foreign(detail string) error {
	return &fault.Error{
		Op: "host start", Code: fault.NotAllowed, Detail: detail,
		Hint: "set TERMPILOT_HOME to a folder of your own",
	}
}

func storage(detail string, err error) error {
	return &fault.Error{
		Op: "host start", Code: fault.Storage, Detail: detail,
		Hint: "see that there is room, and that the folder may be written", Err: err,
	}
}

func unavailable(op, detail string, err error) error {
	return &fault.Error{
		Op: op, Code: fault.BackendUnavailable, Detail: detail,
		Hint: "start the host with termpilot host start", Err: err,
	}
}
