package process

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Snapshot reads every process.
func Snapshot() (*Table, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	t := &Table{entries: make([]Entry, 0, len(all))}
	for _, k := range all {
		e := Entry{Process: basics(k)}
		if k.Eproc.Tdev != noDevice {
			e.TTY, e.Foreground = uint64(uint32(k.Eproc.Tdev)), int(k.Eproc.Tpgid)
		}
		t.entries = append(t.entries, e)
	}
	slices.SortFunc(t.entries, func(a, b Entry) int { return a.PID - b.PID })
	return t, nil
}

// OpenFiles returns the paths of the files that a process has open, as lsof(8) tells
// them: macOS tells them only through libproc. An error when it may not be asked, or
// has more than 4096 open: what is not among them is not open.
func OpenFiles(pid int) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/sbin/lsof", "-a", "-p", strconv.Itoa(pid), "-d", "0-999999", "-Ffn").Output()
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("open files of process %d: %w", pid, err)
	}
	var paths []string
	n := 0
	for line := range strings.Lines(string(out)) { // the number of each, and then its name
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "f") {
			n++
		}
		if path, ok := strings.CutPrefix(line, "n/"); ok {
			paths = append(paths, "/"+path)
		}
	}
	if n > maxOpen {
		return nil, fmt.Errorf("open files of process %d: %w", pid, errTooMany)
	}
	return paths, nil
}

// Variable returns nothing: macOS does not tell the environment of another process.
func Variable(int, string) (value string, known bool) { return "", false }

// Ticks fails: this system counts the start of processes in no unit of its own.
func Ticks(int) (uint64, error) { return 0, errNotTold }
