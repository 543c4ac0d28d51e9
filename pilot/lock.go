package pilot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// holder says who holds a session. It is what a refused caller reads.
type holder struct {
	PID   int       `json:"pid"`
	What  string    `json:"what"` // "run r1f2…"
	Since time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process holds it"
	}
	return fmt.Sprintf("%s of process %d has held it since %s", h.What, h.PID, h.Since.UTC().Format(time.RFC3339))
}

// lockKind says what a lock guards.
type lockKind string

const (
	lockRun  lockKind = "run"  // one command at a time: held while a caller waits for its run
	lockType lockKind = "type" // one writer at a time: held from the gate's look until the bytes are sent
)

// locks serialises work on a session, among the goroutines of this process and,
// with a folder, among processes. A lock dies with its process: the kernel
// drops flock(2) when the last descriptor closes.
type locks struct {
	dir string // "" is this process only

	mu   sync.Mutex
	held map[string]holder
}

func newLocks(dir string) (*locks, error) {
	l := &locks{held: map[string]holder{}}
	if dir == "" {
		return l, nil
	}
	l.dir = filepath.Join(dir, "locks")
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, &fault.Error{
			Op: "open", Code: fault.Storage, Detail: "the folder of session locks cannot be made",
			Hint: "set TERMPILOT_HOME to a folder that can be written", Err: err,
		}
	}
	return l, nil
}

// lockPoll is how often a lock held elsewhere is tried again.
const lockPoll = 20 * time.Millisecond

// acquire takes a session's lock, trying for patience (0: once). Busy, with
// the holder, when it stays held. release may be called more than once.
func (l *locks) acquire(ctx context.Context, op string, id terminal.ID, kind lockKind, what string, patience time.Duration) (release func(), err error) {
	mine := holder{PID: os.Getpid(), What: what, Since: time.Now()}
	deadline := mine.Since.Add(patience)
	for {
		release, other, err := l.try(id, kind, mine)
		if err != nil {
			return nil, &fault.Error{
				Op: op, Session: string(id), Code: fault.Storage, Detail: "the session lock cannot be taken",
				Hint: "check the free space and the rights of termpilot's folder", Err: err,
			}
		}
		if release != nil {
			return sync.OnceFunc(release), nil
		}
		if !time.Now().Before(deadline) || ctx.Err() != nil {
			return nil, &fault.Error{
				Op: op, Session: string(id), Code: fault.Busy, Detail: other.String(),
				Hint: "wait for it with wait_session, or use another session",
			}
		}
		timer := time.NewTimer(lockPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// try takes the lock if it is free; otherwise it says who holds it.
func (l *locks) try(id terminal.ID, kind lockKind, mine holder) (release func(), other holder, err error) {
	sum := sha256.Sum256([]byte(id))
	name := hex.EncodeToString(sum[:12]) + "." + string(kind)
	l.mu.Lock()
	defer l.mu.Unlock()
	if h, ok := l.held[name]; ok {
		return nil, h, nil
	}
	drop := func() {}
	if l.dir != "" {
		file, other, err := lockFile(filepath.Join(l.dir, name), mine)
		if file == nil {
			return nil, other, err
		}
		drop = func() { unlockFile(file) }
	}
	l.held[name] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
		drop()
	}, holder{}, nil
}

// lockFile locks a file and writes the holder into it. A nil file without an
// error means that another process holds it. The file stays when it is
// unlocked: removing it would let two processes lock two files of one name.
func lockFile(path string, mine holder) (*os.File, holder, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, holder{}, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		text, _ := json.Marshal(mine)
		// The text only names the holder to others: a failed write loses that, not the lock.
		if file.Truncate(0) == nil {
			_, _ = file.WriteAt(text, 0)
		}
		return file, holder{}, nil
	}
	defer file.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, holder{}, err
	}
	var other holder
	text := make([]byte, 512)
	n, _ := file.ReadAt(text, 0)
	_ = json.Unmarshal(text[:n], &other) // torn or empty: the holder is not named
	other.What = oneLine(other.What)
	return nil, other, nil
}

func unlockFile(file *os.File) {
	_ = file.Truncate(0)
	_ = file.Close()
}
