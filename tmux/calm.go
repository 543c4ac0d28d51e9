package tmux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"termpilot/private"
)

// calm keeps what happens on a server by us apart, in this process and among all
// with the same folder: a connection that is being made, and sessions or clients
// that go or come. tmux (3.3a and 3.5a for two) crashes when one meets the other.
type calm struct {
	held chan struct{} // holds a token while somebody of this process has the right
	path string        // of the lock file; "" is this process only
	lock *flock.Flock  // while it is held
}

// calmPatience is how long another process is waited for. One that hangs must
// not hold up all others: what it keeps apart seldom meets.
const calmPatience = time.Second

func newCalm(dir, socket string) *calm {
	c := &calm{held: make(chan struct{}, 1)}
	if dir != "" {
		sum := sha256.Sum256([]byte(socket))
		c.path = filepath.Join(dir, "l-"+hex.EncodeToString(sum[:12]))
	}
	return c
}

// Lock waits for the right. errSilent is without it: ctx ended before.
func (c *calm) Lock(ctx context.Context) error {
	select {
	case c.held <- struct{}{}:
	case <-ctx.Done():
		return errSilent
	}
	if c.path == "" || private.Folder(filepath.Dir(c.path)) != nil {
		return nil // without a folder there is nobody to agree with
	}
	patience, cancel := context.WithTimeout(ctx, calmPatience)
	defer cancel()
	lock := flock.New(c.path, flock.SetPermissions(0o600))
	if held, err := lock.TryLockContext(patience, 2*time.Millisecond); err == nil && held {
		c.lock = lock
		return nil
	}
	_ = lock.Close()
	if ctx.Err() != nil {
		<-c.held
		return errSilent
	}
	return nil
}

// Unlock gives it back.
func (c *calm) Unlock() {
	if c.lock != nil {
		_ = c.lock.Close()
		c.lock = nil
	}
	<-c.held
}
