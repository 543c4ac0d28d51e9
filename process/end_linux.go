package process

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// AwaitEnd returns nil when the process that had this number and start has
// ended, at once if it already has, or the cause of ctx's end. It sleeps until
// then where the kernel offers that (Linux 5.10), and else looks every second.
func AwaitEnd(ctx context.Context, pid int, start time.Time) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil
	case err != nil:
		return lookForEnd(ctx, pid, start)
	}
	handle := os.NewFile(uintptr(fd), "pidfd")
	defer handle.Close()
	if !Alive(pid, start) { // asked with the handle open: what is open is that process, or it is gone
		return nil
	}
	raw, err := handle.SyscallConn()
	if err != nil {
		return lookForEnd(ctx, pid, start)
	}
	stop := context.AfterFunc(ctx, func() { handle.Close() })
	defer stop()
	err = raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil || Alive(pid, start):
		return lookForEnd(ctx, pid, start)
	}
	return nil
}
