package host

import "bytes"

// passthrough lets output through to a person's terminal, except for what must
// not reach a second terminal: queries (the session's emulator has answered
// them already, and a second answer would be typed into the program), access
// to the clipboard, and prompt marks with the session's secret in them. It
// keeps its place between writes.
type passthrough struct {
	state   passState
	held    []byte // an unfinished sequence
	letting bool   // the string that is going by is let through
}

type passState uint8

const (
	passText   passState = iota
	passEscape           // after ESC
	passShort            // ESC and intermediates
	passCSI              // after ESC [
	passString           // in OSC, DCS, APC, PM, SOS
	passStringEscape
)

// maxHeld is the longest sequence that is looked at whole; what is longer is no
// query that any terminal would answer.
const maxHeld = 4096

// skip follows output that the person will not see this way.
func (p *passthrough) skip(output []byte) { p.pass(nil, output) }

// pass appends to dst what of output may go through.
func (p *passthrough) pass(dst, output []byte) []byte {
	for len(output) > 0 {
		if p.state == passText {
			i := bytes.IndexAny(output, "\x1b\x05")
			if i < 0 {
				return append(dst, output...)
			}
			dst = append(dst, output[:i]...)
			if output[i] == 0x1b { // ENQ is a query of its own
				p.state, p.held = passEscape, append(p.held[:0], 0x1b)
			}
			output = output[i+1:]
			continue
		}
		dst = p.step(dst, output[0])
		output = output[1:]
	}
	return dst
}

// step takes one byte of a sequence.
func (p *passthrough) step(dst []byte, c byte) []byte {
	if c == 0x18 || c == 0x1a { // CAN, SUB: the sequence is given up
		dst = p.finish(dst, false)
		return append(dst, c)
	}
	if c == 0x1b && p.state != passString && p.state != passStringEscape {
		p.held = append(p.held[:0], 0x1b) // a sequence that another one interrupts does nothing
		p.state = passEscape
		return dst
	}
	p.held = append(p.held, c)
	switch p.state {
	case passEscape, passShort:
		switch {
		case p.state == passEscape && c == '[':
			p.state = passCSI
		case p.state == passEscape && bytes.IndexByte([]byte("]P_^X"), c) >= 0:
			p.state, p.letting = passString, false
		case c >= 0x20 && c <= 0x2f:
			p.state = passShort
		case c == 'Z' && p.state == passEscape: // DECID, a query
			return p.finish(dst, false)
		default:
			return p.finish(dst, true)
		}
	case passCSI:
		if c >= 0x40 && c <= 0x7e {
			return p.finish(dst, !csiQuery(p.held[2:]))
		}
	case passString:
		switch {
		case c == 0x07:
			return p.endString(dst)
		case c == 0x1b:
			p.state = passStringEscape
		}
	case passStringEscape:
		if c == '\\' {
			return p.endString(dst)
		}
		// ESC ends the string, and begins what follows.
		p.held = append(p.held[:0], 0x1b)
		p.state = passEscape
		return p.step(dst, c)
	}
	if len(p.held) > maxHeld {
		return p.overflow(dst)
	}
	return dst
}

// overflow deals with a sequence that is too long to be held: a string of a
// harmless kind goes by, anything else is dropped to its end.
func (p *passthrough) overflow(dst []byte) []byte {
	if p.state != passString && p.state != passStringEscape {
		return p.finish(dst, false)
	}
	if !p.letting && stringPasses(p.held) {
		p.letting = true
	}
	if p.letting {
		dst = append(dst, p.held...)
		p.held = p.held[:0]
		return dst
	}
	p.held = append(p.held[:0], p.held[:8]...) // enough to know its kind
	return dst
}

func (p *passthrough) endString(dst []byte) []byte {
	return p.finish(dst, p.letting || stringPasses(p.held))
}

func (p *passthrough) finish(dst []byte, pass bool) []byte {
	if pass {
		dst = append(dst, p.held...)
	}
	p.state, p.held, p.letting = passText, p.held[:0], false
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
	command, rest, _ := bytes.Cut(body, []byte(";"))
	switch string(command) {
	case "0", "1", "2", "8":
		return true
	case "4", "10", "11", "12", "17", "19", "104", "110", "111", "112", "117", "119":
		return !bytes.Contains(rest, []byte("?"))
	}
	return false
}
