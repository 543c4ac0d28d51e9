package reduce

import (
	"slices"
	"strings"
)

// Span is bytes of a line, from From up to but not including To.
type Span struct{ From, To int }

// Secrets finds what Mask hides in lines[from:to] of lines that follow one another,
// each without its line end, in order and apart from one another. The lines around
// tell what these are part of. open says that the text goes on above the first and
// below the last line, and cannot be had.
func Secrets(lines []string, from, to int, open bool) [][]Span {
	found := make([][]Span, to-from)
	for i := range found {
		found[i] = secretsIn(nil, lines[from+i])
	}
	f := finder{lines: lines, from: from, to: to, found: found}
	f.quoted()
	f.encoded()
	f.keys(open)
	return found
}

// mark puts Secret in place of spans.
func mark(text string, spans []Span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for _, s := range spans {
		b.WriteString(text[done:s.From])
		b.WriteString(Secret)
		done = s.To
	}
	b.WriteString(text[done:])
	return b.String()
}

// Join adds a span to others: those that it touches become one with it.
func Join(spans []Span, s Span) []Span {
	at := 0
	for at < len(spans) && spans[at].To < s.From {
		at++
	}
	end := at
	for end < len(spans) && spans[end].From <= s.To {
		s = Span{min(s.From, spans[end].From), max(s.To, spans[end].To)}
		end++
	}
	return slices.Replace(spans, at, end, s)
}

// finder finds secrets that are more than one line.
type finder struct {
	lines    []string
	from, to int
	found    [][]Span // of lines[from:to]
}

// hide adds bytes of a line to the secrets. What is no longer than a mask stays,
// and what was masked before.
func (f *finder) hide(line, from, to int) {
	if line < f.from || line >= f.to || to-from <= len(mask) {
		return
	}
	if text := f.lines[line][from:to]; !strings.Contains(text, mask) || holdsKey(text) {
		f.found[line-f.from] = Join(f.found[line-f.from], Span{from, to})
	}
}

// mostQuoted is how many further lines one quoted value may have.
const mostQuoted = 32

// quoted finds what a secret in quotes that are not closed has on further lines.
func (f *finder) quoted() {
	for i := max(0, f.from-mostQuoted); i < f.to; i++ {
		text := f.lines[i]
		q := unclosed(text)
		if q < 0 {
			continue
		}
		for n := i + 1; n < len(f.lines) && n <= i+mostQuoted; n++ {
			next := f.lines[n]
			begin := len(next) - len(strings.TrimLeft(next, " \t"))
			end := begin
			for end < len(next) && next[end] != text[q] && next[end] != ' ' && next[end] != '\\' {
				end++
			}
			if end == begin || end < len(next) && next[end] == ' ' {
				break
			}
			f.hide(n, begin, end)
			if end < len(next) && next[end] == text[q] {
				break
			}
		}
	}
}

// unclosed is where the quote stands in which a secret begins that its line does
// not end; -1 when there is none.
func unclosed(text string) int {
	end := strings.TrimSuffix(text, "\\")
	q := max(strings.LastIndexByte(end, '"'), strings.LastIndexByte(end, '\''))
	if q < 1 || q+1 == len(end) || strings.IndexByte(end[q:], ' ') >= 0 || strings.Count(end, end[q:q+1])%2 == 0 {
		return -1
	}
	for _, s := range secretsIn(nil, end) {
		if s.From == q+1 && s.To == len(end) {
			return q
		}
	}
	return -1
}

// keyMark is a mark around a private key.
type keyMark struct {
	line, from, to int
	kind           markKind
}

type markKind uint8

const (
	keyBegins markKind = iota // what comes after it is the key
	keyEnds                   // what stands before it is the key
	blockEnds                 // the end of something else
)

// The marks around a private key (RFC 7468, RFC 4880).
const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
	keyLabel = "PRIVATE KEY"
	keyBlock = " BLOCK"
)

// marksIn adds the marks of a line.
func marksIn(list []keyMark, line int, text string) []keyMark {
	for at := 0; ; {
		i := strings.Index(text[at:], "-----")
		if i < 0 {
			return list
		}
		at += i
		m := keyMark{line: line, from: at}
		switch {
		case strings.HasPrefix(text[at:], keyBegin):
			if m.to = labelEnd(text, at+len(keyBegin)); m.to == 0 {
				at += len(keyBegin)
				continue
			}
		case strings.HasPrefix(text[at:], keyEnd):
			m.kind, m.to = keyEnds, labelEnd(text, at+len(keyEnd))
			if m.to == 0 {
				m.kind, m.to = blockEnds, at+len(keyEnd)
			}
		default:
			at++
			continue
		}
		list = append(list, m)
		at = m.to
	}
}

// labelEnd is where the mark ends of which the label begins at i, when it is that
// of a private key; otherwise 0.
func labelEnd(text string, i int) int {
	const longest = 64
	label, _, ok := strings.Cut(text[i:min(i+longest, len(text))], "-----")
	if !ok || !strings.HasSuffix(strings.TrimSuffix(label, keyBlock), keyLabel) {
		return 0
	}
	return i + len(label) + len("-----")
}

// keys finds the lines inside of private keys, and those of a key of which a mark
// is not there.
func (f *finder) keys(open bool) {
	var marks []keyMark
	for i, text := range f.lines {
		if strings.Contains(text, "-----") {
			marks = marksIn(marks, i, text)
		}
	}
	if open && len(marks) == 0 {
		f.bare()
	}
	for k, m := range marks {
		above, below := keyMark{line: -1}, keyMark{line: len(f.lines)}
		if k > 0 {
			above = marks[k-1]
		}
		if k+1 < len(marks) {
			below = marks[k+1]
		}
		switch {
		case m.kind == keyBegins:
			inside := below.line < len(f.lines) && below.kind != keyBegins
			f.pieces(m.line, m.to, below, inside)
			if !inside {
				f.follow(m, m.line+1, below.line, 1)
			}
		case m.kind == keyEnds && (k == 0 || above.kind != keyBegins):
			f.piece(m.line, above.after(m.line), m.from)
			f.follow(m, m.line-1, above.line, -1)
		}
	}
}

// after is where on a line the part begins that comes after the mark.
func (m keyMark) after(line int) int {
	if m.line == line {
		return m.to
	}
	return 0
}

// pieces hides what stands between a place and a mark: on the line of the place,
// and on all others when the mark is the end of what begins there.
func (f *finder) pieces(line, from int, below keyMark, inside bool) {
	if below.line == line {
		f.piece(line, from, below.from)
		return
	}
	f.piece(line, from, len(f.lines[line]))
	if !inside {
		return
	}
	for i := max(line+1, f.from); i < min(below.line, f.to); i++ {
		f.hide(i, 0, len(f.lines[i]))
	}
	f.piece(below.line, 0, below.from)
}

// piece hides a part of a line that has a mark, when it can be of a key.
func (f *finder) piece(line, from, to int) {
	if piece := f.lines[line][from:to]; holdsKey(piece) || beginsKey(piece) {
		f.hide(line, from, to)
	}
}

// beginsKey reports whether a piece is a line end in a string, as it stands behind a
// mark, and behind it nothing but what keys are written in: of a key that is being
// printed.
func beginsKey(piece string) bool {
	line, ok := strings.CutPrefix(strings.TrimPrefix(piece, `\r`), `\n`)
	return ok && line != "" && span(line, 0, "+/=") == len(line)
}

// bodies are how private keys begin that are encoded: OpenSSH's own form, and
// what RFC 7468 has once more in base64.
var bodies = []string{
	"b3BlbnNzaC1rZXktdjEA",              // openssh-key-v1
	"LS0tLS1CRUdJTiBQUklWQVRFIEtFW",     // -----BEGIN PRIVATE KEY-----
	"LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLR", // RSA
	"LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFW", // EC
	"LS0tLS1CRUdJTiBEU0EgUFJJVkFURSBLR", // DSA
	"LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBV", // OPENSSH
	"LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJV", // ENCRYPTED
	"LS0tLS1CRUdJTiBQR1AgUFJJVkFURSBLR", // PGP
}

// encoded finds keys by how they begin.
func (f *finder) encoded() {
	followed := 0 // the lines before this one are known
	for i, text := range f.lines {
		at := bodyAt(text)
		if at < 0 {
			continue
		}
		end := span(text, at, "+/=")
		f.hide(i, at, end)
		if i >= followed && strings.Trim(text[end:], " \t\"'\\") == "" {
			followed = f.follow(keyMark{line: i, from: at}, i+1, len(f.lines), 1)
		}
	}
}

// bodyAt is where an encoded key begins in a line, or -1.
func bodyAt(text string) int {
	if !strings.Contains(text, bodies[0][:8]) && !strings.Contains(text, bodies[1][:14]) {
		return -1
	}
	for _, body := range bodies {
		if at := strings.Index(text, body); at >= 0 {
			return at
		}
	}
	return -1
}

// bodyKind is what a line is to a key next to it.
type bodyKind uint8

const (
	other  bodyKind = iota // none of a key
	blank                  // nothing
	header                 // a name and a value, as they stand before a key (RFC 1421)
	short                  // of a key when it stands right beside one
	body                   // what keys are written in
)

// follow hides the lines of a key of which only one mark is there, from line i on
// up or down, and returns where it ends. They look like those of a key, and stand
// together; each is indented or quoted as its mark is.
func (f *finder) follow(m keyMark, i, stop, step int) int {
	beside, headers := true, step > 0
	for ; (stop-i)*step > 0; i += step {
		switch f.kind(i, f.lines[m.line][:m.from]) {
		case blank:
			beside = false
			continue
		case header:
			if !headers {
				return i
			}
			continue
		case short:
			if !beside {
				return i
			}
		case other:
			return i
		}
		f.hide(i, 0, len(f.lines[i]))
		beside, headers = true, false
	}
	return i
}

// kind is what line i is to a key whose mark stands behind a prefix.
func (f *finder) kind(i int, prefix string) bodyKind {
	text := unquote(f.lines[i], prefix)
	switch {
	case text == "":
		return blank
	case strings.HasPrefix(text, mask), f.whole(i):
		return body // it is hidden
	case span(text, 0, "+/=") == len(text) && !keyish(text):
		return short
	case keyish(text):
		return body
	}
	if name, _, ok := strings.Cut(text, ": "); ok && name != "" && strings.IndexFunc(name, func(r rune) bool { return r != '-' && (r > 'z' || !wordByte(byte(r))) }) < 0 {
		return header
	}
	return other
}

// whole reports whether all of line i is known to be secret.
func (f *finder) whole(i int) bool {
	if i < f.from || i >= f.to || len(f.found[i-f.from]) != 1 {
		return false
	}
	s := f.found[i-f.from][0]
	return strings.TrimSpace(mark(f.lines[i], []Span{s})) == Secret
}

// unquote is a line without what stands before it as before the mark of its key,
// figures aside, and without what programs and listings put around one.
func unquote(text, prefix string) string {
	n := 0
	for n < len(prefix) && n < len(text) && (text[n] == prefix[n] || digitOrBlank(text[n]) && digitOrBlank(prefix[n])) {
		n++
	}
	if n == len(prefix) {
		text = text[n:]
	}
	text = strings.TrimRight(text, " \t\r\"',;\\")
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\\n"), "\\r")
	return strings.TrimLeft(text, " \t\"'")
}

func digitOrBlank(c byte) bool { return c >= '0' && c <= '9' || c == ' ' }

// LikeKey reports whether a line can be one of a private key of which the marks are
// elsewhere, so that the lines around it tell.
func LikeKey(text string) bool {
	const enough = 16
	if len(text) < enough {
		return false
	}
	text = strings.TrimSpace(text)
	return len(text) >= enough && span(text, 0, "+/=") == len(text) || keyish(text)
}

// keyish reports whether a line has as much of what keys are written in as no word
// or path has: letters of both cases and figures, together.
func keyish(text string) bool {
	const enough = 16
	for i := 0; i+enough <= len(text); {
		end := span(text, i, "+/=")
		if run := text[i:end]; len(run) >= enough && mixed(run) {
			return true
		}
		i = end + 1
	}
	return false
}

func mixed(run string) bool {
	var small, capital, figures, slashes int
	for i := 0; i < len(run); i++ {
		switch c := run[i]; {
		case c >= 'a' && c <= 'z':
			small++
		case c >= 'A' && c <= 'Z':
			capital++
		case c >= '0' && c <= '9':
			figures++
		case c == '/':
			slashes++
		}
	}
	return small > 0 && capital > 0 && figures > 0 && slashes <= len(run)/6
}

// bare hides all lines when they are what stands in the middle of a key and can be
// nothing else: no more than a key has, of one width.
func (f *finder) bare() {
	const most, narrow, wide = 1024, 32, 128
	n := len(f.lines)
	if n < 3 || n > most {
		return
	}
	width := len(strings.TrimSpace(f.lines[1]))
	if width < narrow || width > wide {
		return
	}
	mixes := 0 // lines; one or another may lack a figure
	for i, text := range f.lines {
		text = strings.TrimSpace(text)
		if span(text, 0, "+/=") < len(text) || len(text) > width || len(text) < width && i > 0 && i < n-1 {
			return
		}
		mixes += boolInt(mixed(text))
	}
	if mixes <= n/2 {
		return
	}
	for i := range f.lines {
		f.hide(i, 0, len(f.lines[i]))
	}
}

// holdsKey reports whether a piece of a line has as much of what keys are written
// in as no word has.
func holdsKey(piece string) bool {
	const enough = 16
	for i := 0; i+enough <= len(piece); {
		end := span(piece, i, "+/=")
		if end-i >= enough {
			return true
		}
		i = end + 1
	}
	return false
}
