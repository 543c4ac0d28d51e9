package tunnel

import (
	"encoding/json"
	"os"
	"time"

	"github.com/gofrs/flock"

	"termpilot/private"
	"termpilot/process"
)

// holder is who holds an alias's lock, as it has written itself. The lock alone
// proves that a supervisor lives; this says which process that is.
type holder struct {
	PID   int       `json:"pid"`
	Start time.Time `json:"start"`
}

// heldBy reports whether a supervisor holds the lock, and which process wrote
// itself down as its holder.
func heldBy(path string) (held bool, who holder) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	if _, err := os.Lstat(path); err != nil {
		return false, holder{} // never locked, and asking must make nothing
	}
	free, err := lock.TryLock()
	if err == nil && free {
		_ = lock.Close()
		return false, holder{}
	}
	if data, err := private.Read(path+".holder", 1<<10); err == nil {
		_ = json.Unmarshal(data, &who) // a torn file names nobody
	}
	return true, who
}

// signUp writes this process down as the holder.
func signUp(path string) error {
	self, err := process.Lookup(os.Getpid())
	if err != nil {
		return err
	}
	data, err := json.Marshal(holder{PID: self.PID, Start: self.Start})
	if err != nil {
		return err
	}
	return private.Write(path+".holder", data)
}

// alive reports whether the process is still the one that signed up.
func (h holder) alive() bool {
	if h.PID <= 1 {
		return false
	}
	p, err := process.Lookup(h.PID)
	return err == nil && p.Start.Equal(h.Start) && p.State != process.Zombie
}
