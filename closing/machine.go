package closing

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"termpilot/process"
)

// machine is this machine.
type machine struct{}

func (machine) Snapshot() (*process.Table, error)         { return process.Snapshot() }
func (machine) Lookup(pid int) (process.Process, error)   { return process.Lookup(pid) }
func (machine) OpenFiles(pid int) ([]string, error)       { return process.OpenFiles(pid) }
func (machine) Device(tty string) (uint64, error)         { return process.Device(tty) }
func (machine) Variable(pid int, n string) (string, bool) { return process.Variable(pid, n) }
func (machine) Ticks(pid int) (uint64, error)             { return process.Ticks(pid) }

// Signal signals a process that is provably still the same: it is taken hold of
// first (by a pidfd on Linux), and what is held is then looked at.
func (machine) Signal(pid int, started time.Time, signal os.Signal) error {
	number, ok := signal.(syscall.Signal)
	if !ok || pid <= 1 {
		return fmt.Errorf("process %d cannot be sent %v", pid, signal)
	}
	held, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	p, err := process.Lookup(pid)
	if err != nil {
		return err
	}
	if !p.Start.Equal(started) {
		return process.ErrGone
	}
	if err := held.Signal(number); errors.Is(err, os.ErrProcessDone) {
		return process.ErrGone
	} else if err != nil {
		return err
	}
	return nil
}
