package agent

import (
	"bufio"
	"os"
	"strings"
)

// readKeys tells keys one by one, and a paste as one.
func readKeys(keys chan<- string) {
	in := bufio.NewReader(os.Stdin)
	defer close(keys)
	for {
		r, _, err := in.ReadRune()
		if err != nil {
			return
		}
		if r != '\x1b' || in.Buffered() == 0 {
			keys <- string(r)
			continue
		}
		if next, _ := in.Peek(1); next[0] != '[' { // with Alt held down: no Escape, and no text
			next, _, _ := in.ReadRune()
			keys <- "\x1b" + string(next)
			continue
		}
		sequence := "\x1b"
		for {
			r, _, err := in.ReadRune()
			if err != nil {
				return
			}
			sequence += string(r)
			if len(sequence) > 2 && r >= '@' && r <= '~' {
				break
			}
		}
		if sequence != pasteStart {
			keys <- sequence
			continue
		}
		var paste strings.Builder
		for !strings.HasSuffix(paste.String(), pasteEnd) {
			r, _, err := in.ReadRune()
			if err != nil {
				return
			}
			paste.WriteRune(r)
		}
		keys <- strings.ReplaceAll(strings.TrimSuffix(paste.String(), pasteEnd), "\r", "\n")
	}
}
