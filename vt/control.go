package vt

// control carries out a C0 control.
func (t *Terminal) control(c byte) {
	switch c {
	case 0x07:
		if t.options.Bell != nil {
			t.options.Bell()
		}
	case '\b':
		t.pending = false
		t.x = max(0, t.x-1)
	case '\t':
		t.tabForward(1)
	case '\n', '\v', '\f':
		t.pending = false
		t.index()
		if t.modes&modeNewLine != 0 {
			t.x = 0
		}
	case '\r':
		t.x, t.pending = 0, false
	case 0x0e:
		t.shift = 1
	case 0x0f:
		t.shift = 0
	}
	t.last = nil
}

// escape carries out an escape sequence (XTerm Control Sequences, "Controls
// beginning with ESC").
func (t *Terminal) escape(inter, c byte) {
	t.last = nil
	switch inter {
	case 0:
	case '(', ')', '*', '+':
		t.charsets[inter-'('] = c == '0'
		return
	case '#':
		if c == '8' {
			t.align()
		}
		return
	default:
		return
	}
	switch c {
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case '=':
		t.modes |= modeAppKeypad
	case '>':
		t.modes &^= modeAppKeypad
	case 'D':
		t.pending = false
		t.index()
	case 'E':
		t.x, t.pending = 0, false
		t.index()
	case 'H':
		t.tabs[t.x] = true
	case 'M':
		t.pending = false
		t.reverseIndex()
	case 'c':
		t.reset()
	case 'n':
		t.shift = 2
	case 'o':
		t.shift = 3
	}
}

// saveCursor is DECSC, for the shown screen.
func (t *Terminal) saveCursor() { t.screen.saved = t.cursorState() }

func (t *Terminal) cursorState() savedCursor {
	return savedCursor{t.x, t.y, t.pending, t.modes&modeOrigin != 0, t.pen, t.charsets, t.shift}
}

// restoreCursor is DECRC.
func (t *Terminal) restoreCursor() {
	s := &t.screen.saved
	t.x, t.y = min(s.x, t.columns-1), min(s.y, t.rows-1)
	t.pending = s.pending && t.x == t.columns-1
	t.charsets, t.shift = s.charsets, s.shift
	t.modes = t.modes.with(modeOrigin, s.origin)
	if s.origin {
		t.y = clamp(t.y, t.top, t.bottom)
	}
	t.pen = s.pen
	x := t.extras.list[t.pen.at>>extraShift]
	t.link, t.ulColor = x.link, x.color
	t.last = nil
}

func (t *Terminal) tabForward(n int) {
	for ; n > 0 && t.x < t.columns-1; n-- {
		t.x++
		for t.x < t.columns-1 && !t.tabs[t.x] {
			t.x++
		}
	}
}

func (t *Terminal) tabBack(n int) {
	t.pending = false
	for ; n > 0 && t.x > 0; n-- {
		t.x--
		for t.x > 0 && !t.tabs[t.x] {
			t.x--
		}
	}
}
