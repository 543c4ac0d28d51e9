package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"syscall"
	"time"

	"termpilot/changes"
	"termpilot/fault"
)

// Records returns the records behind a position, in the order in which they
// were appended, up to the last one that was whole when it was asked for. An
// error ends the sequence.
func (j *Journal) Records(ctx context.Context, after Position) iter.Seq2[Record, error] {
	return j.read(ctx, after, false)
}

// Follow is Records, and then waits for what is appended, by this journal or by
// another process: the kernel wakes it, and where the kernel does not tell it looks
// every Options.Poll. It ends without an error when ctx ends or the journal is closed.
func (j *Journal) Follow(ctx context.Context, after Position) iter.Seq2[Record, error] {
	return j.read(ctx, after, true)
}

func (j *Journal) read(ctx context.Context, after Position, follow bool) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r := &reader{j: j, at: after}
		defer r.close()
		for {
			j.mu.Lock()
			changed, closed := j.changed, j.closed // before looking: what comes later closes it
			j.mu.Unlock()
			if closed && !follow {
				yield(Record{}, storage("read journal", os.ErrClosed))
			}
			if closed {
				return
			}
			goOn, err := r.all(ctx, yield)
			if err != nil && goOn && ctx.Err() == nil {
				yield(Record{}, storage("read journal", err))
				return
			}
			if ctx.Err() != nil && !follow && goOn {
				yield(Record{}, &fault.Error{Op: "read journal", Code: fault.Deadline, Err: context.Cause(ctx)})
			}
			if !goOn || !follow || ctx.Err() != nil || !r.wait(ctx, changed) {
				return
			}
		}
	}
}

// reader is where one sequence stands.
type reader struct {
	j    *Journal
	at   Position
	gap  bool
	file *os.File // of at.File, when it is open

	watch *changes.Folder // while following; nil where the kernel does not tell
	tried bool            // to watch
}

func (r *reader) close() {
	if r.watch != nil {
		r.watch.Close()
		r.watch = nil
	}
	r.release()
}

// release closes the file.
func (r *reader) release() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

// distrust is how many times rarer it is looked where the kernel tells of changes:
// those that another machine makes on a folder of the network it does not tell.
const distrust = 16

// wait returns true when there may be something new.
func (r *reader) wait(ctx context.Context, changed <-chan struct{}) bool {
	if !r.tried {
		r.tried = true
		r.watch, _ = changes.Watch(r.j.dir) // the ticker looks instead
		if r.news() {
			return true // it came before the watch stood
		}
	}
	var woken <-chan struct{}
	poll := r.j.o.Poll
	if r.watch != nil {
		woken, poll = r.watch.C, distrust*poll
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-changed:
			return true
		case <-ctx.Done():
			return false
		case <-woken:
			if r.news() {
				return true
			}
		case <-tick.C:
			if r.news() {
				return true
			}
		}
	}
}

// news looks, without the lock, whether another process may have written.
func (r *reader) news() bool {
	if _, err := os.Lstat(r.j.path(r.at.File + 1)); err == nil {
		return true
	}
	info, err := os.Lstat(r.j.path(r.at.File))
	return err != nil || info.Size() != r.at.Offset || !r.same(info)
}

// same reports whether the file at the position is the one that is open, if one is.
func (r *reader) same(there fs.FileInfo) bool {
	if r.file == nil {
		return true
	}
	open, err := r.file.Stat()
	return err == nil && os.SameFile(open, there)
}

// replaced reports whether the position is one in files that were removed by hand,
// in whose place others were begun.
func (r *reader) replaced(newest int64) bool {
	if r.at.File > newest || r.file == nil {
		return r.at.File > newest
	}
	there, err := os.Lstat(r.j.path(r.at.File))
	return err == nil && !r.same(there)
}

// committed returns the journal's files and the size of the newest at a moment
// at which nobody writes: what is whole then will never be taken back.
func (r *reader) committed(ctx context.Context) (numbers []int64, size int64, err error) {
	unlock, err := r.j.lock(ctx, syscall.LOCK_SH)
	if err != nil {
		return nil, 0, err
	}
	defer unlock()
	if numbers, err = r.j.numbers(); err != nil || len(numbers) == 0 {
		return nil, 0, err
	}
	info, err := os.Lstat(r.j.path(numbers[len(numbers)-1]))
	if err != nil {
		return nil, 0, err
	}
	return numbers, info.Size(), nil
}

// all yields what is committed now. goOn is false when the caller's loop ended.
func (r *reader) all(ctx context.Context, yield func(Record, error) bool) (goOn bool, err error) {
	numbers, size, err := r.committed(ctx)
	if err != nil || len(numbers) == 0 {
		return true, err
	}
	newest := numbers[len(numbers)-1]
	replaced := r.replaced(newest)
	if replaced || r.at.File > 0 && !slices.Contains(numbers, r.at.File) {
		if r.file == nil { // nobody knows any more what was behind the position
			r.gap = true
		} else if goOn, err := r.part(ctx, full, yield); !goOn || err != nil { // removed, but still open here
			return goOn, err
		}
		if replaced {
			r.release()
			r.at, r.gap = Position{}, true
		}
	}
	for _, n := range numbers {
		if n < r.at.File {
			continue
		}
		if n != r.at.File {
			r.gap = r.gap || r.at.File > 0 && n != r.at.File+1
			r.release()
			r.at = Position{File: n}
		}
		end := size
		if n != newest {
			end = full
		}
		if goOn, err := r.part(ctx, end, yield); !goOn || err != nil {
			return goOn, err
		}
	}
	return true, nil
}

// fits reports whether the position is one behind a line of the open file: in a
// file that took the place of another, or of which somebody cut records away, it
// is none.
func (r *reader) fits(size int64) bool {
	if r.at.Offset == 0 {
		return true
	}
	var last [1]byte
	_, err := r.file.ReadAt(last[:], r.at.Offset-1)
	return r.at.Offset <= size && (err != nil || last[0] == '\n')
}

// full is the end of a file to which nobody writes any more.
const full = 1 << 62

// part yields the records of the file at the position, up to an offset. Only
// records move the position, since a tail that is torn will be written over.
func (r *reader) part(ctx context.Context, end int64, yield func(Record, error) bool) (goOn bool, err error) {
	if r.file == nil {
		f, err := openFile(r.j.path(r.at.File), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) { // removed since it was listed
			r.gap = true
			return true, nil
		}
		if err != nil {
			return true, err
		}
		r.file = f
	}
	info, err := r.file.Stat()
	if err != nil {
		return true, err
	}
	if !r.fits(info.Size()) {
		r.at.Offset, r.gap = 0, true
	}
	s := scanner{from: r.file, at: r.at.Offset, end: min(end, info.Size())}
	for damaged := false; ; {
		if ctx.Err() != nil {
			return true, nil
		}
		l, err := s.next()
		if errors.Is(err, io.EOF) {
			// behind the last record of a file that is full, nothing is torn: it is damaged
			r.gap = r.gap || end == full && (damaged || s.at < s.end)
			return true, nil
		}
		if err != nil {
			return true, err
		}
		if !l.ok {
			damaged = true
			continue
		}
		record := Record{Time: l.time, Data: bytes.Clone(l.data), Next: Position{r.at.File, l.end}, Gap: r.gap || damaged}
		r.at, r.gap, damaged = record.Next, false, false
		if !yield(record, nil) {
			return false, nil
		}
	}
}
