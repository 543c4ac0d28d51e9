package host

import "net"

// peerUID returns the user on the other end of a Unix socket.
func peerUID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	uid, failed := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { uid, failed = socketUID(int(fd)) }); err != nil {
		return 0, err
	}
	return uid, failed
}
