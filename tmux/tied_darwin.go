package tmux

import (
	"os/exec"
	"syscall"
)

// startTied starts a connection. The system has no way to end it with this
// process. A Ctrl-C is not meant for it.
func startTied(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}
