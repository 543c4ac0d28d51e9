package tmux

import (
	"fmt"
	"os"
)

// hold is what a connection's process holds open besides: the other end of its input.
// Without it tmux would see the input's end before the process's when this process dies.
func hold(in *os.File) (files []*os.File) {
	raw, err := in.SyscallConn()
	if err != nil {
		return nil
	}
	_ = raw.Control(func(fd uintptr) {
		// opened once more: what is handed on as it is takes no deadlines any more
		if f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_WRONLY, 0); err == nil {
			files = []*os.File{f}
		}
	})
	return files
}
