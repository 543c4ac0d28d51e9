package vt

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// maxReplies is how many bytes of replies wait for the owner. A program that
// asks without reading gets the first answers whole, and no more.
const maxReplies = 4096

// The nominal size of a cell in pixels, for programs that ask.
const cellWidth, cellHeight = 8, 16

// Replies returns the answers that the terminal owes the program, and forgets
// them. At most 4096 bytes wait; whole answers beyond that are dropped. What
// they hold is chosen here, but for numbers within 0 to 65535 that the
// program sent: no text of the program's ever comes back.
func (t *Terminal) Replies() []byte {
	r := t.replies
	t.replies = nil
	return r
}

func (t *Terminal) reply(parts ...string) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if len(t.replies)+n > maxReplies {
		return
	}
	for _, p := range parts {
		t.replies = append(t.replies, p...)
	}
}

// query answers the control sequences that ask. Where programs read more out
// of an answer than it says, the choice is argued in specs/vt.md.
func (t *Terminal) query(final byte) {
	p := &t.parser
	switch seq(p.prefix, p.inter, final) {
	case 'c': // DA1: a VT220 with colour
		if p.arg(0, 0) == 0 {
			t.reply("\x1b[?62;22c")
		}
	case seq('>', 0, 'c'): // DA2
		if p.arg(0, 0) == 0 {
			t.reply("\x1b[>1;10;0c")
		}
	case 'n': // DSR
		switch p.arg(0, 0) {
		case 5:
			t.reply("\x1b[0n")
		case 6:
			t.reply("\x1b[", t.cursorReport(), "R")
		}
	case seq('?', 0, 'n'):
		switch p.arg(0, 0) {
		case 6: // DECXCPR
			t.reply("\x1b[?", t.cursorReport(), "R")
		case 996: // colour scheme: dark
			t.reply("\x1b[?997;1n")
		}
	case seq(0, '$', 'p'), seq('?', '$', 'p'):
		t.reportMode(p.arg(0, 0), p.prefix == '?')
	case seq('>', 0, 'q'): // XTVERSION
		if p.arg(0, 0) == 0 {
			t.reply("\x1bP>|termpilot(", t.version(), ")\x1b\\")
		}
	}
}

func (t *Terminal) cursorReport() string {
	y := t.y
	if t.modes&modeOrigin != 0 {
		y -= t.top
	}
	return strconv.Itoa(y+1) + ";" + strconv.Itoa(t.x+1)
}

// reportMode answers DECRQM: 0 unknown, 1 set, 2 reset, 3 always set.
func (t *Terminal) reportMode(n int, private bool) {
	bit, prefix := ansiMode(n), ""
	if private {
		bit, prefix = privateMode(n), "?"
	}
	v := "0"
	switch {
	case private && n == 2027: // grapheme clusters
		v = "3"
	case private && bit&alternateModes != 0:
		v = "2"
		if t.screen == &t.alternate {
			v = "1"
		}
	case bit == 0:
	case t.modes&bit != 0:
		v = "1"
	default:
		v = "2"
	}
	t.reply("\x1b[", prefix, strconv.Itoa(n), ";", v, "$y")
}

// reportSize answers CSI 14, 16, 18 and 19 t.
func (t *Terminal) reportSize(op int) {
	w, h, kind := t.columns, t.rows, op-10
	switch op {
	case 14:
		w, h = w*cellWidth, h*cellHeight
	case 16:
		w, h = cellWidth, cellHeight
	}
	t.reply("\x1b[", strconv.Itoa(kind), ";", strconv.Itoa(h), ";", strconv.Itoa(w), "t")
}

func (t *Terminal) version() string {
	v := strings.Map(func(r rune) rune {
		if r < 0x21 || r > 0x7e {
			return -1
		}
		return r
	}, t.options.Version)
	if v == "" {
		return "0"
	}
	return v[:min(len(v), 32)]
}

// maxColorQueries is how many colours one OSC may ask for.
const maxColorQueries = 16

// queryColors answers OSC 10, 11 and 12: the colours of text, background and
// cursor. Further parameters ask for the following ones. Setting is ignored.
func (t *Terminal) queryColors(command int, payload []byte) {
	for _, arg := range strings.SplitN(string(payload), ";", 4) {
		if command > 12 {
			return
		}
		if arg == "?" {
			r, g, b := DefaultColor(command == 11)
			t.replyColor(strconv.Itoa(command), r, g, b)
		}
		command++
	}
}

// queryPalette answers OSC 4: pairs of a colour number and "?".
func (t *Terminal) queryPalette(payload []byte) {
	args := strings.SplitN(string(payload), ";", 2*maxColorQueries+1)
	for i := 0; i+1 < len(args) && i < 2*maxColorQueries; i += 2 {
		if n, err := strconv.ParseUint(args[i], 10, 8); err == nil && args[i+1] == "?" {
			r, g, b := PaletteColor(uint8(n))
			t.replyColor("4;"+strconv.Itoa(int(n)), r, g, b)
		}
	}
}

func (t *Terminal) replyColor(command string, r, g, b uint8) {
	end := "\x1b\\"
	if t.parser.bell {
		end = "\a"
	}
	hex2 := func(v uint8) string {
		s := hex.EncodeToString([]byte{v})
		return s + s
	}
	t.reply("\x1b]", command, ";rgb:", hex2(r), "/", hex2(g), "/", hex2(b), end)
}

// DefaultColor returns the colour that programs are told the background has, or
// else the text and the cursor.
func DefaultColor(background bool) (r, g, b uint8) {
	if background {
		return 0, 0, 0
	}
	return 0xee, 0xee, 0xee
}

// PaletteColor returns the colour that programs are told a number has: that of
// xterm's palette (256colres.h).
func PaletteColor(n uint8) (r, g, b uint8) {
	switch {
	case n < 16:
		v := [16]uint32{
			0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
			0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
		}[n]
		return uint8(v >> 16), uint8(v >> 8), uint8(v)
	case n < 232:
		level := func(v uint8) uint8 {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n -= 16
		return level(n / 36), level(n / 6 % 6), level(n % 6)
	}
	v := 8 + 10*(n-232)
	return v, v, v
}
