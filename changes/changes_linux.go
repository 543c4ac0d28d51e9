package changes

import (
	"encoding/binary"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// shared is the one inotify(7) of this process: a user has 128 of them by default,
// and to close one takes the kernel some ten milliseconds.
var shared struct {
	sync.Mutex
	fd      int
	file    *os.File // of fd; nil while nothing is watched
	told    chan struct{}
	folders map[int32][]*Folder // by watch; a folder that is watched twice has one
}

// begin watches the folder until end is called.
func (f *Folder) begin(folder string) (end func(), err error) {
	watch, err := f.join(folder)
	if err != nil {
		f.leave(watch)
		return nil, err
	}
	return func() { f.leave(watch) }, nil
}

func (f *Folder) join(folder string) (watch int32, err error) {
	s := &shared
	s.Lock()
	defer s.Unlock()
	if s.file == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return -1, os.NewSyscallError("inotify_init1", err)
		}
		s.fd, s.file = fd, os.NewFile(uintptr(fd), "inotify") // non-blocking: its reads end when it is closed
		s.told, s.folders = make(chan struct{}), map[int32][]*Folder{}
		go tell(s.file, s.told)
	}
	const all = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_ONLYDIR
	got, err := unix.InotifyAddWatch(s.fd, folder, all)
	if err != nil {
		return -1, os.NewSyscallError("inotify_add_watch", err)
	}
	watch = int32(got)
	s.folders[watch] = append(s.folders[watch], f)
	return watch, nil
}

// leave ends one watch, and with the last one the inotify.
func (f *Folder) leave(watch int32) {
	if file, told := f.forget(watch); file != nil {
		file.Close()
		<-told
	}
}

// forget is leave but for the inotify, which it returns when nobody needs it.
func (f *Folder) forget(watch int32) (file *os.File, told <-chan struct{}) {
	s := &shared
	s.Lock()
	defer s.Unlock()
	if there := slices.DeleteFunc(s.folders[watch], func(one *Folder) bool { return one == f }); len(there) > 0 {
		s.folders[watch] = there
		return nil, nil
	}
	delete(s.folders, watch)
	if len(s.folders) > 0 {
		_, _ = unix.InotifyRmWatch(s.fd, uint32(watch)) // it went with its folder, or is none
		return nil, nil
	}
	file, s.file = s.file, nil
	return file, s.told
}

// tell wakes whose folder is told of, or everybody where the kernel lost count.
func tell(file *os.File, told chan<- struct{}) {
	defer close(told)
	buffer := make([]byte, 16<<10) // room for an event with the longest name
	for {
		n, err := file.Read(buffer)
		if err != nil {
			return
		}
		shared.Lock()
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			watch := int32(binary.NativeEndian.Uint32(rest))
			for at, folders := range shared.folders {
				if watch == at || watch < 0 {
					for _, f := range folders {
						f.wake()
					}
				}
			}
			name := binary.NativeEndian.Uint32(rest[12:])
			rest = rest[min(len(rest), unix.SizeofInotifyEvent+int(name)):]
		}
		shared.Unlock()
	}
}
