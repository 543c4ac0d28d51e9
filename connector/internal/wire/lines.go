package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxMessage is the longest message that is read, in bytes. It is what the SDK
// allows too; the largest argument that a tool takes is far smaller.
const MaxMessage = 16 << 20

var errTooLong = errors.New("line over the limit")

// lines cuts a stream into lines of at most max bytes. A longer line is read
// to its end and thrown away as it comes, so it costs no memory.
type lines struct {
	r   *bufio.Reader
	max int
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// next returns the next line without its line feed, in memory of its own. The
// last line may lack the line feed. errTooLong stands for one line and is
// followed by the next one; any other error is the end.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for long := false; ; {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.max+1 { // the line feed does not count
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(part) == 0 && len(line) == 0 && !long:
			return nil, err
		case long:
			return nil, errTooLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}
