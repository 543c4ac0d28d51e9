package vt

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// modifiers of a key, as XTerm Control Sequences and kitty's keyboard protocol
// encode them (there plus 1).
const (
	modShift = 1 << iota
	modAlt
	modCtrl
)

// functionKey is how a key that makes no text is encoded: CSI number ~, or
// CSI letter, or with kitty's protocol CSI code u.
type functionKey struct {
	number int  // of CSI number ~
	letter byte // of CSI letter
	code   rune // of the keys that also are control characters
	ss3    byte // 'c': SS3 while DECCKM is set; 's': SS3 always, when without modifiers
}

func functionKeyNamed(name string) (functionKey, bool) {
	switch name {
	case "up":
		return functionKey{letter: 'A', ss3: 'c'}, true
	case "down":
		return functionKey{letter: 'B', ss3: 'c'}, true
	case "right":
		return functionKey{letter: 'C', ss3: 'c'}, true
	case "left":
		return functionKey{letter: 'D', ss3: 'c'}, true
	case "home":
		return functionKey{letter: 'H', ss3: 'c'}, true
	case "end":
		return functionKey{letter: 'F', ss3: 'c'}, true
	case "insert":
		return functionKey{number: 2}, true
	case "delete":
		return functionKey{number: 3}, true
	case "page_up":
		return functionKey{number: 5}, true
	case "page_down":
		return functionKey{number: 6}, true
	case "enter":
		return functionKey{code: '\r'}, true
	case "tab":
		return functionKey{code: '\t'}, true
	case "escape":
		return functionKey{code: 0x1b}, true
	case "backspace":
		return functionKey{code: 0x7f}, true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "f"))
	if err != nil || !strings.HasPrefix(name, "f") || n < 1 || n > 12 || name != "f"+strconv.Itoa(n) {
		return functionKey{}, false
	}
	if n <= 4 {
		return functionKey{letter: "PQRS"[n-1], ss3: 's'}, true
	}
	return functionKey{number: [...]int{15, 17, 18, 19, 20, 21, 23, 24}[n-5]}, true
}

// EncodeKey returns what a terminal in the modes m sends for a key; ok is
// false for a name that is not known.
//
// A name is any of the prefixes ctrl_, alt_ and shift_, then one of enter,
// tab, escape, backspace, delete, insert, up, down, left, right, home, end,
// page_up, page_down, space, f1 to f12, or one character. With flags of kitty's
// keyboard protocol set, keys are encoded as it says; events other than a
// press are never made.
func EncodeKey(name string, m Modes) (key []byte, ok bool) {
	mods := 0
	for {
		rest, found := "", false
		for bit, prefix := range [...]string{"shift_", "alt_", "ctrl_"} {
			if rest, found = strings.CutPrefix(name, prefix); found && rest != "" {
				mods |= 1 << bit
				break
			}
			found = false
		}
		if !found {
			break
		}
		name = rest
	}
	if k, ok := functionKeyNamed(name); ok {
		if k.code != 0 {
			return k.control(mods, m), true
		}
		return k.sequence(mods, m), true
	}
	if name == "space" {
		name = " "
	}
	r, n := utf8.DecodeRuneInString(name)
	if n != len(name) || r == utf8.RuneError || r < 0x20 || r == 0x7f {
		return nil, false
	}
	return textKey(r, mods, m)
}

// sequence encodes a key that has its own control sequence.
func (k functionKey) sequence(mods int, m Modes) []byte {
	final := []byte{'~'}
	if k.letter != 0 {
		final[0] = k.letter
		ss3 := k.ss3 == 's' || k.ss3 == 'c' && m.ApplicationCursor
		switch {
		case mods == 0 && ss3 && m.KittyFlags == 0:
			return []byte{0x1b, 'O', k.letter}
		case mods == 0:
			return []byte{0x1b, '[', k.letter}
		}
	}
	b := strconv.AppendInt([]byte("\x1b["), int64(max(1, k.number)), 10)
	if mods != 0 {
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(mods+1), 10)
	}
	return append(b, final...)
}

// control encodes Enter, Tab, Escape and Backspace.
func (k functionKey) control(mods int, m Modes) []byte {
	const disambiguate, allKeys = 1, 8
	always := m.KittyFlags&allKeys != 0 || m.KittyFlags&disambiguate != 0 && k.code == 0x1b
	if always || m.KittyFlags&disambiguate != 0 && mods != 0 {
		return kittyKey(k.code, mods)
	}
	var b []byte
	if mods&modAlt != 0 {
		b = append(b, 0x1b)
	}
	switch {
	case k.code == '\t' && mods&modShift != 0:
		return append(b, "\x1b[Z"...)
	case k.code == 0x7f && mods&modCtrl != 0:
		return append(b, '\b')
	case k.code == '\r' && m.NewLine:
		return append(b, "\r\n"...)
	}
	return append(b, byte(k.code))
}

// textKey encodes a key that makes a character.
func textKey(r rune, mods int, m Modes) ([]byte, bool) {
	const disambiguate, allKeys = 1, 8
	if m.KittyFlags&allKeys != 0 || m.KittyFlags&disambiguate != 0 && mods&(modAlt|modCtrl) != 0 {
		if lower := unicode.ToLower(r); lower != r {
			r, mods = lower, mods|modShift
		}
		return kittyKey(r, mods), true
	}
	if mods&modShift != 0 {
		r = unicode.ToUpper(r)
	}
	var b []byte
	if mods&modAlt != 0 {
		b = append(b, 0x1b)
	}
	if mods&modCtrl == 0 {
		return utf8.AppendRune(b, r), true
	}
	switch {
	case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '@' <= r && r <= '_':
		return append(b, byte(r)&0x1f), true
	case r == ' ':
		return append(b, 0), true
	case r == '?':
		return append(b, 0x7f), true
	case r == '/':
		return append(b, 0x1f), true
	}
	return nil, false
}

// kittyKey is CSI code ; modifiers u.
func kittyKey(code rune, mods int) []byte {
	b := strconv.AppendInt([]byte("\x1b["), int64(code), 10)
	if mods != 0 {
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(mods+1), 10)
	}
	return append(b, 'u')
}

// EncodePaste returns what a terminal in the modes m sends for pasted text:
// in bracketed paste mode the text between its brackets, without any closing
// bracket that it holds itself, which would end the paste early. Otherwise the
// text as it is.
func EncodePaste(text []byte, m Modes) []byte {
	if !m.BracketedPaste {
		return text
	}
	out := append(make([]byte, 0, len(text)+12), "\x1b[200~"...)
	for _, c := range text {
		out = append(out, c)
		for _, end := range []string{"\x1b[201~", "\u009b201~"} { // also one that the removal of another makes
			out = bytes.TrimSuffix(out, []byte(end))
		}
	}
	return append(out, "\x1b[201~"...)
}
