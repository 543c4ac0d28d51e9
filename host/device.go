package host

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termpilot/fault"
)

// device is the master side of a pseudo-terminal. Read and Write may be called
// by one goroutine each; everything else by any.
type device struct {
	master
	path string // of the slave side: /dev/pts/7
}

// ttyFlags is how a terminal device treats what is typed.
type ttyFlags struct {
	echo      bool // typed characters are shown
	canonical bool // a program reads whole lines
}

// openDevice makes a pseudo-terminal of a size. The caller closes both sides.
func openDevice(columns, rows int) (*device, *os.File, error) {
	m, s, err := pty.Open()
	if err != nil {
		return nil, nil, noDevice(err)
	}
	path := s.Name()
	size := &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}
	if err := pty.Setsize(m, size); err != nil {
		_, _ = m.Close(), s.Close()
		return nil, nil, noDevice(err)
	}
	wrapped, err := newMaster(m)
	if err != nil {
		_ = s.Close()
		return nil, nil, noDevice(err)
	}
	return &device{master: wrapped, path: path}, s, nil
}

func noDevice(err error) error {
	return &fault.Error{
		Op: "open", Code: fault.Internal, Detail: "no pseudo-terminal can be had", Hint: "close some sessions", Err: err,
	}
}

// resize tells the kernel, and so the foreground programs, the new size.
func (d *device) resize(columns, rows int) error {
	return d.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)})
	})
}

// foreground returns the foreground process group.
func (d *device) foreground() (int, error) {
	group := 0
	err := d.control(func(fd int) (err error) {
		group, err = foregroundNow(fd)
		return err
	})
	return group, err
}

func (d *device) flags() (ttyFlags, error) {
	var f ttyFlags
	err := d.control(func(fd int) error {
		t, err := termiosNow(fd)
		if err != nil {
			return err
		}
		f = ttyFlags{echo: t.Lflag&unix.ECHO != 0, canonical: t.Lflag&unix.ICANON != 0}
		return nil
	})
	return f, err
}

// Read reads what programs print. It ends with io.EOF when nobody holds the
// slave side any more, and with os.ErrDeadlineExceeded after wake.
func (d *device) Read(p []byte) (int, error) {
	n, err := d.master.Read(p)
	if errors.Is(err, syscall.EIO) { // Linux says EIO when the last slave is closed
		err = io.EOF
	}
	return n, err
}

// writeNow types what the terminal takes without waiting, and returns how much that was.
func (d *device) writeNow(p []byte) int {
	n := 0
	_ = d.control(func(fd int) (err error) { // what goes wrong will go wrong again in Write
		n, err = writeNow(fd, p)
		return err
	})
	return max(n, 0)
}

// readNow reads what is there without waiting: 0 and nil when there is nothing,
// io.EOF when nobody holds the slave side.
func (d *device) readNow(p []byte) (int, error) {
	n := 0
	err := d.control(func(fd int) (err error) {
		n, err = readNow(fd, p)
		return err
	})
	switch {
	case errors.Is(err, unix.EAGAIN):
		return 0, nil
	case errors.Is(err, unix.EIO), err == nil && n == 0:
		return 0, io.EOF
	case err != nil:
		return 0, err
	}
	return n, nil
}
