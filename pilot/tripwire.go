package pilot

import (
	"fmt"
	"regexp"
	"strings"

	"termpilot/fault"
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
	for _, c := range parseShell(text) {
		if d := c.danger(depth); d != "" {
			return d
		}
	}
	return ""
}

// danger says what looks destructive in one simple command.
func (c simple) danger(depth int) string {
	for _, to := range c.writes {
		if isDisk(to) {
			return "it writes over the device " + to
		}
		if isVital(to) {
			return "it writes over " + to
		}
	}
	if depth > 0 {
		for _, inner := range c.inner {
			if d := dangerIn(inner, depth-1); d != "" {
				return d
			}
		}
	}
	words := c.program()
	if len(words) == 0 {
		return ""
	}
	name, args := words[0], words[1:]
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if depth > 0 {
		if script, ok := scriptOf(name, args, c.stdin); ok {
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

// scriptOf returns the shell text that a command is given to run.
func scriptOf(name string, args []string, stdin string) (string, bool) {
	switch name {
	case "eval":
		return strings.Join(args, " "), true
	case "ssh":
		for i := 0; i < len(args); i++ {
			if strings.HasPrefix(args[i], "-") {
				if len(args[i]) == 2 && strings.ContainsAny(args[i][1:], "bcDEeFIiJLlmOopQRSWw") {
					i++
				}
				continue
			}
			return strings.Join(args[i+1:], " "), len(args) > i+1
		}
		return "", false
	}
	if !isShell(name) {
		return "", false
	}
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return stdin, stdin != ""
}

// wrappers are programs that run the command which follows them.
var wrappers = map[string]string{ // the name, and its options that take a value
	"sudo": "ugpChrtTD", "doas": "uC", "env": "uCS", "command": "", "builtin": "", "exec": "a", "nohup": "", "time": "of", "nice": "n",
	"ionice": "cnp", "stdbuf": "ioe", "setsid": "", "xargs": "InPLsEda", "timeout": "sk", "then": "", "do": "", "else": "", "if": "", "while": "",
	"until": "", "!": "", "{": "", "noglob": "", "nocorrect": "", "chronic": "", "unbuffer": "", "run0": "", "pkexec": "", "and": "", "or": "", "not": "", "begin": "",
}

// program is the words of a command from the program's name on: without
// assignments and the programs that only run another.
func (c simple) program() []string {
	words := c.words
	for len(words) > 0 {
		name := words[0]
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			name = name[i+1:]
		}
		if isAssignment(words[0]) {
			words = words[1:]
			continue
		}
		values, wraps := wrappers[name]
		if !wraps {
			return words
		}
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "-") && len(words[0]) > 1 {
			takes := len(words[0]) == 2 && strings.Contains(values, words[0][1:])
			words = words[1:]
			if takes && len(words) > 0 {
				words = words[1:]
			}
		}
		if name == "timeout" && len(words) > 0 {
			words = words[1:] // its duration
		}
	}
	return nil
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return false
	}
	for i, r := range name {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
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
