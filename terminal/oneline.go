package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes text from outside fit to stand in a line that others read:
// line breaks and tabs become blanks, blanks at its ends go, and so do control
// characters, invisible ones (those that turn the direction of text, tags, the
// byte order mark; but not those that join letters and emoji) and what is no
// UTF-8. Of a text of more than most characters the first most stay, with "…"
// behind them; 0 is no limit.
func OneLine(text string, most int) string {
	if plainLine(text, most) {
		return text
	}
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(strings.Map(seen, strings.ToValidUTF8(text, ""))) {
		if n == most && most > 0 {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// plainLine reports whether nothing has to be done, which is the usual case.
func plainLine(text string, most int) bool {
	if most > 0 && len(text) > most || text == "" || text[0] == ' ' || text[len(text)-1] == ' ' {
		return text == ""
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// seen is a character as it may stand in a line, or -1.
func seen(r rune) rune {
	switch {
	case r == '\n', r == '\r', r == '\t', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
		return ' '
	case r == '\u200c', r == '\u200d': // zero width non-joiner and joiner: they shape what is seen
		return r
	case r == utf8.RuneError, unicode.In(r, unicode.Cc, unicode.Cf):
		return -1
	}
	return r
}
