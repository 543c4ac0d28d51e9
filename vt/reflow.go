package vt

import "slices"

// Resize changes the size of the screen, held within 2..1000 columns and
// 1..1000 rows. Lines of the main screen and the scrollback are wrapped anew;
// the cursor and pins stay with their text. Rows that a lower screen has no
// room for go to the scrollback at the top; where the cursor is too near the
// top for that, rows below it are lost. A higher screen takes rows back from
// the scrollback. The alternate screen is cut or extended: its program paints
// it anew. The scrolling region becomes the whole screen, and a synchronized
// update is released.
func (t *Terminal) Resize(columns, rows int) {
	columns, rows = clamp(columns, minColumns, maxColumns), clamp(rows, minRows, maxRows)
	if columns == t.columns && rows == t.rows {
		return
	}
	t.release()
	t.frame = frame{}
	shown := t.screen == &t.main
	if !shown { // the cursor of the alternate screen, and the main one's as it was left
		t.cropAlternate(columns, rows)
	}
	main := &t.mainCursor
	if shown {
		*main = t.cursorState()
	}
	oldColumns := t.columns
	t.columns, t.rows = columns, rows
	t.reflowMain(oldColumns, main, &t.main.saved)
	if shown {
		t.x, t.y, t.pending = main.x, main.y, main.pending
		t.alternate.rows = cropRows(t.alternate.rows, 0, columns, rows)
	}
	t.top, t.bottom = 0, rows-1
	t.resetTabs(oldColumns)
	t.last = nil
	t.changes++
}

// cropAlternate fits the shown alternate screen to a new size. Rows go at the
// bottom, or at the top when the cursor would be lost.
func (t *Terminal) cropAlternate(columns, rows int) {
	skip := max(0, t.y-(rows-1))
	for _, r := range t.alternate.rows[:skip] {
		t.killPins(r, Scrolled)
	}
	t.alternate.rows = cropRows(t.alternate.rows, skip, columns, rows)
	t.y -= skip
	if t.x >= columns {
		t.x = columns - 1
	}
	t.pending = t.pending && t.x == columns-1
}

// cropRows returns rows of a new size, holding what fits of the old ones from
// row skip on.
func cropRows(old []*row, skip, columns, rows int) []*row {
	out := newRows(columns, rows)
	for y, r := range old {
		if y < skip || y-skip >= rows {
			for _, p := range r.pins {
				*p = pinState{fate: Erased}
			}
			continue
		}
		to := out[y-skip]
		to.used = copy(to.cells, r.cells[:r.used])
		to.wide, to.era = r.wide, r.era
		if n := len(to.cells); to.used == n && to.cells[n-1].lead() {
			to.cells[n-1].ch = ' '
		}
		for _, p := range r.pins {
			p.row, p.column = to, min(p.column, columns)
			to.pins = append(to.pins, p)
		}
	}
	return out
}

// line is a line, or a segment of one, while it is wrapped anew.
type line struct {
	cells []cell
	pins  []*pinState // with columns as offsets into cells
	soft  bool        // it goes on in the next one
	era   uint32      // of its first row
}

// reflowMain wraps the lines of the main screen at the new width. The line
// that goes on from the scrollback is taken back first, and whole lines of it
// after that for as long as there is room. The rest of the scrollback is not
// touched. The cursors are moved with their text.
func (t *Terminal) reflowMain(oldColumns int, cursor, saved *savedCursor) {
	t.reflowing = true
	defer func() { t.reflowing = false }()
	rows, h := t.main.rows, &t.history
	pinned := t.historyPins()
	t.rewrapTraces()

	cursor.y = min(cursor.y, len(rows)-1)
	last := cursor.y
	for y, r := range rows {
		if r.used > 0 || len(r.pins) > 0 {
			last = max(last, y)
		}
	}
	rows[last].wrap = false
	anchor := t.anchor(rows[:last+1], cursor, oldColumns)
	savedAnchor := t.anchor(rows[:last+1], saved, oldColumns)

	var lines []line
	if h.open {
		lines = append(lines, t.takeBack(pinned))
	}
	lines = gather(lines, rows[:last+1])
	var out []*row
	for _, l := range lines {
		out = append(out, t.wrap(l)...)
	}
	for len(out) < t.rows && len(h.blocks) > 0 {
		out = append(t.wrap(t.takeBack(pinned)), out...)
	}

	top := min(max(0, len(out)-t.rows), slices.Index(out, anchor.row))
	for _, r := range out[:top] {
		t.toHistory(r)
	}
	out = out[top:]
	for len(out) > t.rows {
		t.killPins(out[len(out)-1], Erased)
		out = out[:len(out)-1]
	}
	out[len(out)-1].wrap = false
	below := newRows(t.columns, t.rows-len(out))
	for _, r := range below {
		r.era = t.era
	}
	t.main.rows = append(out, below...)
	t.place(cursor, anchor)
	t.place(saved, savedAnchor)
}

// anchor pins a cursor, or returns nil for one below all rows.
func (t *Terminal) anchor(rows []*row, c *savedCursor, columns int) *pinState {
	if c.y >= len(rows) {
		return nil
	}
	column := min(c.x, columns-1)
	if c.pending {
		column = columns
	}
	return t.attach(rows[c.y], column)
}

// place puts a cursor where its anchor is now.
func (t *Terminal) place(c *savedCursor, anchor *pinState) {
	c.y, c.x, c.pending = min(c.y, t.rows-1), min(c.x, t.columns-1), false
	if anchor == nil || anchor.fate != Alive {
		return
	}
	if anchor.row == nil { // in the scrollback
		c.y = 0
		return
	}
	c.y = slices.Index(t.main.rows, anchor.row)
	c.x = min(anchor.column, t.columns-1)
	c.pending = anchor.column >= t.columns && anchor.row.used == t.columns
	t.detach(anchor)
}

// takeBack takes the last record of the scrollback back, with its pins.
func (t *Terminal) takeBack(pinned map[uint64][]*pinState) line {
	cells, number, soft := t.history.pop(t)
	pins := pinned[number]
	for _, p := range pins {
		p.column = p.offset
	}
	return line{cells, pins, soft, t.eraOf(number)}
}

// historyPins returns the pins of the scrollback by record.
func (t *Terminal) historyPins() map[uint64][]*pinState {
	out := make(map[uint64][]*pinState)
	for _, p := range t.pins {
		if p.row == nil && p.fate == Alive {
			out[p.record] = append(out[p.record], p)
		}
	}
	return out
}

// gather appends the lines that rows hold. The first row continues the last
// of lines if that is soft.
func gather(lines []line, rows []*row) []line {
	soft, full := len(lines) > 0, true // what was taken back ends at a row's end
	for _, r := range rows {
		cells := r.cells[:r.end()]
		// A row that is a cell short is so because the next one begins wide.
		if !soft || !full && (len(cells) == 0 || !cells[0].lead()) {
			lines = append(lines, line{era: r.era})
		}
		l := &lines[len(lines)-1]
		for _, p := range r.pins {
			p.column += len(l.cells)
		}
		l.pins = append(l.pins, r.pins...)
		l.cells = append(l.cells, cells...)
		l.soft = r.wrap
		soft, full = r.wrap && !r.segment, len(cells) == len(r.cells)
	}
	return lines
}

// wrap makes rows of a line at the present width, and moves its pins there.
func (t *Terminal) wrap(l line) []*row {
	var out []*row
	for from, n := 0, len(l.cells); ; {
		to := min(from+t.columns, n)
		if to < n && l.cells[to].tail() {
			to--
		}
		r := newRow(t.columns)
		r.used = copy(r.cells, l.cells[from:to])
		r.wide = slices.ContainsFunc(r.cells[:r.used], func(c cell) bool { return c.lead() })
		r.wrap, r.segment, r.era = to < n || l.soft, to == n, l.era
		out = append(out, r)
		for _, p := range l.pins {
			if p.column >= from && (p.column < to || to == n) {
				p.row, p.offset = r, min(p.column-from, t.columns)
				r.pins = append(r.pins, p)
			}
		}
		if from = to; to == n {
			break
		}
	}
	for _, p := range l.pins {
		p.column = p.offset
	}
	return out
}
