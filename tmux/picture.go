package tmux

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
			p.mu.Lock()
			p.blind = p.seeding && k.failure() == nil // not when the pane is gone
			p.mu.Unlock()
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
