package iterm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// badSpec finds what no terminal could open.
func badSpec(spec terminal.OpenSpec) error {
	bad := func(detail, hint string) error {
		return &fault.Error{Op: "open", Code: fault.InvalidArgument, Detail: detail, Hint: hint}
	}
	for what, text := range map[string]string{
		"command": spec.Command, "working directory": spec.Cwd, "name": spec.Name, "profile": spec.Profile, "window": spec.Window,
	} {
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return bad("the "+what+" is not text", "give valid UTF-8 without NUL")
		}
	}
	for name, value := range spec.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) || !utf8.ValidString(name+value) {
			return bad("a variable of the environment is malformed", "give names without '=' and values without NUL")
		}
	}
	switch {
	case spec.Rows < 0 || spec.Columns < 0 || spec.Rows > maxCells || spec.Columns > maxCells:
		return bad("the size is out of range", "give rows and columns from 1 to 1000, or none")
	case spec.Place == terminal.InTab && spec.Window == "":
		return bad("a tab needs a window", "give the id of a window")
	case spec.Place == terminal.InSplit && !exact(spec.Beside):
		return unknown("open", spec.Beside)
	case spec.Place > terminal.InSplit || spec.Direction > terminal.Above:
		return bad("the place is not known", "use a window, a tab or a split")
	}
	return nil
}

// profileProperties is a spec as changes to the profile of the new session.
func profileProperties(spec terminal.OpenSpec, ours bool) []*api.ProfileProperty {
	var list []*api.ProfileProperty
	set := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil { // strings, numbers and maps of strings always encode
			panic(fmt.Sprintf("iterm: encode %s: %v", key, err))
		}
		list = append(list, &api.ProfileProperty{Key: proto.String(key), JsonValue: proto.String(string(text))})
	}
	if spec.Name != "" {
		set("Name", spec.Name)
	}
	if spec.Cwd != "" {
		set("Custom Directory", "Yes")
		set("Working Directory", spec.Cwd)
	}
	if spec.Rows > 0 {
		set("Rows", spec.Rows)
	}
	if spec.Columns > 0 {
		set("Columns", spec.Columns)
	}
	if ours {
		if len(spec.Env) > 0 {
			set("Termpilot Environment", spec.Env)
		}
		if spec.Command != "" {
			set("Termpilot Shell Command", spec.Command)
		}
		return list
	}
	if spec.Command != "" || len(spec.Env) > 0 {
		set("Custom Command", "Yes")
		set("Command", wrapped(spec))
		set("Close Sessions On End", 1) // or the pane of a program that has ended would stay in the list
	}
	return list
}

// wrapped is a spec's command and environment as a command of iTerm2, which is
// split into words and executed without a shell. The login shell runs the
// command, with what its start-up files define for interactive use.
func wrapped(spec terminal.OpenSpec) string {
	words := []string{"/usr/bin/env"}
	for _, name := range slices.Sorted(maps.Keys(spec.Env)) {
		words = append(words, name+"="+spec.Env[name])
	}
	words = append(words, "/bin/sh", "-c")
	if spec.Command == "" {
		words = append(words, `exec "${SHELL:-/bin/sh}" -l`)
	} else {
		words = append(words, `exec "${SHELL:-/bin/sh}" -l -i -c "$1"`, "sh", spec.Command)
	}
	for i, w := range words {
		words[i] = word(w)
	}
	return strings.Join(words, " ")
}

// word quotes a word for iTerm2's own splitting of commands: a backslash takes
// the meaning from any character, except that it makes control characters of
// the letters a, n, r and t; single quotes mean nothing; "$$" begins a
// variable that the user is asked for, and "~" at the start a home folder.
func word(s string) string {
	if s == "" {
		return `""`
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < utf8.RuneSelf && !plainByte(byte(r)), unicode.IsSpace(r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func plainByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("/._-=:,@%+", c) >= 0
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }
