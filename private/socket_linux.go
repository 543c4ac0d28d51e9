package private

import "golang.org/x/sys/unix"

// socketUID asks a Unix socket for its peer's user (SO_PEERCRED).
func socketUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
