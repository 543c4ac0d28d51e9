package tmux

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"termpilot/terminal"
	"termpilot/track"
	"termpilot/vt"
)

// maxSeed is how many rows of the history are taken over when a pane is first
// looked at.
const maxSeed = 10_000

// stateFormat tells all of a pane that its text does not. It holds numbers only,
// so that no program can make it look like something else.
const stateFormat = "M #{pane_width} #{pane_height} #{history_size} #{cursor_x} #{cursor_y} #{alternate_on} " +
	"#{?alternate_on,#{alternate_saved_x},0} #{?alternate_on,#{alternate_saved_y},0} #{scroll_region_upper} #{scroll_region_lower} " +
	"#{?cursor_flag,1,0} #{?insert_flag,1,0} #{?keypad_cursor_flag,1,0} #{?keypad_flag,1,0} #{?wrap_flag,1,0} #{?origin_flag,1,0}"

const stateWords = 16

// state is what stateFormat told, in its order.
type state struct {
	columns, rows, history, x, y, alternate, savedX, savedY, upper, lower int
	cursor, insert, appCursor, appKeypad, wrap, origin                    int
}

func parseState(line string) (s state, ok bool) {
	f := strings.Fields(line)
	if len(f) != stateWords+1 || f[0] != "M" {
		return s, false
	}
	for i, to := range []*int{
		&s.columns, &s.rows, &s.history, &s.x, &s.y, &s.alternate, &s.savedX, &s.savedY, &s.upper, &s.lower,
		&s.cursor, &s.insert, &s.appCursor, &s.appKeypad, &s.wrap, &s.origin,
	} {
		n, err := strconv.Atoi(f[i+1])
		if err != nil || n < 0 || n > 1<<30 {
			return s, false
		}
		*to = n
	}
	return s, s.columns > 0 && s.rows > 0
}

// pictureMost is how long a picture may take.
const pictureMost = 10 * time.Second

// picture is a pane at one moment of its output stream.
type picture struct {
	state
	folder  string   // as its shell told it
	text    []string // rows of the history and the screen
	joined  []string // the same, wrapped rows joined
	saved   []string // the main screen while the alternate one shows
	pending []byte   // the beginning of a control sequence that is not complete yet
}

// seed asks for a pane's picture on the connection that hears its output: what
// comes before the answer is in the picture, what comes after is not.
func (l *link) seed(h *listener, p *pane) {
	p.mu.Lock()
	p.seeding = true
	p.mu.Unlock()
	l.picture(h.conn, p, p.take)
}

// picture asks for a pane's picture. take gets it at its place in the stream.
func (l *link) picture(c *conn, p *pane, take func(picture)) *call {
	at := "-t " + p.target()
	k := &call{raw: true}
	most := min(maxSeed, l.b.o.Scrollback)
	rows := fmt.Sprintf("-S -%d", most)
	late := time.AfterFunc(pictureMost, func() { c.fail(errSilent) }) // then another one is made
	k.finish = func(k *call) {
		late.Stop()
		pic, ok := readPicture(k, most)
		if ok {
			take(pic)
		} else if k.err == nil {
			l.b.o.Log.Warn("a pane's picture could not be read", "pane", p.target(), "tmux", l.version.text)
		}
	}
	c.post(k, strings.Join([]string{
		"display-message -p " + at + " " + quote(stateFormat),
		"display-message -p " + at + " '#{pane_path}'",
		"capture-pane -p " + at + " " + rows,
		"capture-pane -p -a -q " + at,
		"capture-pane -p -P -C " + at,
		"capture-pane -p -J " + at + " " + rows,
	}, " ; "))
	return k
}

// readPicture reads the answers to what seed asks. How long the first ones are
// is known by numbers; the last one takes what is left.
func readPicture(k *call, most int) (pic picture, ok bool) {
	if k.failure() != nil || len(k.answers) != 1 || len(k.answers[0].lines) != 1 {
		return pic, false
	}
	if pic.state, ok = parseState(string(k.answers[0].lines[0])); !ok {
		return pic, false
	}
	folder, ok := k.cutLine()
	if !ok {
		return pic, false
	}
	pic.folder = string(folder)
	var lines [][]byte
	if lines, ok = k.cut(min(pic.history, most) + pic.rows); !ok {
		return pic, false
	}
	pic.text = texts(lines)
	if pic.alternate == 1 {
		if lines, ok = k.cut(pic.rows); ok {
			pic.saved = texts(lines)
		}
	} else {
		_, ok = k.cutLine() // nothing
	}
	if !ok {
		return pic, false
	}
	pending, ok := k.cutLine()
	if !ok {
		return pic, false
	}
	pic.pending = unescape(nil, pending)
	if n := len(k.lines); n < 2 {
		return pic, false
	}
	pic.joined = texts(k.lines[1 : len(k.lines)-1])
	return pic, true
}

// texts are lines as text without control characters.
func texts(lines [][]byte) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = string(bytes.Map(func(r rune) rune {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, line))
	}
	return out
}

// row is a row of a picture, and how it goes on.
type row struct {
	text string
	soft bool
	pad  int // blanks up to the end of a soft row
}

// wrapped finds out which rows go on in the next, by holding them against the
// same text with such rows joined.
func wrapped(rows, joined []string) []row {
	out := make([]row, len(rows))
	for i := range rows {
		out[i].text = rows[i]
	}
	i := 0
	for _, line := range joined {
		rest := line
		for i < len(rows) {
			after, ok := strings.CutPrefix(rest, rows[i])
			if !ok || strings.TrimSpace(after) == "" || i+1 == len(rows) {
				i++
				break
			}
			blanks := len(after) - len(strings.TrimLeft(after, " "))
			pad := blanks - (len(rows[i+1]) - len(strings.TrimLeft(rows[i+1], " ")))
			if pad < 0 || !strings.HasPrefix(after[pad:], rows[i+1]) {
				i++
				break
			}
			out[i].soft, out[i].pad = true, pad
			rest = after[pad:]
			i++
		}
	}
	return out
}

// wide reports whether a row begins with a character that takes two columns.
func wide(text string) bool {
	for _, r := range text {
		return r >= 0x1100
	}
	return false
}

// paint writes rows as a program would have printed them.
func paint(rows []row) []byte {
	var b []byte
	for i, r := range rows {
		b = append(b, r.text...)
		switch {
		case i == len(rows)-1:
		case !r.soft:
			b = append(b, '\r', '\n')
		case r.pad == 1 && wide(rows[i+1].text): // it did not fit into the last column
		default:
			b = append(b, strings.Repeat(" ", r.pad)...)
		}
	}
	return b
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
	p.question = question{prompt: p.tracker.Resume(pic.folder), asking: p.question.asking, answer: p.question.answer}
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

// modes sets what the program has set.
func (s state) modes() []byte {
	var b []byte
	if s.upper != 0 || s.lower != s.rows-1 {
		b = fmt.Appendf(b, "\x1b7\x1b[%d;%dr\x1b8", s.upper+1, s.lower+1)
	}
	set := func(flag, usual int, on, off string) {
		if flag == usual {
			return
		}
		if flag == 1 {
			b = append(b, on...)
		} else {
			b = append(b, off...)
		}
	}
	set(s.cursor, 1, "", "\x1b[?25l")
	set(s.insert, 0, "\x1b[4h", "")
	set(s.appCursor, 0, "\x1b[?1h", "")
	set(s.appKeypad, 0, "\x1b=", "")
	set(s.wrap, 1, "", "\x1b[?7l")
	return b
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
