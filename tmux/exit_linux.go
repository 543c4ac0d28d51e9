package tmux

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a process has ended, or stop is closed. false when
// that cannot be waited for.
func awaitExit(pid int, stop <-chan struct{}) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return err == unix.ESRCH //nolint:errorlint // a plain errno
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	over := make(chan struct{})
	done := make(chan struct{})
	go func() { // a closed file ends the wait below
		defer close(done)
		select {
		case <-stop:
			_ = f.SetReadDeadline(past)
		case <-over:
		}
	}()
	err = raw.Read(func(uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return err == nil && n > 0
	})
	close(over)
	<-done
	return err == nil || stopped(stop)
}
