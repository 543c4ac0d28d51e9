package vt

import "slices"

const (
	maxTraces    = 8 // that are open at a time; the oldest gives way
	maxStretches = 2 // of one trace
)

// trace tells what is written since a pin was made from what stood on the
// screen then. Rows that came in the flow of the output since, below all older
// text, have at least its era and need no further care. What is written into
// other rows is noted: that is rare, and all that is asked of printing is one
// comparison for each row.
type trace struct {
	pin    Pin
	era    uint32
	screen *screen
	flow   Pin  // where everything began that came since; 0 when all of the screen was older
	anew   bool // flow was made when the screen, or the scrollback, was erased
	over   []Stretch
	apart  bool  // text was written in more places than are noted, or was moved about
	top    int64 // the first row of the main screen when it began; -1 when it has been numbered anew
}

// Stretch is a range of cells, in reading order: from a pin to the one behind its
// last cell.
type Stretch struct{ From, To Pin }

// Traced is what a trace has noted.
type Traced struct {
	// Over are the places of text that was written elsewhere than in the flow of
	// the output. No older text stands between the pins of one.
	Over []Stretch
	// Apart is set when there are more places than Over has, or when text was moved
	// about there.
	Apart bool
	// Anew is the beginning of all that was written since the pin's text was erased
	// together with the screen or the scrollback; 0 when it was not.
	Anew Pin
	// Flow is the absolute row from which on everything came, or is blank, since
	// the pin was made: 0 when that row is not kept any more, and the row behind
	// the screen when there is none.
	Flow int64
	// Hidden is set when another screen is shown than that of the pin. Flow is 0
	// then.
	Hidden bool
}

// Trace begins to note what is written over text that the shown screen holds
// now, and before it. p is a pin at the cursor. At most 8 are traced at a time; a
// further one ends the oldest.
func (t *Terminal) Trace(p Pin) {
	if len(t.traces) == maxTraces {
		t.dropTrace(t.traces[0].pin)
	}
	t.era++
	rows := t.screen.rows
	first := t.y
	for y := len(rows) - 1; y >= t.y; y-- {
		if rows[y].used > 0 && (y > t.y || rows[y].used > t.x) {
			first = y + 1
			break
		}
	}
	for _, r := range rows[first:] {
		r.era = t.era
	}
	flow := p
	if first == len(rows) {
		flow = 0
	} else if first > t.y {
		flow = t.pin(rows[first], 0)
	}
	t.traces = append(t.traces, trace{pin: p, era: t.era, screen: t.screen, flow: flow, top: t.screenTop()})
	t.setTracing()
}

// Traced returns what the trace of p noted so far; ok is false when p is not
// traced. It looks at each row of the screen at worst.
func (t *Terminal) Traced(p Pin) (out Traced, ok bool) {
	i := t.traced(p)
	if i < 0 {
		return out, false
	}
	tr := &t.traces[i]
	out = Traced{Over: tr.over, Apart: tr.apart, Hidden: tr.screen != t.screen}
	if tr.anew {
		out.Anew = tr.flow
	}
	if out.Hidden {
		return out, true
	}
	y, top := len(t.screen.rows), t.screenTop()
	for y > 0 && t.screen.rows[y-1].era >= tr.era {
		y--
	}
	out.Flow = top + int64(y)
	if row, _, ok := t.Locate(tr.flow); ok && row < top {
		out.Flow = row
	} else if t.Fate(tr.flow) == Scrolled {
		out.Flow = 0
	}
	return out, true
}

// EndTrace ends the trace of a pin. The pins that Traced told are the caller's
// from then on.
func (t *Terminal) EndTrace(p Pin) {
	if i := t.traced(p); i >= 0 {
		if tr := t.traces[i]; !tr.anew && tr.flow != p {
			t.Unpin(tr.flow)
		}
		t.traces = slices.Delete(t.traces, i, i+1)
		t.setTracing()
	}
}

// dropTrace ends the trace of a pin, and gives up its pins.
func (t *Terminal) dropTrace(p Pin) {
	if i := t.traced(p); i >= 0 {
		t.traces[i].forget(t)
		t.EndTrace(p)
	}
}

func (t *Terminal) traced(p Pin) int {
	return slices.IndexFunc(t.traces, func(tr trace) bool { return tr.pin == p })
}

// forget gives up what was noted.
func (tr *trace) forget(t *Terminal) {
	for _, s := range tr.over {
		t.Unpin(s.From)
		t.Unpin(s.To)
	}
	if tr.flow != tr.pin {
		t.Unpin(tr.flow)
	}
	tr.over, tr.flow, tr.apart = nil, 0, false
}

// begin notes that nothing older than what r begins with is left.
func (tr *trace) begin(t *Terminal, r *row) {
	tr.forget(t)
	tr.flow, tr.anew = t.pin(r, 0), true
}

// setTracing finds the era below which printing into a row of the shown screen
// is noted.
func (t *Terminal) setTracing() {
	t.tracing = 0
	for _, tr := range t.traces {
		if tr.screen == t.screen {
			t.tracing = max(t.tracing, tr.era)
		}
	}
}

// Stands reports whether anything but blanks stands in the rows of the shown
// screen from one cell on up to another, which is not looked at.
func (t *Terminal) Stands(row int64, column int, endRow int64, endColumn int) bool {
	top := t.screenTop()
	for y := max(row, top); y <= min(endRow, top+int64(len(t.screen.rows))-1); y++ {
		from, to := 0, t.columns
		if y == row {
			from = column
		}
		if y == endRow {
			to = endColumn
		}
		if t.screen.rows[y-top].stands(from, to) {
			return true
		}
	}
	return false
}

// stands reports whether anything but blanks is in columns [a,b).
func (r *row) stands(a, b int) bool {
	b = min(b, r.used)
	if a >= b {
		return false
	}
	return slices.ContainsFunc(r.cells[a:b], func(c cell) bool { return c.ch != 0 && c.ch != ' ' })
}

// overwrite notes that columns [a,b) of a row, which is not of the flow, are about to
// be written.
func (t *Terminal) overwrite(r *row, a, b int) {
	for i := range t.traces {
		if tr := &t.traces[i]; r.era < tr.era && tr.screen == t.screen {
			tr.note(t, r, a, min(b, t.columns))
		}
	}
}

// note notes columns [a,b) of a row, in the same way as each of them alone.
func (tr *trace) note(t *Terminal, r *row, a, b int) {
	if tr.apart {
		return
	}
	for _, s := range tr.over {
		if from := t.pins[s.From]; from != nil && from.row == r && a < from.column && from.column < b {
			c := from.column
			tr.note(t, r, a, c)
			tr.note(t, r, c, b)
			return
		}
	}
	for _, s := range tr.over {
		from, to := t.pins[s.From], t.pins[s.To]
		if from == nil || to == nil || from.fate != Alive || to.row == nil {
			tr.apart = true // what was written is gone, or out of reach
			return
		}
		if r == to.row && a <= to.column && (r != from.row || a >= from.column) {
			to.column = max(to.column, b)
			return
		}
		if t.follows(r, a, to) {
			t.detach(to)
			to.row, to.column = r, b
			r.pins = append(r.pins, to)
			return
		}
		if t.within(r, a, from, to) {
			return
		}
	}
	if len(tr.over) == maxStretches {
		tr.apart = true
		return
	}
	tr.over = append(tr.over, Stretch{t.pin(r, a), t.pin(r, b)})
}

// follows reports whether column a of r comes behind to, with nothing but blanks
// between.
func (t *Terminal) follows(r *row, a int, to *pinState) bool {
	rows := t.screen.rows
	y, end := slices.Index(rows, r), slices.Index(rows, to.row)
	if y < end || y == end && a < to.column {
		return false
	}
	for i := end; i <= y; i++ {
		first, last := 0, t.columns
		if i == end {
			first = to.column
		}
		if i == y {
			last = a
		}
		if rows[i].stands(first, last) {
			return false
		}
	}
	return true
}

// within reports whether column a of r lies behind from, in a row above that of to.
func (t *Terminal) within(r *row, a int, from, to *pinState) bool {
	rows := t.screen.rows
	y, begin, end := slices.Index(rows, r), -1, slices.Index(rows, to.row)
	if from.row != nil {
		begin = slices.Index(rows, from.row)
	}
	return y < end && (y > begin || y == begin && a >= from.column)
}

// moveAbout notes that text of a row, which is not of the flow, is moved within it
// or changed.
func (t *Terminal) moveAbout(r *row) {
	for i := range t.traces {
		if tr := &t.traces[i]; r.era < tr.era && tr.screen == t.screen {
			tr.apart = true
		}
	}
}

// flowAnew notes that the whole of the shown screen was erased: what is written from
// now on has nothing older beside it.
func (t *Terminal) flowAnew() {
	if t.tracing == 0 {
		return
	}
	for _, r := range t.screen.rows {
		r.era = t.era
	}
	for i := range t.traces {
		if tr := &t.traces[i]; tr.screen == t.screen && !t.inHistory(tr.flow) {
			kept := t.screenTop() != tr.top && t.history.rows > 0 // in the scrollback, which is not erased
			apart := kept && (tr.apart || len(tr.over) > 0 || t.Fate(tr.flow) == Erased)
			tr.begin(t, t.screen.rows[0])
			tr.apart = apart
		}
	}
}

// cutTraces returns the traces of which all of the screen came since.
func (t *Terminal) cutTraces() (cut []*trace) {
	for i := range t.traces {
		tr := &t.traces[i]
		tr.top = -1
		if t.inHistory(tr.flow) {
			cut = append(cut, tr)
		}
	}
	return cut
}

// inHistory reports whether a pin is in the scrollback, or has left its top.
func (t *Terminal) inHistory(p Pin) bool {
	s := t.pins[p]
	return s != nil && (s.fate == Scrolled || s.fate == Alive && s.row == nil)
}

// rewrapTraces notes that the lines of the main screen are about to be wrapped anew. A
// row may then begin in older text and go on in the flow.
func (t *Terminal) rewrapTraces() {
	rows := t.main.rows
	for i := range t.traces {
		tr := &t.traces[i]
		tr.apart = tr.apart || len(tr.over) > 0 || tr.flow != tr.pin && !tr.anew
		tr.top = -1
		for y := range len(rows) - 1 {
			tr.apart = tr.apart || rows[y].wrap && rows[y].era < tr.era && rows[y+1].era >= tr.era
		}
	}
}

// eraOf is the era of a record of the scrollback.
func (t *Terminal) eraOf(number uint64) uint32 {
	for i := len(t.traces) - 1; i >= 0; i-- {
		tr := &t.traces[i]
		if p := t.pins[tr.flow]; t.inHistory(tr.flow) && (p.fate == Scrolled || p.record <= number) {
			return tr.era
		}
	}
	return 0
}
