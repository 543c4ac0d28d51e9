package tunnel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"termpilot/fault"
)

// letGo is how long a supervisor may take to end: its client's patience and some more.
const letGo = endPatience + 12*time.Second

// Ended says what a disconnect has ended.
type Ended struct {
	Alias      string `json:"alias"`
	WasRunning bool   `json:"was_running"`
	PID        int    `json:"pid"`        // of the supervisor that ended; 0: none ran
	ClientPID  int    `json:"client_pid"` // of the tunnel-client that ended; 0: none ran
	LoginFile  string `json:"login_file"` // what started it at login and was removed; "" when nothing did
}

// Disconnect ends the supervisor of an alias and its tunnel-client, takes away
// what starts it at login, and returns when all are gone. It ends nothing that
// is not provably ours: what answers on our private socket, or holds our lock
// and is the process that signed up for it. The tunnel itself, at OpenAI, stays,
// and so does what was set up here. It may be repeated.
func Disconnect(ctx context.Context, p Place, alias string, getenv func(string) string) (Ended, error) {
	alias, err := Alias(alias)
	if err != nil {
		return Ended{}, err
	}
	login, err := removeLogin(alias, getenv)
	if err != nil {
		return Ended{Alias: alias}, err
	}
	e, err := end(ctx, p, alias)
	e.LoginFile = login
	return e, err
}

// end ends the supervisor of an alias and its tunnel-client.
func end(ctx context.Context, p Place, alias string) (Ended, error) {
	held, who, f := p.find(alias)
	e := Ended{Alias: alias}
	if _, err := os.Lstat(f.folder); errors.Is(err, os.ErrNotExist) {
		return e, nil // nothing was ever set up, and nothing is made by asking
	}
	if held {
		if err := e.endSupervisor(ctx, f, who); err != nil {
			return e, err
		}
	}
	pid, err := endOrphan(ctx, f)
	if pid != 0 {
		e.ClientPID = pid
	}
	if err != nil {
		return e, &fault.Error{Op: "disconnect " + alias, Code: fault.Internal, Detail: fmt.Sprintf("tunnel-client %d could not be ended", pid), Hint: "end it yourself", Err: err}
	}
	for _, path := range []string{f.control, f.mcp, f.health} {
		_ = os.Remove(path) // what a supervisor that was killed has left
	}
	return e, nil
}

// endSupervisor asks the supervisor to end. One that does not answer, or says
// that it will and does not, is signalled, at last with SIGKILL.
func (e *Ended) endSupervisor(ctx context.Context, f files, who holder) error {
	e.WasRunning = true
	for end := time.Now().Add(time.Second); !who.alive() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // one that begins signs up after it has the lock
		_, who = heldBy(f.lock)
	}
	e.PID = who.PID
	a, err := put(ctx, f.control, question{Op: opStop})
	switch {
	case err == nil && a.Status != nil:
		e.PID, e.ClientPID = a.Status.PID, a.Status.ClientPID
		if released(ctx, f.lock, letGo) {
			return nil
		}
	case !who.alive():
		if released(ctx, f.lock, 0) {
			return nil
		}
		e.PID = 0
		return &fault.Error{
			Op: "disconnect " + e.Alias, Code: fault.Internal, Detail: "a process that did not sign up holds the lock " + f.lock,
			Hint: "find it with lsof, and end it yourself", Err: err,
		}
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !who.alive() || syscall.Kill(who.PID, signal) != nil {
			break
		}
		_ = syscall.Kill(who.PID, syscall.SIGCONT) // it may have been stopped
		if released(ctx, f.lock, letGo) {
			return nil
		}
	}
	if released(ctx, f.lock, 0) {
		return nil
	}
	return &fault.Error{
		Op: "disconnect " + e.Alias, Code: fault.Deadline, Detail: fmt.Sprintf("the supervisor %d was asked to end and has not", e.PID),
		Hint: "look at process " + fmt.Sprint(e.PID) + ", then try again",
	}
}

// released waits until nobody holds the lock.
func released(ctx context.Context, lock string, patience time.Duration) bool {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // a lock is let go of without an event
		if held, _ := heldBy(lock); !held {
			return true
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
	}
}
