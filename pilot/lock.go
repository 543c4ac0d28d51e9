package pilot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

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
		drop = file.unlock
	}
	l.held[name] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
		drop()
	}, holder{}, nil
}

// lockFile locks a file and writes the holder into it. A nil lock without an
// error means that another process holds it. The file stays when it is
// unlocked: removing it would let two processes lock two files of one name. The
// system calls are made here: nothing waits for such a file, and an os.File for
// every command costs more than the lock.
func lockFile(path string, mine holder) (*heldFile, holder, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	}
	if err != nil {
		return nil, holder{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		text, _ := json.Marshal(mine)
		// The text only names the holder to others: a failed write loses that, not the lock.
		_, _ = unix.Pwrite(fd, append(text, '\n'), 0)
		return &heldFile{fd}, holder{}, nil
	}
	defer unix.Close(fd)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return nil, holder{}, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	var other holder
	text := make([]byte, 512)
	n, _ := unix.Pread(fd, text, 0)
	line, _, _ := bytes.Cut(text[:max(n, 0)], []byte("\n")) // behind it may be the rest of a longer one
	_ = json.Unmarshal(line, &other)                        // torn or blotted out: the holder is not named
	other.What = oneLine(other.What)
	return nil, other, nil
}

// heldFile is a locked file.
type heldFile struct{ fd int }

// unlock blots the holder's text out, so that nobody reads it as that of the
// next holder, and drops the lock.
func (f *heldFile) unlock() {
	_, _ = unix.Pwrite(f.fd, []byte("\n"), 0)
	_ = unix.Flock(f.fd, unix.LOCK_UN) // a child that is just being started may have a copy of fd
	_ = unix.Close(f.fd)
}
