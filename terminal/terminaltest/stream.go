package terminaltest

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// stream turns what programs print into changes of a grid. It knows the few
// sequences that scripts need and swallows the others; an OSC is handed on.
type stream struct {
	grid  *grid
	osc   func(string) // the text of an OSC, called at its place in the stream
	paste bool         // bracketed paste is on (DECSET 2004)
	keys  bool         // cursor keys are in application mode (DECCKM)
	held  []byte
}

// write prints bytes. A sequence or character that is cut is kept for the next write.
func (s *stream) write(p []byte) {
	p = append(s.held, p...)
	s.held = nil
	for len(p) > 0 {
		n := s.step(p)
		if n == 0 {
			s.held = append([]byte(nil), p...)
			return
		}
		p = p[n:]
	}
}

// step consumes one character or sequence, or returns 0 when it is not whole.
func (s *stream) step(p []byte) int {
	g := s.grid
	switch c := p[0]; {
	case c == 0x1b:
		return s.escape(p)
	case c == '\r':
		g.x = 0
	case c == '\n':
		g.lineFeed()
	case c == '\b':
		g.x = max(0, min(g.x, g.width-1)-1)
	case c == '\t':
		g.x = min(g.width-1, (g.x/8+1)*8)
	case c < 0x20 || c == 0x7f:
	default:
		if !utf8.FullRune(p) {
			return 0
		}
		r, n := utf8.DecodeRune(p)
		g.put(r)
		return n
	}
	return 1
}

func (s *stream) escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				s.csi(string(p[2:i]), p[i])
				return i + 1
			}
		}
		return 0
	case ']':
		for i := 2; i < len(p); i++ {
			if p[i] == 0x07 {
				s.osc(string(p[2:i]))
				return i + 1
			}
			if p[i] == 0x1b && i+1 < len(p) {
				s.osc(string(p[2:i]))
				return i + 2
			}
		}
		return 0
	}
	return 2
}

func (s *stream) csi(params string, final byte) {
	g := s.grid
	args := strings.Split(params, ";")
	arg := func(i, zero int) int {
		if i < len(args) {
			if n, err := strconv.Atoi(args[i]); err == nil && n > 0 {
				return n
			}
		}
		return zero
	}
	switch final {
	case 'h', 'l':
		switch params {
		case "?1049":
			g.alternate(final == 'h')
		case "?1":
			s.keys = final == 'h'
		case "?2004":
			s.paste = final == 'h'
		}
	case 'H':
		g.y = min(arg(0, 1), g.height) - 1
		g.x = min(arg(1, 1), g.width) - 1
	case 'C':
		g.x = min(g.x+arg(0, 1), g.width-1)
	case 'K':
		g.eraseRow(g.y, g.x)
	case 'J':
		switch params {
		case "3":
			g.clearHistory()
		case "2":
			for y := range g.height {
				g.eraseRow(y, 0)
			}
		case "", "0":
			g.eraseRow(g.y, g.x)
			for y := g.y + 1; y < g.height; y++ {
				g.eraseRow(y, 0)
			}
		}
	}
}
