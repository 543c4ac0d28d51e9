package pilot

import (
	"fmt"
	"regexp"
	"strings"

	"termpilot/fault"
	"termpilot/shellwords"
)

// tripwire recognises commands that look destructive: a guard against slips.
// It is no wall: a command can be written in endless ways, and what a program
// does is not seen. The list is specs/tripwire.md.
type tripwire struct{ extra []*regexp.Regexp }

// newTripwire returns the built-in list plus further regular expressions
// (RE2), each tried on the whole text of a command. InvalidArgument names the
// one that does not compile.
func newTripwire(patterns []string) (*tripwire, error) {
	w := &tripwire{}
	for i, expr := range patterns {
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, &fault.Error{
				Op: "tripwire", Code: fault.InvalidArgument, Detail: fmt.Sprintf("pattern %d is not RE2", i+1),
				Hint: "correct the pattern", Err: err,
			}
		}
		w.extra = append(w.extra, re)
	}
	return w, nil
}

// ParseTripwire returns the patterns of a tripwire file: one a line; blank
// lines and lines that begin with # are skipped.
func ParseTripwire(text string) []string {
	var patterns []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			patterns = append(patterns, line)
		}
	}
	return patterns
}

// nestedShells is how deep commands inside commands are looked at.
const nestedShells = 4

// check says what looks destructive in a command.
func (w *tripwire) check(command string) (danger string, found bool) {
	for _, re := range w.extra {
		if re.MatchString(command) {
			return "the command matches the tripwire pattern " + re.String(), true
		}
	}
	if danger := dangerIn(command, nestedShells); danger != "" {
		return danger, true
	}
	return "", false
}

func dangerIn(text string, depth int) string {
	if isForkBomb(text) {
		return "a function that starts itself without end"
	}
	for _, c := range shellwords.Parse(text) {
		if d := dangerOf(c, depth); d != "" {
			return d
		}
	}
	return ""
}

// dangerOf says what looks destructive in one simple command.
func dangerOf(c shellwords.Simple, depth int) string {
	for _, to := range c.Writes {
		if isDisk(to) {
			return "it writes over the device " + to
		}
		if isVital(to) {
			return "it writes over " + to
		}
	}
	if depth > 0 {
		for _, inner := range c.Inner {
			if d := dangerIn(inner, depth-1); d != "" {
				return d
			}
		}
	}
	words := shellwords.Program(c)
	if len(words) == 0 {
		return ""
	}
	name, args := shellwords.Base(words[0]), words[1:]
	if depth > 0 {
		if script, ok := shellwords.Script(words, c.Stdin); ok {
			return dangerIn(script, depth-1)
		}
	}
	for _, rule := range rules {
		if rule.of(name) {
			if d := rule.danger(args); d != "" {
				return d
			}
		}
	}
	return ""
}

// isForkBomb finds a function whose body pipes it into itself in the
// background: f(){ f|f& };f in any name and spacing.
func isForkBomb(text string) bool {
	compact := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n;", r) {
			return -1
		}
		return r
	}, text)
	for i := 0; ; i++ {
		at := strings.Index(compact[i:], "(){")
		if at < 0 {
			return false
		}
		i += at
		start := i
		for start > 0 && (compact[start-1] == ':' || compact[start-1] == '_' || compact[start-1]|0x20 >= 'a' && compact[start-1]|0x20 <= 'z') {
			start--
		}
		name := strings.TrimPrefix(compact[start:i], "function")
		if name != "" && strings.HasPrefix(compact[i+3:], name+"|"+name+"&") {
			return true
		}
	}
}
