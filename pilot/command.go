package pilot

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/terminal"
)

// MaxCommand is the most bytes of a command, and MaxText of a text to send.
const (
	MaxCommand = 16 << 10
	MaxText    = 16 << 10
)

// commandText checks a command and returns it as it will be typed: CRLF made
// LF, and without the line ends that the final Enter stands for.
func commandText(id, command string) (string, error) {
	refuse := func(code fault.Code, detail, hint string) (string, error) {
		return "", &fault.Error{Op: "run", Session: id, Code: code, Detail: detail, Hint: hint}
	}
	if len(command) > MaxCommand {
		return refuse(fault.TooLarge, fmt.Sprintf("the command has %d bytes; the limit is %d", len(command), MaxCommand),
			"put it into a script file and run that")
	}
	if !utf8.ValidString(command) {
		return refuse(fault.InvalidArgument, "the command is not valid UTF-8", "pass text")
	}
	text := strings.ReplaceAll(command, "\r\n", "\n")
	for _, r := range text {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return refuse(fault.InvalidArgument, fmt.Sprintf("the command holds the control character %U", r),
				"send keys with send_keys, or write the character as the shell's own escape such as $'\\x1b'")
		}
	}
	text = strings.TrimRight(text, "\n")
	if strings.TrimSpace(text) == "" {
		return refuse(fault.InvalidArgument, "the command is empty", "pass a command; to press Enter use send_keys")
	}
	return text, nil
}

// onlyComments reports whether a shell with comments runs nothing of the text.
func onlyComments(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// Bracketed paste (XTerm Control Sequences, "Bracketed Paste Mode").
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// keystrokes returns the bytes that enter the text at a shell's prompt and run
// it. Where the shell takes pastes it is one paste, so that several lines and
// tabs arrive as text. Elsewhere a tab or newline is quoted with Ctrl-V, which
// bash's and zsh's line editors, vi mode too, and the terminal driver's line
// mode understand. Other shells (fish pastes the clipboard at Ctrl-V) get the
// first line, and the rest line by line as they ask for it: typed ahead, it
// could be read by a program and would show in its output. fish drops tabs, also
// those of a paste.
func keystrokes(id terminal.ID, text string, paste terminal.Known, shell string) (first []byte, rest []string, err error) {
	if shell == "fish" && strings.Contains(text, "\t") {
		blank, ok := withoutTabs(text)
		if !ok {
			return nil, nil, &fault.Error{
				Op: "run", Session: string(id), Code: fault.InvalidArgument,
				Detail: "fish drops the tabs that are typed or pasted, and one stands inside quotes", Hint: `write it as \t outside of quotes, or put the command into a file`,
			}
		}
		text = blank
	}
	if paste == terminal.Yes {
		return []byte(pasteStart + text + pasteEnd + "\r"), nil, nil
	}
	if !strings.ContainsAny(text, "\t\n") {
		return []byte(text + "\r"), nil, nil
	}
	switch shell {
	case "bash", "zsh":
		return []byte(strings.NewReplacer("\t", "\x16\t", "\n", "\x16\n").Replace(text) + "\r"), nil, nil
	}
	if strings.Contains(text, "\t") {
		return nil, nil, &fault.Error{
			Op: "run", Session: string(id), Code: fault.InvalidArgument,
			Detail: "this shell takes no paste, and a typed tab would complete a word", Hint: "use spaces in place of tabs",
		}
	}
	lines := strings.Split(text, "\n")
	return []byte(lines[0] + "\r"), lines[1:], nil
}

// withoutTabs returns a command of fish's with blanks for the tabs between its
// words. ok is false when a tab stands in quotes or behind a backslash, or may do
// so, for there a blank is something else.
func withoutTabs(text string) (blank string, ok bool) {
	var b strings.Builder
	var quote, before rune
	escaped, comment, word := false, false, false
	for _, r := range text {
		switch {
		case r == '\t' && (quote != 0 || escaped):
			return "", false
		case escaped:
			escaped, word = false, true
		case comment:
			comment = r != '\n'
		case r == '\\':
			escaped = true
		case quote == '"' && before == '$' && r == '(': // a command inside, with quotes of its own
			return "", false
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote, word = r, true
		case r == '#' && !word:
			comment = true
		default:
			word = !unicode.IsSpace(r) && !strings.ContainsRune(";|&()<>", r)
		}
		if before = r; r == '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

// linesOf is the lines of a command that have not started yet; nil for a
// command whose text is not known.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// after returns the lines that are left when a command starts which the
// terminal saw typed as command. named reports whether the lines begin with it.
func after(lines []string, command string) (rest []string, named bool) {
	want := squash(command)
	if want == "" {
		return lines, false
	}
	for n := len(lines); n > 0; n-- { // the longest that fits: all of it, as a rule
		if squash(strings.Join(lines[:n], "\n")) != want {
			continue
		}
		for rest = lines[n:]; len(rest) > 0 && onlyComments(rest[0]); rest = rest[1:] {
		}
		return rest, true
	}
	return lines, false
}

// squash removes what a terminal adds to or takes from a command on its way
// back: blanks, line breaks and continuation prompts.
func squash(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), "> ")
		for _, r := range line {
			if !unicode.IsSpace(r) {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
