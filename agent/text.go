package agent

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"termpilot/fault"
)

const (
	// MaxPrompt is the most bytes of a prompt.
	MaxPrompt = 32 << 10
	// MaxOperation is the most bytes of an operation's id.
	MaxOperation = 128

	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	enter      = "\r"
	escape     = "\x1b"
	// pad stands behind a prompt: Enter behind a name that is being typed, as one
	// after an @, would complete it and send nothing.
	pad = " "
)

// checkPrompt returns a prompt as it is pasted: line ends are LF, and those at
// its end are gone. What a paste cannot carry, or the vendor would take for
// something else than a prompt, is refused.
func checkPrompt(op, session, text string) (string, error) {
	no := func(code fault.Code, detail, hint string) (string, error) {
		return "", refused(op, session, code, detail, hint)
	}
	text = strings.TrimRight(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n \t")
	switch {
	case strings.TrimSpace(text) == "":
		return no(fault.InvalidArgument, "the text is blank", "pass what the agent is to do")
	case len(text) > MaxPrompt:
		return no(fault.TooLarge, fmt.Sprintf("the text has %d bytes; the limit is %d", len(text), MaxPrompt), "write it to a file and tell the agent to read that")
	case !utf8.ValidString(text):
		return no(fault.InvalidArgument, "the text is not valid UTF-8", "pass text")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return no(fault.InvalidArgument, "the text holds control characters, which a paste cannot carry", "remove them")
	case strings.ContainsAny(text[:1], "/!"):
		return no(fault.InvalidArgument, "the agent would take a text that begins with "+text[:1]+" for a command of its own", "begin with a word; to change the model use agent_configure")
	}
	return text, nil
}

func checkOperation(op, session, id string) error {
	if len(id) > MaxOperation || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return refused(op, session, fault.InvalidArgument, "operation_id is over 128 bytes or holds control characters", "pass a short id of your own, such as a UUID")
	}
	return nil
}
