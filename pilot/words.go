package pilot

import (
	"fmt"
	"strings"
	"unicode"

	"termpilot/terminal"
)

// longestField caps text from programs in listings, in characters.
const longestField = 256

// oneLine is text from a program as listings and messages show it.
func oneLine(s string) string { return terminal.OneLine(s, longestField) }

func hasControl(s string) bool {
	return strings.ContainsFunc(s, unicode.IsControl)
}

// describeExit says how a session's program ended.
func describeExit(e terminal.Exit) string {
	switch {
	case e.Signal != "":
		return "the session ended by " + e.Signal
	case e.Code != nil:
		return fmt.Sprintf("the session ended with code %d", *e.Code)
	}
	return "the session ended"
}

// count returns "1 line" or "n lines".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
