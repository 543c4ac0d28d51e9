package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxInvocation = 64 << 10 // bytes of an invocation
	maxArguments  = 64
)

// invocation is a call as InvokeFunction spells it: name(argument: value, …).
type invocation struct {
	name      string
	arguments []argument
}

// argument is a value, or the path of a variable that has it.
type argument struct {
	name  string
	value json.RawMessage // nil when it is a path
	path  string          // followed in the call's context
}

var errInvocation = errors.New("the invocation cannot be read")

// parseInvocation reads a call. Values are JSON, or paths of variables such as
// user.x, with a question mark behind those that may be undefined.
func parseInvocation(text string) (invocation, error) {
	var call invocation
	if len(text) > maxInvocation {
		return invocation{}, errInvocation
	}
	name, rest, ok := strings.Cut(strings.TrimSpace(escaped(text)), "(")
	call.name = strings.TrimSpace(name)
	if !ok || !isPath(call.name) {
		return invocation{}, errInvocation
	}
	rest = strings.TrimLeft(rest, blanks)
	for more := !strings.HasPrefix(rest, ")"); more; {
		var a argument
		a.name, rest, ok = strings.Cut(rest, ":")
		a.name = strings.TrimSpace(a.name)
		known := func(b argument) bool { return b.name == a.name }
		if !ok || !isIdentifier(a.name) || slices.ContainsFunc(call.arguments, known) || len(call.arguments) >= maxArguments {
			return invocation{}, errInvocation
		}
		if rest, ok = a.read(strings.TrimLeft(rest, blanks)); !ok {
			return invocation{}, errInvocation
		}
		call.arguments = append(call.arguments, a)
		rest = strings.TrimLeft(rest, blanks)
		if rest, more = strings.CutPrefix(rest, ","); more {
			rest = strings.TrimLeft(rest, blanks)
		}
	}
	if strings.TrimRight(rest, blanks) != ")" {
		return invocation{}, errInvocation
	}
	return call, nil
}

// escaped writes the control characters within texts as JSON wants them: the
// official client sends them as they are.
func escaped(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' }) {
		return text
	}
	var b strings.Builder
	inside, protected := false, false
	for _, c := range []byte(text) {
		switch {
		case inside && c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
			protected = false
			continue
		case protected:
			protected = false
		case inside && c == '\\':
			protected = true
		case c == '"':
			inside = !inside
		}
		b.WriteByte(c)
	}
	return b.String()
}

const blanks = " \t\r\n"

// read takes a value, or a path, off the front of text.
func (a *argument) read(text string) (rest string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		n := quoted(text)
		a.value = json.RawMessage(text[:n])
		return text[n:], json.Valid(a.value)
	}
	end := strings.IndexAny(text, ",)")
	if end < 0 {
		return "", false
	}
	word := strings.TrimSpace(text[:end])
	if isPath(strings.TrimSuffix(word, "?")) && !slices.Contains([]string{"true", "false", "null"}, word) {
		a.path = word
		return text[end:], true
	}
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&a.value); err != nil {
		return "", false
	}
	return text[d.InputOffset():], true
}

// quoted is how long the JSON string is with which text begins.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text)
}

// isPath reports whether text is identifiers joined by dots.
func isPath(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if !isIdentifier(part) {
			return false
		}
	}
	return len(text) <= maxName
}

func isIdentifier(text string) bool {
	for i, c := range []byte(text) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != "" && len(text) <= maxName
}

// get reads an argument into a value. Without such an argument it is false.
func (call invocation) get(name string, into any) bool {
	for _, a := range call.arguments {
		if a.name == name {
			return strictly(a.value, into)
		}
	}
	return false
}

// strictly decodes one JSON value, which must be of the type of into and not null.
func strictly(data []byte, into any) bool {
	if len(data) == 0 || bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return false
	}
	return json.Unmarshal(data, into) == nil
}

// has reports whether an argument is given.
func (call invocation) has(name string) bool { return slices.Contains(call.names(), name) }

// names are the names of the arguments, in order.
func (call invocation) names() []string {
	var list []string
	for _, a := range call.arguments {
		list = append(list, a.name)
	}
	slices.Sort(list)
	return list
}
