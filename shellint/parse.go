package shellint

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
)

// The limits of what Parse takes over. A longer field is left out, a longer
// payload is no mark.
const (
	maxPayload = 256 << 10 // bytes of one operating system command
	maxText    = 64 << 10  // bytes of a command line or directory
	maxField   = 128       // bytes of an id, a nonce, a name, a user, a host
	maxValue   = 4 << 10   // bytes of a user variable or property
	maxEOL     = 64        // bytes of zsh's end-of-line mark
	maxFields  = 32        // fields that are looked at
)

// Parse reads the operating system command with the given number and payload
// (what follows the number and its semicolon) as a mark. It reports false for
// anything that is not a mark that termpilot knows; it never fails otherwise.
// The grammars are those of FinalTerm and its successors (133), VS Code (633),
// iTerm2 (1337) and the file URLs of OSC 7. A status that is not a decimal
// number in 0..255 is no status.
func Parse(command int, payload []byte) (Mark, bool) {
	if len(payload) > maxPayload {
		return Mark{}, false
	}
	// iTerm2's scripts put a carriage return before the terminator.
	payload = bytes.TrimRight(payload, "\r\n")
	text := string(payload)
	switch command {
	case 7:
		return parseURL(text)
	case 133:
		return parsePrompt(text)
	case 633:
		return parseCode(text)
	case 1337:
		return parseITerm(text)
	}
	return Mark{}, false
}

// parsePrompt reads OSC 133: a letter, then fields; those with "=" are
// attributes, in any order.
func parsePrompt(text string) (Mark, bool) {
	letter, rest, _ := strings.Cut(text, ";")
	m := Mark{}
	switch strings.TrimSpace(letter) {
	case "A", "N", "P":
		m.Kind = PromptStart
	case "B":
		m.Kind = PromptEnd
	case "C":
		m.Kind = OutputStart
	case "D":
		m.Kind = CommandEnd
	case "S":
		m.Kind = Standing
	default:
		return Mark{}, false
	}
	fields := strings.SplitN(rest, ";", maxFields+1)
	for i, f := range fields[:min(len(fields), maxFields)] {
		name, value, attribute := strings.Cut(strings.TrimSpace(f), "=")
		if attribute {
			m.attribute(name, value)
		} else if i == 0 {
			m.status(name)
		}
	}
	return m, true
}

func (m *Mark) attribute(name, value string) {
	switch name {
	case "aid":
		m.AID = limited(value, maxField)
	case "n":
		m.Nonce = limited(value, maxField)
	case "k":
		prompt := m.Kind == PromptStart || m.Kind == PromptEnd
		m.Secondary = prompt && (value == "s" || value == "c")
		m.Right = prompt && value == "r"
	case "eol":
		if b, err := base64.StdEncoding.DecodeString(value); err == nil && len(b) <= maxEOL && m.Kind == CommandEnd {
			m.HasEOL, m.EOL = true, clean(string(b), "")
		}
	case "line":
		m.Holds = m.Kind == Standing && value == "1"
	case "drawn":
		m.Drawn = m.Kind == Standing && value == "1"
	case "mode":
		m.Mode = m.Kind == Standing && value == "c"
	case "precmd":
		m.Hooked = m.Kind == CommandEnd && value == "1"
	case "cmdline_url": // kitty's, also printed by fish itself since 4.1
		if m.Kind == OutputStart {
			m.Text = limited(clean(percentDecode(value), "\t\n"), maxText)
		}
	}
}

// status takes over an exit status. Anything but a decimal number in 0..255 is none.
func (m *Mark) status(s string) {
	if m.Kind != CommandEnd && m.Kind != CurrentDir || len(s) == 0 || len(s) > 3 || s[0] < '0' || s[0] > '9' {
		return
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > 255 {
		return
	}
	m.HasExit, m.Exit = true, n
}

// parseCode reads OSC 633, as VS Code's scripts print it.
func parseCode(text string) (Mark, bool) {
	letter, rest, more := strings.Cut(text, ";")
	switch strings.TrimSpace(letter) {
	case "A", "B", "C", "D":
		return parsePrompt(text)
	case "F": // a continuation prompt begins
		return Mark{Kind: PromptStart, Secondary: true}, true
	case "G": // and ends
		return Mark{Kind: PromptEnd, Secondary: true}, true
	case "E":
		line, nonce, _ := strings.Cut(rest, ";")
		line = limited(clean(codeUnescape(line), "\t\n"), maxText)
		return Mark{Kind: CommandLine, Text: line, Nonce: limited(nonce, maxField)}, more
	case "P":
		name, value, ok := strings.Cut(rest, "=")
		if !ok || name == "" || len(name) > maxField {
			return Mark{}, false
		}
		value = clean(codeUnescape(value), "")
		if name == "Cwd" {
			return Mark{Kind: CurrentDir, Text: value}, value != "" && len(value) <= maxText
		}
		return Mark{Kind: Property, Name: clean(name, ""), Text: limited(value, maxValue)}, true
	}
	return Mark{}, false
}

// parseITerm reads those keys of OSC 1337 that concern the shell.
func parseITerm(text string) (Mark, bool) {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return Mark{}, false
	}
	switch key {
	case "RemoteHost":
		// iTerm2 splits at the last @; a missing host is this machine.
		value = clean(value, "")
		m := Mark{Kind: RemoteHost, User: value}
		if i := strings.LastIndexByte(value, '@'); i >= 0 {
			m.User, m.Host = value[:i], localHost(value[i+1:])
		}
		return m, len(value) <= 2*maxField
	case "CurrentDir":
		value = clean(value, "")
		return Mark{Kind: CurrentDir, Text: value}, value != "" && len(value) <= maxText
	case "ShellIntegrationVersion":
		version, rest, _ := strings.Cut(value, ";")
		shell, _ := strings.CutPrefix(rest, "shell=")
		m := Mark{Kind: Version, Text: limited(clean(version, ""), maxField), Name: limited(clean(shell, ""), maxField)}
		return m, m.Text != ""
	case "SetUserVar":
		return parseUserVar(value)
	}
	return Mark{}, false
}

// parseUserVar reads NAME=BASE64; without "=" the variable is removed. iTerm2
// allows no dot in the name.
func parseUserVar(text string) (Mark, bool) {
	name, encoded, set := strings.Cut(text, "=")
	if name == "" || len(name) > maxField || name != clean(name, "") || strings.Contains(name, ".") {
		return Mark{}, false
	}
	if !set {
		return Mark{Kind: UserVar, Name: name, Unset: true}, true
	}
	if len(encoded) > 2*maxValue {
		return Mark{}, false
	}
	value, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(value) > maxValue {
		return Mark{}, false
	}
	return Mark{Kind: UserVar, Name: name, Text: clean(string(value), "\t\n")}, true
}

// parseURL reads OSC 7: file://HOST/PATH, percent-encoded, or kitty's
// kitty-shell-cwd://HOST/PATH, which is not. Our own scripts append the
// fragment #n=NONCE and what tmux is to keep; other number signs are part of the path, for scripts
// that do not encode them.
func parseURL(text string) (Mark, bool) {
	m := Mark{Kind: CurrentDir}
	if i := strings.LastIndex(text, "#n="); i >= 0 {
		fields := strings.SplitN(text[i+3:], ";", maxFields+1)
		text, m.Nonce = text[:i], limited(fields[0], maxField)
		for _, f := range fields[1:min(len(fields), maxFields)] {
			m.stands(f)
		}
	}
	scheme, rest, ok := strings.Cut(text, "://")
	slash := strings.IndexByte(rest, '/')
	if !ok || slash < 0 || slash > 2*maxField {
		return Mark{}, false
	}
	host, path := rest[:slash], rest[slash:]
	switch strings.ToLower(scheme) {
	case "file":
		host, path = percentDecode(host), percentDecode(path)
	case "kitty-shell-cwd":
	default:
		return Mark{}, false
	}
	m.Host, m.Text = localHost(clean(host, "")), clean(path, "")
	return m, len(m.Text) <= maxText
}

// stands reads a field of what our scripts tell tmux to keep.
func (m *Mark) stands(field string) {
	name, value, _ := strings.Cut(field, "=")
	switch name {
	case "at", "more", "run":
		m.AID, m.Runs, m.Secondary = limited(value, maxField), name == "run", name == "more"
	case "tell":
		m.Tells = value == "1"
	case "d":
		count, status, _ := strings.Cut(value, ":")
		shell := strings.LastIndexByte(m.AID, '-')
		if shell >= 0 && count != "" && len(count) <= 20 && strings.Trim(count, "0123456789") == "" {
			m.status(status)
		}
		if m.HasExit {
			m.Before = m.AID[:shell+1] + count
		}
	}
}

func localHost(host string) string {
	if strings.EqualFold(host, "localhost") {
		return ""
	}
	return host
}

// limited returns s, or "" when it is longer than most: half an id or half a
// command would be another one.
func limited(s string, most int) string {
	if len(s) > most {
		return ""
	}
	return s
}

// clean makes s valid UTF-8 and drops control characters other than those in keep.
func clean(s, keep string) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' || r >= 0x7f && r < 0xa0) && !strings.ContainsRune(keep, r) {
			return -1
		}
		return r // an invalid byte comes as U+FFFD
	}, s)
}

// percentDecode decodes %XX. A percent sign without two hexadecimal digits stands for itself.
func percentDecode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	return decodeHex(s, "%")
}

// codeUnescape decodes the escapes of OSC 633: \\ and \xHH.
func codeUnescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	// A doubled backslash must not begin an escape: take the pieces between them one by one.
	pieces := strings.Split(s, `\\`)
	for i, p := range pieces {
		pieces[i] = decodeHex(p, `\x`)
	}
	return strings.Join(pieces, `\`)
}

// decodeHex replaces each introducer that two hexadecimal digits follow with the byte they name.
func decodeHex(s, introducer string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		before, after, found := strings.Cut(s, introducer)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = after
		if len(after) >= 2 {
			if n, err := strconv.ParseUint(after[:2], 16, 8); err == nil {
				b.WriteByte(byte(n))
				s = after[2:]
				continue
			}
		}
		b.WriteString(introducer)
	}
}
