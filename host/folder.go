package host

import (
	"context"
	"errors"
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
