package tunnel

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startTied starts a program that is sent SIGTERM when this process dies
// (prctl(2), PR_SET_PDEATHSIG). That is tied to the thread that starts it, which
// is therefore kept until the caller's goroutine ends with the program.
func startTied(cmd *exec.Cmd, began chan<- error) error {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	err := cmd.Start()
	began <- err
	return err
}
