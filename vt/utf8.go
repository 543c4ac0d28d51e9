package vt

import "unicode/utf8"

// decode is utf8.DecodeRune, quicker for the three bytes of CJK text.
func decode(b []byte) (r rune, size int) {
	if len(b) >= 3 && 0xe1 <= b[0] && b[0] <= 0xec && b[1]&0xc0 == 0x80 && b[2]&0xc0 == 0x80 {
		return rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
	}
	return utf8.DecodeRune(b)
}

// brokenRune takes the maximal subpart of an ill-formed sequence (Unicode
// 3.9, D93b) as one U+FFFD, or keeps a sequence that the end of the write cut.
func (t *Terminal) brokenRune(b []byte) int {
	n := subpart(b)
	if n == len(b) && !utf8.FullRune(b) {
		t.parser.ntail = copy(t.parser.tail[:], b)
		return n
	}
	t.rune(utf8.RuneError)
	return n
}

// subpart returns the length of the maximal subpart at the start of b.
func subpart(b []byte) int {
	n := 1
	for n < len(b) && !utf8.FullRune(b[:n]) && !utf8.FullRune(b[:n+1]) {
		n++
	}
	return n
}

// finishRune goes on with a rune that an earlier write began, and returns how
// many bytes of b it takes.
func (t *Terminal) finishRune(b []byte) int {
	p := &t.parser
	seen := p.ntail
	n := copy(p.tail[seen:], b)
	p.ntail = 0
	whole := p.tail[:seen+n]
	r, size := utf8.DecodeRune(whole)
	if r == utf8.RuneError && size == 1 {
		size = subpart(whole)
		if size == len(whole) && !utf8.FullRune(whole) {
			p.ntail = size
			return n
		}
	}
	t.rune(r)
	return size - seen
}

// rune takes a decoded character. U+0080 to U+009F are the C1 controls.
func (t *Terminal) rune(r rune) {
	if r >= 0xa0 {
		t.printRune(r)
		return
	}
	t.last = nil
	if ObeysC1(r) {
		t.parser.state, t.parser.inter = escape, 0
		t.step(byte(r) - 0x40)
	}
}

// ObeysC1 reports whether a character is a C1 control that the emulator obeys: as
// ESC and the byte 0x40 below it (ECMA-48, 5.3). It prints none of the others.
func ObeysC1(r rune) bool {
	switch r {
	case 0x84, 0x85, 0x88, 0x8d, 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f:
		return true
	}
	return false
}
