package vt

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// wrapNow ends the cursor's row softly and goes to the next one. On the last
// row below the scrolling region there is none, and the row is written again.
func (t *Terminal) wrapNow() {
	r := t.screen.rows[t.y]
	r.wrap, r.segment = t.y < t.rows-1 || t.y == t.bottom, false
	t.pending = false
	t.x = 0
	t.advance()
}

// printASCII writes a run of printable ASCII.
func (t *Terminal) printASCII(b []byte) {
	if t.modes&modeInsert != 0 || t.charsets[t.shift] || t.modes&modeAutoWrap == 0 {
		for _, c := range b {
			t.printRune(rune(c))
		}
		return
	}
	if len(t.outlived) > 0 {
		t.endOutlived()
	}
	p := t.pen
	var r *row
	for len(b) > 0 {
		if t.pending {
			t.wrapNow()
		}
		r = t.screen.rows[t.y]
		n := min(len(b), t.columns-t.x)
		if r.wide {
			r.split(t.x, t.x+n)
		}
		if r.era < t.tracing {
			t.overwrite(r, t.x, t.x+n)
		}
		to := r.cells[t.x : t.x+n]
		from := b[:len(to)]
		for i := range to {
			to[i] = cell{uint32(from[i]), p.fg, p.bg, p.at}
		}
		t.x += n
		r.used = max(r.used, t.x)
		t.last, t.lastX = r, t.x-1
		if t.x >= t.columns {
			t.x, t.pending = t.columns-1, true
		}
		b = b[n:]
	}
	t.repeat = r.cells[t.lastX]
	t.changes++
}

// lineDrawing is the DEC Special Graphics set from 0x60 on (VT220 Programmer
// Reference Manual, table 2-4).
const lineDrawing = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"

// printRune writes one rune, or joins it to the character before.
func (t *Terminal) printRune(r rune) {
	if r < 0x80 {
		if t.charsets[t.shift] && 0x60 <= r && r < 0x7f {
			r = t.graphics[r-0x60]
		}
		t.put(uint32(r), 1)
		return
	}
	w := t.widths.of(r)
	if w == 0 || t.last != nil && (t.widths.joins(r) || t.last.cells[t.lastX].ch&clusterBit != 0) {
		if t.join(r, w) {
			return
		}
	}
	if w > 0 { // a mark with nothing to join is dropped
		t.put(uint32(r), w)
	}
}

// join adds r to the cluster before the cursor and reports whether r is
// settled. A mark (w == 0) also joins when a control came in between, as a
// line editor that redraws a part of a word sends it.
func (t *Terminal) join(r rune, w int) bool {
	last, x := t.last, t.lastX
	direct := last != nil
	if !direct {
		last, x = t.screen.rows[t.y], t.cursorColumn()-1
		if x < 0 {
			return true
		}
		if last.cells[x].tail() {
			x--
		}
	}
	c := &last.cells[x]
	if c.ch == 0 {
		return w == 0
	}
	b := t.appendChar(t.cluster[:0], c.ch)
	prev, _ := utf8.DecodeLastRune(b)
	if !mayJoin(prev, r, w) {
		return false
	}
	b = utf8.AppendRune(b, r)
	t.cluster = b
	if len(b) > maxClusterBytes {
		return w == 0
	}
	t.segments.SetText(b)
	if !t.segments.Next() || len(t.segments.Value()) != len(b) {
		return w == 0
	}
	if last.era < t.tracing && !direct {
		t.moveAbout(last) // older text is changed, and where is not noted
	}
	wide := c.ch & wideBit
	c.ch = t.internCluster(b) | wide
	t.repeat.ch = c.ch // a repetition repeats the whole cluster
	if direct && wide == 0 && t.naturallyWide(b) {
		t.repeat.ch |= wideBit
		t.widen(last, x)
	}
	t.changes++
	return true
}

// naturallyWide reports whether a cluster of more than one rune takes two
// columns. An emoji selector widens only what is an emoji: a pictograph, which
// is what a joiner would join to another one (UAX #29, GB11), or a keycap.
func (t *Terminal) naturallyWide(b []byte) bool {
	if displaywidth.Bytes(b) != 2 {
		return false
	}
	base, n := utf8.DecodeRune(b)
	if selector, _ := utf8.DecodeRune(b[n:]); selector != 0xfe0f {
		return true
	}
	if base < 0x80 {
		return '0' <= base && base <= '9' || base == '#' || base == '*'
	}
	const heart = "\u200d\u2764"
	t.segments.SetText(append(append(t.probe[:0], b[:n]...), heart...))
	return t.segments.Next() && len(t.segments.Value()) == n+len(heart)
}

// widen makes the last written character two columns wide. At the right edge
// it goes to the next row, as if its width had been known from the start.
func (t *Terminal) widen(r *row, x int) {
	c := &r.cells[x]
	if t.pending {
		if ch := c.ch; t.modes&modeAutoWrap != 0 {
			*c = cell{}
			t.wrapNow()
			t.put(ch, 2)
		}
		return
	}
	r.split(x+1, x+2)
	if r.era < t.tracing {
		t.overwrite(r, x, x+2)
	}
	c.ch |= wideBit
	r.cells[x+1] = cell{tailBit, c.fg, c.bg, c.at}
	r.wide = true
	r.used = max(r.used, x+2)
	if t.x++; t.x >= t.columns {
		t.x, t.pending = t.columns-1, true
	}
}

// put writes a character of w columns at the cursor.
func (t *Terminal) put(ch uint32, w int) {
	if len(t.outlived) > 0 {
		t.endOutlived()
	}
	wrap := t.modes&modeAutoWrap != 0
	if !wrap && t.x+w > t.columns {
		t.last = nil
		return
	}
	if t.pending {
		if wrap {
			t.wrapNow()
		}
		t.pending = false
	}
	if t.x+w > t.columns {
		t.wrapNow()
	}
	if t.modes&modeInsert != 0 {
		t.insertCells(w)
	}
	r := t.screen.rows[t.y]
	if r.wide {
		r.split(t.x, t.x+w)
	}
	if r.era < t.tracing {
		t.overwrite(r, t.x, t.x+w)
	}
	c := cell{ch, t.pen.fg, t.pen.bg, t.pen.at}
	if w == 2 {
		r.wide = true
		c.ch |= wideBit
		r.cells[t.x+1] = cell{tailBit, c.fg, c.bg, c.at}
	}
	r.cells[t.x] = c
	t.last, t.lastX, t.repeat = r, t.x, c
	t.x += w
	r.used = max(r.used, t.x)
	t.changes++
	if t.x >= t.columns {
		t.x, t.pending = t.columns-1, true
	}
}

// repeatLast is REP. More repetitions than the screen has cells change
// nothing but the scrollback, so the count is cut there.
func (t *Terminal) repeatLast(n int) {
	if t.repeat.ch == 0 {
		return
	}
	ch, w := t.repeat.ch&^wideBit, 1
	if t.repeat.lead() {
		w = 2
	}
	for range min(n, t.columns*t.rows) {
		t.put(ch, w)
	}
}

// appendChar appends the text of a cell's character.
func (t *Terminal) appendChar(b []byte, ch uint32) []byte {
	switch {
	case ch&clusterBit != 0:
		return append(b, t.clusters.text[ch&charMask]...)
	case ch&tailBit != 0 || ch&charMask == 0:
		return b
	}
	return utf8.AppendRune(b, rune(ch&charMask))
}
