package vt

import "slices"

// Pin names a position in the text: a line, and an offset of cells in it. It
// moves with its text when output scrolls, when rows are inserted or deleted
// above it, and when a resize wraps lines anew. It dies with its line. Pins
// are never used again, and the zero Pin is none, so an owner may keep one as
// a number.
type Pin uint64

// Fate tells what became of a Pin.
type Fate uint8

// The fates.
const (
	Unknown  Fate = iota // never made, unpinned, or given up because too many newer ones were made
	Alive                // Locate finds it
	Scrolled             // its line left the top of the scrollback, or scrolled off a screen that keeps none
	Erased               // its line was erased or deleted: a cleared screen or scrollback, a reset
)

// maxPins is the number of live and dead pins that are remembered.
const maxPins = 4096

// pinState is where a pin is: on a row of a screen, or in a scrollback record.
type pinState struct {
	fate   Fate
	row    *row
	column int    // on row; the width of the screen when a wrap was pending
	record uint64 // in the scrollback when row is nil
	offset int    // cells from the start of the record
}

// Pin makes a pin at the cursor. At most 4096 are remembered: a further one
// makes the oldest Unknown. It may be called from Options.OSC, and is then at
// the exact place of the sequence, even inside a synchronized update.
func (t *Terminal) Pin() Pin { return t.pin(t.screen.rows[t.y], t.cursorColumn()) }

func (t *Terminal) pin(r *row, column int) Pin {
	for len(t.pins) >= maxPins {
		t.unpin(Pin(t.oldestPin)) // its trace stays until it is ended: this may be called from there
		t.oldestPin++
	}
	t.newestPin++
	t.pins[Pin(t.newestPin)] = t.attach(r, column)
	return Pin(t.newestPin)
}

// PinBefore makes a pin at the start of the row in which a pin is, when that is
// a row of the main screen; 0 otherwise.
func (t *Terminal) PinBefore(p Pin) Pin {
	s := t.pins[p]
	if s == nil || s.row == nil || !slices.Contains(t.main.rows, s.row) {
		return 0
	}
	return t.pin(s.row, 0)
}

// attach makes a pin state on a row.
func (t *Terminal) attach(r *row, column int) *pinState {
	p := &pinState{fate: Alive, row: r, column: column}
	r.pins = append(r.pins, p)
	return p
}

// Locate returns where a pin is now: its absolute row and its column, which
// equals the width when a wrap was pending there. A pin of the main screen is
// located also while the alternate screen hides it. ok is false when the pin
// is not alive, or belongs to the alternate screen and that is not shown.
func (t *Terminal) Locate(p Pin) (row int64, column int, ok bool) {
	t.history.settle(t)
	s := t.pins[p]
	if s == nil || t.fateOf(s) != Alive {
		return 0, 0, false
	}
	h := &t.history
	if s.row == nil {
		row, column := h.locate(s.record, s.offset)
		return h.dropped + int64(row), column, true
	}
	y := slices.Index(t.main.rows, s.row)
	if y < 0 {
		y = slices.Index(t.screen.rows, s.row)
	}
	return h.dropped + int64(h.rows+y), s.column, y >= 0
}

// Fate tells whether a pin is alive, and if not why.
func (t *Terminal) Fate(p Pin) Fate {
	t.history.settle(t)
	if s := t.pins[p]; s != nil {
		return t.fateOf(s)
	}
	return Unknown
}

// fateOf brings the fate of a pin in the scrollback up to date.
func (t *Terminal) fateOf(s *pinState) Fate {
	if s.fate == Alive && s.row == nil && s.record < t.history.first {
		*s = pinState{fate: Scrolled}
	}
	return s.fate
}

// Unpin forgets a pin, and ends its trace. Unknown pins are ignored.
func (t *Terminal) Unpin(p Pin) {
	t.dropTrace(p)
	t.unpin(p)
}

func (t *Terminal) unpin(p Pin) {
	s := t.pins[p]
	if s == nil {
		return
	}
	t.detach(s)
	delete(t.pins, p)
}

// detach takes a pin off its row.
func (t *Terminal) detach(s *pinState) {
	if s.row == nil {
		return
	}
	for i, q := range s.row.pins {
		if q == s {
			last := len(s.row.pins) - 1
			s.row.pins[i] = s.row.pins[last]
			s.row.pins[last] = nil
			s.row.pins = s.row.pins[:last]
			break
		}
	}
	s.row = nil
}

// killPins ends all pins of a row.
func (t *Terminal) killPins(r *row, fate Fate) {
	for i, p := range r.pins {
		*p = pinState{fate: fate}
		r.pins[i] = nil
	}
	r.pins = r.pins[:0]
}

// eraseHistoryPins ends every pin in the scrollback.
func (t *Terminal) eraseHistoryPins() {
	for _, p := range t.pins {
		if p.fate == Alive && p.row == nil && t.fateOf(p) == Alive {
			*p = pinState{fate: Erased}
		}
	}
}
