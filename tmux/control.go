package tmux

import (
	"bytes"
	"strconv"
)

// The limits of what a server may send.
const (
	maxLine  = 16 << 20 // bytes of one line
	maxReply = 64 << 20 // bytes of one answer
)

// noteKind is what a notification is about, as far as we care.
type noteKind uint8

const (
	noteOther   noteKind = iota
	noteOutput           // a pane printed
	notePause            // a pane's output was left out, because we did not keep up
	noteExit             // the connection ends
	noteMoved            // this client shows another session now
	noteLayout           // panes or sizes changed
	noteChanged          // something else in the lists changed
)

// note is one notification (tmux(1), CONTROL MODE).
type note struct {
	kind noteKind
	pane int
	data []byte // of noteOutput, still escaped; of noteExit, the reason; of noteMoved, the session
}

// parseNote reads a line outside of answers. What is not understood is
// noteOther; nothing makes it fail.
func parseNote(line []byte) note {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "%output":
		return outputNote(rest, " ")
	case "%extended-output": // %PANE AGE … : DATA
		return outputNote(rest, " : ")
	case "%pause":
		if pane, ok := paneNumber(rest); ok {
			return note{kind: notePause, pane: pane}
		}
	case "%exit":
		return note{kind: noteExit, data: rest}
	case "%session-changed":
		session, _, _ := bytes.Cut(rest, []byte(" "))
		return note{kind: noteMoved, data: session}
	case "%layout-change":
		return note{kind: noteLayout}
	case "%window-add", "%window-close", "%window-renamed", "%window-pane-changed", "%unlinked-window-add",
		"%unlinked-window-close", "%unlinked-window-renamed", "%sessions-changed", "%session-renamed",
		"%session-window-changed", "%client-session-changed", "%client-detached", "%pane-mode-changed":
		return note{kind: noteChanged}
	}
	return note{}
}

// outputNote reads what follows the word of an output notification.
func outputNote(rest []byte, end string) note {
	id, _, _ := bytes.Cut(rest, []byte(" "))
	pane, ok := paneNumber(id)
	_, data, cut := bytes.Cut(rest, []byte(end))
	if !ok || !cut {
		return note{}
	}
	return note{kind: noteOutput, pane: pane, data: data}
}

// paneNumber reads %N.
func paneNumber(id []byte) (int, bool) {
	if len(id) < 2 || len(id) > 10 || id[0] != '%' || id[1] < '0' || id[1] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(string(id[1:]))
	return n, err == nil
}

// unescape appends output as the program printed it: tmux writes a backslash
// and what is below a blank as a backslash and three octal digits.
func unescape(dst, data []byte) []byte {
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 {
			return append(dst, data...)
		}
		dst, data = append(dst, data[:i]...), data[i:]
		if len(data) >= 4 && octal(data[1]) && octal(data[2]) && octal(data[3]) {
			dst = append(dst, (data[1]-'0')<<6|(data[2]-'0')<<3|(data[3]-'0'))
			data = data[4:]
			continue
		}
		dst, data = append(dst, '\\'), data[1:]
	}
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// stamp is what begins and ends an answer: its time and its number.
type stamp struct {
	text string // "TIME NUMBER FLAGS"
	ours bool   // it answers a command of this connection
}

// parseBegin reads the line that begins an answer.
func parseBegin(line []byte) (stamp, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("%begin "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 2 || len(fields) > 3 || len(rest) > 100 {
		return stamp{}, false
	}
	flags := 1
	if len(fields) == 3 {
		flags, _ = strconv.Atoi(string(fields[2]))
	}
	return stamp{text: string(rest), ours: flags&1 != 0}, true
}

// ends reports whether a line ends the answer that s began, and whether that
// is a refusal.
func (s stamp) ends(line []byte) (over, refused bool) {
	for _, word := range []string{"%end ", "%error "} {
		if rest, ok := bytes.CutPrefix(line, []byte(word)); ok && string(rest) == s.text {
			return true, word == "%error "
		}
	}
	return false, false
}

// quote writes text as one word of a tmux command line. NUL cannot be written.
func quote(text string) string {
	b := make([]byte, 0, len(text)+8)
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"', c == '\\', c == '$':
			b = append(b, '\\', c)
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// fields cuts a line of words in which #{q:…} has put a backslash before what
// is special, blanks among it. Empty words count.
func fields(line string) []string {
	var words []string
	var word []byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line):
			i++
			word = append(word, line[i])
		case c == ' ':
			words, word = append(words, string(word)), nil
		default:
			word = append(word, c)
		}
	}
	return append(words, string(word))
}
