package vt

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// Redraw returns bytes that make another terminal of the same size look as
// this one does: screen, cursor, modes, title, scrolling region, tab stops and
// saved cursor. They suit a viewer that is then sent the program's further
// output. The scrollback is not in them, and nothing but text that is on the
// screen, links and the title comes from the program. During a synchronized
// update the live screen is painted.
func (t *Terminal) Redraw() []byte {
	b := []byte("\x1b[?2026h\x1b[?1049l\x1b[!p\x1b[?5;6;9;1000;1002;1003;1004;1005;1006;1015;1016;2004l\x1b[?7h\x1b[4;20l\x1b(B\x1b)B\x1b*B\x1b+B\x0f")
	hidden, enter, leave := &t.alternate, "\x1b[?1049h", "\x1b[?1049l"
	if t.screen == &t.alternate {
		hidden, enter, leave = &t.main, "", "\x1b[?1049h"
	}
	b = append(b, enter...)
	b = appendKeys(b, hidden.keys)
	b = appendCSI(b, "r", t.top+1, t.bottom+1)
	saved := hidden.saved
	saved.pending = false // needs the text there, which is not told
	b = t.paintCursor(b, saved)
	b = append(b, "\x1b7"...)
	b = append(b, leave...)
	b = append(b, "\x1b[?6l\x1b(B\x0f\x1b[r\x1b[H\x1b[0m\x1b]8;;\x1b\\\x1b[2J"...)
	b = t.paint(b)
	b = t.paintTabs(b)
	b = append(b, "\x1b]2;"...)
	b = append(b, t.title...)
	b = append(b, "\x1b\\"...)
	b = appendCSI(b, "r", t.top+1, t.bottom+1)
	b = t.paintCursor(b, t.screen.saved)
	b = append(b, "\x1b7"...)
	b = t.paintCursor(b, t.cursorState())
	b = t.paintModes(b)
	return append(b, "\x1b[?2026l"...)
}

// paint writes the rows. A row that wraps softly is written through its end,
// so that the other terminal wraps it too.
func (t *Terminal) paint(b []byte) []byte {
	now := pen{}
	joined := false // the row before wraps into this one
	for y, r := range t.screen.rows {
		end := r.end()
		if !joined {
			if end == 0 {
				continue
			}
			b = appendCSI(b, "H", y+1, 1)
		}
		b, now = t.paintCells(b, r.cells[:end], now, r.wrap)
		joined = r.wrap && (end == t.columns || t.screen.rows[y+1].cells[0].lead())
	}
	return t.paintPen(b, now, pen{})
}

// paintCells writes cells from the cursor on. With through, the cursor ends
// behind them even where the last ones were never written.
func (t *Terminal) paintCells(b []byte, cells []cell, now pen, through bool) ([]byte, pen) {
	for i := 0; i < len(cells); {
		c := cells[i]
		if c.ch != 0 {
			if p := c.pen(); p != now {
				b = t.paintPen(b, now, p)
				now = p
			}
			b = t.paintChar(b, c)
			i++
			continue
		}
		n := 1
		for i+n < len(cells) && cells[i+n] == c {
			n++
		}
		if c.bg != 0 { // erased in a colour
			p := pen{bg: c.bg}
			b = t.paintPen(b, now, p)
			now = p
			b = appendCSI(b, "X", n)
		}
		if through || i+n < len(cells) {
			b = appendCSI(b, "C", n)
		}
		i += n
	}
	return b, now
}

// paintChar writes a character. Where it would join the one before, which it
// did not because a control came between, a NUL is put in, which everybody
// ignores; and so where it is narrower than it would be if written at once,
// because its last part came late or at the right edge.
func (t *Terminal) paintChar(b []byte, c cell) []byte {
	at := len(b)
	b = t.appendChar(b, c.ch)
	if c.ch >= utf8.RuneSelf {
		before, _ := utf8.DecodeLastRune(b[:at])
		if first, _ := utf8.DecodeRune(b[at:]); mayJoin(before, first, c.width()) {
			b = slices.Insert(b, at, 0)
			at++
		}
	}
	if c.ch&clusterBit != 0 && !c.lead() && t.naturallyWide(b[at:]) {
		_, n := utf8.DecodeRune(b[at:])
		b = slices.Insert(b, at+n, 0)
	}
	return b
}

// paintPen changes the pen from one style to another.
func (t *Terminal) paintPen(b []byte, from, to pen) []byte {
	if from == to {
		return b
	}
	was, is := t.extras.list[from.at>>extraShift], t.extras.list[to.at>>extraShift]
	if was.link != is.link {
		b = append(b, "\x1b]8;;"...)
		b = append(b, is.link...)
		b = append(b, "\x1b\\"...)
	}
	b = append(b, "\x1b["...)
	b = append(b, to.sgr(is.color)...)
	return append(b, 'm')
}

// paintTabs sets the tab stops.
func (t *Terminal) paintTabs(b []byte) []byte {
	b = append(b, "\x1b[3g"...)
	for i, set := range t.tabs {
		if set {
			b = appendCSI(b, "H", 1, i+1)
			b = append(b, "\x1bH"...)
		}
	}
	return b
}

// paintCursor brings the cursor and what is saved with it to s. A pending wrap
// is made by writing the last character again.
func (t *Terminal) paintCursor(b []byte, s savedCursor) []byte {
	y := s.y
	if s.origin {
		b = append(b, "\x1b[?6h"...)
		s.y = clamp(s.y, t.top, t.bottom) // as DECRC does
		y = s.y - t.top
	} else {
		b = append(b, "\x1b[?6l"...)
	}
	r := t.screen.rows[s.y]
	if s.pending {
		x := t.columns - 1
		if r.cells[x].tail() {
			x--
		}
		b = appendCSI(b, "H", y+1, x+1)
		b = append(b, "\x0f\x1b(B\x1b[0m\x1b]8;;\x1b\\"...)
		if c := r.cells[x]; c.ch != 0 {
			b = t.paintPen(b, pen{}, c.pen())
			b = t.paintChar(b, c)
			b = t.paintPen(b, c.pen(), pen{})
		}
	} else {
		b = appendCSI(b, "H", y+1, s.x+1)
	}
	for i, graphics := range s.charsets {
		set := byte('B')
		if graphics {
			set = '0'
		}
		b = append(b, 0x1b, "()*+"[i], set)
	}
	b = append(b, [...]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[s.shift]...)
	b = append(b, "\x1b[0m\x1b]8;;\x1b\\"...)
	return t.paintPen(b, pen{}, s.pen)
}

// paintModes sets the modes that Redraw's first bytes have reset.
func (t *Terminal) paintModes(b []byte) []byte {
	for _, m := range []struct {
		bit modes
		set string
	}{
		{modeAppCursor, "?1h"},
		{modeReverse, "?5h"},
		{modeMouseX10, "?9h"},
		{modeMouseNormal, "?1000h"},
		{modeMouseButton, "?1002h"},
		{modeMouseAny, "?1003h"},
		{modeFocus, "?1004h"},
		{modeMouseUTF8, "?1005h"},
		{modeMouseSGR, "?1006h"},
		{modeMouseURXVT, "?1015h"},
		{modeMousePixels, "?1016h"},
		{modePaste, "?2004h"},
		{modeInsert, "4h"},
		{modeNewLine, "20h"},
	} {
		if t.modes&m.bit != 0 {
			b = append(b, "\x1b["...)
			b = append(b, m.set...)
		}
	}
	if t.modes&modeAutoWrap == 0 {
		b = append(b, "\x1b[?7l"...)
	}
	if t.modes&modeAppKeypad != 0 {
		b = append(b, "\x1b="...)
	} else {
		b = append(b, "\x1b>"...)
	}
	b = appendCSI(b, " q", int(t.cursorStyle))
	if t.modes&modeCursorVisible == 0 {
		b = append(b, "\x1b[?25l"...)
	} else {
		b = append(b, "\x1b[?25h"...)
	}
	return appendKeys(b, t.screen.keys)
}

// appendKeys sets a screen's keyboard flags. The rest of its stack is not told.
func appendKeys(b []byte, k keyStack) []byte {
	b = append(b, "\x1b[="...)
	b = strconv.AppendInt(b, int64(k.flags()), 10)
	return append(b, ";1u"...)
}

func appendCSI(b []byte, final string, params ...int) []byte {
	b = append(b, "\x1b["...)
	for i, p := range params {
		if i > 0 {
			b = append(b, ';')
		}
		b = strconv.AppendInt(b, int64(p), 10)
	}
	return append(b, final...)
}
