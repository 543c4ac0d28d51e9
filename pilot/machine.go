package pilot

import (
	"termpilot/process"
	"termpilot/terminal"
)

// machine is the Processes of this machine.
type machine struct{}

func (machine) Front(shellPID int) (int, string, error) { return process.Front(shellPID) }

func (machine) Name(pid int) (string, error) { return process.Name(pid) }

func (machine) Flags(tty string) (echo, canonical bool, err error) {
	f, err := process.Flags(tty)
	return f.Echo, f.Canonical, err
}

func (machine) Reads(pgid int, tty string) terminal.Known {
	reads, known := process.Reads(pgid, tty)
	if !known && !reads {
		return terminal.Unknown
	}
	return terminal.KnownOf(reads)
}
