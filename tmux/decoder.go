package tmux

import "bytes"

// decoder keeps the place between the lines that a connection tells.
type decoder struct {
	open  bool
	stamp stamp
	lines [][]byte
	size  int
	call  *call // the call whose raw text is being read
	over  bool  // of which the last line was read
}

// take reads one line. An error means that nothing more can be understood.
//
// The text of a raw call comes from screens and could hold any line. So all
// after its first answer, which holds numbers only, is taken as it is until the
// call's own last line, which no program can know.
func (d *decoder) take(c *conn, line []byte) error {
	if d.call != nil {
		return d.takeRaw(c, line)
	}
	if !d.open {
		if s, ok := parseBegin(line); ok {
			d.open, d.stamp, d.lines, d.size = true, s, nil, 0
			return nil
		}
		n := parseNote(line)
		c.noted(n)
		return nil
	}
	over, refused := d.stamp.ends(line)
	if !over {
		d.size += len(line)
		if d.size > maxReply {
			return errSpeech
		}
		d.lines = append(d.lines, bytes.Clone(line))
		return nil
	}
	d.open = false
	if !d.stamp.ours && !(c.loose && c.isReady()) {
		c.greeted(refused, d.lines)
		return nil
	}
	return d.answered(c, answer{lines: d.lines, refused: refused})
}

// answered gives an answer to the call that waits first.
func (d *decoder) answered(c *conn, a answer) error {
	k := c.first()
	if k == nil {
		return errSpeech
	}
	if !a.refused && len(a.lines) == 1 && string(a.lines[0]) == k.end {
		c.pop()
		return nil
	}
	k.answers = append(k.answers, a)
	if !k.raw {
		return nil
	}
	if a.refused { // the rest of its line is not carried out, its last line neither
		c.pop()
		return nil
	}
	d.call, d.over = k, false
	return nil
}

func (d *decoder) takeRaw(c *conn, line []byte) error {
	if d.over { // the end of the answer that held the last line
		d.call = nil
		c.pop()
		return nil
	}
	k := d.call
	if string(line) == k.end {
		if n := len(k.lines); n > 0 { // the beginning of that answer
			k.lines = k.lines[:n-1]
		}
		d.over = true
		return nil
	}
	if k.size += len(line); k.size > maxReply {
		return errSpeech
	}
	k.lines = append(k.lines, bytes.Clone(line))
	return nil
}

// cut takes the next n lines of a raw call, without what stands around them.
// Its commands were carried out without a pause, so that nothing but their
// answers is there.
func (k *call) cut(n int) ([][]byte, bool) {
	if len(k.lines) < n+2 {
		return nil, false
	}
	s, ok := parseBegin(k.lines[0])
	if !ok {
		return nil, false
	}
	body := k.lines[1 : n+1]
	if over, refused := s.ends(k.lines[n+1]); !over || refused {
		return nil, false
	}
	k.lines = k.lines[n+2:]
	return body, true
}

// cutLine takes the next line of a raw call from an answer of at most one.
func (k *call) cutLine() (line []byte, ok bool) {
	if _, ok := k.cut(0); ok {
		return nil, true
	}
	lines, ok := k.cut(1)
	if !ok {
		return nil, false
	}
	return lines[0], true
}

// isReady reports whether the connection is attached.
func (c *conn) isReady() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}

// greeted takes the answer to the command that the connection was started with.
func (c *conn) greeted(refused bool, lines [][]byte) {
	if refused {
		c.mu.Lock()
		c.reason = string(bytes.Join(lines, []byte(" ")))
		c.mu.Unlock()
		return
	}
	if !c.isReady() {
		close(c.ready)
	}
}

// noted passes a notification on, and keeps what is about the connection itself.
func (c *conn) noted(n note) {
	c.mu.Lock()
	switch n.kind {
	case noteExit:
		c.reason = string(n.data)
	case noteMoved:
		c.session = string(n.data)
	}
	c.mu.Unlock()
	c.note(n)
}

func (c *conn) first() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) == 0 {
		return nil
	}
	return c.calls[0]
}

func (c *conn) pop() {
	c.mu.Lock()
	if len(c.calls) == 0 {
		c.mu.Unlock()
		return
	}
	k := c.calls[0]
	c.calls[0] = nil
	c.calls = c.calls[1:]
	c.mu.Unlock()
	c.complete(k)
}
