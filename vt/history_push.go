package vt

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// toHistory appends a row that leaves the top of the main screen. Its pins go
// along. When the scrollback is off the row is lost, and counted as dropped.
func (t *Terminal) toHistory(r *row) {
	h := &t.history
	defer t.checkFrame()
	if h.maxRows <= 0 {
		h.dropped++
		t.killPins(r, Scrolled)
		return
	}
	h.settle(t)
	offset := h.push(t, r)
	for i, p := range r.pins {
		*p = pinState{fate: Alive, record: h.next - 1, offset: offset + p.column}
		r.pins[i] = nil
	}
	r.pins = r.pins[:0]
	h.trim()
}

// push appends a row: to the open record, or as a new one. It returns the
// offset of the row's first cell in its record.
func (h *history) push(t *Terminal, r *row) (offset int) {
	cells := r.cells[:r.end()]
	multi, styled := t.packRow(&h.scratch, cells)
	b := h.last()
	if b != nil && h.open && h.extensible(b, cells) {
		if b.full(len(h.scratch)) {
			b = h.moveLast(b)
		}
	} else {
		if b == nil || b.full(len(h.scratch)) {
			b = h.grow()
		}
		h.bytes -= b.size()
		b.records = append(b.records, record{text: uint32(len(b.text)), runs: uint32(len(b.runs))})
		h.bytes += b.size()
		h.next++
		h.covered = 0
	}
	h.bytes -= b.size()
	b.text = append(b.text, h.scratch...)
	last := &b.records[len(b.records)-1]
	offset = last.len()
	last.cells += uint32(len(cells))
	if multi {
		last.cells |= recordMulti
		if r.wide && slices.ContainsFunc(cells, func(c cell) bool { return c.lead() }) {
			last.cells |= recordWide
		}
	}
	if styled {
		h.appendStyles(t, b, offset, cells)
	}
	last.cells &^= recordSoft
	if r.wrap {
		last.cells |= recordSoft
	}
	h.open, h.short, h.sealed = r.wrap, len(cells) < len(r.cells), r.segment
	h.rows++ // a row is a row: extensible sees to it
	h.bytes += b.size()
	return offset
}

// packRow packs cells into buf. It reports whether a cell is not one byte,
// and whether one has a style.
func (t *Terminal) packRow(buf *[]byte, cells []cell) (multi, styled bool) {
	if cap(*buf) < len(cells) {
		*buf = make([]byte, maxColumns)
	}
	b := (*buf)[:len(cells)]
	chars, styles := uint32(0), uint32(0)
	for i := range b {
		c := &cells[i]
		chars |= c.ch
		styles |= c.fg | c.bg | c.at
		b[i] = byte(c.ch)
	}
	if chars >= utf8.RuneSelf {
		b = t.packCells(b[:0], cells)
	}
	*buf = b
	return chars >= utf8.RuneSelf, styles != 0
}

// extensible reports whether the open record of b may take the next row.
// Otherwise the line goes on in a new record: when the record is long, or so
// heavy that it fills a block alone; and when the two rows together would not
// wrap as they were on the screen. A row that is a cell short is so because
// the next one begins with a wide character; that may have been overwritten.
func (h *history) extensible(b *block, cells []cell) bool {
	long := len(b.text)-int(b.records[len(b.records)-1].text) >= segmentBytes
	heavy := len(b.records) == 1 && b.full(len(h.scratch))
	wraps := len(cells) > 0 && (!h.short || cells[0].lead())
	return wraps && !long && !heavy && !h.sealed
}

// moveLast moves the last record of b to a new block.
func (h *history) moveLast(b *block) *block {
	i := len(b.records) - 1
	r := b.records[i]
	text, runs := b.textOf(i), b.runsOf(i)
	h.next--
	to := h.grow()
	h.next++
	h.bytes -= to.size()
	to.text = append(to.text, text...)
	for s := (styleRuns{b: runs}); len(s.b) > 0; {
		v, n := s.next(1 << 30)
		p := b.styles[v]
		i := 0
		if p != (pen{}) {
			i = to.addStyle(p, b.extras[p.at>>extraShift])
		}
		to.runs = binary.AppendUvarint(to.runs, uint64(n))
		to.runs = binary.AppendUvarint(to.runs, uint64(i))
	}
	to.records = append(to.records, record{cells: r.cells})
	h.bytes += to.size()
	b.text, b.runs, b.records = b.text[:r.text], b.runs[:r.runs], b.records[:i]
	to.base -= h.rowsOf(to, 0)
	return to
}

// appendStyles packs the styles of cells, which begin at offset in the last
// record.
func (h *history) appendStyles(t *Terminal, b *block, offset int, cells []cell) {
	for i := 0; i < len(cells); {
		p := cells[i].pen()
		j := i + 1
		for j < len(cells) && cells[j].pen() == p {
			j++
		}
		if p != (pen{}) {
			if gap := offset + i - h.covered; gap > 0 {
				b.runs = binary.AppendUvarint(b.runs, uint64(gap))
				b.runs = append(b.runs, 0)
			}
			b.runs = binary.AppendUvarint(b.runs, uint64(j-i))
			b.runs = binary.AppendUvarint(b.runs, uint64(h.styleIndex(t, b, p)))
			h.covered = offset + j
		}
		i = j
	}
}

// styleIndex returns the index of a style in the last block. What was used
// lately is found without hashing the whole style.
func (h *history) styleIndex(t *Terminal, b *block, p pen) int {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	slot := &h.recent[(p.fg^p.bg*31^p.at*961)*spread>>(32-recentBits)]
	if slot.pen == p && slot.index != 0 {
		return slot.index
	}
	i, ok := h.styles[p]
	if !ok {
		if h.styles == nil {
			h.styles = make(map[pen]int)
		}
		i = b.addStyle(p, t.extras.list[p.at>>extraShift])
		h.styles[p] = i
	}
	slot.pen, slot.index = p, i
	return i
}

// addStyle appends a style whose extra is x.
func (b *block) addStyle(p pen, x extra) int {
	p.at &= attributeMask
	if x != (extra{}) {
		p.at |= uint32(len(b.extras)) << extraShift
		b.extras = append(b.extras, x)
		b.links += len(x.link)
	}
	b.styles = append(b.styles, p)
	return len(b.styles) - 1
}
