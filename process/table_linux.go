package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Snapshot reads every process.
func Snapshot() (*Table, error) {
	boot, err := boot()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	pids, err := numbers("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	t := &Table{entries: make([]Entry, 0, len(pids)), Hides: !slices.Contains(pids, 1)}
	for _, pid := range pids {
		s, err := readStat(pid)
		if err != nil { // it ended meanwhile, or may not be looked at
			t.Hides = t.Hides || !errors.Is(err, ErrGone)
			continue
		}
		t.entries = append(t.entries, Entry{
			Process:    Process{PID: s.pid, PPID: s.ppid, PGID: s.pgid, SID: s.sid, Name: s.name, Start: s.started(boot), State: s.stateName()},
			TTY:        s.tty,
			Foreground: s.foreground,
		})
	}
	return t, nil
}

// OpenFiles returns the paths of the files that a process has open. An error when
// it may not be asked, or has more than 4096 open: what is not among them is not open.
func OpenFiles(pid int) ([]string, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	fds, err := numbers(dir)
	if err != nil {
		return nil, fmt.Errorf("open files of process %d: %w", pid, gone(err))
	}
	if len(fds) > maxOpen {
		return nil, fmt.Errorf("open files of process %d: %w", pid, errTooMany)
	}
	var paths []string
	for _, fd := range fds {
		path, err := os.Readlink(dir + "/" + strconv.Itoa(fd))
		if err = gone(err); err != nil && !errors.Is(err, ErrGone) { // closed meanwhile
			return nil, fmt.Errorf("open files of process %d: %w", pid, err)
		}
		if strings.HasPrefix(path, "/") && !strings.HasSuffix(path, " (deleted)") {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Variable returns a variable of the environment that a process was started
// with; known is false when that may not be read or is not there: a process that
// just becomes another program has none for a moment.
func Variable(pid int, name string) (value string, known bool) {
	env, err := read("/proc/"+strconv.Itoa(pid)+"/environ", maxEnviron)
	if err != nil || len(env) == 0 {
		return "", false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if rest, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(rest), true
		}
	}
	return "", len(env) < maxEnviron
}

// Ticks is the start of a process in the kernel's own unit, as some programs
// write it down of themselves: field 22 of /proc/PID/stat.
func Ticks(pid int) (uint64, error) {
	s, err := readStat(pid)
	return s.start, err
}
