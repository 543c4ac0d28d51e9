package host

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"termpilot/iterm/api"
	"termpilot/shellint"
	"termpilot/track"
	"termpilot/vt"
)

// session is one program on one PTY. The pump goroutine feeds the emulator;
// whoever else reads it holds mu, and takes what it needs by value.
type session struct {
	host    *server
	id      string
	space   uuid.UUID // namespace of the ids of its prompts
	profile profile
	request request // what it was made from
	program program
	folder  string // private folder of the integration's files, or ""

	nonce      string // in the marks of the integrated shell; "" is none
	shell      bool   // the program is an interactive shell
	scrollback int    // rows kept

	device *device
	proc   *os.Process
	pid    int
	input  *input
	exited chan struct{} // the program has been waited for
	done   chan struct{} // nothing of the session runs any more
	facts  facts
	// Guarded by the server's lock.
	placed   placed
	keptRows int  // of the scrollback, once the session has ended
	kept     bool // its place is kept while its program is started anew
	gone     bool // it has ended meanwhile

	// closing is set when somebody asked for the end, so that it is not news.
	closing atomic.Bool

	mu         sync.Mutex
	term       *vt.Terminal
	marks      marks
	viewers    map[*viewer]struct{}
	lastOutput time.Time
	shown      uint64 // the generation that clients were last told of
	update     *time.Timer
	release    *time.Timer
	selected   []*api.SubSelection
	told       map[string]string // watched variables as last told
	seen       map[string]any    // what some of them were made of then; see unchanged
	looking    *time.Timer
	looked     time.Time    // when the watched job variables were last looked at
	front      atomic.Int64 // the foreground group at that time
	held       string       // the prompt that was shown and not told yet
	holding    *time.Timer  // tells it at the latest
	withheld   []byte       // answers that no program can read yet
	waiting    *time.Timer  // looks again whether one can
	tries      int
	over       bool // the last output has been drawn
	drawing    bool // what is told goes out together, when the drawing is done
	owed       bool // there is such
	count      int  // how many things the last drawing told
}

// placed is where a session was put when it was made.
type placed struct {
	window string
	tab    int
}

const (
	chunk = 64 << 10 // most that is drawn while readers wait

	// frame is the least time between two notices of screen updates.
	frame = 33 * time.Millisecond
	// syncPatience is how long a synchronized update may keep readers at the
	// frame before it.
	syncPatience = 150 * time.Millisecond
	// A drawing that tells so many things is part of a flood of them, which is held
	// back for no longer than this after each 4 KiB.
	flood         = 64
	floodPatience = time.Second
	// drainMost bounds what is read after the program's end, when programs that
	// it left behind go on printing.
	drainMost = 4 << 20
)

// pump draws what the programs print until the session's program has ended
// and the output that was there then is drawn.
func (s *session) pump() {
	first := make([]byte, 4<<10) // as much as the kernel gives at once
	for flooding := false; ; flooding = s.holdBack() {
		n, err := s.device.Read(first)
		switch {
		case n >= len(first)/2 && err == nil && !flooding:
			s.drawMore(first[:n])
		case n > 0:
			s.draw(first[:n])
		}
		if err == nil {
			continue
		}
		select {
		case <-s.exited:
			s.drain(first)
			return
		default:
		}
		// Nobody holds the terminal now, but the program lives and may open it again.
		select {
		case <-s.exited:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// holdBack reports whether the last drawing told many things, and then lets
// clients catch up for a while: a program that prints nothing but marks would
// have those dropped that read more slowly than it prints. The program waits.
func (s *session) holdBack() bool {
	s.mu.Lock()
	many := s.count >= flood
	s.mu.Unlock()
	if !many {
		return false
	}
	for end := time.Now().Add(floodPatience); s.host.hub.crowded() && time.Now().Before(end); {
		select {
		case <-s.exited:
			return true
		case <-time.After(time.Millisecond):
		}
	}
	return true
}

// drawMore draws a flood: one drawing of much is cheaper than many of little.
func (s *session) drawMore(first []byte) {
	buf := s.host.chunks.Get().(*[chunk]byte)
	defer s.host.chunks.Put(buf)
	n := copy(buf[:], first)
	for n <= chunk-len(first) {
		more, err := s.device.readNow(buf[n:])
		if err != nil || more == 0 {
			break
		}
		n += more
	}
	s.draw(buf[:n])
}

func (s *session) drain(buf []byte) {
	for total := 0; total < drainMost; {
		n, err := s.device.readNow(buf)
		if n > 0 {
			s.draw(buf[:n])
		}
		if n == 0 || err != nil {
			return
		}
		total += n
	}
}

// draw feeds output to the emulator, and tells what came of it. It waits while
// a client's transaction is open.
func (s *session) draw(output []byte) {
	s.host.frozen.drawing.RLock()
	defer s.host.frozen.drawing.RUnlock()
	s.drawNow(output)
}

func (s *session) drawNow(output []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawing, s.count = true, 0
	defer s.sendTold()
	defer s.survive()
	s.lastOutput = time.Now()
	_, _ = s.term.Write(output)
	s.followText()
	s.reply(s.term.Replies())
	for v := range s.viewers {
		v.show(output, s.term.Midway())
	}
	s.drawn()
}

// tell passes a notification on to the clients that want it. mu is held.
func (s *session) tell(wants func(*client) bool, build func() *api.Notification) {
	s.tellMessage(wants, func() message { return notice(build()) })
}

// tellMessage is tell of what is encoded already. mu is held.
func (s *session) tellMessage(wants func(*client) bool, build func() message) {
	hub := &s.host.hub
	switch told := hub.later(wants, build); {
	case !told:
	case s.drawing:
		s.owed = true
		s.count++
	default:
		hub.hurry()
		hub.wake()
	}
}

// sendTold lets go what was told in a drawing. mu is held.
func (s *session) sendTold() {
	s.drawing = false
	if s.owed {
		s.owed = false
		s.host.hub.wake()
	}
}

// survive replaces an emulator that panicked by a fresh one: a fault of ours in
// drawing one session must not end them all. Neither the output nor the screen
// goes into the log.
func (s *session) survive() {
	cause := recover()
	if cause == nil {
		return
	}
	s.host.log.Error("drawing failed; the screen starts anew", "session", s.id, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	columns, rows := s.facts.size()
	s.newTerminal(columns, rows)
	for v := range s.viewers {
		v.anew(s)
	}
}

// newTerminal gives the session an empty emulator, and no prompts.
func (s *session) newTerminal(columns, rows int) {
	s.term = vt.New(vt.Options{
		Columns: columns, Rows: rows, Scrollback: s.scrollback, Version: s.host.options.Version,
		OSC: s.osc, Bell: s.bell,
	})
	machine := shellint.NewMachine(s.nonce)
	s.marks = marks{machine: machine, places: track.NewPlaces(s.term, machine)}
}

// followText brings places up to date after a change, and forgets the selection,
// which is known by the numbers of its rows, when they have changed. mu is held.
func (s *session) followText() {
	if s.marks.places.Drawn() {
		s.selected = nil
	}
}

// drawn brings what lists show up to date after a change. mu is held.
func (s *session) drawn() {
	m := s.term.Modes()
	title := s.term.Title()
	s.facts.mu.Lock()
	s.facts.title = clean(title)
	s.facts.alternate = m.Alternate
	s.facts.mu.Unlock()
	if m.Synchronized && s.release == nil {
		s.release = time.AfterFunc(syncPatience, s.releaseFrame)
	} else if !m.Synchronized && s.release != nil {
		s.release.Stop()
		s.release = nil
	}
	if s.held != "" && m.BracketedPaste {
		s.tellHeld()
	}
	s.tellScreen()
	s.tellVariables()
}

func (s *session) releaseFrame() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.survive()
	s.release = nil
	s.term.Release()
	s.drawn()
}

// tellScreen tells clients that the screen changed: at once, then at most once
// a frame, the last change always. mu is held.
func (s *session) tellScreen() {
	if s.update != nil || s.over {
		return // told when the frame is over
	}
	generation := s.term.Generation()
	if generation == s.shown {
		return
	}
	kind := api.NotificationType_NOTIFY_ON_SCREEN_UPDATE
	wants := about(kind, s.id)
	if !s.host.hub.wanted(wants) {
		return
	}
	s.shown = generation
	s.tell(wants, func() *api.Notification {
		return &api.Notification{ScreenUpdateNotification: &api.ScreenUpdateNotification{Session: &s.id}}
	})
	s.update = time.AfterFunc(frame, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.update = nil
		s.tellScreen()
	})
}

// send queues input for the program. false when it has ended or does not read.
func (s *session) send(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	// The touch is noted before the text can reach the shell, so that no prompt
	// that text changed is ever reported as untouched.
	s.mu.Lock()
	s.marks.places.Touch()
	s.mu.Unlock()
	return s.input.put(text)
}

// inject draws bytes as if the program had printed them. Marks in them count
// for nothing unless they are the shell's own. inside is for the client whose
// transaction holds up all other drawing.
func (s *session) inject(output []byte, inside bool) {
	draw := s.draw
	if inside {
		draw = s.drawNow
	}
	for len(output) > 0 {
		n := min(len(output), chunk)
		draw(output[:n])
		output = output[n:]
	}
}

// resize changes the size of the emulator and of the PTY. mu is held.
func (s *session) resize(to Size) error {
	if c, r := s.term.Size(); c == to.Columns && r == to.Rows {
		return nil
	}
	if err := s.device.resize(to.Columns, to.Rows); err != nil {
		return err
	}
	s.facts.mu.Lock()
	s.facts.columns, s.facts.rows = to.Columns, to.Rows
	s.facts.mu.Unlock()
	defer s.survive()
	s.term.Resize(to.Columns, to.Rows)
	s.followText()
	for v := range s.viewers {
		v.redraw()
	}
	s.drawn()
	return nil
}
