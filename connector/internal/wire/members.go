package wire

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Members is what a JSON object has, in its order, with equal names as often as
// they are there. data must be valid JSON; of anything but an object it is nothing.
// A map of the same would be made member by member by a decoder that also has to
// find out what it decodes into, which takes longer than most tools need to begin.
func Members(data json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		rest := blanks(data)
		if len(rest) == 0 || rest[0] != '{' {
			return
		}
		for rest = blanks(rest[1:]); len(rest) > 0 && rest[0] == '"'; {
			n := length(rest)
			name, ok := unquote(rest[:n])
			rest = blanks(rest[n:])
			if !ok || len(rest) == 0 || rest[0] != ':' {
				return
			}
			rest = blanks(rest[1:])
			n = length(rest)
			if !yield(name, json.RawMessage(rest[:n:n])) {
				return
			}
			if rest = blanks(rest[n:]); len(rest) > 0 && rest[0] == ',' {
				rest = blanks(rest[1:])
			}
		}
	}
}

// elements is what a JSON array has, in its order. data must be valid JSON; of
// anything but an array it is nothing.
func elements(data json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		rest := blanks(data)
		if len(rest) == 0 || rest[0] != '[' {
			return
		}
		for rest = blanks(rest[1:]); len(rest) > 0 && rest[0] != ']'; {
			n := length(rest)
			if n == 0 || !yield(json.RawMessage(rest[:n:n])) {
				return
			}
			if rest = blanks(rest[n:]); len(rest) > 0 && rest[0] == ',' {
				rest = blanks(rest[1:])
			}
		}
	}
}

// IsObject reports whether JSON is an object.
func IsObject(data json.RawMessage) bool {
	data = blanks(data)
	return len(data) > 0 && data[0] == '{'
}

func blanks(data []byte) []byte {
	for len(data) > 0 && (data[0] == ' ' || data[0] == '\t' || data[0] == '\n' || data[0] == '\r') {
		data = data[1:]
	}
	return data
}

// unquote reads a JSON string.
func unquote(text []byte) (s string, ok bool) {
	if bytes.IndexByte(text, '\\') >= 0 || !isASCII(text) {
		return s, json.Unmarshal(text, &s) == nil
	}
	return string(text[1 : len(text)-1]), true
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// length is how long the value is with which valid JSON begins.
func length(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(data))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 { // the end of what a number or word stands in
				return i
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(data)
}
