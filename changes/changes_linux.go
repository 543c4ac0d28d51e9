package changes

import (
	"os"

	"golang.org/x/sys/unix"
)

// begin reads inotify(7) until it is ended.
func (f *Folder) begin(folder string) (end func(), err error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	notes := os.NewFile(uintptr(fd), "inotify") // non-blocking: its reads end when it is closed
	const all = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_ONLYDIR
	if _, err := unix.InotifyAddWatch(fd, folder, all); err != nil {
		notes.Close()
		return nil, os.NewSyscallError("inotify_add_watch", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 4096+unix.SizeofInotifyEvent) // room for an event with the longest name
		for {
			if _, err := notes.Read(buffer); err != nil {
				return
			}
			f.wake()
		}
	}()
	return func() { notes.Close(); <-done }, nil
}
