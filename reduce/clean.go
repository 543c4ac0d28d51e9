package reduce

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean returns text as a person sees it: control strings are gone (ECMA-48:
// CSI, OSC, DCS, APC, PM, SOS and escape sequences), what a carriage return or
// backspace overwrote is overwritten, and other control characters, and those
// that hide or turn text, are gone. CRLF is one line end. A control string that
// never ends, ends with its line. Bytes that are not UTF-8 become "?". Of marked
// text the marks stay.
func clean(text string, marked bool) string {
	if isClean(text, marked) {
		return text
	}
	c := cleaner{text: text, marked: marked}
	c.out.Grow(len(text))
	for c.at < len(c.text) {
		c.step()
	}
	c.endLine()
	return c.out.String()
}

func isClean(text string, marked bool) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < 0x20 && c != '\n' && c != '\t' && !(marked && c == Secret[0]) || c == 0x7f {
			return false
		} else if c >= 0x80 {
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 || hidden(r) {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// hidden reports whether a character shows nothing and changes how others are
// read: C1 controls, direction marks, tags, and zero-width ones but for those
// that join letters and emoji.
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r == 0x200b, r == 0x2060, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r == 0x2028, r == 0x2029:
		return true
	case r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// cleaner is clean under way: a line of characters and the place to write at.
type cleaner struct {
	text   string
	marked bool
	at     int
	out    strings.Builder
	line   []rune
	pos    int
}

func (c *cleaner) endLine() {
	for _, r := range c.line {
		c.out.WriteRune(r)
	}
	c.line, c.pos = c.line[:0], 0
}

func (c *cleaner) put(r rune) {
	if c.pos < len(c.line) {
		c.line[c.pos] = r
	} else {
		c.line = append(c.line, r)
	}
	c.pos++
}

func (c *cleaner) step() {
	r, n := utf8.DecodeRuneInString(c.text[c.at:])
	c.at += n
	switch {
	case r == utf8.RuneError && n == 1:
		c.put('?')
	case r == '\n':
		c.endLine()
		c.out.WriteByte('\n')
	case r == '\r':
		c.pos = 0
	case r == '\b':
		c.pos = max(0, c.pos-1)
	case r == '\t', c.marked && r == rune(Secret[0]):
		c.put(r)
	case r == 0x1b:
		c.escape()
	case r == 0x9b:
		c.csi()
	case r == 0x90, r == 0x98, r >= 0x9d && r <= 0x9f:
		c.str()
	case r < 0x20, r == 0x7f, hidden(r):
	default:
		c.put(r)
	}
}

// escape takes what follows ESC.
func (c *cleaner) escape() {
	if c.at == len(c.text) {
		return
	}
	switch b := c.text[c.at]; {
	case b == '[':
		c.at++
		c.csi()
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		c.at++
		c.str()
	default:
		for c.at < len(c.text) && c.text[c.at] >= 0x20 && c.text[c.at] <= 0x2f {
			c.at++
		}
		if c.at < len(c.text) && c.text[c.at] >= 0x30 && c.text[c.at] <= 0x7e {
			c.at++
		}
	}
}

// csi takes parameters and a final byte. Erasing in the line is done, since
// progress lines use it; all else is dropped.
func (c *cleaner) csi() {
	start := c.at
	for c.at < len(c.text) && c.text[c.at] >= 0x20 && c.text[c.at] <= 0x3f {
		c.at++
	}
	if c.at == len(c.text) || c.text[c.at] < 0x40 || c.text[c.at] > 0x7e {
		return
	}
	params := c.text[start:c.at]
	c.at++
	if c.text[c.at-1] != 'K' {
		return
	}
	switch params {
	case "", "0":
		c.line = c.line[:min(c.pos, len(c.line))]
	case "2":
		c.line, c.pos = c.line[:0], 0 // as with the carriage return that goes with it
	}
}

// str takes a control string up to BEL, ST or the end of the line.
func (c *cleaner) str() {
	for c.at < len(c.text) {
		switch b := c.text[c.at]; {
		case b == '\n':
			return
		case b == 0x07 || b == 0x18 || b == 0x1a:
			c.at++
			return
		case b == 0x1b:
			if strings.HasPrefix(c.text[c.at:], "\x1b\\") {
				c.at += 2
			}
			return
		case b == 0xc2 && strings.HasPrefix(c.text[c.at:], "\u009c"):
			c.at += 2
			return
		}
		c.at++
	}
}

// legible removes from text what must not leave a terminal, control characters
// and broken UTF-8, and changes nothing else. seam moves along.
func legible(text string, seam *int, marked bool) string {
	if isClean(text, marked) {
		return text
	}
	cut := max(0, min(*seam, len(text)))
	head, tail := scrub(text[:cut], marked), scrub(text[cut:], marked)
	*seam = len(head)
	return head + tail
}

func scrub(text string, marked bool) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !(marked && r == rune(Secret[0])) && (r < 0x20 || r == 0x7f || hidden(r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
