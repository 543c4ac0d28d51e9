package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func (j *Journal) path(n int64) string { return filepath.Join(j.dir, fileName(j.name, n)) }

// opened notes which file is open. mu is held.
func (j *Journal) opened(f *os.File, n int64) error {
	j.file, j.number, j.good = f, n, 0
	j.here, j.after = j.path(n), j.path(n+1)
	info, err := f.Stat()
	if err != nil {
		j.forget()
		return err
	}
	j.mine = *info.Sys().(*syscall.Stat_t)
	return nil
}

// numbers returns the numbers of the journal's files, rising.
func (j *Journal) numbers() ([]int64, error) {
	d, err := os.Open(j.dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []int64
	for _, name := range names {
		if n, ok := fileNumber(j.name, name); ok {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// openFile opens one file, which must be a regular one of the user's own.
// O_NONBLOCK keeps a FIFO from blocking the open.
func openFile(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file: %s", path, info.Mode().Type())
	case info.Mode().Perm() != 0o600 && flag&os.O_RDWR != 0:
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// forget closes the newest file, so that it is looked for again.
func (j *Journal) forget() {
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

// settle finds the newest file, and cuts a torn tail off it. The lock is held.
// When opening, it also begins a new file where the newest is old, and removes
// what is too much.
func (j *Journal) settle(opening bool) error {
	size, stale := int64(0), true
	if j.file != nil {
		size, stale = j.look()
	}
	if j.file != nil && stale {
		j.forget()
	}
	if j.file == nil {
		numbers, err := j.numbers()
		if err != nil {
			return err
		}
		if len(numbers) == 0 {
			return j.create(j.number + 1) // after files that were removed by hand, a number that no position has
		}
		newest := numbers[len(numbers)-1]
		f, err := openFile(j.path(newest), os.O_RDWR)
		if err != nil {
			return err
		}
		if err := j.opened(f, newest); err != nil {
			return err
		}
		size = j.mine.Size
	}
	if err := j.cut(size); err != nil {
		return err
	}
	if !opening {
		return nil
	}
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	if j.good > 0 && time.Since(info.ModTime()) > j.o.MaxAge {
		return j.next()
	}
	return j.prune()
}

// look tells how long the open file is, and whether it is stale: another process
// began a newer file, or the one that is open is no longer at its place.
func (j *Journal) look() (size int64, stale bool) {
	var there syscall.Stat_t
	if err := lstat(j.after, &there); !errors.Is(err, fs.ErrNotExist) {
		return 0, true
	}
	if err := lstat(j.here, &there); err != nil || there.Dev != j.mine.Dev || there.Ino != j.mine.Ino {
		return 0, true
	}
	return there.Size, false
}

// lstat is os.Lstat without what nobody asks for here: it is called twice for
// every record.
func lstat(path string, st *syscall.Stat_t) error {
	for {
		if err := syscall.Lstat(path, st); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// cut finds the end of the last record behind good in a file of a size, and
// removes what is after it.
func (j *Journal) cut(size int64) error {
	if size < j.good { // somebody cut records away: nothing that was known holds
		j.good = 0
	}
	end, err := lastRecord(j.file, j.good, size, firstTail)
	if err != nil {
		return err
	}
	j.good = end
	if size == j.good {
		return nil
	}
	return j.file.Truncate(j.good)
}

// lastRecord returns the end of the last record between two places of a file,
// the first of which is the end of a line; it is the first when there is none.
// It looks at the last tail bytes, and at more only until it has found one.
func lastRecord(file io.ReaderAt, from, to, tail int64) (int64, error) {
	for ; ; tail *= 4 {
		whole := to-from <= tail
		s := scanner{from: file, at: max(from, to-tail), end: to}
		if !whole { // it begins somewhere in a line
			if _, err := s.next(); err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
		}
		found := int64(-1)
		for {
			l, err := s.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return 0, err
			}
			if l.ok {
				found = l.end
			}
		}
		switch {
		case found >= 0:
			return found, nil
		case whole:
			return from, nil
		}
	}
}

// firstTail is how much of a file is looked at first, in bytes: several records
// of the usual length.
const firstTail = 4 << 10

// create makes an empty file and writes its name to the disk.
func (j *Journal) create(n int64) error {
	f, err := openFile(j.path(n), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	j.forget()
	if err := j.opened(f, n); err != nil {
		return err
	}
	d, err := os.Open(j.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// next begins the next file and removes what is too much.
func (j *Journal) next() error {
	if err := j.create(j.number + 1); err != nil {
		return err
	}
	return j.prune()
}

// prune removes files from the oldest on, until those that stay are neither too
// old nor too many. The newest always stays.
func (j *Journal) prune() error {
	numbers, err := j.numbers()
	if err != nil {
		return err
	}
	infos := make([]fs.FileInfo, len(numbers))
	total := int64(0)
	for i, n := range numbers {
		if infos[i], err = os.Lstat(j.path(n)); err != nil {
			return err
		}
		total += infos[i].Size()
	}
	for i, n := range numbers {
		if n == j.number || total <= j.o.MaxTotal && time.Since(infos[i].ModTime()) <= j.o.MaxAge {
			return nil
		}
		if err := os.Remove(j.path(n)); err != nil {
			return err
		}
		total -= infos[i].Size()
	}
	return nil
}
