package process

import (
	"errors"
	"fmt"
	"slices"
)

// Entry is one process of a [Table]: what the system tells of all processes at
// once. Argv and Cwd are empty; [Lookup] has them.
type Entry struct {
	Process
	TTY        uint64 // device number of its terminal; 0 is none
	Foreground int    // the foreground process group of that terminal
}

// Table is every process at one moment. It costs one reading of all, however
// many questions are then asked of it.
type Table struct {
	// Hides says that the system keeps other users' processes from us (hidepid of
	// Linux's /proc): what is not in the table may run all the same.
	Hides   bool
	entries []Entry // by rising number
}

// maxOpen is the most open files of a process that are looked at.
const maxOpen = 4096

var errTooMany = errors.New("it has too many")

// TableOf makes a table of processes that are known otherwise, for tests of
// those who read tables.
func TableOf(entries ...Entry) *Table {
	t := &Table{entries: slices.Clone(entries)}
	slices.SortFunc(t.entries, func(a, b Entry) int { return a.PID - b.PID })
	return t
}

// Of returns one process. ErrGone when there was none of this number.
func (t *Table) Of(pid int) (Entry, error) {
	i, found := slices.BinarySearchFunc(t.entries, pid, func(e Entry, pid int) int { return e.PID - pid })
	if !found {
		return Entry{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	return t.entries[i], nil
}

// Where returns the processes of which something is so, by rising number.
func (t *Table) Where(so func(Entry) bool) []Entry {
	var list []Entry
	for _, e := range t.entries {
		if so(e) {
			list = append(list, e)
		}
	}
	return list
}

// Ancestors returns the numbers of a process's parents, from its own up to the first process.
func (t *Table) Ancestors(pid int) []int {
	var chain []int
	for e, err := t.Of(pid); err == nil && !slices.Contains(chain, e.PID); e, err = t.Of(e.PPID) {
		chain = append(chain, e.PID)
	}
	return chain
}

// Scope returns the processes that belong to a terminal: those on it, those in
// the session of the process that the terminal started, and all descendants of
// that one, also such as have left the terminal. The process itself is the
// first. ErrGone when that is not there.
func (t *Table) Scope(shellPID int) ([]Entry, error) {
	shell, err := t.Of(shellPID)
	if err != nil {
		return nil, err
	}
	in := map[int]bool{shell.PID: true}
	for {
		before := len(in)
		for _, e := range t.entries {
			if in[e.PPID] || shell.SID != 0 && e.SID == shell.SID || shell.TTY != 0 && e.TTY == shell.TTY {
				in[e.PID] = true
			}
		}
		if len(in) == before { // a child may have a lower number than its parent
			break
		}
	}
	others := t.Where(func(e Entry) bool { return in[e.PID] && e.PID != shell.PID })
	return append([]Entry{shell}, others...), nil
}
