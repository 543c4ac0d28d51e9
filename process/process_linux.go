package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// What is read of a file of /proc at most: /proc/stat grows with the number of
// processors and interrupts, and has btime near its end.
const (
	maxStat    = 2 << 10
	maxBoot    = 1 << 20
	maxEnviron = 1 << 20
)

// Lookup returns what is known of a process. ErrGone when there is none.
func Lookup(pid int) (Process, error) {
	boot, err := boot()
	if err != nil {
		return Process{}, fmt.Errorf("look up process %d: %w", pid, err)
	}
	s, err := readStat(pid)
	if err != nil {
		return Process{}, fmt.Errorf("look up process %d: %w", pid, err)
	}
	p := s.process(boot)
	if err := s.lasts(); err != nil {
		return Process{}, fmt.Errorf("look up process %d: %w", pid, err)
	}
	return p, nil
}

// Foreground returns the foreground process group of the terminal that a process
// runs on. ErrGone when there is no such process, ErrNoTTY when it has no
// terminal, or its terminal no foreground group.
func Foreground(shellPID int) (pgid int, err error) {
	s, err := foreground(shellPID)
	return s.foreground, err
}

func foreground(shellPID int) (stat, error) {
	s, err := readStat(shellPID)
	if err == nil && (s.tty == 0 || s.foreground <= 0) {
		err = ErrNoTTY
	}
	if err != nil {
		return stat{}, fmt.Errorf("foreground of process %d: %w", shellPID, err)
	}
	return s, nil
}

// Front returns the foreground process group of the terminal that a process runs
// on, as Foreground does, and the name of the group's leader, as Name does; ""
// when the leader is gone or may not be looked at.
func Front(shellPID int) (pgid int, name string, err error) {
	s, err := foreground(shellPID)
	if err != nil {
		return 0, "", err
	}
	if s.foreground == s.pid { // most often, and then all was read at once
		name, err = s.fullName()
	} else {
		name, err = Name(s.foreground)
	}
	if err != nil {
		name = ""
	}
	return s.foreground, name, nil
}

// Name returns the name of a process's program without path or login dash:
// the system's, or its whole form from the command line where the system cut
// it. ErrGone when there is no such process.
func Name(pid int) (string, error) {
	s, err := readStat(pid)
	if err != nil {
		return "", fmt.Errorf("name of process %d: %w", pid, err)
	}
	return s.fullName()
}

func (s stat) fullName() (string, error) {
	if !isCut(s.name) {
		return programName(s.name, nil), nil
	}
	line, err := read(s.file("cmdline"), MaxArgv)
	if err != nil {
		line = nil // what the system said is still true
	}
	if err := s.lasts(); err != nil {
		return "", fmt.Errorf("name of process %d: %w", s.pid, err)
	}
	return programName(s.name, args(line)), nil
}

// Executable returns the path of the program that a process runs, links
// resolved. ErrGone when there is no such process.
func Executable(pid int) (string, error) {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return "", fmt.Errorf("executable of process %d: %w", pid, gone(err))
	}
	return path, nil
}

// numbers returns the entries of a folder of /proc that are numbers; they come in rising order.
func numbers(dir string) ([]int, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, gone(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, gone(err)
	}
	var list []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	return list, nil
}

// process adds what /proc/PID/stat does not say. What may not be read is left empty.
func (s stat) process(boot int64) Process {
	p := Process{
		PID: s.pid, PPID: s.ppid, PGID: s.pgid, SID: s.sid, Name: s.name,
		Start: s.started(boot), State: s.stateName(),
	}
	if line, err := read(s.file("cmdline"), MaxArgv); err == nil {
		p.Argv = args(line)
	}
	p.Cwd, _ = os.Readlink(s.file("cwd"))
	return p
}

func (s stat) file(name string) string { return "/proc/" + strconv.Itoa(s.pid) + "/" + name }

func readStat(pid int) (stat, error) {
	if pid <= 0 {
		return stat{}, ErrGone
	}
	var room [maxStat]byte
	line, err := readInto(room[:], "/proc/"+strconv.Itoa(pid)+"/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(line)
}

// lasts returns nil when the process is there still: then what was read of its
// number meanwhile is its own. ErrGone when it has ended.
func (s stat) lasts() error {
	again, err := readStat(s.pid)
	if err == nil && again.start != s.start {
		err = ErrGone
	}
	return err
}

// read returns the first bytes of a file, at most most. ErrGone when its process is.
func read(path string, most int) ([]byte, error) {
	fd, err := open(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text := make([]byte, 0, min(most, 4<<10))
	for len(text) < most {
		if len(text) == cap(text) {
			text = slices.Grow(text, min(len(text), most-len(text)))
		}
		n, err := readOnce(fd, text[len(text):min(cap(text), most)])
		if n <= 0 || err != nil {
			return text, err
		}
		text = text[:len(text)+n]
	}
	return text, nil
}

// readInto is read of a file that the kernel gives out whole at the first
// reading, as it does those of one record.
func readInto(room []byte, path string) ([]byte, error) {
	fd, err := open(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := readOnce(fd, room)
	return room[:n], err
}

// open opens a file that never makes its reader wait. An os.File costs twice as
// much: it asks the kernel whether the file can be waited for.
func open(path string) (fd int, err error) {
	for {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR { //nolint:errorlint // a bare errno
			return fd, gone(err)
		}
	}
}

func readOnce(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Read(fd, p)
		if err != unix.EINTR { //nolint:errorlint // a bare errno
			return max(n, 0), gone(err)
		}
	}
}

// gone tells the end of a process from other errors: ENOENT at opening, ESRCH
// at reading.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return ErrGone
	}
	return err
}
