package vt

import (
	"fmt"
	"slices"
)

// CheckInvariants returns what is wrong inside t; nil when nothing is.
func CheckInvariants(t *Terminal) error {
	for name, rows := range map[string][]*row{"main": t.main.rows, "alternate": t.alternate.rows} {
		if len(rows) != t.rows {
			return fmt.Errorf("%s has %d rows, not %d", name, len(rows), t.rows)
		}
		for y, r := range rows {
			if err := t.checkRow(r); err != nil {
				return fmt.Errorf("%s row %d: %w", name, y, err)
			}
			if slices.Index(rows, r) != y {
				return fmt.Errorf("%s row %d is there twice", name, y)
			}
			if r.wrap && y == len(rows)-1 {
				return fmt.Errorf("%s: the last row wraps", name)
			}
		}
	}
	if t.frame.active {
		for y, r := range t.frame.rows {
			if err := t.checkRow(r); err != nil {
				return fmt.Errorf("frame row %d: %w", y, err)
			}
		}
	}
	switch {
	case t.x < 0 || t.x >= t.columns || t.y < 0 || t.y >= t.rows:
		return fmt.Errorf("cursor at %d,%d", t.x, t.y)
	case t.pending && t.x != t.columns-1:
		return fmt.Errorf("wrap pending at column %d of %d", t.x, t.columns)
	case t.top < 0 || t.bottom >= t.rows || t.top > t.bottom:
		return fmt.Errorf("region %d..%d", t.top, t.bottom)
	case len(t.tabs) != t.columns:
		return fmt.Errorf("%d tab stops", len(t.tabs))
	case len(t.pins) > maxPins || len(t.replies) > maxReplies || len(t.titleStack) > maxTitles || len(t.traces) > maxTraces || len(t.title) > maxTitleBytes:
		return fmt.Errorf("over a cap")
	case cap(t.parser.text) > 2*maxOSC:
		return fmt.Errorf("string buffer of %d bytes", cap(t.parser.text))
	case len(t.clusters.text) != len(t.clusters.index) || len(t.extras.list) != len(t.extras.index):
		return fmt.Errorf("a table and its index differ")
	}
	if err := t.checkPins(); err != nil {
		return err
	}
	return t.history.check(t)
}

func (t *Terminal) checkRow(r *row) error {
	if len(r.cells) != t.columns {
		return fmt.Errorf("%d cells", len(r.cells))
	}
	for x, c := range r.cells {
		switch {
		case x >= r.used && c != cell{}:
			return fmt.Errorf("cell %d is used, and used is %d", x, r.used)
		case c.lead() && (x+1 == t.columns || !r.cells[x+1].tail()):
			return fmt.Errorf("cell %d is half a wide character", x)
		case c.tail() && (x == 0 || !r.cells[x-1].lead()):
			return fmt.Errorf("cell %d is the right half of nothing", x)
		case c.lead() && !r.wide:
			return fmt.Errorf("cell %d is wide, and its row says none is", x)
		case c.ch&clusterBit != 0 && int(c.ch&charMask) >= len(t.clusters.text):
			return fmt.Errorf("cell %d names no cluster", x)
		case int(c.at>>extraShift) >= len(t.extras.list):
			return fmt.Errorf("cell %d names no extra", x)
		case c.ch != 0 && c.ch < 0x20 || c.ch >= 0x7f && c.ch < 0xa0:
			return fmt.Errorf("cell %d holds a control", x)
		}
	}
	return nil
}

func (t *Terminal) checkPins() error {
	for id, p := range t.pins {
		if p.fate != Alive || p.row == nil {
			continue
		}
		if !slices.Contains(t.main.rows, p.row) && !slices.Contains(t.alternate.rows, p.row) {
			return fmt.Errorf("pin %d is on no screen", id)
		}
		if !slices.Contains(p.row.pins, p) || p.column < 0 || p.column > t.columns {
			return fmt.Errorf("pin %d: its row does not know it, or column %d", id, p.column)
		}
	}
	n := 0
	for _, rows := range [][]*row{t.main.rows, t.alternate.rows} {
		for _, r := range rows {
			n += len(r.pins)
		}
	}
	if n > len(t.pins) {
		return fmt.Errorf("%d pins on rows, of %d", n, len(t.pins))
	}
	return nil
}

func (h *history) check(t *Terminal) error {
	h.settle(t)
	rows, bytes, number := h.headRows, 0, h.first
	for i, b := range h.blocks {
		bytes += b.size()
		if i == 0 {
			number -= uint64(b.skip)
		} else if b.skip != 0 {
			return fmt.Errorf("block %d has dropped records", i)
		} else if b.base != rows {
			return fmt.Errorf("block %d begins at row %d, not %d", i, b.base, rows)
		}
		if b.first != number {
			return fmt.Errorf("block %d begins with record %d, not %d", i, b.first, number)
		}
		if len(b.records) <= b.skip {
			return fmt.Errorf("block %d is empty", i)
		}
		for j, r := range b.records {
			number++
			if j < b.skip {
				continue
			}
			cells := t.unpack(b, j)
			if len(cells) != r.len() {
				return fmt.Errorf("record %d has %d cells, not %d", number-1, len(cells), r.len())
			}
			if last := i == len(h.blocks)-1 && j == len(b.records)-1; last && r.cells&recordSoft == 0 && h.open {
				return fmt.Errorf("record %d is not soft, and open", number-1)
			}
			n := 0
			h.widths.breaks(b.textOf(j), h.columns, func(int, int, int, int) bool { n++; return true })
			if n != h.rowsOf(b, j) {
				return fmt.Errorf("record %d has %d rows, not %d", number-1, n, h.rowsOf(b, j))
			}
			rows += n
		}
	}
	switch {
	case rows-h.headRows != h.rows:
		return fmt.Errorf("scrollback has %d rows, not %d", rows-h.headRows, h.rows)
	case bytes != h.bytes:
		return fmt.Errorf("scrollback has %d bytes, not %d", bytes, h.bytes)
	case number != h.next:
		return fmt.Errorf("next record is %d, not %d", h.next, number)
	case h.maxRows > 0 && h.rows > h.maxRows:
		return fmt.Errorf("scrollback has %d rows, over its cap", h.rows)
	case bytes > h.maxBytes && len(h.blocks) > 1:
		return fmt.Errorf("scrollback has %d bytes, over its cap", bytes)
	}
	return nil
}
