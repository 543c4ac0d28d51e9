package vt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTitleBytes = 1024
	maxTitles     = 10 // on the stack of CSI 22 t
)

// endString carries out a string that ended properly and is within its cap.
func (t *Terminal) endString() {
	switch t.parser.kind {
	case oscString:
		t.osc(t.parser.text)
	case dcsString:
		t.dcs(t.parser.text)
	}
}

// osc carries out an operating system command (XTerm Control Sequences,
// "Operating System Commands").
func (t *Terminal) osc(text []byte) {
	command, i := 0, 0
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		command = min(command*10+int(text[i]-'0'), maxCommand+1)
		i++
	}
	if i == 0 || command > maxCommand || i < len(text) && text[i] != ';' {
		return
	}
	payload := text[i:]
	if len(payload) > 0 {
		payload = payload[1:]
	}
	switch command {
	case 0, 2:
		t.setTitle(cleanTitle(payload))
	case 4:
		t.queryPalette(payload)
	case 8:
		t.setLink(payload)
	case 10, 11, 12:
		t.queryColors(command, payload)
	case 52:
		return
	}
	if t.options.OSC != nil {
		t.options.OSC(command, payload)
	}
}

func (t *Terminal) setTitle(title string) {
	if title != t.title {
		t.title = title
		t.changes++
	}
}

// cleanTitle makes one line of valid UTF-8 without control or format
// characters, within the cap.
func cleanTitle(b []byte) string {
	var s strings.Builder
	for _, r := range string(b) {
		if r == utf8.RuneError || unicode.Is(unicode.C, r) && r != 0x200d || r == 0x2028 || r == 0x2029 {
			continue
		}
		if s.Len()+utf8.RuneLen(r) > maxTitleBytes {
			break
		}
		s.WriteRune(r)
	}
	return s.String()
}

// setLink is OSC 8: "params;URI" begins a hyperlink, an empty URI ends it. A
// URI with bytes that the hyperlink document forbids, or that is too long, is
// no link.
func (t *Terminal) setLink(payload []byte) {
	_, uri, ok := strings.Cut(string(payload), ";")
	if !ok {
		return
	}
	if len(uri) > maxLinkBytes || strings.ContainsFunc(uri, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		uri = ""
	}
	t.link = uri
	t.setExtra()
}

// window is CSI Ps t: the title stack, and reports of sizes. Nothing that
// moves or resizes is done, and the title is never told.
func (t *Terminal) window(op int) {
	switch op {
	case 14, 16, 18, 19:
		t.reportSize(op)
	case 22:
		if len(t.titleStack) < maxTitles {
			t.titleStack = append(t.titleStack, t.title)
		}
	case 23:
		if n := len(t.titleStack) - 1; n >= 0 {
			t.setTitle(t.titleStack[n])
			t.titleStack = t.titleStack[:n]
		}
	}
}
