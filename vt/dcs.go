package vt

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// dcs carries out a device control string. Only requests are known; graphics
// (sixel) and everything else are swallowed.
func (t *Terminal) dcs(text []byte) {
	s := string(text)
	if request, ok := strings.CutPrefix(s, "$q"); ok {
		t.reportSetting(request)
	} else if names, ok := strings.CutPrefix(s, "+q"); ok {
		t.reportCapabilities(names)
	}
}

// reportSetting answers DECRQSS for SGR, DECSTBM and DECSCUSR. The request is
// not echoed when it is refused.
func (t *Terminal) reportSetting(request string) {
	switch request {
	case "m":
		t.reply("\x1bP1$r", t.pen.sgr(t.ulColor), "m\x1b\\")
	case "r":
		t.reply("\x1bP1$r", strconv.Itoa(t.top+1), ";", strconv.Itoa(t.bottom+1), "r\x1b\\")
	case " q":
		t.reply("\x1bP1$r", strconv.Itoa(int(t.cursorStyle)), " q\x1b\\")
	default:
		t.reply("\x1bP0$r\x1b\\")
	}
}

// reportCapabilities answers XTGETTCAP, whose names and values are in
// hexadecimal. Names are told as they are known here, not as they came.
func (t *Terminal) reportCapabilities(names string) {
	for _, name := range strings.SplitN(names, ";", maxColorQueries) {
		raw, err := hex.DecodeString(name)
		value := ""
		if err == nil {
			switch string(raw) {
			case "TN", "name":
				value = "xterm-256color"
			case "Co", "colors":
				value = "256"
			case "RGB":
				value = "8/8/8"
			}
		}
		if value == "" {
			t.reply("\x1bP0+r\x1b\\")
			continue
		}
		t.reply("\x1bP1+r", strings.ToUpper(hex.EncodeToString(raw)), "=",
			strings.ToUpper(hex.EncodeToString([]byte(value))), "\x1b\\")
	}
}

// sgr returns the parameters of an SGR that makes this pen from any other.
func (p pen) sgr(underline Color) string {
	s := "0"
	for _, a := range []struct {
		bit  Attributes
		code string
	}{{Bold, "1"}, {Faint, "2"}, {Italic, "3"}, {Blink, "5"}, {Inverse, "7"}, {Hidden, "8"}, {Strike, "9"}, {Overline, "53"}} {
		if p.at&uint32(a.bit) != 0 {
			s += ";" + a.code
		}
	}
	if u := p.at & underlineMask >> underlineShift; u == uint32(SingleUnderline) {
		s += ";4"
	} else if u != 0 {
		s += ";4:" + strconv.Itoa(int(u))
	}
	return s + Color(p.fg).sgr(30) + Color(p.bg).sgr(40) + underline.sgr(50)
}

// sgr returns ";" and the SGR parameters of c; base is 30 for the foreground,
// 40 for the background, 50 for the underline.
func (c Color) sgr(base int) string {
	direct := ";" + strconv.Itoa(base+8)
	if n, ok := c.Index(); ok {
		switch {
		case base == 50 || n >= 16:
			return direct + ":5:" + strconv.Itoa(int(n))
		case n >= 8:
			return ";" + strconv.Itoa(base+60+int(n)-8)
		}
		return ";" + strconv.Itoa(base+int(n))
	}
	if r, g, b, ok := c.RGB(); ok {
		return direct + ":2::" + strconv.Itoa(int(r)) + ":" + strconv.Itoa(int(g)) + ":" + strconv.Itoa(int(b))
	}
	return ""
}
