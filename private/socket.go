package private

import (
	"errors"
	"io/fs"
	"net"
	"os"

	"termpilot/fault"
)

// Listen listens on a Unix socket of mode 0600 in a folder of [Folder]'s. A
// socket that stands there is taken for one that its owner left behind and is
// removed: the caller holds the lock that says so. BackendUnavailable for
// anything else in its place, which is left alone.
func Listen(path string) (*net.UnixListener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, unavailable("the socket's place cannot be read", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, &fault.Error{
			Op: "listen", Code: fault.BackendUnavailable, Detail: path + " is not a socket",
			Hint: "move that file away: what is not a socket is never removed",
		}
	default:
		if err := os.Remove(path); err != nil {
			return nil, unavailable("the stale socket cannot be removed", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, unavailable("the socket cannot be made", err)
	}
	// The folder is 0700, so nobody else could connect in between.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, unavailable("the socket cannot be made private", err)
	}
	return l, nil
}

func unavailable(detail string, err error) error {
	return &fault.Error{
		Op: "listen", Code: fault.BackendUnavailable, Detail: detail,
		Hint: "see that the folder may be written", Err: err,
	}
}

// Peer returns the user on the other end of a Unix socket, as the kernel knows it.
func Peer(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := error(nil)
	if err := raw.Control(func(fd uintptr) { uid, failed = socketUID(int(fd)) }); err != nil {
		return 0, err
	}
	return uid, failed
}
