package vt

// Color is a colour of a cell: the default, one of the 256 of the palette, or
// 24-bit RGB. The zero Color is the default.
type Color uint32

const (
	colorIndexed = 1 << 24
	colorRGB     = 2 << 24
)

// Indexed returns palette colour n.
func Indexed(n uint8) Color { return colorIndexed | Color(n) }

// RGB returns a direct colour.
func RGB(r, g, b uint8) Color {
	return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// Index returns the palette index of c; ok is false for other kinds of colour.
func (c Color) Index() (n uint8, ok bool) { return uint8(c), c&^0xff == colorIndexed }

// RGB returns the parts of a direct colour; ok is false for other kinds.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == colorRGB>>24
}

// Attributes is a set of ways in which a character is drawn.
type Attributes uint16

// The attributes, as SGR names them (ECMA-48).
const (
	Bold Attributes = 1 << iota
	Faint
	Italic
	Blink
	Inverse
	Hidden
	Strike
	Overline
)

// Underline is the style of an underline; SGR 4:n.
type Underline uint8

// The underline styles.
const (
	NoUnderline Underline = iota
	SingleUnderline
	DoubleUnderline
	CurlyUnderline
	DottedUnderline
	DashedUnderline
)

// Style is how a cell is drawn. Styles compare with ==.
type Style struct {
	Foreground, Background Color
	UnderlineColor         Color
	Attributes             Attributes
	Underline              Underline
	Link                   string // target of an OSC 8 hyperlink: printable ASCII, at most 2083 bytes; "" for none
}

// Cell is one column of a row.
type Cell struct {
	Text  string // one grapheme cluster; "" when never written, or the right half of a wide character
	Width int    // 1, or 2 for a wide character, whose right half follows with width 0
	Style Style
}

// Written reports whether a program has put text here. The right half of a
// wide character counts as written.
func (c Cell) Written() bool { return c.Text != "" || c.Width == 0 }

// cell is a Cell as the screen stores it, 16 bytes without pointers.
type cell struct {
	ch     uint32 // 0 never written; else a rune or, with clusterBit, an index into the cluster table
	fg, bg uint32 // Color
	at     uint32 // Attributes | Underline<<8 | index into the extras table<<16
}

const (
	clusterBit = 1 << 31 // the low bits index the cluster table
	wideBit    = 1 << 30 // left half of a wide character
	tailBit    = 1 << 29 // right half of a wide character
	charMask   = 1<<29 - 1

	underlineShift = 8
	underlineMask  = 7 << underlineShift
	extraShift     = 16
	attributeMask  = 1<<extraShift - 1 // everything of cell.at but the extra
)

// lead and tail tell the halves of a wide character.
func (c *cell) lead() bool { return c.ch&wideBit != 0 }
func (c *cell) tail() bool { return c.ch&tailBit != 0 }

// pen is the style with which text is written.
type pen struct{ fg, bg, at uint32 }

func (c cell) pen() pen { return pen{c.fg, c.bg, c.at} }

// style turns a stored style into a Style.
func (p pen) style(x extra) Style {
	return Style{
		Foreground:     Color(p.fg),
		Background:     Color(p.bg),
		UnderlineColor: x.color,
		Attributes:     Attributes(p.at & 0xff),
		Underline:      Underline(p.at & underlineMask >> underlineShift),
		Link:           x.link,
	}
}

// width is Cell.Width.
func (c *cell) width() int {
	switch {
	case c.tail():
		return 0
	case c.lead():
		return 2
	}
	return 1
}
