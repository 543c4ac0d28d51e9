package host

import (
	"golang.org/x/sys/unix"
)

// processInfo is as much of a process as the search for those who outlive their
// session needs. Package process tells the rest.
type processInfo struct {
	pid     int
	parent  int
	group   int
	session int // not told by macOS: 0
	name    string
	state   byte
}

func inspectProcess(pid int) (processInfo, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return processInfo{}, false
	}
	return fromKernel(k), true
}

func fromKernel(k *unix.KinfoProc) processInfo {
	state := byte('S')
	if k.Proc.P_stat == 5 { // SZOMB
		state = 'Z'
	}
	return processInfo{
		pid:    int(k.Proc.P_pid),
		parent: int(k.Eproc.Ppid),
		group:  int(k.Eproc.Pgid),
		name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
		state:  state,
	}
}

// macOS tells neither the program's path nor another process's environment
// without libproc.
func processProgram(int) string  { return "" }
func startedIn(int, string) bool { return false }

// processes lists the processes that match.
func processes(match func(processInfo) bool) []processInfo {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var list []processInfo
	for i := range all {
		if p := fromKernel(&all[i]); match(p) {
			list = append(list, p)
		}
	}
	return list
}
