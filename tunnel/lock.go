package tunnel

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/gofrs/flock"

	"termpilot/private"
	"termpilot/process"
)

// holder is who holds an alias's lock, as it has written itself. The lock alone
// proves that a supervisor lives; this says which process that is, and where it
// listens, which may be another place than this environment would have chosen.
type holder struct {
	PID     int    `json:"pid"`
	Birth   string `json:"birth"`
	Sockets string `json:"sockets"`
}

// heldBy reports whether a supervisor holds the lock, and which process wrote
// itself down as its holder. It asks with a shared lock: many may ask at once
// without taking each other for a supervisor.
func heldBy(path string) (held bool, who holder) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	if _, err := os.Lstat(path); err != nil {
		return false, holder{} // never locked, and asking must make nothing
	}
	free, err := lock.TryRLock()
	if err == nil && free {
		_ = lock.Close()
		return false, holder{}
	}
	if data, err := private.Read(path+".holder", 1<<10); err == nil {
		_ = json.Unmarshal(data, &who) // a torn file names nobody
	}
	return true, who
}

// hold takes the lock, for good. Somebody who asks holds it for a moment, too,
// so a refusal counts only when it lasts.
func hold(ctx context.Context, lock *flock.Flock) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	held, err := lock.TryLockContext(ctx, 5*time.Millisecond)
	if ctx.Err() != nil {
		return held, nil
	}
	return held, err
}

// find says whether a supervisor has the alias, who that is, and the paths at
// which it is reached.
func (p Place) find(alias string) (held bool, who holder, f files) {
	f = p.files(alias)
	held, who = heldBy(f.lock)
	if held && who.Sockets != "" {
		f = Place{Home: p.Home, Sockets: who.Sockets}.files(alias)
	}
	return held, who, f
}

// signUp writes this process down as the holder.
func signUp(path, sockets string) error {
	self, err := process.Lookup(os.Getpid())
	if err != nil {
		return err
	}
	data, err := json.Marshal(holder{PID: self.PID, Birth: process.Birth(self.Start), Sockets: sockets})
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
	return err == nil && process.Runs(p, nil, process.Born(h.Birth))
}
