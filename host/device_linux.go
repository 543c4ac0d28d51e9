package host

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const getTermios = unix.TCGETS

// master is a PTY that the runtime's poller watches. The file that creack/pty
// returns is blocking: neither a deadline nor Close wakes its Read. Never call
// Fd on this one: that would make it blocking again.
type master struct {
	file *os.File
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
	return master{file: os.NewFile(uintptr(fd), f.Name())}, nil
}

func (m master) Read(p []byte) (int, error)  { return m.file.Read(p) }
func (m master) Write(p []byte) (int, error) { return m.file.Write(p) }
func (m master) Close() error                { return m.file.Close() }

// wake ends the Read that waits, and every later one.
func (m master) wake() { _ = m.file.SetReadDeadline(time.Unix(1, 0)) }

// wakeWriter ends the Write that waits, and every later one.
func (m master) wakeWriter() { _ = m.file.SetWriteDeadline(time.Unix(1, 0)) }

func (m master) control(f func(fd int) error) error {
	raw, err := m.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
