package reduce

import "bytes"

// Window takes a text of any length in little room: it keeps its beginning and
// its end, and counts the lines between. It is an io.Writer, for one goroutine.
type Window struct {
	head    []byte
	tail    []byte
	skipped int
	cut     bool
	lastCut byte // the last byte that was dropped
}

const (
	windowHead = 4 << 20
	windowTail = 4 << 20
)

// Write takes all of p; it never fails.
func (w *Window) Write(p []byte) (int, error) {
	n := len(p)
	if room := windowHead - len(w.head); room > 0 {
		room = min(room, len(p))
		w.head = append(w.head, p[:room]...)
		p = p[room:]
	}
	w.tail = append(w.tail, p...)
	if len(w.tail) > 2*windowTail {
		w.drop(len(w.tail) - windowTail)
	}
	return n, nil
}

// drop drops the first n bytes of the tail.
func (w *Window) drop(n int) {
	w.cut = true
	w.skipped += bytes.Count(w.tail[:n], []byte{'\n'})
	w.lastCut = w.tail[n-1]
	w.tail = append(w.tail[:0], w.tail[n:]...)
}

// Text returns what is kept, how many lines are missing, and where. A line that
// is kept in part only is missing.
func (w *Window) Text() (text string, skipped, seam int) {
	if !w.cut {
		return string(w.head) + string(w.tail), 0, 0
	}
	head, tail, skipped := w.head, w.tail, w.skipped
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 && i+1 < len(head) {
		head = head[:i+1] // the line's end was counted with those between
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && w.lastCut != '\n' {
		tail = tail[i+1:]
		skipped++
	}
	return string(head) + string(tail), max(1, skipped), len(head)
}
