package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"termpilot/fault"
	"termpilot/private"
)

// claim is the right to be the host of a location: the held lock and the two
// listening sockets. The lock's file stays referenced here, since the
// collector would close it and so let go of the lock.
type claim struct {
	loc    Location
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
		if err := private.Folder(folder); err != nil {
			return nil, err
		}
	}
	lock := lockAt(loc.Lock)
	if err := takeLock(ctx, lock, loc); err != nil {
		_ = lock.Close()
		return nil, err
	}
	c := &claim{loc: loc, lock: lock}
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

func lockAt(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o600)) }

// takeLock takes the lock. A holder that still answers is another host; one
// that does not is ending, and is waited for. Who answers without the lock has
// lost its file.
func takeLock(ctx context.Context, lock *flock.Flock, loc Location) error {
	ctx, cancel := context.WithTimeout(ctx, endingPatience)
	defer cancel()
	for {
		held, err := lock.TryLock()
		if err != nil {
			return unavailable("host start", "the lock file cannot be used", err)
		}
		if listens(ctx, loc.Attach) {
			return unavailable("host start", "", errTaken)
		}
		if held {
			return nil
		}
		select {
		case <-ctx.Done():
			return unavailable("host start", "", errTaken)
		case <-time.After(10 * time.Millisecond): // a lock is let go of without an event
		}
	}
}

// listens reports whether somebody of this user's listens at a socket.
func listens(ctx context.Context, path string) bool {
	conn, err := dial(ctx, path)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// keep makes the lock's file anew when somebody has removed it, as cleaners of
// temporary folders do: another host could take the place.
func (c *claim) keep() error {
	there, err := os.Lstat(c.loc.Lock)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if ours, failed := c.lock.Stat(); failed == nil && err == nil && os.SameFile(ours, there) {
		return nil
	}
	if err := private.Folder(c.loc.Folder); err != nil {
		return err
	}
	fresh := lockAt(c.loc.Lock)
	held, err := fresh.TryLock()
	if held {
		fresh, c.lock = c.lock, fresh
	}
	_ = fresh.Close()
	return err
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

func storage(op, detail string, err error) error {
	return &fault.Error{
		Op: op, Code: fault.Storage, Detail: detail,
		Hint: "see that there is room, and that the folder may be written", Err: err,
	}
}

func unavailable(op, detail string, err error) error {
	return &fault.Error{
		Op: op, Code: fault.BackendUnavailable, Detail: detail,
		Hint: "start the host with termpilot host start", Err: err,
	}
}
