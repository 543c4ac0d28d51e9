package host

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// On a Mac every call of the kernel passes through its library, and so through
// Go's scheduler.

// readNow reads what is there: EAGAIN when there is nothing.
func readNow(fd int, p []byte) (int, error) {
	for {
		if n, err := unix.Read(fd, p); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// writeNow writes what there is room for: EAGAIN when there is none.
func writeNow(fd int, p []byte) (int, error) { return unix.Write(fd, p) }

func termiosNow(fd int) (unix.Termios, error) {
	t, err := unix.IoctlGetTermios(fd, unix.TIOCGETA)
	if err != nil {
		return unix.Termios{}, err
	}
	return *t, nil
}

func foregroundNow(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCGPGRP) }

func attend(conn *net.UnixConn, _ syscall.RawConn) net.Conn { return conn }

func watchConn(conn *net.UnixConn) (net.Conn, error) { return conn, nil }
