package tmux

import (
	"fmt"
	"strings"
	"time"

	"termpilot/terminal"
	"termpilot/track"
	"termpilot/vt"
)

// maxSeed is how many rows of the history are taken over when a pane is first
// looked at.
const maxSeed = 10_000

// seed asks for a pane's picture on the connection that hears its output: what
// comes before the answer is in the picture, what comes after is not.
func (l *link) seed(h *listener, p *pane) {
	p.mu.Lock()
	p.seeding, p.blind = true, false
	p.mu.Unlock()
	l.picture(h.conn, p, p.take)
}

// take makes the pane's emulator show the picture. Rows and prompts of before
// keep their numbers no longer, so whoever watches is told to look anew.
func (p *pane) take(pic picture) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.seeding = false
	if p.term != nil && p.shows(pic) {
		return // nothing was missed
	}
	again := p.term != nil
	p.newTerminal(pic.columns, pic.rows)
	main, x, y := pic.text, pic.x, pic.y
	if pic.alternate == 1 {
		main = append(append([]string(nil), pic.text[:len(pic.text)-pic.rows]...), pic.saved...)
		x, y = pic.savedX, pic.savedY
	}
	b := paint(wrapped(main, pic.joined))
	b = fmt.Appendf(b, "\x1b[%d;%dH", y+1, min(x, pic.columns-1)+1)
	if pic.alternate == 1 {
		b = append(b, "\x1b[?1049h\x1b[H"...)
		b = append(b, paint(wrapped(pic.text[len(pic.text)-pic.rows:], nil))...)
		b = fmt.Appendf(b, "\x1b[%d;%dH", pic.y+1, min(pic.x, pic.columns-1)+1)
	}
	b = append(b, pic.modes()...)
	b = append(b, pic.pending...)
	_, _ = p.term.Write(b)
	p.term.Replies()
	p.base = p.top() - int64(pic.history)
	p.lastOutput = time.Now()
	p.question = question{prompt: p.tracker.Resume(pic.folder), asking: p.question.asking, answer: p.question.answer, told: p.question.told, drawn: p.question.drawn}
	if again {
		p.tellHeld()
		for w := range p.watchers {
			w.Resync()
		}
	}
}

// lastWords draws what a dead pane still shows and we were not told: tmux tells
// no more output of a pane once its program has ended. Its rows are written
// from the cursor's on.
func (p *pane) lastWords(pic picture) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.term == nil || p.seeding || pic.alternate == 1 || p.term.Modes().Alternate || p.shows(pic) {
		return
	}
	from := int(p.term.Cursor().Row - p.base)
	to := pic.history + pic.y // the row of the cursor, which may be below the last text
	for to < len(pic.text) && pic.text[to] != "" {
		to++
	}
	if from < 0 || from >= to || to > len(pic.text) || pic.history >= maxSeed {
		return
	}
	_, _ = p.term.Write(append([]byte("\r"), paint(wrapped(pic.text[from:to], pic.joined))...))
	p.tell(terminal.Event{Kind: terminal.Output})
}

// begin makes the pane's emulator show what it printed from its beginning on.
// false when it shows something already.
func (p *pane) begin(printed []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.term != nil || p.over {
		return false
	}
	p.newTerminal(p.seen.columns, p.seen.rows)
	p.lastOutput = time.Now()
	if len(printed) > 0 {
		p.draw(printed)
	}
	return true
}

// shows reports whether the emulator shows just what the picture does, with as
// much history: then nothing was printed since. mu is held.
func (p *pane) shows(pic picture) bool {
	columns, rows := p.term.Size()
	c := p.term.Cursor()
	top := p.top()
	if columns != pic.columns || rows != pic.rows || p.term.Modes().Alternate != (pic.alternate == 1) ||
		c.Row != top+int64(pic.y) || c.Column != pic.x || len(pic.pending) > 0 ||
		top-int64(pic.history) != p.base {
		return false
	}
	for i, r := range p.term.Text(top, rows) {
		if strings.TrimRight(r.Text, " ") != strings.TrimRight(pic.text[len(pic.text)-rows+i], " ") {
			return false
		}
	}
	return true
}

// top is the first row of the screen. mu is held.
func (p *pane) top() int64 { return p.term.Dropped() + int64(p.term.History()) }

// newTerminal gives the pane an empty emulator, and no prompts. mu is held.
func (p *pane) newTerminal(columns, rows int) {
	if p.release != nil {
		p.release.Stop()
		p.release = nil
	}
	p.epoch++
	to := &sink{p}
	p.sink = to
	p.term = vt.New(vt.Options{
		Columns: columns, Rows: rows, Scrollback: p.link.b.o.Scrollback, ScrollbackBytes: scrollbackBytes,
		OSC: func(command int, payload []byte) { to.pane.osc(command, payload) },
	})
	p.tracker = track.New(p.term, track.Options{
		Nonce: p.nonce, Session: fmt.Sprintf("%s.%d.", p.link.identity, p.number),
		Own: fmt.Sprintf("%s.%d.%s.%d.%d.", p.link.identity, p.number, p.link.b.token, p.link.epoch, p.epoch),
	})
	p.held = nil
}

// scrollbackBytes bounds the memory of one pane.
const scrollbackBytes = 8 << 20
