package changes

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mostFiles is how many files of one folder are watched.
const mostFiles = 128

// begin waits in kevent(2) until it is ended. The folder tells when files come
// and go; what is written into them each file tells by itself, so that those
// that are there are opened anew after every change of the folder.
func (f *Folder) begin(folder string) (end func(), err error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, os.NewSyscallError("kqueue", err)
	}
	stop, stopped, err := os.Pipe()
	if err != nil {
		unix.Close(queue)
		return nil, err
	}
	w := &watched{queue: queue, folder: folder, files: map[string]int{}}
	if err := errors.Join(w.add(int(stop.Fd()), unix.EVFILT_READ, 0), w.refresh()); err != nil {
		w.close()
		stop.Close()
		stopped.Close()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		events := make([]unix.Kevent_t, 16)
		for {
			n, err := unix.Kevent(queue, nil, events, nil)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
			for _, e := range events[:max(n, 0)] {
				if e.Filter == unix.EVFILT_READ {
					return
				}
			}
			if n > 0 {
				_ = w.refresh() // what cannot be opened is not watched; the folder still is
				f.wake()
			}
		}
	}()
	return func() {
		stopped.Close()
		<-done
		stop.Close()
		w.close()
	}, nil
}

// watched is the open folder and files of one queue.
type watched struct {
	queue  int
	folder string
	files  map[string]int
}

func (w *watched) add(fd int, filter int, notes uint32) error {
	var e unix.Kevent_t
	unix.SetKevent(&e, fd, filter, unix.EV_ADD|unix.EV_CLEAR)
	e.Fflags = notes
	_, err := unix.Kevent(w.queue, []unix.Kevent_t{e}, nil, nil)
	return os.NewSyscallError("kevent", err)
}

// refresh watches the folder and what is in it now.
func (w *watched) refresh() error {
	there := map[string]bool{w.folder: true}
	entries, _ := os.ReadDir(w.folder)
	for _, e := range entries {
		if e.Type().IsRegular() && len(there) < mostFiles {
			there[filepath.Join(w.folder, e.Name())] = true
		}
	}
	for path, fd := range w.files {
		if !there[path] {
			unix.Close(fd)
			delete(w.files, path)
		}
	}
	var failed error
	for path := range there {
		if _, known := w.files[path]; known && path == w.folder {
			continue
		}
		if fd, known := w.files[path]; known && same(fd, path) {
			continue
		} else if known {
			unix.Close(fd)
			delete(w.files, path)
		}
		fd, err := unix.Open(path, unix.O_EVTONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			w.files[path] = fd
			err = w.add(fd, unix.EVFILT_VNODE, unix.NOTE_WRITE|unix.NOTE_EXTEND|unix.NOTE_RENAME|unix.NOTE_DELETE)
		}
		if path == w.folder {
			failed = err
		}
	}
	return failed
}

// same reports whether a path still leads to the file that is open.
func same(fd int, path string) bool {
	var open, there unix.Stat_t
	return unix.Fstat(fd, &open) == nil && unix.Lstat(path, &there) == nil && open.Ino == there.Ino && open.Dev == there.Dev
}

func (w *watched) close() {
	for _, fd := range w.files {
		unix.Close(fd)
	}
	unix.Close(w.queue)
}
