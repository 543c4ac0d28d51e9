package process

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartTied starts a program that is sent a signal when this process dies,
// however it does; on a Mac, which has no such thing, it only starts it. The
// goroutine that calls it must end with the program, and not before: the tie is
// to the thread that starts it (prctl(2), PR_SET_PDEATHSIG), which is kept until then.
func StartTied(cmd *exec.Cmd, signal syscall.Signal) error {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = signal
	return cmd.Start()
}
