package vt

import "strconv"

// maxKeyStack is how deep the stack of keyboard flags is; a further push
// forgets the oldest (kitty's keyboard protocol asks for a limit).
const maxKeyStack = 16

// kittyAll is all of the protocol's flags.
const kittyAll = 31

// keyStack holds a screen's keyboard flags; the last one is in use.
type keyStack struct {
	stack [maxKeyStack]uint8
	n     int
}

func (k *keyStack) flags() int {
	if k.n == 0 {
		return 0
	}
	return int(k.stack[k.n-1])
}

func (k *keyStack) push(flags int) {
	if k.n == maxKeyStack {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.stack[k.n] = uint8(flags & kittyAll)
	k.n++
}

func (k *keyStack) set(flags int) {
	if k.n == 0 {
		k.push(0)
	}
	k.stack[k.n-1] = uint8(flags & kittyAll)
}

// kittyKeys carries out CSI ? u (query), > u (push), < u (pop) and = u (set).
func (t *Terminal) kittyKeys(prefix byte) {
	p, k := &t.parser, &t.screen.keys
	switch prefix {
	case '?':
		t.reply("\x1b[?", strconv.Itoa(k.flags()), "u")
	case '>':
		k.push(p.arg(0, 0))
	case '<':
		k.n = max(0, k.n-p.count(0))
	case '=':
		flags, now := p.arg(0, 0), k.flags()
		switch p.arg(1, 1) {
		case 1:
			k.set(flags)
		case 2:
			k.set(now | flags)
		case 3:
			k.set(now &^ flags)
		}
	}
}
