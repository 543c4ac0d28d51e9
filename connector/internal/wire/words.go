package wire

import (
	"bytes"
	"encoding/json"
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

// AppendJSON adds v as JSON without the escapes that are for web pages: models
// read what leaves, and "a && b" is shorter than with \u0026.
func AppendJSON(to []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(to)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
