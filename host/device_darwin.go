package host

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// master is a PTY that is waited for with poll(2): kqueue spins on PTYs on
// macOS, and a blocking read could not be ended while a program that was left
// behind holds the slave side.
type master struct {
	*polled
}

type polled struct {
	fd           int
	reads        wakePipe
	writes       wakePipe
	mu           sync.RWMutex // held for reading while fd is in use
	closed       bool
	closeStarted atomic.Bool
}

// wakePipe becomes readable when a wait is to end.
type wakePipe struct{ r, w int }

func newWakePipe() (wakePipe, error) {
	var p [2]int
	syscall.ForkLock.RLock() // a program that is started now must not inherit it
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p[:]); err != nil {
		return wakePipe{}, err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return wakePipe{p[0], p[1]}, nil
}

func (w wakePipe) fire() { _, _ = unix.Write(w.w, []byte{0}) }

func (w wakePipe) close() {
	_ = unix.Close(w.r)
	_ = unix.Close(w.w)
}

func newMaster(f *os.File) (master, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return master{}, err
	}
	p := &polled{fd: fd}
	if err = unix.SetNonblock(fd, true); err == nil {
		if p.reads, err = newWakePipe(); err == nil {
			if p.writes, err = newWakePipe(); err == nil {
				return master{p}, nil
			}
			p.reads.close()
		}
	}
	_ = unix.Close(fd)
	return master{}, err
}

func (p *polled) Read(b []byte) (int, error) {
	return p.retry(p.reads, unix.POLLIN, func() (int, error) { return unix.Read(p.fd, b) })
}

func (p *polled) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		n, err := p.retry(p.writes, unix.POLLOUT, func() (int, error) { return unix.Write(p.fd, b[written:]) })
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

// retry waits until the device is ready for events, or wake fires, and tries.
func (p *polled) retry(wake wakePipe, events int16, try func() (int, error)) (int, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for {
		if p.closed || p.closeStarted.Load() {
			return 0, os.ErrClosed
		}
		fds := []unix.PollFd{{Fd: int32(p.fd), Events: events}, {Fd: int32(wake.r), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR { //nolint:errorlint // a bare errno
			return 0, err
		}
		if fds[1].Revents != 0 {
			return 0, os.ErrDeadlineExceeded
		}
		n, err := try()
		if err == unix.EAGAIN || err == unix.EINTR { //nolint:errorlint // a bare errno
			continue
		}
		if err == nil && n == 0 {
			err = unix.EIO
		}
		return max(n, 0), err
	}
}

func (p *polled) wake()       { p.reads.fire() }
func (p *polled) wakeWriter() { p.writes.fire() }

func (p *polled) control(f func(fd int) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return os.ErrClosed
	}
	return f(p.fd)
}

// Close ends waiting reads and writes, then closes.
func (p *polled) Close() error {
	if p.closeStarted.Swap(true) {
		return nil
	}
	p.wake()
	p.wakeWriter()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.reads.close()
	p.writes.close()
	return unix.Close(p.fd)
}
