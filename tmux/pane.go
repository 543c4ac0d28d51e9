package tmux

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"termpilot/process"
	"termpilot/terminal"
	"termpilot/track"
	"termpilot/vt"
)

// pane is one pane of tmux: a session of ours. What is drawn comes in order,
// from the reading goroutine of one listener; whoever else looks holds mu and
// takes what it needs by value.
type pane struct {
	id     terminal.ID
	number int
	link   *link
	nonce  string // in the marks of the shell that we started; "" is none

	mu       sync.Mutex
	pid      int    // the process that tmux started in it
	ours     bool   // we opened it
	folder   string // of its shell's start-up scripts, as long as that may read them
	seen     listed
	who      clients
	listener *listener
	term     *vt.Terminal // nil until the pane was looked at
	tracker  *track.Tracker
	sink     *sink
	epoch    int   // of the tracker
	base     int64 // first row of the screen, less tmux's count of the history, at the last picture
	pasting  bool
	question question
	seeding  bool // its picture is asked for, and holds what is printed until then
	blind    bool // and could not be read
	buf      []byte

	watchers   map[*terminal.EventQueue]struct{}
	lastOutput time.Time
	lastSent   time.Time
	held       *track.Change // a prompt that was shown and is not told yet
	holding    *time.Timer
	release    *time.Timer
	deadSince  time.Time // since when it is listed as dead
	over       bool
	exit       terminal.Exit
}

// newPane makes the session of a pane that was not there before. l.mu is held.
func (l *link) newPane(seen listed) *pane {
	p := &pane{number: seen.pane, pid: seen.pid, link: l, seen: seen, watchers: map[*terminal.EventQueue]struct{}{}}
	p.id = l.paneID(seen)
	l.b.mu.Lock()
	if nonce := l.nonceFor[seen.pane]; nonce != "" {
		l.b.keepNonce(p.id, nonce)
	}
	p.nonce = l.b.nonceOf(p.id)
	before := l.b.kept[p.id]
	delete(l.b.kept, p.id)
	l.b.mu.Unlock()
	if before != nil {
		p.adopt(before)
	}
	if seen.opened {
		l.run(func() { l.watchExit(p, seen.pid) })
	}
	return p
}

// opens reports whether we are about to start a program in a pane. l.mu is held.
func (l *link) opens(number int) bool {
	_, opens := l.nonceFor[number]
	return opens
}

// sink passes the marks of an emulator on to the pane that has it.
type sink struct{ pane *pane }

// adopt takes over what was known of the same pane on an earlier link. Whether
// it still holds, the next picture shows.
func (p *pane) adopt(before *pane) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if before.pid != p.pid || before.term == nil {
		return
	}
	p.term, p.tracker, p.sink, p.epoch, p.pasting = before.term, before.tracker, before.sink, before.epoch, before.pasting
	p.base, p.ours, p.folder = before.base, before.ours, before.folder
	p.sink.pane = p
	p.seeding = true
	before.term, before.tracker = nil, nil
}

// paneID names a pane of this server process, and of no other. A pane in which
// another program was started after the first had ended is another session.
// l.mu is held.
func (l *link) paneID(seen listed) terminal.ID {
	id := terminal.ID(fmt.Sprintf("%%%d@%s", seen.pane, l.identity))
	if l.panes[seen.pane] != nil || l.b.over(id) != nil {
		id = terminal.ID(fmt.Sprintf("%%%d.%d@%s", seen.pane, seen.pid, l.identity))
	}
	return id
}

// target names the pane to tmux.
func (p *pane) target() string { return "%" + strconv.Itoa(p.number) }

// same reports whether the pane that is listed is this one still.
func (p *pane) same(seen listed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seen.pid == p.pid || seen.dead
}

// statusPatience is how long tmux may take to collect a process whose terminal
// it has already closed.
const statusPatience = 500 * time.Millisecond

// place takes over what was listed. false when the pane's program has ended.
func (p *pane) place(seen listed, who clients) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.who = seen, who
	if !seen.dead {
		return true
	}
	if p.deadSince.IsZero() {
		p.deadSince = time.Now()
	}
	return seen.exit == "" && seen.signal == "" && time.Since(p.deadSince) < statusPatience
}

func (p *pane) session() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.session
}

func (p *pane) hear(h *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = h
}

func (p *pane) hears(h *listener) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listener == h
}

// heard reports whether somebody listens to the pane.
func (p *pane) heard() bool {
	p.mu.Lock()
	h, session := p.listener, p.seen.session
	p.mu.Unlock()
	return h != nil && h.session == session && h.conn != nil && !h.conn.isLost()
}

func (p *pane) isOver() (bool, terminal.Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over, p.exit
}

// output draws what the pane's programs printed.
func (p *pane) output(escaped []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.seeding || p.term == nil {
		return
	}
	p.buf = unescape(p.buf[:0], escaped)
	p.draw(p.buf)
}

// draw feeds the emulator, and tells what came of it. mu is held.
func (p *pane) draw(output []byte) {
	p.lastOutput = time.Now()
	_, _ = p.term.Write(output)
	p.term.Replies() // tmux answers its programs itself
	p.tracker.Drawn()
	p.heardAnswer()
	if p.term.Modes().BracketedPaste {
		p.pasting = true
	}
	if p.held != nil && p.editorReads() {
		p.tellHeld()
	}
	p.await()
	p.tell(terminal.Event{Kind: terminal.Output})
}

// syncPatience is how long a synchronized update may keep readers at the frame
// before it.
const syncPatience = 150 * time.Millisecond

// await ends a synchronized update that its program does not end. mu is held.
func (p *pane) await() {
	switch on := p.term.Modes().Synchronized; {
	case on && p.release == nil:
		p.release = time.AfterFunc(syncPatience, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.release = nil
			p.term.Release()
			p.tell(terminal.Event{Kind: terminal.Output})
		})
	case !on && p.release != nil:
		p.release.Stop()
		p.release = nil
	}
}

// osc takes a mark at its place in the stream. The emulator calls it in Write,
// so mu is held.
func (p *pane) osc(command int, payload []byte) {
	p.heardMark(command, payload)
	for _, c := range p.tracker.OSC(command, payload) {
		if p.held != nil {
			p.tellHeld()
		}
		if c.Kind == terminal.PromptShown {
			p.sweep()
			p.lastSent = time.Time{}
			if !p.editorReads() {
				p.held = &c
				p.holding = time.AfterFunc(editorPatience, p.tellHeldLate)
				continue
			}
		}
		p.tell(terminal.Event{Kind: c.Kind, Prompt: p.finish(c.Prompt)})
	}
}

// editorPatience is how long a prompt is not told while its line editor gets
// ready: a matter of one write of the shell's.
const editorPatience = 5 * time.Millisecond

// editorReads reports whether the line editor at the prompt takes input. zsh
// prints its prompt before it asks for bracketed pastes. mu is held.
func (p *pane) editorReads() bool {
	if !p.pasting {
		if name, err := process.Name(p.pid); err == nil && name == "zsh" {
			return p.term.Modes().BracketedPaste
		}
	}
	return p.tracker.Ready()
}

// tellHeld tells of the prompt that was shown. mu is held.
func (p *pane) tellHeld() {
	if p.holding != nil {
		p.holding.Stop()
		p.holding = nil
	}
	if c := p.held; c != nil {
		p.held = nil
		c.Prompt.Paste = terminal.KnownOf(p.term.Modes().BracketedPaste)
		p.tell(terminal.Event{Kind: c.Kind, Prompt: p.finish(c.Prompt)})
	}
}

func (p *pane) tellHeldLate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tellHeld()
}

// sweep removes the start-up scripts: a shell that shows a prompt has read them. mu is held.
func (p *pane) sweep() {
	if p.folder != "" {
		_ = os.RemoveAll(p.folder) // what cannot be removed holds no secret any more
		p.folder = ""
	}
}

// finish says of a prompt what the tracker cannot know: as long as no program
// has said so, it is not known whether pastes are taken. mu is held.
func (p *pane) finish(q terminal.Prompt) terminal.Prompt {
	if !p.pasting && q.Paste == terminal.No && !p.tracker.Seen() {
		q.Paste = terminal.Unknown
	}
	return q
}

// settled is how long after the last input a shell that printed nothing counts
// as having dealt with it.
const settled = 300 * time.Millisecond

// unread reports whether what was typed may not have been answered yet. mu is held.
func (p *pane) unread() bool {
	return p.lastSent.After(p.lastOutput) && time.Since(p.lastSent) < settled
}

// last is the last prompt. mu is held.
func (p *pane) last() terminal.Prompt {
	if p.tracker == nil {
		return terminal.Prompt{}
	}
	q := p.tracker.Last(p.unread())
	if q.ID == "" {
		return q
	}
	return p.finish(q)
}

// end tells that the session is over.
func (p *pane) end(exit terminal.Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.tellHeld()
	p.over, p.exit = true, exit
	p.sweep()
	if p.release != nil {
		p.release.Stop()
	}
	for w := range p.watchers {
		w.Push(terminal.Event{Kind: terminal.Gone, Exit: exit})
	}
	p.watchers = map[*terminal.EventQueue]struct{}{}
}

// fail ends all watches with an error: the session may live on.
func (p *pane) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.watchers {
		w.Fail(err)
	}
	p.watchers = map[*terminal.EventQueue]struct{}{}
}

// tell passes an event on to all who watch. mu is held.
func (p *pane) tell(e terminal.Event) {
	for w := range p.watchers {
		w.Push(e)
	}
}
