package vt

// frame is the last complete picture during a synchronized update (mode 2026):
// what readers see until the program ends the update, or the owner's patience
// ends. Scrollback rows are not copied; readers see those above base.
type frame struct {
	active     bool
	rows       []*row
	base       int64 // absolute row of rows[0]
	cursor     Cursor
	generation uint64
}

// hold takes the picture. The rows' memory is used again.
func (t *Terminal) hold() {
	if t.frame.active {
		return
	}
	f := &t.frame
	f.cursor = t.Cursor()
	f.base = t.screenTop()
	f.generation = t.changes
	for i, r := range t.screen.rows {
		if i == len(f.rows) {
			f.rows = append(f.rows, newRow(t.columns))
		}
		to := f.rows[i]
		copy(to.cells, r.cells[:r.used])
		if to.used > r.used {
			clear(to.cells[r.used:to.used])
		}
		to.used, to.wrap, to.segment, to.wide = r.used, r.wrap, r.segment, r.wide
	}
	f.active = true
}

// Release ends a synchronized update whose end does not come: readers see the
// present screen again. The mode stays set until the program resets it, and a
// further set begins a new update. The owner calls it when its patience ends;
// the specification of mode 2026 asks for a time-out, and names none.
func (t *Terminal) Release() { t.release() }

func (t *Terminal) release() {
	if t.frame.active {
		t.frame.active = false
		t.changes++
	}
}

// screenTop is the absolute row of the first row of the live screen.
func (t *Terminal) screenTop() int64 {
	t.history.settle(t)
	return t.history.dropped + int64(t.history.rows)
}

// checkFrame releases a frame whose rows have the numbers of dropped ones.
func (t *Terminal) checkFrame() {
	if t.frame.active && t.history.dropped > t.frame.base {
		t.release()
	}
}
