package vt

// sequence is what names a control sequence: prefix, intermediate, final byte.
type sequence uint32

func seq(prefix, inter, final byte) sequence {
	return sequence(prefix)<<16 | sequence(inter)<<8 | sequence(final)
}

// csi carries out a control sequence (XTerm Control Sequences, "Functions
// using CSI"). Unknown ones are ignored.
func (t *Terminal) csi(final byte) {
	p := &t.parser
	t.last = nil
	switch seq(p.prefix, p.inter, final) {
	case '@':
		t.insertCells(p.count(0))
		t.pending = false
	case 'A':
		t.moveRow(-p.count(0))
	case 'B', 'e':
		t.moveRow(p.count(0))
	case 'C', 'a':
		t.moveTo(t.x + p.count(0))
	case 'D':
		t.moveTo(t.x - p.count(0))
	case 'E':
		t.moveRow(p.count(0))
		t.x = 0
	case 'F':
		t.moveRow(-p.count(0))
		t.x = 0
	case 'G', '`':
		t.moveTo(p.count(0) - 1)
	case 'H', 'f':
		t.position(p.count(0)-1, p.count(1)-1)
	case 'I':
		t.tabForward(p.count(0))
	case 'J', seq('?', 0, 'J'): // DECSED: nothing here is protected from it
		t.eraseDisplay(p.arg(0, 0))
	case 'K', seq('?', 0, 'K'):
		t.eraseLine(p.arg(0, 0))
	case 'L':
		t.insertLines(p.count(0))
	case 'M':
		t.deleteLines(p.count(0))
	case 'P':
		t.deleteCells(p.count(0))
		t.pending = false
	case 'S':
		t.screen.rows[t.bottom].wrap = false
		t.scrollUp(t.top, t.bottom, p.count(0), false)
	case 'T':
		if p.n <= 1 { // five parameters are mouse highlighting
			t.scrollDown(t.top, t.bottom, p.count(0))
		}
	case 'X':
		t.erase(t.y, t.cursorColumn(), t.x+p.count(0))
	case 'Z':
		t.tabBack(p.count(0))
	case 'b':
		t.repeatLast(p.count(0))
	case 'd':
		t.position(p.count(0)-1, t.x)
	case 'g':
		switch p.arg(0, 0) {
		case 0:
			t.tabs[t.x] = false
		case 3:
			clear(t.tabs)
		}
	case 'h', 'l':
		t.setANSIModes(final == 'h')
	case seq('?', 0, 'h'), seq('?', 0, 'l'):
		t.setPrivateModes(final == 'h')
	case seq('?', 0, 's'):
		t.savePrivateModes()
	case seq('?', 0, 'r'):
		t.restorePrivateModes()
	case 'm':
		t.sgr()
	case 'r':
		t.setRegion(p.count(0)-1, p.arg(1, 0)-1)
	case 's':
		t.saveCursor()
	case 'u':
		t.restoreCursor()
	case 't':
		t.window(p.arg(0, 0))
	case seq(0, '!', 'p'):
		t.softReset()
	case seq(0, ' ', 'q'):
		if n := p.arg(0, 0); n <= int(CursorBar) {
			t.cursorStyle = CursorStyle(n)
			t.changes++
		}
	case seq('?', 0, 'u'), seq('>', 0, 'u'), seq('<', 0, 'u'), seq('=', 0, 'u'):
		t.kittyKeys(p.prefix)
	default:
		t.query(final)
	}
}

// moveTo moves the cursor within its row.
func (t *Terminal) moveTo(x int) {
	t.x, t.pending = clamp(x, 0, t.columns-1), false
}

// moveRow moves the cursor n rows down, and not across a margin.
func (t *Terminal) moveRow(n int) {
	lo, hi := 0, t.rows-1
	if t.y >= t.top {
		lo = t.top
	}
	if t.y <= t.bottom {
		hi = t.bottom
	}
	t.y = clamp(t.y+n, lo, hi)
	t.pending = false
}

// position is CUP: in origin mode, rows count from the top margin and stay in
// the region.
func (t *Terminal) position(y, x int) {
	if t.modes&modeOrigin != 0 {
		y = min(y+t.top, t.bottom)
	}
	t.y = clamp(y, 0, t.rows-1)
	t.moveTo(x)
}

// setRegion is DECSTBM; bottom < 0 means the last row.
func (t *Terminal) setRegion(top, bottom int) {
	if bottom < 0 || bottom >= t.rows {
		bottom = t.rows - 1
	}
	if top >= bottom {
		return
	}
	t.top, t.bottom = top, bottom
	t.position(0, 0)
}

func (t *Terminal) insertLines(n int) {
	if t.y < t.top || t.y > t.bottom {
		return
	}
	t.scrollDown(t.y, t.bottom, n)
	t.moveTo(0)
}

func (t *Terminal) deleteLines(n int) {
	if t.y < t.top || t.y > t.bottom {
		return
	}
	t.screen.rows[t.bottom].wrap = false
	t.scrollUp(t.y, t.bottom, n, false)
	t.moveTo(0)
}
