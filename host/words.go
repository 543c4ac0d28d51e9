package host

import (
	"path/filepath"
	"strings"

	"termpilot/fault"
)

// splitWords splits a command into words as iTerm2 does with a profile's
// Command: blanks separate, quotes and backslashes protect, nothing expands.
func splitWords(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
			inWord = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, invalid("the command has an open quote")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, invalid("the command is empty")
	}
	return words, nil
}

// check refuses what no program could be started with.
func (r *request) check() error {
	for _, text := range append(append([]string{}, r.command...), r.shellLine, r.dir) {
		if strings.ContainsRune(text, 0) {
			return invalid("a NUL character in a command or path")
		}
	}
	for name, value := range r.env {
		if !validVariable(name, value) {
			return invalid("an environment variable with an empty name, or with = in the name, or with a NUL character")
		}
	}
	if len(r.typed) > maxProperty {
		return invalid("an initial text of more than 64 KiB")
	}
	if r.dir != "" && !filepath.IsAbs(r.dir) {
		return invalid("the working directory is not an absolute path")
	}
	if !isName(r.name) {
		return invalid("a name with control characters, or of more than 1024 bytes")
	}
	if r.rows < 0 || r.columns < 0 || r.rows > maxRows || r.columns > maxColumns {
		return invalid("a size outside 1 to 1000")
	}
	if r.scrollback < 0 || r.scrollback > maxScrollback {
		return invalid("scrollback outside 0 to 1000000 lines")
	}
	return nil
}

const maxName = 1024

// isName reports whether a name is short and without control characters.
func isName(name string) bool {
	return len(name) <= maxName && !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f })
}

func invalid(detail string) error {
	return &fault.Error{Op: "open", Code: fault.InvalidArgument, Detail: detail, Hint: "correct the argument"}
}
