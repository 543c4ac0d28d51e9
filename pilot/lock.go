package pilot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/private"
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
	pid int

	mu    sync.Mutex
	held  map[string]*hold
	files map[string]*lockFile // some that were held; kept open, for most often they soon are again
	swept bool
	over  bool // close was called
}

// hold is a lock that is held.
type hold struct {
	holder
	file   *lockFile   // nil without a folder
	naming *time.Timer // writes the holder into the file
	last   sending     // to the session, before it was held or since
}

// namedAfter is how long a lock is held before its file names the holder: most are
// held for less, and writing it down would take as long as all else about them.
const namedAfter = 10 * time.Millisecond

func newLocks(dir string) (*locks, error) {
	l := &locks{pid: os.Getpid(), held: map[string]*hold{}, files: map[string]*lockFile{}}
	if dir == "" {
		return l, nil
	}
	l.dir = filepath.Join(dir, "locks")
	if err := private.Folder(l.dir); err != nil {
		return nil, err
	}
	return l, nil
}

// close lets go of the files that are not held. A lock that is taken later works
// as before.
func (l *locks) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for name, file := range l.files {
		if _, held := l.held[name]; !held {
			file.close()
			delete(l.files, name)
		}
	}
}

// lockPoll is how often a lock held elsewhere is tried again.
const lockPoll = 20 * time.Millisecond

// acquire takes a session's lock, trying for patience (0: once). Busy, with
// the holder, when it stays held. release may be called more than once.
func (l *locks) acquire(ctx context.Context, op string, id terminal.ID, kind lockKind, what string, patience time.Duration) (release func(), err error) {
	mine := holder{PID: l.pid, What: what, Since: time.Now()}
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
	name := lockFileOf(id, kind)
	l.mu.Lock()
	defer l.mu.Unlock()
	if h, ok := l.held[name]; ok {
		return nil, h.holder, nil
	}
	h := &hold{holder: mine}
	if l.dir != "" {
		if h.file, other, err = l.open(name, mine); h.file == nil {
			return nil, other, err
		}
		h.last = h.file.before
		h.naming = time.AfterFunc(namedAfter, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.held[name] == h {
				h.file.name(mine)
			}
		})
	}
	l.held[name] = h
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
		if h.file != nil {
			h.naming.Stop()
			l.drop(name, h)
		}
	}, holder{}, nil
}

func lockFileOf(id terminal.ID, kind lockKind) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:12]) + "." + string(kind)
}

// sent notes that something is sent to a session whose lockType is held.
func (l *locks) sent(id terminal.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[lockFileOf(id, lockType)]; h != nil {
		h.last = sending{By: l.pid, At: time.Now()}
	}
}

// dealtWith is how long after something was sent a program counts as having
// shown what it made of it.
const dealtWith = 300 * time.Millisecond

// settle waits until a program has had the time to deal with what another process
// sent to a session whose lockType is held. What this process sent, its own
// connection to the terminal takes into account.
func (l *locks) settle(ctx context.Context, id terminal.ID) {
	l.mu.Lock()
	h := l.held[lockFileOf(id, lockType)]
	var last sending
	if h != nil {
		last = h.last
	}
	l.mu.Unlock()
	rest := min(dealtWith-time.Since(last.At), dealtWith)
	if last.At.IsZero() || last.By == l.pid || rest <= 0 {
		return
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

const (
	// keptFiles is how many lock files stay open.
	keptFiles = 64
	// lockAge is after how long without a holder a lock file is removed, and
	// sweepMost how many are looked at.
	lockAge   = 24 * time.Hour
	sweepMost = 4096
)

// open locks the file of a name. A nil file without an error means that another
// process holds it. mu is held.
func (l *locks) open(name string, mine holder) (*lockFile, holder, error) {
	if !l.swept {
		l.swept = true
		sweep(l.dir, time.Now().Add(-lockAge))
	}
	if file := l.files[name]; file != nil {
		locked, err := file.lock(mine)
		if locked {
			return file, holder{}, nil
		}
		other := file.holder()
		file.close()
		delete(l.files, name)
		if err == nil {
			return nil, other, nil
		} // it was removed meanwhile: there may be another one
	}
	for range 8 { // each time, another process removed it in between
		file, err := openLock(filepath.Join(l.dir, name))
		if err != nil {
			return nil, holder{}, err
		}
		locked, err := file.lock(mine)
		if locked {
			return file, holder{}, nil
		}
		other := file.holder()
		file.close()
		if !errors.Is(err, errRemoved) {
			return nil, other, err
		}
	}
	return nil, holder{}, errRemoved
}

// drop gives a lock back, and keeps its file open if there is room. mu is held.
func (l *locks) drop(name string, h *hold) {
	file := h.file
	file.unlock(h.last)
	if l.over {
		file.close()
		delete(l.files, name)
		return
	}
	if l.files[name] == file {
		return
	}
	if len(l.files) >= keptFiles {
		for old, other := range l.files {
			if _, held := l.held[old]; !held { // any one: the next holder opens it again
				other.close()
				delete(l.files, old)
				break
			}
		}
	}
	if len(l.files) >= keptFiles {
		file.close()
		return
	}
	l.files[name] = file
}
