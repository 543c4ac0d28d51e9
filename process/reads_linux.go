package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// What Reads looks at, at most.
const (
	maxMembers = 256 // processes of a group
	maxThreads = 512 // of one process
)

// Reads reports whether a process of a process group is blocked right now in
// read(2) or readv(2) on a terminal. known is false when the system does not tell: it does
// for the processes of the same user unless hardened (ptrace_scope of Yama).
// A program that waits in poll(2) or select(2) is not found.
func Reads(pgid int, tty string) (reads, known bool) {
	device, err := Device(tty)
	if err != nil || pgid <= 0 {
		return false, false
	}
	if leader, err := readStat(pgid); err == nil && leader.pgid == pgid { // mostly it, and then all others need not be looked for
		if yes, _ := leader.reads(device); yes {
			return true, true
		}
	}
	pids, err := numbers("/proc")
	if err != nil {
		return false, false
	}
	members, known := 0, true
	for _, pid := range pids {
		s, err := readStat(pid)
		if err != nil {
			known = known && errors.Is(err, ErrGone)
			continue
		}
		if s.pgid != pgid || s.stateName() == Zombie {
			continue
		}
		if members++; members > maxMembers {
			return false, false
		}
		yes, ok := s.reads(device)
		if yes {
			return true, true
		}
		known = known && ok
	}
	return false, known && members > 0
}

// reads looks at each thread's system call. That it does not read is known when all
// of them told.
func (s stat) reads(device uint64) (reads, known bool) {
	threads, err := numbers(s.file("task"))
	if err != nil {
		return false, false
	}
	known = len(threads) > 0 && len(threads) <= maxThreads
	var room [512]byte
	for _, thread := range threads[:min(len(threads), maxThreads)] {
		line, err := readInto(room[:], s.file("task/"+strconv.Itoa(thread)+"/syscall"))
		if err != nil {
			known = known && errors.Is(err, ErrGone)
			continue
		}
		if fd, ok := readingFrom(line); ok && s.isTerminal(fd, device) {
			return true, true
		}
	}
	return false, known
}

// readingFrom returns the descriptor when a line of /proc/PID/syscall is a
// blocked read(2), or readv(2), by which musl reads: "0 0x0 0x7f… 0x20000 …",
// number and arguments.
func readingFrom(line []byte) (fd uint64, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 3 {
		return 0, false
	}
	if call := string(fields[0]); call != strconv.Itoa(unix.SYS_READ) && call != strconv.Itoa(unix.SYS_READV) {
		return 0, false
	}
	fd, err := strconv.ParseUint(string(fields[1]), 0, 32)
	return fd, err == nil
}

// isTerminal reports whether a descriptor of the process is the terminal, or
// /dev/tty (5:0) while that is its controlling terminal.
func (s stat) isTerminal(fd, device uint64) bool {
	info, err := os.Stat(s.file(fmt.Sprintf("fd/%d", fd)))
	if err != nil {
		return false
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	return of.Rdev == device || of.Rdev == unix.Mkdev(5, 0) && s.tty == device
}
