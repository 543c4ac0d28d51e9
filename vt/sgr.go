package vt

// sgr is SGR: it changes the pen (ECMA-48 8.3.117; XTerm Control Sequences,
// "Character Attributes"; kitty's underline styles).
func (t *Terminal) sgr() {
	p := &t.parser
	if p.n == 0 {
		t.pen = t.pen.reset()
		t.setUnderlineColor(0)
		return
	}
	for i := 0; i < p.n; {
		n := 1 // the parameter and its sub-parameters
		for i+n < p.n && p.subs>>(i+n)&1 == 1 {
			n++
		}
		i += max(n, t.sgrOne(i, n))
	}
}

// sgrOne carries out parameter i, which has n-1 sub-parameters, and returns
// how many parameters it took.
func (t *Terminal) sgrOne(i, n int) int {
	p := &t.parser
	pen := &t.pen
	switch v := uint32(p.arg(i, 0)); {
	case v == 0:
		*pen = pen.reset()
		t.setUnderlineColor(0)
	case v == 4:
		style := SingleUnderline
		if n > 1 {
			style = Underline(min(p.arg(i+1, 1), int(DashedUnderline)))
		}
		pen.underline(style)
	case v == 21:
		pen.underline(DoubleUnderline)
	case v == 24:
		pen.underline(NoUnderline)
	case v == 22:
		pen.at &^= uint32(Bold | Faint)
	case v == 53:
		pen.at |= uint32(Overline)
	case v == 55:
		pen.at &^= uint32(Overline)
	case v <= 9:
		pen.at |= sgrBit(v)
	case v >= 23 && v <= 29 && v != 26: // that is proportional spacing
		pen.at &^= sgrBit(v - 20)
	case v >= 30 && v <= 37:
		pen.fg = uint32(Indexed(uint8(v - 30)))
	case v >= 90 && v <= 97:
		pen.fg = uint32(Indexed(uint8(v - 90 + 8)))
	case v >= 40 && v <= 47:
		pen.bg = uint32(Indexed(uint8(v - 40)))
	case v >= 100 && v <= 107:
		pen.bg = uint32(Indexed(uint8(v - 100 + 8)))
	case v == 39:
		pen.fg = 0
	case v == 49:
		pen.bg = 0
	case v == 59:
		t.setUnderlineColor(0)
	case v == 38 || v == 48 || v == 58:
		c, used, ok := t.sgrColor(i, n)
		if !ok {
			return used
		}
		switch v {
		case 38:
			pen.fg = uint32(c)
		case 48:
			pen.bg = uint32(c)
		default:
			t.setUnderlineColor(c)
		}
		return used
	}
	return 1
}

// sgrBit returns the attribute of SGR 1 to 9, underlines aside.
func sgrBit(v uint32) uint32 {
	switch v {
	case 1:
		return uint32(Bold)
	case 2:
		return uint32(Faint)
	case 3:
		return uint32(Italic)
	case 5, 6:
		return uint32(Blink)
	case 7:
		return uint32(Inverse)
	case 8:
		return uint32(Hidden)
	case 9:
		return uint32(Strike)
	}
	return 0
}

// sgrColor reads the colour of SGR 38, 48 or 58 at parameter i: 5;n or
// 2;r;g;b, or with colons, where an empty colour space may come before r.
func (t *Terminal) sgrColor(i, n int) (c Color, used int, ok bool) {
	p := &t.parser
	colons := n > 1
	first, end := i+1, p.n
	if colons {
		end = i + n
	}
	part := func(k int) uint8 { return uint8(min(255, p.arg(first+k, 0))) }
	switch kind := p.arg(first, 0); {
	case kind == 5 && end-first >= 2:
		c, used, ok = Indexed(part(1)), 3, true
	case kind == 2 && colons && end-first >= 5:
		c, used, ok = RGB(part(2), part(3), part(4)), n, true
	case kind == 2 && end-first >= 4:
		c, used, ok = RGB(part(1), part(2), part(3)), 5, true
	default:
		return 0, end - i, false
	}
	if colons {
		used = n
	}
	return c, used, ok
}

// reset is SGR 0, which leaves the hyperlink.
func (p pen) reset() pen { return pen{at: p.at &^ attributeMask} }

func (p *pen) underline(u Underline) {
	p.at = p.at&^underlineMask | uint32(u)<<underlineShift
}

func (t *Terminal) setUnderlineColor(c Color) {
	if c != t.ulColor {
		t.ulColor = c
		t.setExtra()
	}
}

// setExtra gives the pen its link and underline colour.
func (t *Terminal) setExtra() {
	i := t.internExtra(extra{t.ulColor, t.link})
	t.pen.at = t.pen.at&attributeMask | i<<extraShift
}
