package host

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// master is a PTY that the runtime's poller watches. The file that creack/pty
// returns is blocking: neither a deadline nor Close wakes its Read. Never call
// Fd on this one: that would make it blocking again.
type master struct {
	file *os.File
	raw  syscall.RawConn
}

func newMaster(f *os.File) (master, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return master{}, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return master{}, err
	}
	file := os.NewFile(uintptr(fd), f.Name())
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return master{}, err
	}
	return master{file, raw}, nil
}

func (m master) Read(p []byte) (int, error)  { return whenReady(m.raw, p) }
func (m master) Write(p []byte) (int, error) { return m.file.Write(p) }
func (m master) Close() error                { return m.file.Close() }

// wake ends the Read that waits, and every later one.
func (m master) wake() { _ = m.file.SetReadDeadline(time.Unix(1, 0)) }

// wakeWriter ends the Write that waits, and every later one.
func (m master) wakeWriter() { _ = m.file.SetWriteDeadline(time.Unix(1, 0)) }

func (m master) control(f func(fd int) error) error {
	var failed error
	if err := m.raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
