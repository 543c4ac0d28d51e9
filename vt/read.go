package vt

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// CursorStyle is the shape that DECSCUSR asks for.
type CursorStyle uint8

// The cursor styles, with DECSCUSR's numbers.
const (
	CursorDefault CursorStyle = iota
	CursorBlinkingBlock
	CursorBlock
	CursorBlinkingUnderline
	CursorUnderline
	CursorBlinkingBar
	CursorBar
)

// Cursor is where the next character goes.
type Cursor struct {
	Row     int64 // absolute
	Column  int   // equals the width while a wrap is pending
	Visible bool
	Style   CursorStyle
}

// Row is one row of the scrollback or the screen.
type Row struct {
	// Cells end with the last one that was written or coloured. Cells that were
	// never written have no Text; written blanks have Text " ".
	Cells   []Cell
	Wrapped bool // soft: the line goes on in the next row
}

// TextRow is a Row without styles. Cells that were never written are blanks in
// Text when something follows them, and otherwise left out; written blanks at
// the end are kept.
type TextRow struct {
	Text    string
	Wrapped bool
}

// cursorColumn is the cursor's column as readers and pins count it.
func (t *Terminal) cursorColumn() int {
	if t.pending {
		return t.columns
	}
	return t.x
}

// Cursor returns the cursor. During a synchronized update it is the cursor of
// the last complete frame; Pin is always at the live one.
func (t *Terminal) Cursor() Cursor {
	if t.frame.active {
		return t.frame.cursor
	}
	return Cursor{
		Row:     t.screenTop() + int64(t.y),
		Column:  t.cursorColumn(),
		Visible: t.modes&modeCursorVisible != 0,
		Style:   t.cursorStyle,
	}
}

// Dropped returns the number of rows that were lost at the top so far: the
// absolute number of the first row that can be read.
func (t *Terminal) Dropped() int64 {
	t.history.settle(t)
	return t.history.dropped
}

// History returns the number of rows in the scrollback. The screen's first row
// is Dropped()+History().
func (t *Terminal) History() int {
	_, base := t.view()
	return int(base - t.history.dropped)
}

// view returns the rows that readers see as the screen, and the absolute
// number of the first of them.
func (t *Terminal) view() ([]*row, int64) {
	if t.frame.active {
		t.history.settle(t)
		return t.frame.rows, t.frame.base
	}
	return t.screen.rows, t.screenTop()
}

// Rows returns those of the rows first to first+n-1 that exist.
func (t *Terminal) Rows(first int64, n int) []Row {
	var out []Row
	t.read(first, n,
		func(b *block, i int, s rowSpan) { out = append(out, t.packedRow(b, i, s)) },
		func(r *row) { out = append(out, t.screenRow(r)) })
	return out
}

// CellText is the text of cells: one that was never written is a blank, and the
// second of a wide character is nothing.
func CellText(cells []Cell) string {
	var b strings.Builder
	for _, c := range cells {
		switch {
		case c.Text != "":
			b.WriteString(c.Text)
		case c.Width != 0:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Text is Rows without styles, and faster.
func (t *Terminal) Text(first int64, n int) []TextRow {
	var out []TextRow
	var buf []byte
	t.read(first, n,
		func(b *block, i int, s rowSpan) {
			packed := b.textOf(i)[s.fromByte:s.toByte]
			out = append(out, TextRow{string(t.appendPacked(buf[:0], packed)), s.soft})
		},
		func(r *row) {
			buf = buf[:0]
			for _, c := range r.cells[:r.end()] {
				if c.ch == 0 {
					buf = append(buf, packedEmpty)
				} else {
					buf = t.appendChar(buf, c.ch)
				}
			}
			out = append(out, TextRow{string(blankEmpty(buf)), r.wrap})
		})
	return out
}

// read finds rows first to first+n-1 in the scrollback and on the screen.
func (t *Terminal) read(first int64, n int, packed func(*block, int, rowSpan), live func(*row)) {
	rows, base := t.view()
	dropped := t.history.dropped
	if n <= 0 || first >= base+int64(len(rows)) {
		return
	}
	end := first + int64(n)
	if end < first { // past the largest number
		end = base + int64(len(rows))
	}
	first = max(first, dropped)
	end = min(end, base+int64(len(rows)))
	if left := min(end, base) - first; left > 0 {
		t.history.rowsFrom(int(first-dropped), func(b *block, i int, s rowSpan) bool {
			packed(b, i, s)
			left--
			return left > 0
		})
	}
	for y := max(first, base); y < end; y++ {
		live(rows[y-base])
	}
}

// appendPacked appends the text of packed cells.
func (t *Terminal) appendPacked(b, packed []byte) []byte {
	for len(packed) > 0 {
		i := bytes.IndexAny(packed, "\x01\x02")
		if i < 0 {
			b = append(b, packed...)
			break
		}
		b = append(b, packed[:i]...)
		n := int(packed[i+1])
		b = append(b, packed[i+2:i+2+n]...)
		packed = packed[i+2+n:]
	}
	return blankEmpty(b)
}

// blankEmpty turns never-written cells into blanks, and cuts those at the end.
func blankEmpty(b []byte) []byte {
	b = bytes.TrimRight(b, "\x00")
	for i, c := range b {
		if c == packedEmpty {
			b[i] = ' '
		}
	}
	return b
}

// screenRow returns a row of a screen by value. All its text is one string,
// that the cells share.
func (t *Terminal) screenRow(r *row) Row {
	live := r.cells[:r.end()]
	buf := make([]byte, 0, len(live)+16)
	for _, c := range live {
		buf = t.appendChar(buf, c.ch)
	}
	text := string(buf)
	out := Row{Cells: make([]Cell, len(live)), Wrapped: r.wrap}
	var last pen
	style := last.style(extra{})
	for i, c := range live {
		if p := c.pen(); p != last {
			last, style = p, p.style(t.extras.list[p.at>>extraShift])
		}
		n := t.charLen(c.ch)
		out.Cells[i] = Cell{text[:n], c.width(), style}
		text = text[n:]
	}
	return out
}

// charLen is the length of what appendChar appends.
func (t *Terminal) charLen(ch uint32) int {
	switch {
	case ch&clusterBit != 0:
		return len(t.clusters.text[ch&charMask])
	case ch&tailBit != 0 || ch&charMask == 0:
		return 0
	}
	return utf8.RuneLen(rune(ch & charMask))
}

// packedRow returns a row of a record by value.
func (t *Terminal) packedRow(b *block, i int, s rowSpan) Row {
	out := Row{Cells: make([]Cell, 0, s.toCell-s.fromCell), Wrapped: s.soft}
	packed := b.textOf(i)[s.fromByte:s.toByte]
	text := string(packed)
	runs := styleRuns{b: b.runsOf(i)}
	for skip := s.fromCell; skip > 0; {
		_, n := runs.next(skip)
		skip -= n
	}
	left, style := 0, Style{}
	for at := 0; at < len(packed); {
		if left <= 0 {
			var v int
			v, left = runs.next(s.toCell - s.fromCell - len(out.Cells))
			p := b.styles[v]
			style = p.style(b.extras[p.at>>extraShift])
		}
		chars, width, size := t.widths.unpackOne(packed[at:])
		from := at
		if size > 1 && len(chars) < size { // a cluster with its mark
			from += size - len(chars)
		}
		c := Cell{text[from : from+len(chars)], width, style}
		out.Cells = append(out.Cells, c)
		if width == 2 {
			out.Cells = append(out.Cells, Cell{Style: style})
		}
		left -= width
		at += size
	}
	return out
}
