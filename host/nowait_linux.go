package host

import (
	"errors"
	"io"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of the kernel that are made here never wait, and Go's scheduler is not
// told of them. Of any other it has to think that it may wait, and the first one
// after a pause wakes the thread that watches over those that do, which then looks
// again and again while the host is at work: that takes longer than drawing what a
// short command prints.

// readNow reads what is there: EAGAIN when there is nothing.
func readNow(fd int, p []byte) (int, error) { return transfer(unix.SYS_READ, fd, p) }

// writeNow writes what there is room for: EAGAIN when there is none.
func writeNow(fd int, p []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, p) }

func transfer(call uintptr, fd int, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

func termiosNow(fd int) (t unix.Termios, err error) {
	if _, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TCGETS, uintptr(unsafe.Pointer(&t))); errno != 0 {
		err = errno
	}
	return t, err
}

func foregroundNow(fd int) (int, error) {
	var group int32
	if _, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPGRP, uintptr(unsafe.Pointer(&group))); errno != 0 {
		return 0, errno
	}
	return int(group), nil
}

// whenReady reads, and waits until there is something to read: until ready, which
// the runtime's poller watches, says so.
func whenReady(ready syscall.RawConn, read func(fd int) (int, error)) (n int, err error) {
	waited := ready.Read(func(fd uintptr) bool {
		n, err = read(int(fd))
		return !errors.Is(err, unix.EAGAIN)
	})
	switch {
	case waited != nil:
		return 0, waited
	case err == nil && n == 0:
		return 0, io.EOF
	}
	return n, err
}

// attentive is a connection that is read and written in this way.
type attentive struct {
	*net.UnixConn
	raw syscall.RawConn
}

func attend(conn *net.UnixConn, raw syscall.RawConn) net.Conn { return attentive{conn, raw} }

func (c attentive) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return whenReady(c.raw, func(fd int) (int, error) { return readNow(fd, p) })
}

func (c attentive) Write(p []byte) (written int, err error) {
	for written < len(p) && err == nil {
		waited := c.raw.Write(func(fd uintptr) bool {
			var n int
			n, err = writeNow(int(fd), p[written:])
			written += n
			return !errors.Is(err, unix.EAGAIN)
		})
		if waited != nil {
			err = waited
		}
	}
	return written, err
}
