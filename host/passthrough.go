package host

import (
	"bytes"
	"slices"
	"strconv"

	"termpilot/vt"
)

// passthrough lets output through to a person's terminal, except for what must
// not reach a second terminal: queries (the session's emulator has answered
// them already, and a second answer would be typed into the program), access
// to the clipboard and to printers, and prompt marks with the session's secret
// in them. What begins and ends a sequence is as for the emulator, so that what
// is text there is text here. It keeps its place between writes.
type passthrough struct {
	state passState
	kind  byte   // of the string: what follows ESC
	held  []byte // an unfinished sequence
	long  bool   // the string is too long to be held, and is left out
}

type passState uint8

const (
	passText   passState = iota
	passEscape           // after ESC
	passShort            // ESC and intermediates
	passCSI              // after ESC [
	passString           // in OSC, DCS, APC, PM, SOS
	passC1               // after the first byte of what may be a C1 control in UTF-8
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
				p.escape()
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
	st     = 0x9c // of U+009C, which ends a string
)

// escape begins a sequence.
func (p *passthrough) escape() { p.state, p.held = passEscape, append(p.held[:0], 0x1b) }

// step takes one byte of a sequence.
func (p *passthrough) step(dst []byte, c byte) []byte {
	switch {
	case p.state == passC1:
		return p.stepC1(dst, c)
	case c == 0x18 || c == 0x1a: // CAN, SUB: the sequence is given up
		return append(p.finish(dst, false), c)
	case p.state == passString:
		return p.stepString(dst, c)
	}
	return p.stepSequence(dst, c)
}

// stepC1 takes the byte behind what may be the lead of a C1 control.
func (p *passthrough) stepC1(dst []byte, c byte) []byte {
	p.state = passText
	switch {
	case vt.ObeysC1(rune(c)): // it is ESC and the byte 0x40 below, and goes through so
		p.escape()
		return p.stepSequence(dst, c-0x40)
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
	case c == 0x1b: // a sequence that another one interrupts does nothing
		p.escape()
		return dst
	case c == enq, c == 0x7f: // DEL is nothing: the sequence goes on
		return dst
	case c < 0x20: // a control inside a sequence takes effect at once
		return append(dst, c)
	case c >= 0x80: // not part of any sequence
		return p.pass(p.finish(dst, false), []byte{c})
	}
	p.held = append(p.held, c)
	switch {
	case p.state == passCSI:
		if c >= 0x40 {
			return p.finish(dst, csiPasses(p.held[2:]))
		}
	case p.state == passEscape && c == '[':
		p.state = passCSI
	case p.state == passEscape && bytes.IndexByte([]byte("]P_^X"), c) >= 0:
		p.state, p.kind, p.long = passString, c, false
	case c <= 0x2f:
		p.state = passShort
	default:
		return p.finish(dst, escapePasses(p.held))
	}
	if len(p.held) > maxHeld {
		return p.finish(dst, false)
	}
	return dst
}

// stepString takes a byte of a control string, in which controls have no effect.
// What ends it is as for the emulator: BEL only if it is an operating system command.
func (p *passthrough) stepString(dst []byte, c byte) []byte {
	switch {
	case c == 0x1b: // ESC \ or what begins another sequence: both end the string
		dst = p.endString(dst, p.held, "\x1b\\")
		p.escape()
		return dst
	case c == 0x07 && p.kind == ']':
		return p.endString(dst, p.held, "\a")
	case c == st && p.held[len(p.held)-1] == c1Lead:
		return p.endString(dst, p.held[:len(p.held)-1], "\x1b\\")
	}
	if p.held = append(p.held, c); len(p.held) > maxHeld {
		p.long, p.held = true, append(p.held[:0], c)
	}
	return dst
}

// endString ends a string, which may go through with an end of a spelling.
func (p *passthrough) endString(dst, text []byte, end string) []byte {
	if !p.long && stringPasses(text) {
		for i, c := range text {
			if i == 0 || c >= 0x20 { // what terminals make of a control within differs
				dst = append(dst, c)
			}
		}
		dst = append(dst, end...)
	}
	return p.finish(dst, false)
}

func (p *passthrough) finish(dst []byte, pass bool) []byte {
	if pass {
		dst = append(dst, p.held...)
	}
	p.state, p.held = passText, p.held[:0]
	return dst
}

// escapePasses reports whether an escape sequence may go through. DECID is a
// query; the end of a string has gone with the string; and what asks for C1
// controls of one byte would outlive the visit.
func escapePasses(seq []byte) bool {
	return seq[1] != 'Z' && seq[1] != '\\' && seq[1] != ' '
}

// Control sequences with a prefix or an intermediate that may go through, each
// spelled prefix, intermediates, final. What is not here may be a query to some
// terminal: there are dozens, and every year more.
var csiPassing = []string{
	"?h", "?l", "?J", "?K", "?r", "?s", "?W",
	">m", ">n", ">p", ">s", ">t", ">T", ">f", ">u", "<u", "=u",
	" @", " A", " q", "!p", "\"p", "\"q", "$r", "$t", "$v", "$x", "$z", "${", "*x",
	"#p", "#q", "#{", "#}", "#P", "#Q", "'}", "'~",
}

// csiPasses reports whether a control sequence, without its introducer, may go
// through: not those that make a terminal answer, or print.
func csiPasses(seq []byte) bool {
	final, body := seq[len(seq)-1], seq[:len(seq)-1]
	name := make([]byte, 0, 8)
	if len(body) > 0 && body[0] >= '<' && body[0] <= '?' {
		name, body = append(name, body[0]), body[1:]
	}
	parameters := bytes.TrimRight(body, " !\"#$%&'()*+,-./")
	name = append(append(name, body[len(parameters):]...), final)
	if len(name) > 1 {
		return slices.Contains(csiPassing, string(name))
	}
	switch final {
	case 'c', 'i', 'n', 'x': // DA, MC, DSR, DECREQTPARM
		return false
	case 't': // window reports
		text, _, _ := bytes.Cut(parameters, []byte(";"))
		n := number(text)
		return n >= 0 && n != 11 && (n < 13 || n > 16) && (n < 18 || n > 21)
	}
	return true
}

// stringPasses reports whether a control string, with its introducer and without
// its end, may go through: titles, links, colours that are set. Not: queries, the
// clipboard, prompt marks, device control strings and the private kinds.
func stringPasses(seq []byte) bool {
	if seq[1] != ']' {
		return false
	}
	body := seq[2:]
	for i := 1; i < len(body); i++ {
		if body[i-1] == c1Lead && body[i] <= 0x9f { // might end the string
			return false
		}
	}
	command, rest, _ := bytes.Cut(body, []byte(";"))
	switch number(command) {
	case 0, 1, 2, 8:
		return true
	case 4, 10, 11, 12, 17, 19, 104, 110, 111, 112, 117, 119:
		return !bytes.Contains(rest, []byte("?"))
	}
	return false
}

// number is the number that a parameter is, however many zeros it begins with; -1
// for what is none.
func number(text []byte) int {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}
