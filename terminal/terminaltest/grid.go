package terminaltest

import (
	"strings"
	"unicode"

	"termpilot/terminal"
)

// grid is a small screen with history: enough of a terminal for scripted shells.
// It is not safe for concurrent use; the Fake's lock guards it.
type grid struct {
	width, height int
	keep          int   // most rows of history
	base          int64 // absolute number of history[0]
	history       []gridRow
	main, alt     []gridRow
	onAlt         bool
	x, y          int // x may equal width: a wrap is pending
	saved         [2]int
	move          func(func(terminal.Point) terminal.Point) // tells that positions changed
}

type gridRow struct {
	cells []gridCell
	soft  bool
}

// gridCell is "" with width 1 when never written, "" with width 0 for the tail
// of a wide character.
type gridCell struct {
	text  string
	width int
}

func newGrid(width, height, keep int) *grid {
	return &grid{width: width, height: height, keep: keep, main: make([]gridRow, height)}
}

func (g *grid) screen() []gridRow {
	if g.onAlt {
		return g.alt
	}
	return g.main
}

func (g *grid) top() int64 { return g.base + int64(len(g.history)) }
func (g *grid) end() int64 { return g.top() + int64(g.height) }
func (g *grid) cursor() terminal.Point {
	return terminal.Point{Row: g.top() + int64(g.y), Column: g.x}
}

func (g *grid) row(n int64) gridRow {
	if n < g.top() {
		return g.history[n-g.base]
	}
	return g.screen()[n-g.top()]
}

// put writes one character at the cursor.
func (g *grid) put(r rune) {
	w := runeWidth(r)
	row := &g.screen()[g.y]
	if w == 0 {
		if at := min(g.x, len(row.cells)) - 1; at >= 0 {
			for at > 0 && row.cells[at].width == 0 {
				at--
			}
			row.cells[at].text += string(r)
		}
		return
	}
	if g.x+w > g.width {
		row.soft = true
		g.x = 0
		g.lineFeed()
		row = &g.screen()[g.y]
	}
	for len(row.cells) < g.x+w {
		row.cells = append(row.cells, gridCell{width: 1})
	}
	row.halve(g.x)
	if w == 2 && g.x+2 < len(row.cells) {
		row.halve(g.x + 2)
	}
	row.cells[g.x] = gridCell{text: string(r), width: w}
	if w == 2 {
		row.cells[g.x+1] = gridCell{}
	}
	g.x += w
}

// halve blanks the wide character whose second cell is at x, and the rest of
// the one whose first cell is.
func (r *gridRow) halve(x int) {
	if x > 0 && r.cells[x].width == 0 {
		r.cells[x-1] = gridCell{text: " ", width: 1}
		r.cells[x] = gridCell{text: " ", width: 1}
	}
	if r.cells[x].width == 2 {
		r.cells[x+1] = gridCell{text: " ", width: 1}
	}
}

func (g *grid) lineFeed() {
	if g.y < g.height-1 {
		g.y++
		return
	}
	if g.onAlt {
		g.alt = append(g.alt[1:], gridRow{})
		return
	}
	g.history = append(g.history, g.main[0])
	g.main = append(g.main[1:], gridRow{})
	if len(g.history) > g.keep {
		g.drop(len(g.history) - g.keep)
	}
}

// drop forgets the n oldest rows of history. Numbers stay.
func (g *grid) drop(n int) {
	n = min(n, len(g.history))
	g.history = g.history[n:]
	g.base += int64(n)
}

// clearHistory forgets the history; the screen's numbers go down, as in iTerm2.
func (g *grid) clearHistory() {
	n := int64(len(g.history))
	g.history = nil
	if g.move != nil {
		g.move(func(p terminal.Point) terminal.Point { p.Row -= n; return p })
	}
}

func (g *grid) eraseRow(y, from int) {
	row := &g.screen()[y]
	row.cells = row.cells[:min(from, len(row.cells))]
	row.soft = false
}

func (g *grid) alternate(on bool) {
	if on == g.onAlt {
		return
	}
	if on {
		g.saved = [2]int{g.x, g.y}
		g.alt = make([]gridRow, g.height)
	} else {
		g.x, g.y = g.saved[0], g.saved[1]
		g.alt = nil
	}
	g.onAlt = on
}

// resize wraps history and main screen anew.
func (g *grid) resize(width, height int) {
	if g.onAlt {
		g.alt = append(g.alt, make([]gridRow, max(0, height-len(g.alt)))...)[:height]
		cx, cy := g.x, g.y
		g.onAlt = false
		g.x, g.y = g.saved[0], g.saved[1]
		g.resize(width, height)
		g.saved = [2]int{g.x, g.y}
		g.onAlt = true
		g.x, g.y = min(cx, width), min(cy, height-1)
		return
	}
	old := append(append([]gridRow(nil), g.history...), g.main...)
	oldBase, cursor := g.base, g.cursor()
	used := int(cursor.Row-g.base) + 1
	for i := len(old) - 1; i >= used; i-- {
		if len(old[i].cells) > 0 {
			used = i + 1
		}
	}
	var rows []gridRow
	starts := make([]terminal.Point, used+1) // where old row i begins, as offsets into the new rows
	for i := 0; i < used; {
		first, col := len(rows), 0
		rows = append(rows, gridRow{})
		for ; i < used; i++ {
			starts[i] = terminal.Point{Row: int64(len(rows) - 1), Column: col}
			for _, c := range old[i].cells {
				if c.width == 0 {
					continue
				}
				if col+c.width > width {
					rows[len(rows)-1].soft = true
					rows = append(rows, gridRow{})
					col = 0
				}
				last := &rows[len(rows)-1]
				last.cells = append(last.cells, c)
				if c.width == 2 {
					last.cells = append(last.cells, gridCell{})
				}
				col += c.width
			}
			if !old[i].soft {
				i++
				break
			}
		}
		_ = first
	}
	locate := func(p terminal.Point) terminal.Point {
		i := p.Row - oldBase
		if i < 0 || i >= int64(used) {
			return p
		}
		at := starts[i]
		at.Column += p.Column
		for at.Column > width {
			at.Column -= width
			at.Row++
		}
		if at.Column == width && p.Column != 0 && at.Row+1 < int64(len(rows)) && rows[at.Row].soft {
			at = terminal.Point{Row: at.Row + 1}
		}
		at.Row += oldBase
		return at
	}
	cursor = locate(cursor)
	g.width, g.height = width, height
	for int(cursor.Row-oldBase) >= len(rows) {
		rows = append(rows, gridRow{})
	}
	cut := max(0, len(rows)-height)
	g.history = rows[:cut:cut]
	g.main = append(append([]gridRow(nil), rows[cut:]...), make([]gridRow, max(0, height-(len(rows)-cut)))...)
	g.x, g.y = min(cursor.Column, width), int(cursor.Row-oldBase)-cut
	if g.y < 0 {
		g.x, g.y = 0, 0
	}
	if g.move != nil {
		g.move(locate)
	}
	if len(g.history) > g.keep {
		g.drop(len(g.history) - g.keep)
	}
}

// read answers a range.
func (g *grid) read(want terminal.Range) terminal.Screen {
	s := terminal.Screen{
		Oldest: g.base, Top: g.top(), End: g.end(), Columns: g.width,
		Cursor: g.cursor(), Alternate: g.onAlt,
	}
	first, end := s.Top, s.End
	switch want.Kind {
	case terminal.Tail:
		first = end - int64(min(want.Count, terminal.MaxRows))
	case terminal.Rows:
		first, end = want.First, want.First+int64(min(want.Count, terminal.MaxRows))
	case terminal.Cells:
		first, end = want.Span.Start.Row, want.Span.End.Row
		if want.Span.End.Column > 0 {
			end++
		}
		if want.Span.Empty() {
			end = first
		}
	}
	first = max(first, g.base)
	end = min(end, s.End, first+terminal.MaxRows)
	s.First = first
	for n := first; n < end; n++ {
		row := g.row(n)
		from, to := 0, len(row.cells)
		if want.Kind == terminal.Cells && n == want.Span.Start.Row {
			from = want.Span.Start.Column
		}
		if want.Kind == terminal.Cells && n == want.Span.End.Row {
			to = min(to, want.Span.End.Column)
		}
		s.Rows = append(s.Rows, terminal.Row{Text: cellText(row.cells, from, to), Soft: row.soft})
	}
	return s
}

// cellText is the text of the characters whose first cell is in [from,to).
func cellText(cells []gridCell, from, to int) string {
	var b strings.Builder
	for x := from; x < to && x < len(cells); x++ {
		switch c := cells[x]; {
		case c.text != "":
			b.WriteString(c.text)
		case c.width == 1:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// between is the text from one position to another, soft wraps joined.
func (g *grid) between(from, to terminal.Point) string {
	s := g.read(terminal.Range{Kind: terminal.Cells, Span: terminal.Span{Start: from, End: to}})
	var b strings.Builder
	for i, r := range s.Rows {
		b.WriteString(r.Text)
		if !r.Soft && i < len(s.Rows)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// wideRanges are the blocks that terminals show two cells wide, roughly as
// East Asian Width says (UAX #11).
var wideRanges = [...][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f {
		return 0
	}
	for _, w := range wideRanges {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}
