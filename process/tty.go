package process

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Flags returns the flags of a terminal, given the path of its device. It is
// opened without becoming anybody's controlling terminal, and nothing is read
// from it. ErrNoTTY when the path is not that of a terminal device.
func Flags(tty string) (TTY, error) {
	if _, err := Device(tty); err != nil {
		return TTY{}, fmt.Errorf("flags of %s: %w", tty, err)
	}
	fd, err := unix.Open(tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return TTY{}, fmt.Errorf("flags of %s: %w", tty, noTTY(err))
	}
	defer unix.Close(fd)
	termios, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return TTY{}, fmt.Errorf("flags of %s: %w", tty, noTTY(err))
	}
	return TTY{Echo: termios.Lflag&unix.ECHO != 0, Canonical: termios.Lflag&unix.ICANON != 0}, nil
}

// Device returns the device number of a terminal, given the path of its device, as
// [Entry] has it. ErrNoTTY when the path is not that of a terminal device: only a
// character device below /dev counts, since to open anything else could have an effect.
func Device(tty string) (uint64, error) {
	if !strings.HasPrefix(tty, "/dev/") {
		return 0, ErrNoTTY
	}
	var s unix.Stat_t
	if err := unix.Stat(tty, &s); err != nil {
		return 0, noTTY(err)
	}
	if s.Mode&unix.S_IFMT != unix.S_IFCHR {
		return 0, ErrNoTTY
	}
	return uint64(s.Rdev), nil //nolint:unconvert // int32 on macOS
}

// noTTY names the errors that mean that there is no terminal (any more): EIO
// and ENXIO come when the other side of a pseudoterminal is closed.
func noTTY(err error) error {
	for _, none := range []error{unix.ENOTTY, unix.ENOENT, unix.ENXIO, unix.ENODEV, unix.EIO, unix.ENOTDIR} {
		if errors.Is(err, none) {
			return ErrNoTTY
		}
	}
	return err
}
