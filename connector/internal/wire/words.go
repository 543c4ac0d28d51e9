package wire

import (
	"strings"
	"unicode"
)

// Clean drops control characters, C0 and C1, but keeps tab and line feed. No
// escape sequence leaves this program.
func Clean(s string) string {
	if !strings.ContainsFunc(s, control) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if control(r) {
			return -1
		}
		return r
	}, s)
}

func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// Clip cuts s to at most limit bytes, between characters, and says so.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
