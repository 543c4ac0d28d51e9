package host

import (
	"encoding/binary"
	"encoding/json"
	"net"
	"sync"
	"time"

	"termpilot/fault"
)

// maxView is how much output may wait for a viewer. One that falls behind
// further gets the screen painted anew in place of what it missed.
const maxView = 1 << 20

// viewer is one person's terminal that shows a session.
type viewer struct {
	mu      sync.Mutex
	changed *sync.Cond
	session *session // what is shown: another one after a restart
	filter  passthrough
	midway  bool // what it would be shown begins in the middle of something; see show
	waiting []byte
	repaint bool
	ended   *exit
	closed  bool
}

func newViewer(s *session) *viewer {
	v := &viewer{session: s}
	v.changed = sync.NewCond(&v.mu)
	return v
}

// show queues output; midway tells that it ends in the middle of a sequence. To
// one who came in the middle of one, whose rest is not text, nothing is shown
// until its end, and then the screen. The session's lock is held; show does not wait.
func (v *viewer) show(output []byte, midway bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.midway {
		v.midway, v.repaint = midway, v.repaint || !midway
		v.changed.Signal()
		return
	}
	if v.repaint || v.closed {
		v.filter.skip(output)
		return // the painting will hold it
	}
	v.waiting = v.filter.pass(v.waiting, output)
	if len(v.waiting) > maxView {
		v.waiting, v.repaint = nil, true
	}
	v.changed.Signal()
}

// redraw asks for the screen to be painted anew.
func (v *viewer) redraw() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting, v.repaint = nil, true
	v.changed.Signal()
}

// anew is redraw where what is shown goes on with another emulator.
func (v *viewer) anew(s *session) {
	v.mu.Lock()
	v.session, v.filter, v.midway = s, passthrough{}, false
	v.mu.Unlock()
	v.redraw()
}

// end tells that the session ended.
func (v *viewer) end(e exit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = &e
	v.changed.Signal()
}

func (v *viewer) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.changed.Signal()
}

// serveAttach serves one connection of the second socket.
func (h *server) serveAttach(conn *net.UnixConn) {
	if !sameUser(conn) {
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(controlPatience))
	kind, payload, err := readFrame(conn)
	var what hello
	if err != nil || kind != frameHello || json.Unmarshal(payload, &what) != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	_ = conn.SetWriteDeadline(time.Now().Add(controlPatience))
	switch what.Op {
	case "status":
		_ = writeFrame(conn, frameStatus, raw(h.status()))
	case "stop":
		if err := h.prepareStop(what.Force); err != nil {
			refuse(conn, err)
			return
		}
		// The answer first: ending closes this connection, too.
		_ = writeFrame(conn, frameStatus, raw(h.status()))
		select {
		case h.stop <- struct{}{}:
		default:
		}
	case "env":
		c, err := h.suite.open(what.Suite)
		if err != nil {
			refuse(conn, err)
			return
		}
		_ = writeFrame(conn, frameStatus, raw(c))
	case "attach":
		s, ok := h.live(what.Session)
		if !ok || what.Session == "active" {
			code, hint := fault.SessionNotFound, "list the sessions"
			if _, ended := h.readable(what.Session); ended {
				code, hint = fault.SessionEnded, "read its last screen instead"
			}
			refuse(conn, &fault.Error{Op: "attach", Session: what.Session, Code: code, Hint: hint})
			return
		}
		h.view(conn, s, what)
	default:
		refuse(conn, &fault.Error{Op: "attach", Code: fault.Unsupported, Detail: "unknown operation", Hint: "restart the host: it is older than this program"})
	}
}

func refuse(conn net.Conn, err error) {
	f := failure{Code: fault.CodeOf(err), Hint: fault.HintOf(err)}
	if e, ok := err.(*fault.Error); ok { //nolint:errorlint // made a few lines above
		f.Detail = e.Detail
	}
	_ = writeFrame(conn, frameError, raw(f))
}

// view shows a session to a person until one of them leaves.
func (h *server) view(conn *net.UnixConn, s *session, what hello) {
	if what.Columns > 0 && what.Rows > 0 {
		h.resizeFor(s, what.Columns, what.Rows)
	}
	v := newViewer(s)
	v.repaint = true
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		refuse(conn, &fault.Error{Op: "attach", Session: s.id, Code: fault.SessionEnded, Hint: "read its last screen instead"})
		return
	}
	v.midway = s.term.Midway()
	s.viewers[v] = struct{}{}
	s.mu.Unlock()

	var painting sync.WaitGroup
	painting.Go(func() {
		v.paint(conn)
		_ = conn.Close() // ends the reading, too
	})
	h.readViewer(conn, v)
	v.leave()
	v.close()
	painting.Wait()
}

func (v *viewer) shown() *session {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.session
}

// lock locks the session that is shown. It passes to another one only under
// its lock.
func (v *viewer) lock() *session {
	for {
		s := v.shown()
		s.mu.Lock()
		if v.shown() == s {
			return s
		}
		s.mu.Unlock()
	}
}

func (v *viewer) leave() {
	s := v.lock()
	defer s.mu.Unlock()
	delete(s.viewers, v)
}

// paint sends a viewer what there is to see.
func (v *viewer) paint(conn net.Conn) {
	for {
		v.mu.Lock()
		for len(v.waiting) == 0 && !v.repaint && v.ended == nil && !v.closed {
			v.changed.Wait()
		}
		output, repaint, ended, closed := v.waiting, v.repaint, v.ended, v.closed
		v.waiting = nil
		v.mu.Unlock()
		if closed {
			return
		}
		kind := byte(frameOutput)
		if repaint {
			kind, output = frameRedraw, v.painting()
		}
		_ = conn.SetWriteDeadline(time.Now().Add(writePatience))
		for len(output) > 0 {
			n := min(len(output), maxControlFrame)
			if writeFrame(conn, kind, output[:n]) != nil {
				return
			}
			output, kind = output[n:], frameOutput
		}
		if ended != nil && !repaint {
			_ = writeFrame(conn, frameEnd, raw(ended))
			return
		}
	}
}

// painting is the screen of the session that is shown. Under its lock nothing is
// drawn, so that what is shown after it continues exactly where it was taken.
func (v *viewer) painting() []byte {
	s := v.lock()
	defer s.mu.Unlock()
	defer s.survive()
	v.mu.Lock()
	v.waiting, v.repaint = nil, false
	v.mu.Unlock()
	return s.term.Redraw()
}

// readViewer takes what a person does, until they leave.
func (h *server) readViewer(conn net.Conn, v *viewer) {
	keys := &keyboard{}
	for {
		kind, payload, err := readFrame(conn)
		if err != nil {
			return
		}
		switch kind {
		case frameInput:
			v.shown().press(keys, payload)
		case frameResize:
			if len(payload) == 4 {
				h.resizeFor(v.shown(), int(binary.BigEndian.Uint16(payload)), int(binary.BigEndian.Uint16(payload[2:])))
			}
		case frameDetach:
			return
		}
	}
}

// resizeFor gives a session the size of the viewer who came or changed last;
// where its neighbours cannot follow, as much of that as they can.
func (h *server) resizeFor(s *session, columns, rows int) {
	if h.resizeTo(s, Size{columns, rows}) {
		return
	}
	c, r := s.facts.size()
	if !h.resizeTo(s, Size{columns, r}) {
		h.resizeTo(s, Size{c, rows})
	}
}
