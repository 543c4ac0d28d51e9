package tmux

import (
	"strings"
)

// row is a row of a picture, and how it goes on.
type row struct {
	text string
	soft bool
	pad  int // blanks up to the end of a soft row
}

// wrapped finds out which rows go on in the next, by holding them against the
// same text with such rows joined.
func wrapped(rows, joined []string) []row {
	out := make([]row, len(rows))
	for i := range rows {
		out[i].text = rows[i]
	}
	i := 0
	for _, line := range joined {
		rest := line
		for i < len(rows) {
			after, ok := strings.CutPrefix(rest, rows[i])
			if !ok || strings.TrimSpace(after) == "" || i+1 == len(rows) {
				i++
				break
			}
			blanks := len(after) - len(strings.TrimLeft(after, " "))
			pad := blanks - (len(rows[i+1]) - len(strings.TrimLeft(rows[i+1], " ")))
			if pad < 0 || !strings.HasPrefix(after[pad:], rows[i+1]) {
				i++
				break
			}
			out[i].soft, out[i].pad = true, pad
			rest = after[pad:]
			i++
		}
	}
	return out
}

// wide reports whether a row begins with a character that takes two columns.
func wide(text string) bool {
	for _, r := range text {
		return r >= 0x1100
	}
	return false
}

// paint writes rows as a program would have printed them.
func paint(rows []row) []byte {
	var b []byte
	for i, r := range rows {
		b = append(b, r.text...)
		switch {
		case i == len(rows)-1:
		case !r.soft:
			b = append(b, '\r', '\n')
		case r.pad == 1 && wide(rows[i+1].text): // it did not fit into the last column
		default:
			b = append(b, strings.Repeat(" ", r.pad)...)
		}
	}
	return b
}
