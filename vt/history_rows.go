package vt

import "unicode/utf8"

// rowsOf counts the rows of record i of b at the width h.columns.
func (h *history) rowsOf(b *block, i int) int {
	r := b.records[i]
	n := r.len()
	switch {
	case n <= h.columns:
		return 1
	case r.cells&recordWide == 0:
		return (n + h.columns - 1) / h.columns
	}
	rows := 0
	h.widths.breaks(b.textOf(i), h.columns, func(int, int, int, int) bool {
		rows++
		return true
	})
	return rows
}

// settle brings the row counts to the terminal's width, and holds the caps.
// Everything that counts rows calls it first.
func (h *history) settle(t *Terminal) {
	if h.columns == t.columns {
		return
	}
	h.columns, h.rows, h.headRows = t.columns, 0, 0
	for _, b := range h.blocks {
		b.base = h.rows
		for i := b.skip; i < len(b.records); i++ {
			h.rows += h.rowsOf(b, i)
		}
	}
	h.trim()
}

// locate returns the row and the column of a cell of a record that is kept.
// Cells behind the end of the record are in its last row.
func (h *history) locate(number uint64, offset int) (row, column int) {
	lo, hi := 0, len(h.blocks)-1
	for lo < hi { // the last block that begins at or before number
		if m := (lo + hi + 1) / 2; h.blocks[m].first <= number {
			lo = m
		} else {
			hi = m - 1
		}
	}
	b := h.blocks[lo]
	if lo > 0 {
		row = b.base - h.headRows
	}
	n := int(number - b.first)
	for i := b.skip; i < n; i++ {
		row += h.rowsOf(b, i)
	}
	column = offset
	h.widths.breaks(b.textOf(n), h.columns, func(from, to, _, _ int) bool {
		if offset < to {
			column = offset - from
			return false
		}
		column = min(offset-from, h.columns)
		row++
		return true
	})
	if offset >= b.records[n].len() {
		row-- // behind the last row is in the last row
	}
	return row, column
}

// rowsFrom calls yield with each row from row on (0 is the first kept), as the
// record's bounds and whether the next row continues it, until yield returns
// false or the scrollback ends.
func (h *history) rowsFrom(row int, yield func(b *block, i int, span rowSpan) bool) {
	lo, hi := 0, len(h.blocks)-1
	for lo < hi { // the last block that begins at or before row
		if m := (lo + hi + 1) / 2; h.blocks[m].base-h.headRows <= row {
			lo = m
		} else {
			hi = m - 1
		}
	}
	at := 0
	if lo > 0 {
		at = h.blocks[lo].base - h.headRows
	}
	for ; lo < len(h.blocks); lo++ {
		b := h.blocks[lo]
		for i := b.skip; i < len(b.records); i++ {
			n := h.rowsOf(b, i)
			if at+n <= row {
				at += n
				continue
			}
			if !h.spans(b, i, func(s rowSpan) bool {
				at++
				return at <= row || yield(b, i, s)
			}) {
				return
			}
		}
	}
}

// rowSpan is one row of a record: its cells and its packed text.
type rowSpan struct {
	fromCell, toCell int
	fromByte, toByte int
	soft             bool
}

// spans calls yield for the rows of record i, and reports whether yield
// wanted all.
func (h *history) spans(b *block, i int, yield func(rowSpan) bool) bool {
	r := b.records[i]
	n, soft := r.len(), r.cells&recordSoft != 0
	if r.cells&recordMulti == 0 {
		for from := 0; ; from += h.columns {
			to := min(n, from+h.columns)
			if !yield(rowSpan{from, to, from, to, to < n || soft}) {
				return false
			}
			if to == n {
				return true
			}
		}
	}
	all := true
	h.widths.breaks(b.textOf(i), h.columns, func(fromCell, toCell, fromByte, toByte int) bool {
		all = yield(rowSpan{fromCell, toCell, fromByte, toByte, toCell < n || soft})
		return all
	})
	return all
}

// pop takes the last record off, as cells of the terminal, and tells its
// number and whether its line went on.
func (h *history) pop(t *Terminal) (cells []cell, number uint64, soft bool) {
	b := h.last()
	i := len(b.records) - 1
	r := b.records[i]
	soft = r.cells&recordSoft != 0
	cells = t.unpack(b, i)
	h.rows -= h.rowsOf(b, i)
	b.text, b.runs, b.records = b.text[:r.text], b.runs[:r.runs], b.records[:i]
	h.next--
	number = h.next
	h.forgetStyles()
	h.open, h.sealed = false, true
	if i == b.skip {
		h.shrink()
		b = h.last()
	}
	if b != nil {
		h.open = b.records[len(b.records)-1].cells&recordSoft != 0
	}
	return cells, number, soft
}

// unpack returns the cells of record i of b, naming the terminal's tables.
func (t *Terminal) unpack(b *block, i int) []cell {
	cells := make([]cell, 0, b.records[i].len())
	runs := styleRuns{b: b.runsOf(i)}
	for text := b.textOf(i); len(text) > 0; {
		chars, width, size := t.widths.unpackOne(text)
		var c cell
		switch r, n := utf8.DecodeRune(chars); {
		case len(chars) == 0:
		case n == len(chars):
			c.ch = uint32(r)
		default:
			c.ch = t.internCluster(chars)
		}
		v, n := runs.next(width)
		p := b.styles[v]
		c.fg, c.bg = p.fg, p.bg
		c.at = p.at&attributeMask | t.internExtra(b.extras[p.at>>extraShift])<<extraShift
		if n < width {
			runs.next(width - n)
		}
		if width == 2 {
			cells = append(cells, c, cell{tailBit, c.fg, c.bg, c.at})
			cells[len(cells)-2].ch |= wideBit
		} else {
			cells = append(cells, c)
		}
		text = text[size:]
	}
	return cells
}
