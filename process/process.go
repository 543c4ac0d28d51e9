// Package process says who runs on a terminal: the foreground process group,
// the processes of a terminal and their parents, and the terminal's flags.
//
// Linux is read from /proc (proc(5)), macOS through gopsutil and sysctl. All of
// it is a photograph: a process may be gone, and its number be another's, by
// the time the answer is used; compare Start to tell. Reading changes nothing,
// needs no rights beyond the user's own, and what is read of one process has a limit.
package process

import (
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// ErrGone is in the chain of the error when no process has the number, or it
// ended while it was being read.
var ErrGone = errors.New("no such process")

// ErrNoTTY is in the chain of the error when the process has no controlling
// terminal, or the path is not that of a terminal.
var ErrNoTTY = errors.New("no terminal")

// The states of a process.
const (
	Running = "running" // runs, sleeps or waits
	Stopped = "stopped" // by a signal (job control) or a debugger
	Zombie  = "zombie"  // ended, but its parent has not collected it
)

// MaxArgv is the most bytes of a command line that are read.
const MaxArgv = 64 << 10

// Process is one process at one moment. Text comes from the process itself and
// may hold anything. A field that may not be read is empty.
type Process struct {
	PID, PPID, PGID int
	SID             int       // of the session, in the kernel's sense
	Name            string    // of the program, cut by the system to 15 (Linux) or 16 bytes
	Argv            []string  // at most MaxArgv bytes; nil for a zombie
	Start           time.Time // to about 10 ms; the same in every reading by one process; see Birth
	Cwd             string
	State           string // Running, Stopped or Zombie
}

// TTY is the two terminal flags that tell who reads. A shell's line editor
// has both off; a program that reads lines has both on; a program that asks for a
// password has only Canonical on.
type TTY struct {
	Echo      bool // what is typed shows
	Canonical bool // the program gets whole lines
}

// isCut reports whether the system may have cut a program's name.
func isCut(name string) bool { return len(name) >= 15 }

// programName is a program's name without path or login dash: the system's, or
// its whole form from the command line where the system cut it.
func programName(name string, argv []string) string {
	if isCut(name) && len(argv) > 0 {
		if whole := strings.TrimPrefix(filepath.Base(argv[0]), "-"); strings.HasPrefix(whole, name) {
			return whole
		}
	}
	return strings.TrimPrefix(name, "-")
}

// args cuts a command line, each of whose words ends with NUL, as the system hands it out.
func args(line []byte) []string {
	if len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}
