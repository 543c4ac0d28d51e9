package tmux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"termpilot/private"
)

// calm keeps what happens on a server by us apart, in this process and among all
// with the same folder: a connection that is being made, and sessions or clients
// that go or come. tmux (3.3a and 3.5a for two) crashes when one meets the other.
type calm struct {
	mu   sync.Mutex
	path string       // of the lock file; "" is this process only
	lock *flock.Flock // while it is held
}

// calmPatience is how long another process is waited for. One that hangs must
// not hold up all others: what it keeps apart seldom meets.
const calmPatience = time.Second

func newCalm(dir, socket string) *calm {
	if dir == "" {
		return &calm{}
	}
	sum := sha256.Sum256([]byte(socket))
	return &calm{path: filepath.Join(dir, "l-"+hex.EncodeToString(sum[:12]))}
}

// Lock waits for the right.
func (c *calm) Lock() {
	c.mu.Lock()
	if c.path == "" || private.Folder(filepath.Dir(c.path)) != nil {
		return // without a folder there is nobody to agree with
	}
	ctx, cancel := context.WithTimeout(context.Background(), calmPatience)
	defer cancel()
	lock := flock.New(c.path, flock.SetPermissions(0o600))
	if held, err := lock.TryLockContext(ctx, 2*time.Millisecond); err == nil && held {
		c.lock = lock
		return
	}
	_ = lock.Close()
}

// Unlock gives it back.
func (c *calm) Unlock() {
	if c.lock != nil {
		_ = c.lock.Close()
		c.lock = nil
	}
	c.mu.Unlock()
}
