package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"time"
)

// A line is
//
//	{"len":      83,"crc":"5d1f0c3a","at":"2026-11-30T03:00:00.000000001Z","data":{…}}
//
// and LF. len and crc are those of what follows the comma after crc, up to and
// with the closing brace; crc is CRC-32C. Both have a fixed width, so that the head
// can be read before anything is parsed, and yet every line is JSON.
const (
	headFormat = `{"len":%8d,"crc":"%08x",`
	headLength = len(`{"len":12345678,"crc":"12345678",`)
	atPrefix   = `"at":"`
	dataPrefix = `","data":`
)

// largest is the most bytes of JSON that any record may have; longer lines of a
// file are damage. The head has room for 8 digits.
const largest = 16 << 20

// longest is the most bytes of a line: head, time, record and LF.
const longest = headLength + len(atPrefix) + len(time.RFC3339Nano) + len(dataPrefix) + largest + 2

// checksum is the CRC-32C of a line's body. The table is made when it is first asked for.
func checksum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// appendLine adds the line of a record.
func appendLine(to []byte, at time.Time, data []byte) []byte {
	start := len(to)
	to = slices.Grow(to, headLength+len(atPrefix)+len(time.RFC3339Nano)+len(dataPrefix)+len(data)+2)
	to = to[:start+headLength]
	to = append(to, atPrefix...)
	to = at.UTC().AppendFormat(to, time.RFC3339Nano)
	to = append(to, dataPrefix...)
	to = append(to, data...)
	to = append(to, '}')
	body := to[start+headLength:]
	_ = fmt.Appendf(to[:start], headFormat, len(body), checksum(body)) // it has the length that was left for it
	return append(to, '\n')
}

// parseLine reads a line without its LF. ok is false when it is not exactly what
// appendLine wrote.
func parseLine(line []byte) (at time.Time, data json.RawMessage, ok bool) {
	if len(line) < headLength {
		return at, nil, false
	}
	head, body := line[:headLength], line[headLength:]
	if string(head) != fmt.Sprintf(headFormat, len(body), checksum(body)) {
		return at, nil, false
	}
	rest, ok := bytes.CutPrefix(body, []byte(atPrefix))
	when, data, ok2 := bytes.Cut(rest, []byte(dataPrefix))
	data, ok3 := bytes.CutSuffix(data, []byte("}"))
	at, err := time.Parse(time.RFC3339Nano, string(when))
	if !ok || !ok2 || !ok3 || err != nil || !json.Valid(data) {
		return at, nil, false
	}
	return at, data, true
}

// scanner reads lines from a part of a file that nobody writes to.
type scanner struct {
	from io.ReaderAt
	at   int64 // where the next line begins
	end  int64 // where the part ends
	buf  []byte
	pos  int // of the next line in buf
}

// line is a whole line, with its place and whether it is a record.
type line struct {
	time time.Time
	data json.RawMessage
	end  int64
	ok   bool
}

// next returns the next line that ends with LF before the part's end. A line over
// the limit is passed over, and is no record. io.EOF when there is none.
func (s *scanner) next() (line, error) {
	long, looked := false, 0
	for {
		rest := s.buf[s.pos:]
		if i := bytes.IndexByte(rest[looked:], '\n'); i >= 0 {
			i += looked
			s.pos += i + 1
			s.at += int64(i + 1)
			l := line{end: s.at}
			if !long {
				l.time, l.data, l.ok = parseLine(rest[:i])
			}
			return l, nil
		}
		if len(rest) > longest {
			s.at += int64(len(rest))
			rest, long = nil, true
		}
		looked = len(rest)
		if err := s.fill(rest); err != nil {
			return line{}, err
		}
	}
}

// fill reads on behind what is left of the buffer.
func (s *scanner) fill(rest []byte) error {
	from := s.at + int64(len(rest))
	n := min(s.end-from, int64(max(64<<10, len(rest)))) // doubles, so that long lines are not looked at again and again
	if n <= 0 {
		return io.EOF
	}
	buf := make([]byte, len(rest)+int(n))
	copy(buf, rest)
	got, err := s.from.ReadAt(buf[len(rest):], from)
	s.buf, s.pos = buf[:len(rest)+got], 0
	if got > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// fileName and fileNumber name the files of a journal.
func fileName(name string, n int64) string { return fmt.Sprintf("%s.%06d.jsonl", name, n) }

func fileNumber(name, file string) (int64, bool) {
	rest := []byte(file)
	rest, ok := bytes.CutPrefix(rest, []byte(name+"."))
	rest, ok2 := bytes.CutSuffix(rest, []byte(".jsonl"))
	n, err := strconv.ParseInt(string(rest), 10, 64)
	if !ok || !ok2 || err != nil || n < 1 || fileName(name, n) != file {
		return 0, false
	}
	return n, true
}
