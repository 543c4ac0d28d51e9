package pilot

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/reduce"
	"termpilot/terminal"
)

// cursor is a place in a session's text. A row number alone would not do: it
// changes when the width does or the scrollback is cleared. So the place also
// knows the text before it, by which it is found again.
type cursor struct {
	session uint32 // hash of the session's id
	row     int64  // row in which the line begins
	off     int    // characters into the line
	width   int    // columns when row was counted
	before  int    // how many lines prev is of
	prev    uint64 // hash of the last non-blank lines before this one
	part    uint32 // hash of the off characters
	screen  uint32 // hash of a full-screen program's screen; 0 is none
}

// cursorVersion is the first byte of an encoded cursor.
const cursorVersion = 1

// contextLines is how many lines before a place are remembered.
const contextLines = 3

// encode returns the cursor as text without blanks.
func (c cursor) encode() string {
	b := []byte{cursorVersion}
	b = binary.LittleEndian.AppendUint32(b, c.session)
	b = binary.AppendVarint(b, c.row)
	b = binary.AppendUvarint(b, uint64(c.off))
	b = binary.AppendUvarint(b, uint64(c.width))
	b = append(b, byte(c.before))
	b = binary.LittleEndian.AppendUint64(b, c.prev)
	b = binary.LittleEndian.AppendUint32(b, c.part)
	b = binary.LittleEndian.AppendUint32(b, c.screen)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// longestCursor is more than any encoded cursor has.
const longestCursor = 128

// decodeCursor returns the cursor of a session. CursorInvalid when the text is
// not a cursor, or one of another session.
func decodeCursor(id terminal.ID, text string) (cursor, error) {
	bad := func(detail string) (cursor, error) {
		return cursor{}, &fault.Error{
			Op: "read", Session: string(id), Code: fault.CursorInvalid, Detail: detail,
			Hint: "read without a cursor, and pass back the cursor of that answer unchanged",
		}
	}
	if len(text) > longestCursor {
		return bad("this is not a cursor")
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 9 || b[0] != cursorVersion {
		return bad("this is not a cursor")
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return bad("this is not a cursor, or it was changed")
	}
	var c cursor
	r := fields{b: body[1:]}
	c.session = r.u32()
	c.row = r.varint()
	c.off = int(r.uvarint())
	c.width = int(r.uvarint())
	c.before = int(r.u8())
	c.prev = r.u64()
	c.part = r.u32()
	c.screen = r.u32()
	switch {
	case r.short || len(r.b) != 0 || c.row < 0 || c.off < 0 || c.width < 0 || c.before > contextLines:
		return bad("this is not a cursor")
	case c.session != hash32(string(id)):
		return bad("the cursor belongs to another session")
	}
	return c, nil
}

// fields reads numbers off the front of b; short is set when it has too few.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) cut(n int) []byte {
	if n <= 0 || len(f.b) < n {
		f.short, f.b = true, nil
		return make([]byte, 8)
	}
	p := f.b[:n]
	f.b = f.b[n:]
	return p
}

func (f *fields) u8() byte    { return f.cut(1)[0] }
func (f *fields) u32() uint32 { return binary.LittleEndian.Uint32(f.cut(4)) }
func (f *fields) u64() uint64 { return binary.LittleEndian.Uint64(f.cut(8)) }

func (f *fields) varint() int64 {
	v, n := binary.Varint(f.b)
	f.cut(n)
	return v
}

func (f *fields) uvarint() uint64 {
	v, n := binary.Uvarint(f.b)
	f.cut(n)
	return v & (1<<31 - 1)
}

func hash32(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// line is one line of text: rows joined where they were wrapped.
type line struct {
	text  string
	row   int64 // its first row
	whole bool  // its beginning was read

	secrets []reduce.Span // of text, once they were looked for
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

// linesFrom joins rows, the first of which has the number first. whole says
// that the first row begins a line.
func linesFrom(rows []terminal.Row, first int64, whole bool) []line {
	var lines []line
	for i := 0; i < len(rows); {
		n := i + 1
		for n < len(rows) && rows[n-1].Soft {
			n++
		}
		l := line{text: rows[i].Text, row: first + int64(i), whole: whole || i > 0}
		if n > i+1 {
			var b strings.Builder
			for _, r := range rows[i:n] {
				b.WriteString(r.Text)
			}
			l.text = b.String()
		}
		lines = append(lines, l)
		i = n
	}
	return lines
}

// screenLines is linesFrom for an answer of the terminal. Whether its first
// row begins a line is known only for the oldest.
func screenLines(s terminal.Screen) []line {
	return linesFrom(s.Rows, s.First, s.First == 0)
}

// place returns the cursor for character off of lines[i].
func place(id terminal.ID, lines []line, i, off, width int) cursor {
	c := cursor{session: hash32(string(id)), width: width}
	if i >= len(lines) {
		return c
	}
	c.row, c.off = lines[i].row, off
	c.prev, c.before = hashBefore(lines, i, contextLines)
	c.part = hash32(prefix(lines[i].text, off))
	return c
}

// hashBefore hashes up to n whole non-blank lines before lines[i].
func hashBefore(lines []line, i, n int) (sum uint64, used int) {
	h := fnv.New64a()
	for i--; i >= 0 && used < n; i-- {
		if lines[i].blank() {
			continue
		}
		if !lines[i].whole {
			break
		}
		_, _ = h.Write([]byte(strings.TrimRight(lines[i].text, " ")))
		_, _ = h.Write([]byte{'\n'})
		used++
	}
	return h.Sum64(), used
}

// prefix is the first n characters of s, or all of it.
func prefix(s string, n int) string { return s[:offset(s, n)] }

// offset is the byte at which character n of s begins.
func offset(s string, n int) int {
	at := 0
	for range n {
		if at == len(s) {
			break
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// matches reports whether c stands in lines[i]: the text before that line is
// the same. exact says that the line's own beginning is, too.
func (c cursor) matches(lines []line, i int) (ok, exact bool) {
	sum, used := hashBefore(lines, i, c.before)
	if used != c.before || sum != c.prev || !lines[i].whole && c.before > 0 {
		return false, false
	}
	return true, utf8.RuneCountInString(lines[i].text) >= c.off && hash32(prefix(lines[i].text, c.off)) == c.part
}

// in finds c among lines: at its row when the width is the same, else wherever
// its text stands first. off is the characters of lines[i] before the place: 0
// when the line itself has changed.
func (c cursor) in(lines []line, width int) (i, off int, found bool) {
	if c.width == width {
		for i := range lines {
			if lines[i].row != c.row {
				continue
			}
			if ok, exact := c.matches(lines, i); ok {
				if exact {
					return i, c.off, true
				}
				return i, 0, true
			}
			break
		}
	}
	if c.before == 0 {
		return c.alone(lines)
	}
	for i := range lines {
		if ok, exact := c.matches(lines, i); ok && exact {
			return i, c.off, true
		}
	}
	return 0, 0, false
}

// alone finds a place of which no line before it is known: in the first line of
// all, or in the only one that begins as its line does.
func (c cursor) alone(lines []line) (i, off int, found bool) {
	places := 0
	for n := range lines {
		if lines[n].blank() || utf8.RuneCountInString(lines[n].text) < c.off || hash32(prefix(lines[n].text, c.off)) != c.part {
			continue
		}
		if _, used := hashBefore(lines, n, 1); used == 0 && lines[n].whole && lines[0].whole {
			return n, c.off, true
		}
		i = n
		places++
	}
	return i, c.off, places == 1 && c.off > 0
}
