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
	if j.file != nil && j.stale() {
		j.forget()
	}
	if j.file == nil {
		numbers, err := j.numbers()
		if err != nil {
			return err
		}
		if len(numbers) == 0 {
			return j.create(1)
		}
		j.number = numbers[len(numbers)-1]
		if j.file, err = openFile(j.path(j.number), os.O_RDWR); err != nil {
			return err
		}
		j.good = 0
	}
	if err := j.cut(); err != nil {
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

// stale reports whether another process began a newer file, or the one that is
// open is no longer at its place.
func (j *Journal) stale() bool {
	if _, err := os.Lstat(j.path(j.number + 1)); !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	there, err := os.Lstat(j.path(j.number))
	if err != nil {
		return true
	}
	mine, err := j.file.Stat()
	return err != nil || !os.SameFile(there, mine)
}

// cut finds the end of the last record behind good, and removes what is after it.
func (j *Journal) cut() error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < j.good { // somebody cut records away: nothing that was known holds
		j.good = 0
	}
	s := scanner{from: j.file, at: j.good, end: size}
	for {
		l, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if l.ok {
			j.good = l.end
		}
	}
	if size == j.good {
		return nil
	}
	return j.file.Truncate(j.good)
}

// create makes an empty file and writes its name to the disk.
func (j *Journal) create(n int64) error {
	f, err := openFile(j.path(n), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	j.forget()
	j.file, j.number, j.good = f, n, 0
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
