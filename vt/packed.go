package vt

import (
	"encoding/binary"
	"unicode/utf8"
)

// The packed form of a line's text, as the scrollback keeps it: its UTF-8,
// one character a cell, with three bytes that no cell's text can begin with.
//
//	0x00              a cell that was never written
//	0x01 n <n bytes>  a cluster in one column
//	0x02 n <n bytes>  a cluster in two columns
//	other             one rune, as wide as the width table says
//
// The right half of a wide character takes no byte. Styles are runs beside
// the text: pairs of uvarints, cells and index into the block's styles; cells
// after the last run have the default style.
const (
	packedEmpty   = 0
	packedNarrow  = 1
	packedWide    = 2
	packedMaxCell = maxClusterBytes + 2
)

// packCells appends the packed text of cells.
func (t *Terminal) packCells(b []byte, cells []cell) []byte {
	for i := range cells {
		ch := cells[i].ch
		switch {
		case ch < 0x80:
			b = append(b, byte(ch))
		case ch&tailBit != 0:
		case ch&clusterBit != 0:
			b = appendCluster(b, t.clusters.text[ch&charMask], ch&wideBit != 0)
		case t.widths.of(rune(ch&charMask)) == 2 == (ch&wideBit != 0):
			if r := ch & charMask; 0x800 <= r && r < 0x10000 { // what AppendRune does, without the call
				b = append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
				continue
			}
			b = utf8.AppendRune(b, rune(ch&charMask))
		default:
			b = appendCluster(b, string(rune(ch&charMask)), ch&wideBit != 0)
		}
	}
	return b
}

func appendCluster(b []byte, text string, wide bool) []byte {
	kind := byte(packedNarrow)
	if wide {
		kind = packedWide
	}
	b = append(b, kind, byte(len(text)))
	return append(b, text...)
}

// unpackOne returns the text of the first cell of b, its width, and the bytes
// it takes.
func (w *widthTable) unpackOne(b []byte) (text []byte, width, size int) {
	switch c := b[0]; {
	case c == packedEmpty:
		return nil, 1, 1
	case c == packedNarrow || c == packedWide:
		n := int(b[1]) + 2
		return b[2:n], int(c), n
	case c < 0x80:
		return b[:1], 1, 1
	}
	r, n := utf8.DecodeRune(b)
	return b[:n], max(1, w.of(r)), n
}

// styleRuns walks packed style runs.
type styleRuns struct {
	b    []byte
	left int // cells left in the present run
	now  int // its style
}

// next returns the style index of the next n cells at most, and how many of
// them have it. After the last run everything is style 0.
func (s *styleRuns) next(n int) (style, cells int) {
	for s.left == 0 {
		if len(s.b) == 0 {
			return 0, n
		}
		v, k := binary.Uvarint(s.b)
		s.left, s.b = int(v), s.b[k:]
		v, k = binary.Uvarint(s.b)
		s.now, s.b = int(v), s.b[k:]
	}
	n = min(n, s.left)
	s.left -= n
	return s.now, n
}

// breaks calls yield with the bounds, in cells and in bytes, of each row into
// which packed text wraps at the given width. A wide character that does not
// fit begins the next row. Empty text is one row.
func (w *widthTable) breaks(b []byte, columns int, yield func(fromCell, toCell, fromByte, toByte int) bool) {
	fromCell, fromByte, at, i := 0, 0, 0, 0
	for i < len(b) {
		width, size := 1, 1
		if c := b[i]; c >= 0x80 || c == packedNarrow || c == packedWide {
			_, width, size = w.unpackOne(b[i:])
		}
		if at+width-fromCell > columns {
			if !yield(fromCell, at, fromByte, i) {
				return
			}
			fromCell, fromByte = at, i
		}
		at += width
		i += size
	}
	yield(fromCell, at, fromByte, i)
}
