package tmux

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startTied starts a connection that ends when this process is killed. By
// itself tmux (3.3a) waits without end for a client whose output nobody reads, and
// its server for the client. The thread that starts it is kept until the
// caller's goroutine ends with the program. A Ctrl-C is not meant for it.
func startTied(cmd *exec.Cmd) error {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd.Start()
}
