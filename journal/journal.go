// Package journal keeps durable records that several processes share: files of
// JSON lines, only ever appended to.
//
// Every line carries the length and checksum of what it holds. A line that was
// not written whole, because a process was killed or a disk was full, is cut
// off before the next record is written and is never counted; what it was to
// say is not guessed. Writers take turns by a lock file. Append returns when a
// crash of the machine can no longer lose the record.
//
// A journal is the files NAME.000001.jsonl, NAME.000002.jsonl, … and NAME.lock
// in one folder. Full files stay until they are too old or too many. The folder
// is 0700, the files 0600, and no symbolic link is followed.
package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"termpilot/fault"
	"termpilot/private"
)

// Options bounds a journal. The zero value is useful.
type Options struct {
	MaxRecord int           // bytes of one record's JSON; 0 is 1 MiB, never more than 16 MiB
	MaxFile   int64         // bytes after which the next file is begun; 0 is 8 MiB
	MaxTotal  int64         // bytes of all files before the oldest are removed; 0 is 256 MiB
	MaxAge    time.Duration // a file nobody wrote to for so long is removed; 0 is 30 days
	Patience  time.Duration // longest wait for the lock; 0 is 5s
	Poll      time.Duration // how often Follow looks for records of other processes where the kernel does not wake it; 0 is 250ms
}

// Journal is one open journal. Its methods may be called from several
// goroutines, and several processes may have the same journal open.
type Journal struct {
	dir, name string
	o         Options

	mu      sync.Mutex     // held over a whole append
	turn    int            // the lock file, open for appending; -1 when it is not
	file    *os.File       // the newest file; nil when it must be looked for
	number  int64          // of file
	here    string         // its path
	after   string         // that of the next
	mine    syscall.Stat_t // file, as it was when it was opened
	good    int64          // end of its last whole record, as far as it was looked at
	closed  bool
	changed chan struct{} // closed, and made anew, when this process appended; closed for good by Close
}

// Position is a place between records. The zero value is the beginning. It
// stays valid when files are removed: reading then goes on with the oldest.
type Position struct {
	File   int64 `json:"file"`
	Offset int64 `json:"offset"`
}

// Record is one record as it was appended.
type Record struct {
	Time time.Time       // when it was appended, by the writer's clock
	Data json.RawMessage // compact JSON
	Next Position        // the place behind it
	Gap  bool            // records before this one were damaged or removed
}

// nameLetters are those that the name of a journal is of.
const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Open opens the journal of a name in a folder, and makes both when they are
// not there. A torn tail is cut and what is too old is removed. name is of
// letters, digits, "-" and "_". NotAllowed for what stands in the folder's place
// and is not the user's own folder, Storage when it cannot be used.
func Open(dir, name string, o Options) (*Journal, error) {
	if name == "" || len(name) > 64 || strings.Trim(name, nameLetters) != "" {
		return nil, &fault.Error{Op: "open journal", Code: fault.InvalidArgument, Detail: fmt.Sprintf("name %q", name), Hint: "use letters, digits, - and _"}
	}
	o.MaxRecord = min(cmp.Or(o.MaxRecord, 1<<20), largest)
	o.MaxFile = cmp.Or(o.MaxFile, 8<<20)
	o.MaxTotal = cmp.Or(o.MaxTotal, 256<<20)
	o.MaxAge = cmp.Or(o.MaxAge, 30*24*time.Hour)
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	o.Poll = cmp.Or(o.Poll, 250*time.Millisecond)
	if err := private.Folder(dir); err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, name: name, o: o, turn: -1, changed: make(chan struct{})}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.exclusive(context.Background(), func() error { return j.settle(true) }); err != nil {
		_ = j.shut()
		return nil, storage("open journal", err)
	}
	return j, nil
}

// Close ends the journal's use by this process. Sequences that follow it end.
// It may be called again.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	close(j.changed)
	if err := j.shut(); err != nil {
		return storage("close journal", err)
	}
	return nil
}

func (j *Journal) shut() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	if j.turn >= 0 {
		_ = syscall.Close(j.turn)
		j.turn = -1
	}
	return err
}

// Append adds a record, and returns when it is on the disk. A json.RawMessage that
// is JSON on one line is added as it is. TooLarge and
// InvalidArgument when it can never be one; Storage when it could not be written,
// and then it is not in the journal.
func (j *Journal) Append(ctx context.Context, record any) error {
	return j.add(ctx, record, true)
}

// Note is Append without waiting for the disk: the end of this process does not
// lose the record, that of the machine may.
func (j *Journal) Note(ctx context.Context, record any) error {
	return j.add(ctx, record, false)
}

func (j *Journal) add(ctx context.Context, record any, commit bool) error {
	data, err := encode(record)
	if err != nil {
		return &fault.Error{Op: "record", Code: fault.InvalidArgument, Err: err}
	}
	if len(data) > j.o.MaxRecord {
		return &fault.Error{Op: "record", Code: fault.TooLarge, Detail: fmt.Sprintf("%d bytes of at most %d", len(data), j.o.MaxRecord)}
	}
	line := appendLine(nil, time.Now(), data)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return storage("record", os.ErrClosed)
	}
	err = j.exclusive(ctx, func() error {
		if err := j.settle(false); err != nil {
			return err
		}
		if j.good > 0 && j.good+int64(len(line)) > j.o.MaxFile {
			if err := j.next(); err != nil {
				return err
			}
		}
		return j.write(line, commit)
	})
	if err != nil {
		return storage("record", err)
	}
	close(j.changed)
	j.changed = make(chan struct{})
	return nil
}

// encode makes JSON of a record. A json.RawMessage is taken as it is, if it is JSON
// on one line.
func encode(record any) ([]byte, error) {
	made, ok := record.(json.RawMessage)
	if ok && json.Valid(made) && bytes.IndexByte(made, '\n') < 0 {
		return made, nil
	}
	return json.Marshal(record)
}

// write appends a line to the newest file, or takes back what it wrote of it.
func (j *Journal) write(line []byte, commit bool) error {
	_, err := j.file.WriteAt(line, j.good)
	if err == nil && commit {
		err = j.file.Sync()
	}
	if err == nil {
		j.good += int64(len(line))
		return nil
	}
	if cut := j.file.Truncate(j.good); cut != nil { // the next writer will cut what is not whole
		err = errors.Join(err, cut)
	}
	j.forget()
	return err
}

// exclusive runs f while no other process writes, and no reader looks. mu is held.
func (j *Journal) exclusive(ctx context.Context, f func() error) error {
	for {
		if j.turn < 0 {
			fd, err := j.openLock()
			if err != nil {
				return err
			}
			j.turn = fd
		}
		if err := j.flock(ctx, j.turn, syscall.LOCK_EX); err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Fstat(j.turn, &st); err == nil && st.Nlink > 0 {
			break
		}
		_ = syscall.Close(j.turn) // it was removed by hand: others lock another file now
		j.turn = -1
	}
	defer func() { _ = syscall.Flock(j.turn, syscall.LOCK_UN) }()
	return f()
}

// lockRetry is how often a held lock is tried again: a writer holds it for as
// long as the disk takes, some hundred microseconds and more.
const lockRetry = time.Millisecond

func (j *Journal) lockPath() string { return filepath.Join(j.dir, j.name+".lock") }

// openLock opens the lock file. Its system calls are made here: one call of it
// stands in the way of every record.
func (j *Journal) openLock() (int, error) {
	const flags = syscall.O_CREAT | syscall.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	path := j.lockPath()
	fd, err := syscall.Open(path, flags, 0o600)
	for errors.Is(err, syscall.EINTR) {
		fd, err = syscall.Open(path, flags, 0o600)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// lock takes the lock file by a descriptor of its own.
func (j *Journal) lock(ctx context.Context, how int) (unlock func(), err error) {
	fd, err := j.openLock()
	if err != nil {
		return nil, err
	}
	if err := j.flock(ctx, fd, how); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return func() {
		_ = syscall.Flock(fd, syscall.LOCK_UN) // a child that is just being started may have a copy of fd
		_ = syscall.Close(fd)
	}, nil
}

// flock waits until the lock is taken, exclusive for writers or shared for
// readers, Patience at the most.
func (j *Journal) flock(ctx context.Context, fd, how int) error {
	switch err := syscall.Flock(fd, how|syscall.LOCK_NB); {
	case err == nil: // as a rule
		return nil
	case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
		return &fs.PathError{Op: "lock", Path: j.lockPath(), Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, j.o.Patience)
	defer cancel()
	tick := time.NewTicker(lockRetry)
	defer tick.Stop()
	for {
		switch err := syscall.Flock(fd, how|syscall.LOCK_NB); {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return &fs.PathError{Op: "lock", Path: j.lockPath(), Err: err}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", j.lockPath(), ctx.Err())
		}
	}
}

// storage names a failure: nothing of what was asked for is in the journal.
func storage(op string, err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	hint := "check the free space and the rights of the folder"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "free some space on the disk"
	case errors.Is(err, context.DeadlineExceeded):
		hint = "end the process that holds the lock"
	case errors.Is(err, os.ErrClosed):
		hint = "open the journal again"
	}
	return &fault.Error{Op: op, Code: fault.Storage, Hint: hint, Err: err}
}
