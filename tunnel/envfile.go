package tunnel

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"unicode/utf8"

	"github.com/joho/godotenv"

	"termpilot/fault"
)

// maxEnvFile is the most bytes of a .env file.
const maxEnvFile = 64 << 10

// fromEnvFile returns a variable of a .env file and the line on which it was
// set last; line 0 when the file does not set it. Errors name the file and the
// line, and no text of it: the parser's own would quote the value.
func fromEnvFile(path, name string) (value string, line int, err error) {
	data, err := readCapped(path, maxEnvFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, err
	}
	refuse := func(detail, hint string) (string, int, error) {
		return "", 0, &fault.Error{Op: "read " + path, Code: fault.KeyInvalid, Detail: detail, Hint: hint}
	}
	if err != nil {
		return refuse("the file cannot be read", "see that it is a file of at most 64 KiB that you may read")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // the byte order mark of some editors
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return refuse("the file is not UTF-8 text", "save it as UTF-8, as most editors do")
	}
	line = lineOf(data, name)
	if line == 0 {
		return "", 0, nil
	}
	all, err := godotenv.UnmarshalBytes(data)
	if err != nil {
		return refuse(fmt.Sprintf("the file cannot be understood (%s is on line %d)", name, line), "write one NAME=value on each line")
	}
	return all[name], line, nil
}

// lineOf returns the number of the last line that sets a variable, or 0.
func lineOf(data []byte, name string) int {
	sets := regexp.MustCompile(`^\s*(?:export\s+)?` + regexp.QuoteMeta(name) + `\s*[=:]`)
	last := 0
	for i, line := range bytes.Split(data, []byte("\n")) {
		if sets.Match(line) {
			last = i + 1
		}
	}
	return last
}
