package vt

// row is one line of a screen. Cells beyond used are zero.
type row struct {
	cells   []cell
	used    int
	wrap    bool   // soft: the line goes on in the next row. The row is then full, but for a pad before a wide character
	segment bool   // with wrap: the row ends a segment of a very long line, and need not be full
	wide    bool   // may hold wide characters
	era     uint32 // the trace in whose flow it came; see trace
	pins    []*pinState
}

func newRow(columns int) *row { return &row{cells: make([]cell, columns)} }

func newRows(columns, n int) []*row {
	rows := make([]*row, n)
	for i := range rows {
		rows[i] = newRow(columns)
	}
	return rows
}

// end is the number of cells up to the last one that is written or coloured.
// In a wrapped row it leaves out the pad before a wide character.
func (r *row) end() int {
	if r.wrap && !r.segment {
		n := len(r.cells)
		if r.cells[n-1].ch == 0 {
			n--
		}
		return n
	}
	n := r.used
	for n > 0 && r.cells[n-1] == (cell{}) {
		n--
	}
	return n
}

// split repairs the wide characters that a change to columns [a,b) cuts: the
// half that is left becomes a blank.
func (r *row) split(a, b int) {
	if a > 0 && a < len(r.cells) && r.cells[a].tail() {
		r.cells[a-1].ch = ' '
	}
	if b < len(r.cells) && r.cells[b].tail() {
		r.cells[b].ch = ' '
	}
}

// savedCursor is what DECSC saves.
type savedCursor struct {
	x, y            int
	pending, origin bool
	pen             pen
	charsets        [4]bool
	shift           uint8
}

// screen is one of the two buffers.
type screen struct {
	rows  []*row
	saved savedCursor
	keys  keyStack // kitty keyboard flags, one stack for each screen
}

// blank is what erased cells become: never written, in the pen's background
// ("background colour erase", XTerm Control Sequences).
func (t *Terminal) blank() cell { return cell{bg: t.pen.bg} }

// fill makes columns [a,b) of r blank and keeps r.used right.
func (t *Terminal) fill(r *row, a, b int) {
	if t.pen.bg != 0 {
		blank := t.blank()
		for i := a; i < b; i++ {
			r.cells[i] = blank
		}
		r.used = max(r.used, b)
		return
	}
	if a < r.used {
		clear(r.cells[a:min(b, r.used)])
		if b >= r.used {
			r.used = a
		}
	}
}

// wipe makes the whole of r blank. Its soft wrap ends; its pins stay.
func (t *Terminal) wipe(r *row) {
	t.fill(r, 0, t.columns)
	r.wrap, r.wide = false, false
}

// recycle makes r a new blank row: its pins die.
func (t *Terminal) recycle(r *row) {
	t.wipe(r)
	if len(r.pins) > 0 {
		t.killPins(r, Erased)
	}
}

// cut ends the soft wrap from row y-1 to row y: they are lines of their own.
func (t *Terminal) cut(y int) {
	if y > 0 {
		t.screen.rows[y-1].wrap = false
	} else if t.screen == &t.main {
		t.history.open = false
	}
}

// index moves the cursor down, and scrolls at the bottom margin (IND).
func (t *Terminal) index() {
	if t.y == t.bottom {
		t.screen.rows[t.y].wrap = false
	}
	t.advance()
}

// advance is index for a line that goes on: the soft wrap of the cursor's row
// stays.
func (t *Terminal) advance() {
	switch {
	case t.y == t.bottom:
		t.scrollUp(t.top, t.bottom, 1, true)
	case t.y < t.rows-1:
		t.y++
	}
}

// reverseIndex moves the cursor up, and scrolls at the top margin (RI).
func (t *Terminal) reverseIndex() {
	switch {
	case t.y == t.top:
		t.scrollDown(t.top, t.bottom, 1)
	case t.y > 0:
		t.y--
	}
}

// scrollUp moves rows top..bottom up by n. With save, rows that leave the top
// of the main screen go to the scrollback. The caller decides about the soft
// wrap of the bottom row.
func (t *Terminal) scrollUp(top, bottom, n int, save bool) {
	rows := t.screen.rows
	n = min(n, bottom-top+1)
	save = save && top == 0 && t.screen == &t.main
	if save {
		for _, r := range rows[:n] {
			t.toHistory(r)
		}
	} else {
		t.cut(top)
	}
	if n == 1 {
		r := rows[top]
		copy(rows[top:bottom], rows[top+1:bottom+1])
		rows[bottom] = r
		t.recycle(r)
		if bottom > top {
			r.era = rows[bottom-1].era
		}
	} else {
		t.rotate(rows[top:bottom+1], n)
		for y := bottom + 1 - n; y <= bottom; y++ {
			t.recycle(rows[y])
			if y > top {
				rows[y].era = rows[y-1].era
			}
		}
	}
	t.last = nil
	t.changes++
}

// scrollDown moves rows top..bottom down by n.
func (t *Terminal) scrollDown(top, bottom, n int) {
	rows := t.screen.rows
	n = min(n, bottom-top+1)
	t.cut(top)
	t.rotate(rows[top:bottom+1], bottom-top+1-n)
	for y := top; y < top+n; y++ {
		t.recycle(rows[y])
		if y > 0 {
			rows[y].era = rows[y-1].era
		} else {
			rows[y].era = t.eraOf(t.history.next - 1)
		}
	}
	rows[bottom].wrap = false
	t.last = nil
	t.changes++
}

// rotate moves the first n rows behind the others.
func (t *Terminal) rotate(rows []*row, n int) {
	t.moved = append(t.moved[:0], rows[:n]...)
	copy(rows, rows[n:])
	copy(rows[len(rows)-n:], t.moved)
}
