package vt

import (
	"sync"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// widthTable tells the columns of each rune below U+20000 (0, 1 or 2), and
// with joinBit whether it may join the character before, although it has a
// width.
type widthTable [0x20000]uint8

const joinBit = 0x80

// loadWidths builds the table at first use (2 ms), so that programs which
// link this package without making a Terminal do not pay for it.
var loadWidths = sync.OnceValue(func() *widthTable {
	w := new(widthTable)
	for r := range rune(len(w)) {
		switch {
		case r < 0x20 || 0x7f <= r && r < 0xa0 || 0xd800 <= r && r < 0xe000:
			w[r] = 0
		case r < 0x7f:
			w[r] = 1
		default:
			w[r] = uint8(min(2, displaywidth.Rune(r)))
		}
	}
	w[utf8.RuneError] = 1
	for r := range rune(len(w)) {
		if w[r] > 0 && (mayJoin('x', r, 1) || mayJoin(0x1f1e6, r, 1) || mayJoin(0x1100, r, 1)) {
			w[r] |= joinBit
		}
	}
	return w
})

// of returns the columns of r. Above the table, planes 2 and 3 are CJK
// ideographs, plane 14 holds tags and variation selectors, and the rest is
// unassigned or private (Unicode, EastAsianWidth.txt).
func (w *widthTable) of(r rune) int {
	switch {
	case r < rune(len(w)):
		return int(w[r] &^ joinBit)
	case r < 0x40000:
		return 2
	case 0xe0000 <= r && r < 0xe1000:
		return 0
	}
	return 1
}

// joins reports whether r, which has a width, may join a character before it
// that is a single rune.
func (w *widthTable) joins(r rune) bool { return r < rune(len(w)) && w[r]&joinBit != 0 }

// mayJoin reports whether r can belong to the cluster that ends in prev. It is
// a cheap test that lets ordinary text past the segmentation algorithm
// (UAX #29); w is the width of r. Prepend characters and conjuncts, which no
// terminal joins, are left out.
func mayJoin(prev, r rune, w int) bool {
	switch {
	case w == 0 || prev == 0x200d: // marks, joiners, selectors; after a joiner
		return true
	case r < 0x0e33:
		return false
	case r == 0x0e33 || r == 0x0eb3: // Thai and Lao AM are spacing marks
		return true
	case 0x1f3fb <= r && r <= 0x1f3ff: // skin tones
		return true
	case 0x1f1e6 <= r && r <= 0x1f1ff: // flags are pairs
		return 0x1f1e6 <= prev && prev <= 0x1f1ff
	case 0x1100 <= r && r <= 0x11ff || 0xac00 <= r && r <= 0xd7ff: // Hangul after a leading consonant
		return 0x1100 <= prev && prev <= 0x115f || 0xa960 <= prev && prev <= 0xa97c
	}
	return false
}
