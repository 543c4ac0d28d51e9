package host

import (
	"os"
	"time"
)

// master is a PTY that is waited for.
type master struct{ *watched }

func newMaster(f *os.File) (master, error) {
	w, err := watchFile(f)
	return master{w}, err
}

// wake ends the Read that waits, and every later one.
func (m master) wake() { _ = m.SetReadDeadline(time.Unix(1, 0)) }

// wakeWriter ends the Write that waits, and every later one.
func (m master) wakeWriter() { _ = m.SetWriteDeadline(time.Unix(1, 0)) }
