package vt

import "slices"

// erase makes columns [a,b) of row y blank. What it leaves of a wide
// character becomes a written blank.
func (t *Terminal) erase(y, a, b int) {
	r := t.screen.rows[y]
	b = min(b, t.columns)
	if a >= b {
		return
	}
	if r.wide {
		r.split(a, b)
	}
	if b == t.columns {
		r.wrap = false
	}
	t.fill(r, a, b)
	if a == 0 {
		t.cut(y)
		if b == t.columns {
			r.wide = false
		}
	}
	t.changes++
}

// eraseDisplay is ED. While a wrap is pending the cursor is behind the last
// column, so nothing of its row is erased to the right: a program that fills a
// row and then erases to its end, as grep does, keeps the last character.
func (t *Terminal) eraseDisplay(mode int) {
	switch mode {
	case 0:
		if t.x == 0 && t.y == 0 {
			t.dropPins()
		}
		t.erase(t.y, t.cursorColumn(), t.columns)
		for y := t.y + 1; y < t.rows; y++ {
			t.erase(y, 0, t.columns)
		}
	case 1:
		for y := range t.y {
			t.erase(y, 0, t.columns)
		}
		t.erase(t.y, 0, t.x+1)
		t.pending = false
	case 2:
		t.pending = false
		t.dropPins()
		for y := range t.rows {
			t.erase(y, 0, t.columns)
		}
	case 3:
		t.clearHistory()
	}
	t.last = nil
}

// dropPins ends the pins of the shown screen, whose text is about to be
// erased. A pin at the cursor stays for as long as nothing is written before it:
// what is written next belongs to it.
func (t *Terminal) dropPins() {
	for y, r := range t.screen.rows {
		if len(r.pins) == 0 {
			continue
		}
		if y != t.y {
			t.killPins(r, Erased)
			continue
		}
		here := t.cursorColumn()
		kept := r.pins[:0]
		for _, p := range r.pins {
			if p.column == here {
				kept = append(kept, p)
			} else {
				*p = pinState{fate: Erased}
			}
		}
		clear(r.pins[len(kept):])
		r.pins = kept
		t.outlived = append(t.outlived[:0], kept...)
	}
	t.flowAnew()
}

// endOutlived ends those of the pins that outlived the last erasure of the screen
// before which something is about to be written.
func (t *Terminal) endOutlived() {
	left := t.outlived[:0]
	for _, p := range t.outlived {
		y := -1
		if p.fate == Alive && p.row != nil {
			y = slices.Index(t.screen.rows, p.row)
		}
		switch {
		case p.fate != Alive || p.row == nil: // it has ended, or is in the scrollback
		case y > t.y || y == t.y && t.cursorColumn() < p.column:
			t.detach(p)
			*p = pinState{fate: Erased}
		default:
			left = append(left, p)
		}
	}
	clear(t.outlived[len(left):])
	t.outlived = left
}

// eraseLine is EL; see eraseDisplay for a pending wrap.
func (t *Terminal) eraseLine(mode int) {
	switch mode {
	case 0:
		t.erase(t.y, t.cursorColumn(), t.columns)
	case 1:
		t.erase(t.y, 0, t.x+1)
		t.pending = false
	case 2:
		t.erase(t.y, 0, t.columns)
		t.pending = false
	}
	t.last = nil
}

// insertCells moves the cells from the cursor on to the right (ICH, IRM).
func (t *Terminal) insertCells(n int) {
	r := t.screen.rows[t.y]
	n = min(n, t.columns-t.x)
	r.wrap = false
	if r.era < t.tracing {
		t.moveAbout(r)
	}
	if r.wide {
		r.split(t.x, t.columns-n)
		if t.columns-n > t.x { // a wide character that the right edge cuts
			if c := &r.cells[t.columns-n-1]; c.lead() {
				c.ch = ' '
			}
		}
		if c := &r.cells[t.x]; c.tail() {
			c.ch = ' '
		}
	}
	if t.x < r.used {
		copy(r.cells[t.x+n:], r.cells[t.x:t.columns-n])
		r.used = min(t.columns, r.used+n)
	}
	t.fill(r, t.x, t.x+n)
	t.changes++
	t.last = nil
}

// deleteCells moves the cells right of the cursor to the left (DCH).
func (t *Terminal) deleteCells(n int) {
	r := t.screen.rows[t.y]
	n = min(n, t.columns-t.x)
	r.wrap = false
	if r.era < t.tracing {
		t.moveAbout(r)
	}
	if r.wide {
		r.split(t.x, t.x+n)
	}
	if from := t.x + n; from < r.used {
		copy(r.cells[t.x:], r.cells[from:r.used])
		clear(r.cells[r.used-n : r.used])
		r.used -= n
	} else if t.x < r.used {
		clear(r.cells[t.x:r.used])
		r.used = t.x
	}
	if t.pen.bg != 0 {
		t.fill(r, t.columns-n, t.columns)
	}
	t.changes++
	t.last = nil
}

// align is DECALN: a screen full of E.
func (t *Terminal) align() {
	for _, r := range t.screen.rows {
		t.killPins(r, Erased)
		for i := range r.cells {
			r.cells[i] = cell{ch: 'E'}
		}
		r.used, r.wrap, r.wide = t.columns, false, false
	}
	if t.screen == &t.main {
		t.history.open = false
	}
	t.top, t.bottom = 0, t.rows-1
	t.x, t.y, t.pending = 0, 0, false
	t.last = nil
	t.changes++
}
