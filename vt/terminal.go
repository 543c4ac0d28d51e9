package vt

import "github.com/clipperhouse/uax29/v2/graphemes"

// Limits of a screen. Two columns are the least that hold a wide character.
const (
	minColumns = 2
	maxColumns = 1000
	minRows    = 1
	maxRows    = 1000
)

// Options configures a Terminal. The zero value is a terminal of 80x24 with
// 10,000 rows of scrollback that tells nobody anything.
type Options struct {
	// Columns and Rows are the size of the screen; 0 means 80 and 24. They are
	// held within 2..1000 and 1..1000.
	Columns, Rows int

	// Scrollback is the most rows that are kept above the screen; 0 means
	// 10,000, and a negative number means none. Whole lines are dropped at the
	// top, so after a long wrapped line fewer may be kept.
	Scrollback int

	// ScrollbackBytes is the most memory that the scrollback takes, give or
	// take the block (some 30 KiB) that is being filled; 0 means 64 MiB.
	ScrollbackBytes int

	// OSC is called inside Write for each operating system command that ends,
	// at its exact place in the stream: all before it is on the screen,
	// nothing after it is. Commands without a number, longer than 256 KiB, or
	// that were aborted are not passed on, nor is OSC 52, by which a program
	// would reach the clipboard. The payload, what follows "number;", is valid
	// during the call. OSC may read the terminal, make and drop pins and call
	// Release; it must not call Write or Resize.
	OSC func(command int, payload []byte)

	// Bell is called inside Write for each BEL.
	Bell func()

	// Version is the version in the answer to XTVERSION. Bytes other than
	// printable ASCII are left out, and it is cut at 32.
	Version string
}

// Terminal is an emulated terminal. It is made by New, and is not safe for
// concurrent use.
type Terminal struct {
	options       Options
	columns, rows int

	main, alternate screen
	screen          *screen // the one that is shown
	history         history
	frame           frame

	x, y        int
	pending     bool // the next character wraps first; x is the last column
	pen         pen
	top, bottom int // scrolling region, inclusive
	tabs        []bool
	charsets    [4]bool // G0 to G3: true for DEC Special Graphics
	shift       uint8   // which of them is in use
	modes       modes
	savedModes  modes // XTSAVE
	cursorStyle CursorStyle
	mainCursor  savedCursor // where the cursor was when the alternate screen came

	last   *row // row of the last written character while nothing came after it
	lastX  int
	repeat cell // what REP repeats

	clusters  clusters
	extras    extras
	link      string // of the pen
	ulColor   Color  // of the pen
	widths    *widthTable
	segments  *graphemes.Iterator[[]byte]
	graphics  []rune
	cluster   []byte   // scratch
	probe     [16]byte // scratch
	moved     []*row   // scratch
	reflowing bool     // cells are out of the sweeps' sight

	pins                 map[Pin]*pinState
	newestPin, oldestPin uint64
	outlived             []*pinState // the last erasure of the screen, at the cursor

	traces  []trace
	era     uint32 // of the newest
	tracing uint32 // the era of the newest of the shown screen; 0 for none

	title      string
	titleStack []string
	replies    []byte
	changes    uint64
	parser     parser
}

// New makes a terminal with an empty screen.
func New(o Options) *Terminal {
	t := &Terminal{
		options:  o,
		widths:   loadWidths(),
		segments: graphemes.FromBytes(nil),
		graphics: []rune(lineDrawing),
		pins:     make(map[Pin]*pinState),
	}
	t.columns = clamp(orDefault(o.Columns, 80), minColumns, maxColumns)
	t.rows = clamp(orDefault(o.Rows, 24), minRows, maxRows)
	t.oldestPin = 1
	t.clusters.limit = minClusters
	t.extras.limit = maxExtras / 16
	t.extras.add(extra{})
	t.history = history{
		first: 1, next: 1,
		maxRows:  orDefault(o.Scrollback, 10_000),
		maxBytes: orDefault(o.ScrollbackBytes, 64<<20),
		columns:  t.columns,
		widths:   t.widths,
	}
	t.main.rows = newRows(t.columns, t.rows)
	t.alternate.rows = newRows(t.columns, t.rows)
	t.screen = &t.main
	t.reset()
	return t
}

func orDefault(v, d int) int {
	if v == 0 {
		return d
	}
	return v
}

func clamp(v, lo, hi int) int { return min(max(v, lo), hi) }

// reset is RIS: everything is as New made it, but for numbers that must not
// come again.
func (t *Terminal) reset() {
	t.release()
	t.screen = &t.main
	t.setTracing()
	t.softReset()
	t.modes = modeAutoWrap | modeCursorVisible
	t.savedModes = t.modes
	for _, s := range []*screen{&t.main, &t.alternate} {
		for _, r := range s.rows {
			t.recycle(r)
		}
		s.saved, s.keys = savedCursor{}, keyStack{}
	}
	t.x, t.y = 0, 0
	t.cursorStyle = CursorDefault
	t.resetTabs(0)
	t.clearHistory()
	t.title, t.titleStack = "", nil
	t.repeat = cell{}
	t.flowAnew()
	t.changes++
}

// softReset is DECSTR.
func (t *Terminal) softReset() {
	t.pending = false
	t.pen, t.link, t.ulColor = pen{}, "", 0
	t.top, t.bottom = 0, t.rows-1
	t.charsets, t.shift = [4]bool{}, 0
	t.modes &^= modeInsert | modeOrigin | modeAppCursor | modeAppKeypad
	t.modes |= modeAutoWrap | modeCursorVisible
	t.screen.saved = savedCursor{}
	t.last = nil
	t.changes++
}

// resetTabs sets a stop at every eighth column from column on.
func (t *Terminal) resetTabs(column int) {
	old := t.tabs
	t.tabs = make([]bool, t.columns)
	copy(t.tabs, old[:min(len(old), column)])
	for i := (column + 7) / 8 * 8; i < t.columns; i += 8 {
		t.tabs[i] = i > 0
	}
}

// clearHistory is ED 3: the scrollback becomes empty. Dropped stays, as in
// iTerm2, so rows count anew from there.
func (t *Terminal) clearHistory() {
	cut := t.cutTraces()
	t.eraseHistoryPins()
	for _, tr := range cut {
		tr.begin(t, t.main.rows[0])
	}
	t.history.clear()
	t.frame.base = min(t.frame.base, t.history.dropped)
	t.changes++
}

// Write takes output of the program, in pieces cut anywhere. It never fails
// and never blocks.
func (t *Terminal) Write(p []byte) (int, error) {
	x, y, pending := t.x, t.y, t.pending
	t.parse(p)
	if x != t.x || y != t.y || pending != t.pending {
		t.changes++
	}
	return len(p), nil
}

// Size returns the size of the screen.
func (t *Terminal) Size() (columns, rows int) { return t.columns, t.rows }

// Title returns the title that the program set: one line without control
// characters, at most 1024 bytes.
func (t *Terminal) Title() string { return t.title }

// Generation changes with every change that a reader could see. During a
// synchronized update it stands still.
func (t *Terminal) Generation() uint64 {
	if t.frame.active {
		return t.frame.generation
	}
	return t.changes
}
