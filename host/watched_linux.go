package host

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watched is a descriptor that is waited for by way of the runtime's poller, but is
// not itself in it: that asks of every one whether it can be written, and so is
// woken whenever the other side has read something. A line editor reads byte by
// byte, and every request that a host takes would wake its client once for nothing.
type watched struct {
	fd   int
	in   *readiness // to read
	out  *readiness // to write; armed only while a write waits
	once sync.Once
	err  error // of closing
}

// readiness is an epoll(7) instance that watches a descriptor for one thing. The
// runtime's poller watches it in turn.
type readiness struct {
	fd   int // what is watched
	epfd int
	file *os.File
	raw  syscall.RawConn
}

func watchFor(fd int, events uint32) (*readiness, error) {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err = unix.SetNonblock(epfd, true); err == nil { // or it would not be watched
		err = unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
	}
	if err != nil {
		_ = unix.Close(epfd)
		return nil, err
	}
	r := &readiness{fd: fd, epfd: epfd, file: os.NewFile(uintptr(epfd), "epoll")}
	if r.raw, err = r.file.SyscallConn(); err != nil {
		_ = r.file.Close()
		return nil, err
	}
	return r, nil
}

// arm has it watch for what a write waits for, once.
func (r *readiness) arm() error {
	return unix.EpollCtl(r.epfd, unix.EPOLL_CTL_MOD, r.fd, &unix.EpollEvent{Events: unix.EPOLLOUT | unix.EPOLLONESHOT, Fd: int32(r.fd)})
}

// watchFile takes the descriptor out of f, which it closes.
func watchFile(f *os.File) (*watched, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	w := &watched{fd: fd}
	if err = unix.SetNonblock(fd, true); err == nil {
		if w.in, err = watchFor(fd, unix.EPOLLIN); err == nil {
			if w.out, err = watchFor(fd, unix.EPOLLONESHOT); err == nil {
				return w, nil
			}
			_ = w.in.file.Close()
		}
	}
	_ = unix.Close(fd)
	return nil, err
}

func (w *watched) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return whenReady(w.in.raw, func(int) (int, error) { return readNow(w.fd, p) })
}

func (w *watched) Write(p []byte) (written int, err error) {
	waited := w.out.raw.Read(func(uintptr) bool {
		for written < len(p) {
			var n int
			n, err = writeNow(w.fd, p[written:])
			written += max(n, 0)
			if errors.Is(err, unix.EAGAIN) {
				err = w.out.arm()
				return err != nil
			}
			if err != nil {
				return true
			}
		}
		return true
	})
	if waited != nil {
		err = waited
	}
	return written, err
}

// Deadlines end a Read or a Write that waits, and every later one.

func (w *watched) SetReadDeadline(t time.Time) error  { return w.in.file.SetReadDeadline(t) }
func (w *watched) SetWriteDeadline(t time.Time) error { return w.out.file.SetReadDeadline(t) }
func (w *watched) SetDeadline(t time.Time) error {
	return errors.Join(w.SetReadDeadline(t), w.SetWriteDeadline(t))
}

// control calls f with the descriptor, which nobody closes meanwhile.
func (w *watched) control(f func(fd int) error) error {
	var failed error
	if err := w.in.raw.Control(func(uintptr) { failed = f(w.fd) }); err != nil {
		return err
	}
	return failed
}

// Close ends waiting reads and writes, then closes.
func (w *watched) Close() error {
	w.once.Do(func() {
		// Both return when nobody is in a call any more.
		_, _ = w.in.file.Close(), w.out.file.Close()
		w.err = unix.Close(w.fd)
	})
	return w.err
}

// watchedConn is a connection that is waited for in this way.
type watchedConn struct {
	*watched
	local, remote net.Addr
}

func (c watchedConn) LocalAddr() net.Addr  { return c.local }
func (c watchedConn) RemoteAddr() net.Addr { return c.remote }

// watchConn takes the connection out of conn, which it closes: a client that is woken
// when the host reads what it sent has nothing to do then.
func watchConn(conn *net.UnixConn) (net.Conn, error) {
	defer conn.Close()
	f, err := conn.File()
	if err != nil {
		return nil, err
	}
	w, err := watchFile(f)
	if err != nil {
		return nil, err
	}
	return watchedConn{w, conn.LocalAddr(), conn.RemoteAddr()}, nil
}
