package tmux

import "os"

// hold is nothing here: the end of its input alone ends a connection whose process died.
func hold(*os.File) []*os.File { return nil }
