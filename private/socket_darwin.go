package private

import "golang.org/x/sys/unix"

// socketUID asks a Unix socket for its peer's user (LOCAL_PEERCRED).
func socketUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
