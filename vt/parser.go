package vt

import (
	"encoding/binary"
	"unicode/utf8"
)

// The parser is Paul Williams' state machine for DEC's ANSI parser
// (vt100.net/emu/dec_ansi_parser), reduced to the states that differ in what
// they do, and with three things of its own: UTF-8, so that raw bytes 0x80 to
// 0x9f are no controls; sub-parameters (ITU T.416's colon); and strings that
// are taken whole when they end.

type state uint8

const (
	ground state = iota
	escape
	escapeIntermediate
	csiEntry  // after CSI, where a private prefix may come
	csiParam  // parameters
	csiInter  // intermediates
	csiIgnore // malformed: swallow up to the final byte
	stringData
)

const (
	maxParams    = 32        // further ones are ignored
	maxParam     = 65535     // larger values are cut here
	maxOSC       = 256 << 10 // longer strings are swallowed whole
	maxDCS       = 4 << 10   // the requests that are answered are short; the rest is graphics
	keepOSC      = 16 << 10  // a larger buffer is not kept
	noParam      = -1
	maxCommand   = 99_999 // of an OSC
	oscString    = ']'
	dcsString    = 'P'
	swallowedAPC = '_' // APC, PM and SOS have no meaning here
)

type parser struct {
	state  state
	params [maxParams]int32 // noParam where the parameter is empty
	n      int              // index of the present parameter; after the final byte, the number of them
	subs   uint32           // bit i: parameter i is a sub-parameter of the one before
	over   bool             // there were too many
	prefix byte             // one of <=>? or 0
	inter  byte             // the intermediate, or 0
	kind   byte             // of the string
	text   []byte           // of the string
	long   bool             // the string is over its cap
	c2     bool             // the last byte of the string was 0xC2: 0x9C would be ST in UTF-8
	bell   bool             // the string ended with BEL
	tail   [utf8.UTFMax]byte
	ntail  int // bytes of an unfinished rune
}

// arg returns parameter i, or def where it is missing or empty.
func (p *parser) arg(i, def int) int {
	if i >= p.n || p.params[i] == noParam {
		return def
	}
	return int(p.params[i])
}

// count returns parameter i as a count, where 0 means 1.
func (p *parser) count(i int) int { return max(1, p.arg(i, 1)) }

// parse feeds bytes to the state machine.
func (t *Terminal) parse(b []byte) {
	p := &t.parser
	for i := 0; i < len(b); {
		switch p.state {
		case ground:
			i += t.parseGround(b[i:])
		case stringData:
			i += t.parseString(b[i:])
		default:
			if b[i] >= utf8.RuneSelf { // text breaks off a sequence
				p.state = ground
				continue
			}
			t.step(b[i])
			i++
		}
	}
}

// parseGround takes text and single controls, and returns how many bytes.
func (t *Terminal) parseGround(b []byte) int {
	if t.parser.ntail > 0 {
		return t.finishRune(b)
	}
	switch c := b[0]; {
	case 0x20 <= c && c < 0x7f:
		n := printable(b)
		t.printASCII(b[:n])
		return n
	case c == 0x1b:
		t.parser.state, t.parser.inter = escape, 0
		if len(b) > 2 && b[1] == '[' {
			return t.fastCSI(b)
		}
		return 1
	case c < 0x20:
		t.control(c)
		return 1
	case c == 0x7f:
		return 1
	}
	n := 0
	for n < len(b) && b[n] >= utf8.RuneSelf && t.parser.state == ground {
		r, size := decode(b[n:])
		if r == utf8.RuneError && size == 1 {
			return n + t.brokenRune(b[n:])
		}
		t.rune(r)
		n += size
	}
	return n
}

// printable returns the length of the run of printable ASCII at the start of b.
func printable(b []byte) int {
	n := 1
	for n+8 <= len(b) {
		// The top bit of a byte of the sum is set when the byte is below 0x20
		// (it borrows), is 0x7f (it carries), or is not ASCII.
		v := binary.LittleEndian.Uint64(b[n:])
		if ((v-0x2020202020202020)|v|(v+0x0101010101010101))&0x8080808080808080 != 0 {
			break
		}
		n += 8
	}
	for n < len(b) && 0x20 <= b[n] && b[n] < 0x7f {
		n++
	}
	return n
}

// startCSI begins a control sequence.
func (p *parser) startCSI() {
	p.state, p.n, p.subs, p.over, p.prefix, p.inter = csiEntry, 0, 0, false, 0, 0
	p.params[0] = noParam
}

// fastCSI takes the plain part of a control sequence, its prefix, digits and
// semicolons, and then leaves it to step. b begins with ESC [. It returns how
// many bytes it took.
func (t *Terminal) fastCSI(b []byte) int {
	p := &t.parser
	p.startCSI()
	i := 2
	if c := b[i]; 0x3c <= c && c <= 0x3f {
		p.state, p.prefix = csiParam, c
		i++
	}
	n, v := 0, int32(noParam)
	for ; i < len(b); i++ {
		if c := b[i]; '0' <= c && c <= '9' {
			v = min(max(v, 0)*10+int32(c-'0'), maxParam)
		} else if c == ';' && n < maxParams-1 {
			p.params[n] = v
			n, v = n+1, noParam
		} else {
			break
		}
	}
	p.params[n], p.n = v, n
	if n > 0 || v != noParam {
		p.state = csiParam
	}
	if i < len(b) && 0x40 <= b[i] && b[i] < 0x7f {
		t.stepCSI(b[i])
		i++
	}
	return i
}

func (p *parser) digit(c byte) {
	if p.over {
		return
	}
	v := max(p.params[p.n], 0)*10 + int32(c-'0')
	p.params[p.n] = min(v, maxParam)
}

// step takes one byte outside of text and strings.
func (t *Terminal) step(c byte) {
	p := &t.parser
	switch {
	case c == 0x18 || c == 0x1a: // CAN and SUB abort
		p.state = ground
		t.last = nil
		return
	case c == 0x1b:
		p.state, p.inter = escape, 0
		return
	case c < 0x20: // a control inside a sequence takes effect at once
		t.control(c)
		return
	case c == 0x7f:
		return
	}
	switch p.state {
	case escape, escapeIntermediate:
		t.stepEscape(c)
	default:
		t.stepCSI(c)
	}
}

func (t *Terminal) stepEscape(c byte) {
	p := &t.parser
	switch {
	case c < 0x30:
		if p.state == escapeIntermediate {
			c = 0xff // none of the sequences known here has two
		}
		p.state, p.inter = escapeIntermediate, c
	case p.state == escape && c == '[':
		p.startCSI()
	case p.state == escape && (c == ']' || c == 'P'):
		p.startString(c)
	case p.state == escape && (c == '_' || c == '^' || c == 'X'):
		p.startString(swallowedAPC)
	default:
		p.state = ground
		t.escape(p.inter, c)
	}
}

func (t *Terminal) stepCSI(c byte) {
	p := &t.parser
	switch {
	case c >= 0x40:
		bad := p.state == csiIgnore
		p.state = ground
		if !bad {
			if p.n > 0 || p.params[0] != noParam {
				p.n++
			}
			t.csi(c)
		}
	case p.state == csiIgnore:
	case c < 0x30:
		if p.inter != 0 {
			p.state = csiIgnore
			return
		}
		p.state, p.inter = csiInter, c
	case p.state == csiInter:
		p.state = csiIgnore
	case c >= 0x3c:
		if p.state != csiEntry {
			p.state = csiIgnore
			return
		}
		p.state, p.prefix = csiParam, c
	case c == ';' || c == ':':
		p.state = csiParam
		if p.n == maxParams-1 {
			p.over = true
			return
		}
		p.n++
		p.params[p.n] = noParam
		if c == ':' {
			p.subs |= 1 << p.n
		}
	default:
		p.state = csiParam
		p.digit(c)
	}
}

func (p *parser) startString(kind byte) {
	p.state, p.kind, p.long, p.c2 = stringData, kind, false, false
	if cap(p.text) > keepOSC {
		p.text = nil
	}
	p.text = p.text[:0]
}

// parseString takes the bytes of a string up to its end, and returns how many.
func (t *Terminal) parseString(b []byte) int {
	p := &t.parser
	i := 0
	for ; i < len(b); i++ {
		c := b[i]
		if c < 0x20 && (c == 0x1b || c == 0x18 || c == 0x1a || c == 0x07 && p.kind == oscString) {
			break
		}
		if c == 0x9c && p.c2 {
			break
		}
		p.c2 = c == 0xc2
	}
	p.collect(b[:i])
	if i == len(b) {
		return i
	}
	c := b[i]
	p.state = ground
	if c == 0x1b {
		p.state, p.inter = escape, 0 // of ST, or of the next sequence: both end the string
	}
	t.last = nil
	if c == 0x18 || c == 0x1a {
		return i + 1
	}
	if c == 0x9c && len(p.text) > 0 {
		p.text = p.text[:len(p.text)-1] // its first byte
	}
	p.bell = c == 0x07
	if !p.long {
		t.endString()
	}
	return i + 1
}

// collect keeps bytes of the string, within its cap.
func (p *parser) collect(b []byte) {
	limit := 0
	switch p.kind {
	case oscString:
		limit = maxOSC
	case dcsString:
		limit = maxDCS
	}
	if len(p.text)+len(b) > limit {
		p.long = true
		p.text = p.text[:0]
	}
	if !p.long {
		p.text = append(p.text, b...)
	}
}

// Midway reports whether what was written ends within a sequence, a string or a
// character: what follows is not text, or not by itself.
func (t *Terminal) Midway() bool { return t.parser.state != ground || t.parser.ntail > 0 }
