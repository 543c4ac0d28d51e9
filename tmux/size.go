package tmux

import (
	"fmt"

	"termpilot/terminal"
)

// measure brings the emulators of a session in line with the sizes of its panes.
// It is asked on the connection that hears their output, so that it takes
// effect at its place in the stream.
func (l *link) measure(h *listener) {
	l.mu.Lock()
	c := h.conn
	l.mu.Unlock()
	if c == nil { // no pane hears it yet
		return
	}
	k := &call{}
	k.finish = func(k *call) {
		for _, a := range k.answers {
			for _, line := range a.lines {
				var number, columns, rows int
				if _, err := fmt.Sscanf(string(line), "S %%%d %d %d", &number, &columns, &rows); err != nil {
					continue
				}
				if p := l.pane(number); p != nil && p.hears(h) {
					p.resize(columns, rows)
				}
			}
		}
	}
	c.post(k, "list-panes -s -t "+quote(h.session)+" -F "+quote("S #{pane_id} #{pane_width} #{pane_height}"))
}

// resize changes the size of the emulator.
func (p *pane) resize(columns, rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.term == nil || p.over || columns <= 0 || rows <= 0 {
		return
	}
	if c, r := p.term.Size(); c == columns && r == rows {
		return
	}
	p.term.Resize(columns, rows)
	p.tracker.Drawn()
	p.tell(terminal.Event{Kind: terminal.Output})
}
