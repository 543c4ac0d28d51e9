package host

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"termpilot/private"
)

// door is a listening socket that comes back when somebody removes it from its
// folder, as cleaners of temporary folders do: the host behind it would live on
// and be out of reach.
type door struct {
	path string

	mu     sync.Mutex
	l      *net.UnixListener // nil while it cannot be made anew
	closed bool
}

// doorEvery is how often a door looks whether its socket is still there.
const doorEvery = time.Second

func openDoor(path string) (*door, error) {
	l, err := private.Listen(path)
	if err != nil {
		return nil, err
	}
	return &door{path: path, l: l}, nil
}

// accept waits for a client. net.ErrClosed when the door is closed.
func (d *door) accept() (*net.UnixConn, error) {
	for {
		l, err := d.listener()
		if err != nil {
			return nil, err
		}
		_ = l.SetDeadline(time.Now().Add(doorEvery))
		conn, err := l.AcceptUnix()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
	}
}

// listener returns what listens, made anew when the socket is gone.
func (d *door) listener() (*net.UnixListener, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, net.ErrClosed
	}
	if _, err := os.Lstat(d.path); d.l != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.l, nil
	}
	if d.l != nil {
		_ = d.l.Close() // before, since it removes what is at its path
		d.l = nil
	}
	err := private.Folder(filepath.Dir(d.path))
	if err == nil {
		d.l, err = private.Listen(d.path)
	}
	return d.l, err
}

// close closes the door and removes its socket. It may be called again, and
// for a door that was never opened.
func (d *door) close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.l != nil {
		_ = d.l.Close()
	}
}
