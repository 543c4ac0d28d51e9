package vt

import "unsafe"

// history is the scrollback. It keeps logical lines, not rows: a line is
// packed once, when it leaves the screen, and how many rows it takes is a
// matter of the present width. So a resize touches no line; rows are counted
// again when somebody next asks, and for most lines that is one division.
//
// Lines are records in blocks. A record is a whole line, or a segment of a
// line that is longer than segmentBytes; the last record stays open while its
// line goes on at the top of the screen. Records are numbered from 1 in order,
// and a number is not used again for other text, so it serves as the name of
// a line for pins.
type history struct {
	blocks   []*block
	free     *block // one empty block, to be used again
	first    uint64 // number of the first record kept
	next     uint64 // number of the next record
	dropped  int64  // rows that left at the top
	open     bool   // the last record's line goes on with the next row pushed
	short    bool   // the last row of the open record is not full
	sealed   bool   // the last record takes no further row
	maxRows  int    // <= 0: none
	maxBytes int
	bytes    int

	// Rows at the width columns. Stale when columns is not the screen's.
	columns  int
	rows     int // of all records kept
	headRows int // rows counted in the first block for records that were dropped since

	widths  *widthTable
	styles  map[pen]int // the last block's styles, by the terminal's extra indexes
	recent  [1 << recentBits]recentStyle
	covered int // cells of the last record that its style runs cover
	scratch []byte
}

const (
	blockBytes   = 16 << 10 // text of a block
	blockRecords = 2048
	blockStyles  = 4096
	blockRuns    = 32 << 10
	blockLinks   = 64 << 10
	segmentBytes = 8 << 10 // a line that is longer is cut at a row's end: half a block, so that an open one always moves cheaply
)

// record is one line of a block; it ends where the next one begins.
type record struct {
	text, runs uint32 // offsets of its text and its style runs
	cells      uint32 // number of cells, with flags
}

const (
	recordWide  = 1 << 31 // has wide characters: rows must be found by a walk
	recordMulti = 1 << 30 // has cells that are not one byte
	recordSoft  = 1 << 29 // its line goes on in the next record, or on the screen
	recordCells = 1<<29 - 1
)

func (r record) len() int { return int(r.cells & recordCells) }

type block struct {
	first   uint64 // number of records[0]
	skip    int    // records dropped from the front
	text    []byte
	runs    []byte
	records []record
	styles  []pen   // 0 is the default; an extra is an index into extras
	extras  []extra // 0 is none
	links   int     // bytes of all links
	base    int     // rows before the block, headRows included
}

// size is the memory that b takes.
func (b *block) size() int {
	return int(unsafe.Sizeof(*b)) + cap(b.text) + cap(b.runs) + b.links +
		cap(b.records)*int(unsafe.Sizeof(record{})) +
		cap(b.styles)*int(unsafe.Sizeof(pen{})) + cap(b.extras)*int(unsafe.Sizeof(extra{}))
}

// textOf returns the packed text of record i, and runsOf its style runs.
func (b *block) textOf(i int) []byte {
	if i+1 < len(b.records) {
		return b.text[b.records[i].text:b.records[i+1].text]
	}
	return b.text[b.records[i].text:]
}

func (b *block) runsOf(i int) []byte {
	if i+1 < len(b.records) {
		return b.runs[b.records[i].runs:b.records[i+1].runs]
	}
	return b.runs[b.records[i].runs:]
}

// full reports whether a record of n more bytes should go elsewhere.
func (b *block) full(n int) bool {
	return len(b.records) > 0 && len(b.text)+n > blockBytes || len(b.records) >= blockRecords ||
		len(b.runs) > blockRuns || len(b.styles) >= blockStyles || b.links > blockLinks
}

func (h *history) last() *block {
	if n := len(h.blocks); n > 0 {
		return h.blocks[n-1]
	}
	return nil
}

// grow appends an empty block.
func (h *history) grow() *block {
	b := h.free
	h.free = nil
	if b == nil {
		b = &block{text: make([]byte, 0, blockBytes)}
	}
	b.first, b.skip = h.next, 0
	b.text, b.runs, b.records = b.text[:0], b.runs[:0], b.records[:0]
	b.styles = append(b.styles[:0], pen{})
	clear(b.extras)
	b.extras = append(b.extras[:0], extra{})
	b.links = 0
	b.base = h.headRows + h.rows
	h.blocks = append(h.blocks, b)
	h.bytes += b.size()
	h.forgetStyles()
	return b
}

const recentBits = 8

// recentStyle is a style of the last block; index 0 is an empty slot.
type recentStyle struct {
	pen   pen
	index int
}

// forgetStyles empties the cache of the last block's styles.
func (h *history) forgetStyles() {
	clear(h.styles)
	clear(h.recent[:])
}

// shrink removes the last block, which is empty.
func (h *history) shrink() {
	n := len(h.blocks) - 1
	h.bytes -= h.blocks[n].size()
	h.retire(h.blocks[n])
	h.blocks[n] = nil
	h.blocks = h.blocks[:n]
	h.forgetStyles()
}

// retire keeps b for grow, unless it is of an unusual size.
func (h *history) retire(b *block) {
	if b.size() < 4*blockBytes {
		h.free = b
	}
}

// trim drops records at the top until the caps hold.
func (h *history) trim() {
	for h.rows > h.maxRows && len(h.blocks) > 0 {
		h.dropFirst()
	}
	for h.bytes > h.maxBytes && len(h.blocks) > 1 {
		for k := h.blocks[0]; len(h.blocks) > 1 && h.blocks[0] == k; {
			h.dropFirst()
		}
	}
}

// dropFirst drops the first record.
func (h *history) dropFirst() {
	b := h.blocks[0]
	rows := h.rowsOf(b, b.skip)
	h.rows -= rows
	h.headRows += rows
	h.dropped += int64(rows)
	h.first++
	b.skip++
	if b.skip < len(b.records) {
		return
	}
	if len(h.blocks) == 1 {
		h.open = false
	}
	h.bytes -= b.size()
	h.retire(b)
	copy(h.blocks, h.blocks[1:])
	h.blocks[len(h.blocks)-1] = nil
	h.blocks = h.blocks[:len(h.blocks)-1]
}

// clear drops everything, without counting it as dropped.
func (h *history) clear() {
	h.blocks, h.free, h.bytes = nil, nil, 0
	h.first = h.next
	h.open, h.rows, h.headRows = false, 0, 0
}
