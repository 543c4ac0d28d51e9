package host

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// unblocked runs f on a thread with no signal blocked: a child starts with the
// mask of the thread that forks it.
func unblocked(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &before); err != nil {
		return err
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }()
	return f()
}
