package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
)

// The states of sys/proc.h that matter here.
const (
	stateStop   = 4 // SSTOP
	stateZombie = 5 // SZOMB
)

// noDevice is NODEV of sys/types.h: no controlling terminal.
const noDevice = -1

// patience bounds what gopsutil asks the kernel for one process.
const patience = 2 * time.Second

// Lookup returns what is known of a process. ErrGone when there is none.
func Lookup(pid int) (Process, error) {
	k, err := kinfo(pid)
	if err != nil {
		return Process{}, fmt.Errorf("look up process %d: %w", pid, err)
	}
	p := describe(k)
	again, err := kinfo(pid)
	if err == nil && again.Proc.P_starttime != k.Proc.P_starttime {
		err = ErrGone // what was read may be of two processes
	}
	if err != nil {
		return Process{}, fmt.Errorf("look up process %d: %w", pid, err)
	}
	return p, nil
}

// comm is a process's name as the system keeps it.
func comm(k unix.KinfoProc) string {
	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	return string(name)
}

// Foreground returns the foreground process group of the terminal that a process
// runs on. ErrGone when there is no such process, ErrNoTTY when it has no
// terminal, or its terminal no foreground group.
func Foreground(shellPID int) (pgid int, err error) {
	k, err := kinfo(shellPID)
	if err == nil && (k.Eproc.Tdev == noDevice || k.Eproc.Tpgid <= 0) {
		err = ErrNoTTY
	}
	if err != nil {
		return 0, fmt.Errorf("foreground of process %d: %w", shellPID, err)
	}
	return int(k.Eproc.Tpgid), nil
}

// Front returns the foreground process group of the terminal that a process runs
// on, as Foreground does, and the name of the group's leader, as Name does; ""
// when the leader is gone or may not be looked at.
func Front(shellPID int) (pgid int, name string, err error) {
	pgid, err = Foreground(shellPID)
	if err != nil {
		return 0, "", err
	}
	if name, err = Name(pgid); err != nil {
		name = ""
	}
	return pgid, name, nil
}

// Name returns the name of a process's program without path or login dash:
// the system's, or its whole form from the command line where the system cut
// it. ErrGone when there is no such process.
func Name(pid int) (string, error) {
	k, err := kinfo(pid)
	if err != nil {
		return "", fmt.Errorf("name of process %d: %w", pid, err)
	}
	if name := comm(k); !isCut(name) {
		return programName(name, nil), nil
	}
	p, err := Lookup(pid)
	if err != nil {
		return "", err
	}
	return programName(p.Name, p.Argv), nil
}

// errNotTold is why Executable fails.
var errNotTold = errors.New("not told without libproc")

// Executable fails: macOS tells the path of a program only through libproc.
func Executable(pid int) (string, error) {
	return "", fmt.Errorf("executable of process %d: %w", pid, errNotTold)
}

// session asks for a process's session, which kinfo_proc does not hold; 0 when
// it is gone.
func session(k unix.KinfoProc) int {
	sid, err := unix.Getsid(int(k.Proc.P_pid))
	if err != nil {
		return 0
	}
	return sid
}

// Reads reports whether a process of a process group is blocked in read(2) on a
// terminal. known is always false: macOS does not tell without a debugger's rights.
func Reads(pgid int, tty string) (reads, known bool) { return false, false }

// kinfo asks for one process (sysctl kern.proc.pid). An answer without it, or
// about another, means that it is gone.
func kinfo(pid int) (unix.KinfoProc, error) {
	if pid <= 0 || int(int32(pid)) != pid {
		return unix.KinfoProc{}, ErrGone
	}
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case errors.Is(err, unix.EIO), errors.Is(err, unix.ESRCH): // EIO: x/sys's word for an answer of another size
		return unix.KinfoProc{}, ErrGone
	case err != nil:
		return unix.KinfoProc{}, os.NewSyscallError("sysctl kern.proc.pid", err)
	case int(k.Proc.P_pid) != pid:
		return unix.KinfoProc{}, ErrGone
	}
	return *k, nil
}

// basics is what kinfo_proc says of a process.
func basics(k unix.KinfoProc) Process {
	p := Process{
		PID: int(k.Proc.P_pid), PPID: int(k.Eproc.Ppid), PGID: int(k.Eproc.Pgid), SID: session(k),
		Name: comm(k), Start: time.Unix(k.Proc.P_starttime.Unix()), State: Running,
	}
	switch k.Proc.P_stat {
	case stateStop:
		p.State = Stopped
	case stateZombie:
		p.State = Zombie
	}
	return p
}

// describe adds what kinfo_proc does not say. What may not be read is left empty.
func describe(k unix.KinfoProc) Process {
	p := basics(k)
	if p.State == Zombie {
		return p
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	other := &gopsutil.Process{Pid: k.Proc.P_pid}
	if argv, err := other.CmdlineSliceWithContext(ctx); err == nil {
		p.Argv = capped(argv)
	}
	p.Cwd, _ = other.CwdWithContext(ctx)
	return p
}

// capped cuts a command line to MaxArgv bytes.
func capped(argv []string) []string {
	left := MaxArgv
	for i, a := range argv {
		if left -= len(a) + 1; left < 0 {
			return append(argv[:i:i], a[:max(0, len(a)+1+left)])
		}
	}
	return argv
}
