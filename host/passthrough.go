package host

import "bytes"

// passthrough lets output through to a person's terminal, except for what must
// not reach a second terminal: queries (the session's emulator has answered
// them already, and a second answer would be typed into the program), access
// to the clipboard, and prompt marks with the session's secret in them. It
// keeps its place between writes.
type passthrough struct {
	state passState
	held  []byte // an unfinished sequence
}

type passState uint8

const (
	passText   passState = iota
	passEscape           // after ESC
	passShort            // ESC and intermediates
	passCSI              // after ESC [
	passString           // in OSC, DCS, APC, PM, SOS
	passStringEscape
	passC1 // after the first byte of what may be a C1 control in UTF-8
)

// maxHeld is the longest sequence that is looked at whole. A longer one is left out.
const maxHeld = 4096

// skip follows output that the person will not see this way.
func (p *passthrough) skip(output []byte) { p.pass(nil, output) }

// pass appends to dst what of output may go through.
func (p *passthrough) pass(dst, output []byte) []byte {
	for len(output) > 0 {
		if p.state == passText {
			i := 0
			for i < len(output) && output[i] != 0x1b && output[i] != enq && output[i] != c1Lead {
				i++
			}
			dst = append(dst, output[:i]...)
			if i == len(output) {
				return dst
			}
			switch output[i] { // ENQ, a query of its own, is left out
			case 0x1b:
				p.state, p.held = passEscape, append(p.held[:0], 0x1b)
			case c1Lead:
				p.state = passC1
			}
			output = output[i+1:]
			continue
		}
		dst = p.step(dst, output[0])
		output = output[1:]
	}
	return dst
}

const (
	enq    = 0x05
	c1Lead = 0xc2 // of U+0080 to U+009F, which some terminals obey like ESC and a letter
)

// step takes one byte of a sequence.
func (p *passthrough) step(dst []byte, c byte) []byte {
	switch {
	case p.state == passC1:
		return p.stepC1(dst, c)
	case c == 0x18 || c == 0x1a: // CAN, SUB: the sequence is given up
		return append(p.finish(dst, false), c)
	case p.state == passString || p.state == passStringEscape:
		return p.stepString(dst, c)
	}
	return p.stepSequence(dst, c)
}

// stepC1 takes the byte behind what may be the lead of a C1 control.
func (p *passthrough) stepC1(dst []byte, c byte) []byte {
	p.state = passText
	switch {
	case c >= 0x80 && c <= 0x9f:
		return dst
	case c >= 0xa0 && c <= 0xbf:
		return append(dst, c1Lead, c)
	}
	// A lead alone is no character, and must not become one with what follows.
	return p.pass(append(dst, "\uFFFD"...), []byte{c})
}

// stepSequence takes a byte of an escape or control sequence.
func (p *passthrough) stepSequence(dst []byte, c byte) []byte {
	switch {
	case c == 0x1b:
		p.held = append(p.held[:0], 0x1b) // a sequence that another one interrupts does nothing
		p.state = passEscape
		return dst
	case c == enq:
		return dst
	case c < 0x20: // a control inside a sequence takes effect at once
		return append(dst, c)
	case c >= 0x80: // not part of any sequence
		return p.pass(p.finish(dst, false), []byte{c})
	}
	p.held = append(p.held, c)
	switch {
	case p.state == passCSI:
		if c >= 0x40 && c <= 0x7e {
			return p.finish(dst, !csiQuery(p.held[2:]))
		}
	case p.state == passEscape && c == '[':
		p.state = passCSI
	case p.state == passEscape && bytes.IndexByte([]byte("]P_^X"), c) >= 0:
		p.state = passString
	case c <= 0x2f:
		p.state = passShort
	default:
		return p.finish(dst, p.state != passEscape || c != 'Z') // DECID is a query
	}
	if len(p.held) > maxHeld {
		return p.finish(dst, false)
	}
	return dst
}

// stepString takes a byte of a control string, in which controls have no effect.
func (p *passthrough) stepString(dst []byte, c byte) []byte {
	if c < 0x20 && c != 0x07 && c != 0x1b {
		return dst
	}
	p.held = append(p.held, c)
	switch {
	case p.state == passStringEscape && c != '\\': // ESC ends the string, and begins what follows
		p.held = append(p.held[:0], 0x1b)
		p.state = passEscape
		return p.step(dst, c)
	case p.state == passStringEscape, c == 0x07:
		return p.finish(dst, stringPasses(p.held))
	case c == 0x1b:
		p.state = passStringEscape
	}
	if len(p.held) > maxHeld {
		p.held = append(p.held[:0], "\x1b_"...) // of no kind that passes, up to its end
	}
	return dst
}

func (p *passthrough) finish(dst []byte, pass bool) []byte {
	if pass {
		dst = append(dst, p.held...)
	}
	p.state, p.held = passText, p.held[:0]
	return dst
}

// csiQuery reports whether a control sequence (without its introducer) makes a
// terminal answer: DA, DSR, DECRQM, XTVERSION, window reports, kitty's keyboard
// query, DECREQTPARM.
func csiQuery(seq []byte) bool {
	final, body := seq[len(seq)-1], seq[:len(seq)-1]
	switch final {
	case 'c', 'n', 'x':
		return !bytes.HasPrefix(body, []byte(">")) || final == 'c'
	case 'p':
		return bytes.HasSuffix(body, []byte("$"))
	case 'q':
		return bytes.HasPrefix(body, []byte(">"))
	case 'u':
		return bytes.HasPrefix(body, []byte("?"))
	case 't':
		n, _, _ := bytes.Cut(body, []byte(";"))
		return len(n) == 2 && (n[0] == '1' || string(n) == "20" || string(n) == "21") && string(n) != "22" && string(n) != "23"
	case 'S':
		return bytes.HasPrefix(body, []byte("?")) // XTSMGRAPHICS
	}
	return false
}

// stringPasses reports whether a control string, with its introducer, may go
// through: titles, links, colours that are set. Not: queries, the clipboard,
// prompt marks, device control strings and the private kinds.
func stringPasses(seq []byte) bool {
	if len(seq) < 2 || seq[1] != ']' {
		return false
	}
	body := bytes.TrimRight(seq[2:], "\x07\x1b\\")
	for i := 1; i < len(body); i++ {
		if body[i-1] == c1Lead && body[i] <= 0x9f { // might end the string
			return false
		}
	}
	command, rest, _ := bytes.Cut(body, []byte(";"))
	switch string(command) {
	case "0", "1", "2", "8":
		return true
	case "4", "10", "11", "12", "17", "19", "104", "110", "111", "112", "117", "119":
		return !bytes.Contains(rest, []byte("?"))
	}
	return false
}
