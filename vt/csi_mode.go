package vt

// modes is the set of modes that are on.
type modes uint32

const (
	modeInsert modes = 1 << iota
	modeNewLine
	modeAppCursor
	modeAppKeypad
	modeReverse
	modeOrigin
	modeAutoWrap
	modeMouseX10
	modeBlink
	modeCursorVisible
	modeAlternate47
	modeMouseNormal
	modeMouseButton
	modeMouseAny
	modeFocus
	modeMouseUTF8
	modeMouseSGR
	modeAlternateScroll
	modeMouseURXVT
	modeMousePixels
	modeAlternate1047
	modeAlternate1049
	modePaste
	modeSynchronized

	mouseModes     = modeMouseX10 | modeMouseNormal | modeMouseButton | modeMouseAny
	alternateModes = modeAlternate47 | modeAlternate1047 | modeAlternate1049
)

func (m modes) with(bit modes, on bool) modes {
	if on {
		return m | bit
	}
	return m &^ bit
}

// privateMode returns the bit of a DEC private mode; 0 for one that this
// terminal does not know (XTerm Control Sequences, "DEC Private Mode Set").
func privateMode(n int) modes {
	switch n {
	case 1:
		return modeAppCursor
	case 5:
		return modeReverse
	case 6:
		return modeOrigin
	case 7:
		return modeAutoWrap
	case 9:
		return modeMouseX10
	case 12:
		return modeBlink
	case 25:
		return modeCursorVisible
	case 47:
		return modeAlternate47
	case 66:
		return modeAppKeypad
	case 1000:
		return modeMouseNormal
	case 1002:
		return modeMouseButton
	case 1003:
		return modeMouseAny
	case 1004:
		return modeFocus
	case 1005:
		return modeMouseUTF8
	case 1006:
		return modeMouseSGR
	case 1007:
		return modeAlternateScroll
	case 1015:
		return modeMouseURXVT
	case 1016:
		return modeMousePixels
	case 1047:
		return modeAlternate1047
	case 1049:
		return modeAlternate1049
	case 2004:
		return modePaste
	case 2026:
		return modeSynchronized
	}
	return 0
}

// ansiMode returns the bit of an ANSI mode.
func ansiMode(n int) modes {
	switch n {
	case 4:
		return modeInsert
	case 20:
		return modeNewLine
	}
	return 0
}

func (t *Terminal) setANSIModes(on bool) {
	for i := range t.parser.n {
		t.modes = t.modes.with(ansiMode(t.parser.arg(i, 0)), on)
	}
}

func (t *Terminal) setPrivateModes(on bool) {
	for i := range t.parser.n {
		t.setPrivateMode(t.parser.arg(i, 0), on)
	}
}

func (t *Terminal) setPrivateMode(n int, on bool) {
	if n == 1048 {
		if on {
			t.saveCursor()
		} else {
			t.restoreCursor()
		}
		return
	}
	bit := privateMode(n)
	if bit == 0 {
		return
	}
	switch {
	case bit&alternateModes != 0:
		t.switchScreen(bit, on)
		return
	case bit&mouseModes != 0:
		t.modes &^= mouseModes // one at a time, the last one wins
	}
	t.modes = t.modes.with(bit, on)
	t.changes++
	switch bit {
	case modeOrigin:
		t.position(0, 0)
	case modeSynchronized:
		if on {
			t.hold()
		} else {
			t.release()
		}
	}
}

// switchScreen shows the alternate screen or the main one. 1049 saves and
// restores the cursor too; 1047 and 1049 begin with an empty screen.
func (t *Terminal) switchScreen(bit modes, on bool) {
	shown := t.screen == &t.alternate
	if on && bit == modeAlternate1049 && !shown {
		t.saveCursor()
	}
	if on == shown {
		return
	}
	t.release()
	t.modes &^= alternateModes
	if on {
		t.mainCursor = t.cursorState()
		t.modes |= bit
		t.screen = &t.alternate
		if bit != modeAlternate47 {
			for _, r := range t.screen.rows {
				t.recycle(r)
			}
		}
	} else {
		t.screen = &t.main
		if bit == modeAlternate1049 {
			t.restoreCursor()
		}
	}
	t.setTracing()
	t.last = nil
	t.changes++
}

// savePrivateModes is XTSAVE, and restorePrivateModes XTRESTORE. One value is
// kept for each mode.
func (t *Terminal) savePrivateModes() {
	for i := range t.parser.n {
		bit := privateMode(t.parser.arg(i, 0))
		t.savedModes = t.savedModes&^bit | t.modes&bit
	}
}

func (t *Terminal) restorePrivateModes() {
	for i := range t.parser.n {
		n := t.parser.arg(i, 0)
		if bit := privateMode(n); bit != 0 && t.savedModes&bit != t.modes&bit {
			t.setPrivateMode(n, t.savedModes&bit != 0)
		}
	}
}

// Mouse is what a program wants to be told of the mouse.
type Mouse uint8

// The mouse modes.
const (
	MouseOff    Mouse = iota
	MouseX10          // mode 9: presses
	MouseNormal       // mode 1000: presses and releases
	MouseButton       // mode 1002: and motion with a button down
	MouseAny          // mode 1003: and all motion
)

// Modes is the state that a program has set and that matters to who types at
// it or looks at it.
type Modes struct {
	Alternate         bool // the alternate screen is shown: a full-screen program
	ApplicationCursor bool // DECCKM
	ApplicationKeypad bool // DECNKM
	AutoWrap          bool
	Origin            bool
	Insert            bool
	NewLine           bool // LNM: line feed implies carriage return, and Enter is to send both
	ReverseScreen     bool
	BracketedPaste    bool
	FocusEvents       bool
	Mouse             Mouse
	MouseSGR          bool
	Synchronized      bool // a synchronized update is going on
	KittyFlags        int  // the progressive enhancement flags of kitty's keyboard protocol, 0 to 31
}

// Modes returns the present modes, also during a synchronized update.
func (t *Terminal) Modes() Modes {
	on := func(m modes) bool { return t.modes&m != 0 }
	m := Modes{
		Alternate:         t.screen == &t.alternate,
		ApplicationCursor: on(modeAppCursor),
		ApplicationKeypad: on(modeAppKeypad),
		AutoWrap:          on(modeAutoWrap),
		Origin:            on(modeOrigin),
		Insert:            on(modeInsert),
		NewLine:           on(modeNewLine),
		ReverseScreen:     on(modeReverse),
		BracketedPaste:    on(modePaste),
		FocusEvents:       on(modeFocus),
		MouseSGR:          on(modeMouseSGR),
		Synchronized:      on(modeSynchronized),
		KittyFlags:        t.screen.keys.flags(),
	}
	switch {
	case on(modeMouseAny):
		m.Mouse = MouseAny
	case on(modeMouseButton):
		m.Mouse = MouseButton
	case on(modeMouseNormal):
		m.Mouse = MouseNormal
	case on(modeMouseX10):
		m.Mouse = MouseX10
	}
	return m
}
