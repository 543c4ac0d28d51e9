package host

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

// keystroke is a key that a person pressed in an attached terminal, as far as
// the bytes that it sent tell.
type keystroke struct {
	bytes     []byte
	text      string // what the key gives; macOS's private characters for keys without one
	ignoring  string // what it would give with no modifier but shift
	modifiers []api.Modifiers
	code      int32 // of the key on an American keyboard; noKey when there is none
	known     bool  // false for what is no key: a paste, a report of the terminal's
}

const noKey = -1

// keyboard cuts what a person's terminal sends into keystrokes. What it sends in
// one piece may come in several, after a long paste for one.
type keyboard struct {
	pasting bool
	begun   []byte // of what ends a paste, or of what may begin one
}

var (
	pasteBegins = []byte("\x1b[200~")
	pasteEnds   = []byte("\x1b[201~")
)

// cut returns the input as keystrokes, whose bytes together are the input. What
// is pasted is none: it comes as a piece that is not known.
func (k *keyboard) cut(input []byte) []keystroke {
	var list []keystroke
	if n := k.goOn(input); n > 0 {
		list, input = append(list, keystroke{bytes: input[:n]}), input[n:]
	}
	for len(input) > 0 {
		key := k.next(input)
		list = append(list, key)
		input = input[len(key.bytes):]
	}
	return list
}

func (k *keyboard) next(input []byte) keystroke {
	if k.pasting || bytes.HasPrefix(input, pasteBegins) {
		end := bytes.Index(input, pasteEnds)
		if k.pasting = end < 0; k.pasting {
			k.begun = append(k.begun[:0], input[len(input)-overlap(input, pasteEnds):]...)
			return keystroke{bytes: input}
		}
		return keystroke{bytes: input[:end+len(pasteEnds)]}
	}
	if len(input) > 2 && bytes.HasPrefix(pasteBegins, input) { // ESC [ alone is Alt with a bracket
		k.begun = append(k.begun[:0], input...)
		return keystroke{bytes: input}
	}
	if input[0] != 0x1b {
		return plainKey(input)
	}
	if n := sequenceLength(input); n > 0 {
		return sequenceKey(input[:n])
	}
	if len(input) > 1 && input[1] != 0x1b { // a terminal sends Option, or Alt, as an escape before the key
		key := plainKey(input[1:])
		key.bytes = input[:len(key.bytes)+1]
		key.modifiers = append(key.modifiers, api.Modifiers_OPTION)
		return key
	}
	return keystroke{bytes: input[:1], text: "\x1b", ignoring: "\x1b", code: 53, known: true}
}

// goOn takes of input what goes on with what begins or ends a paste, and returns
// how many bytes that is.
func (k *keyboard) goOn(input []byte) int {
	mark := pasteBegins
	if k.pasting {
		mark = pasteEnds
	}
	rest := mark[len(k.begun):]
	n := len(rest)
	switch {
	case len(k.begun) == 0 || !bytes.HasPrefix(input, rest[:min(n, len(input))]):
		k.begun = k.begun[:0]
		return 0
	case len(input) < n:
		k.begun = append(k.begun, input...)
		return len(input)
	}
	k.begun, k.pasting = k.begun[:0], !k.pasting
	return n
}

// overlap is how much of mark's beginning text ends with.
func overlap(text, mark []byte) int {
	n := min(len(text), len(mark)-1)
	for !bytes.HasSuffix(text, mark[:n]) {
		n--
	}
	return n
}

// plainKey reads one character.
func plainKey(input []byte) keystroke {
	r, size := utf8.DecodeRune(input)
	key := keystroke{bytes: input[:size], text: string(r), ignoring: string(r), code: noKey, known: true}
	switch {
	case r == utf8.RuneError && size == 1:
		key.known = false
	case r == '\r', r == '\t', r == 0x7f:
		key.code = map[rune]int32{'\r': 36, '\t': 48, 0x7f: 51}[r]
	case r < ' ': // the control key takes the letter's upper bits away
		base := unicode.ToLower(r + '@')
		if r == 0 {
			base = ' '
		}
		key.ignoring, key.code = string(base), keyCode(base)
		key.modifiers = []api.Modifiers{api.Modifiers_CONTROL}
	default:
		key.code = keyCode(r)
		if unicode.IsUpper(r) || strings.ContainsRune(shifted, r) {
			key.modifiers = []api.Modifiers{api.Modifiers_SHIFT}
		}
	}
	return key
}

// The characters of an American keyboard: those under shift in the places of
// those without, and the codes of their keys.
const (
	unshifted = "`1234567890-=[]\\;',./"
	shifted   = "~!@#$%^&*()_+{}|:\"<>?"
)

var codes = map[rune]int32{
	'a': 0, 's': 1, 'd': 2, 'f': 3, 'h': 4, 'g': 5, 'z': 6, 'x': 7, 'c': 8, 'v': 9, 'b': 11, 'q': 12, 'w': 13, 'e': 14, 'r': 15,
	'y': 16, 't': 17, '1': 18, '2': 19, '3': 20, '4': 21, '6': 22, '5': 23, '=': 24, '9': 25, '7': 26, '-': 27, '8': 28, '0': 29,
	']': 30, 'o': 31, 'u': 32, '[': 33, 'i': 34, 'p': 35, 'l': 37, 'j': 38, '\'': 39, 'k': 40, ';': 41, '\\': 42, ',': 43, '/': 44,
	'n': 45, 'm': 46, '.': 47, ' ': 49, '`': 50,
}

func keyCode(r rune) int32 {
	if i := strings.IndexRune(shifted, r); i >= 0 {
		r = rune(unshifted[i])
	}
	if code, ok := codes[unicode.ToLower(r)]; ok {
		return code
	}
	return noKey
}

// sequenceLength is how long the CSI or SS3 sequence is with which input begins; 0 is none.
func sequenceLength(input []byte) int {
	if len(input) < 3 || input[1] != '[' && input[1] != 'O' {
		return 0
	}
	for i, b := range input[2:min(len(input), 34)] {
		if b >= '@' && b <= '~' {
			return i + 3
		}
		if b < ' ' || b > '~' {
			return 0
		}
	}
	return 0
}

// namedKey is a key that gives no character of its own.
type namedKey struct {
	character rune // by which macOS names it
	code      int32
}

var (
	lettered = map[string]namedKey{
		"A": {0xF700, 126}, "B": {0xF701, 125}, "C": {0xF703, 124}, "D": {0xF702, 123}, "H": {0xF729, 115}, "F": {0xF72B, 119},
		"P": {0xF704, 122}, "Q": {0xF705, 120}, "R": {0xF706, 99}, "S": {0xF707, 118}, "Z": {0x19, 48},
	}
	numbered = map[string]namedKey{
		"1": {0xF729, 115}, "2": {0xF746, 114}, "3": {0xF728, 117}, "4": {0xF72B, 119}, "5": {0xF72C, 116}, "6": {0xF72D, 121},
		"15": {0xF708, 96}, "17": {0xF709, 97}, "18": {0xF70A, 98}, "19": {0xF70B, 100}, "20": {0xF70C, 101}, "21": {0xF70D, 109},
		"23": {0xF70E, 103}, "24": {0xF70F, 111},
	}
)

// sequenceKey reads an escape sequence: ESC [ A, ESC O A, ESC [ 1 ; 5 A, ESC [ 15 ~.
func sequenceKey(input []byte) keystroke {
	first, second, _ := strings.Cut(string(input[2:len(input)-1]), ";")
	last := string(input[len(input)-1:])
	named, ok := lettered[last]
	if last == "~" {
		named, ok = numbered[first]
	} else if first != "" && first != "1" {
		ok = false // a report, such as ESC [ 24 ; 80 R
	}
	if !ok || len(second) > 1 {
		return keystroke{bytes: input}
	}
	text := string(named.character)
	key := keystroke{bytes: input, text: text, ignoring: text, code: named.code, known: true}
	if named.character >= 0xF700 {
		key.modifiers = []api.Modifiers{api.Modifiers_FUNCTION}
	}
	bits := byte(0)
	if second != "" {
		bits = second[0] - '1'
	}
	if bits&1 != 0 || last == "Z" {
		key.modifiers = append(key.modifiers, api.Modifiers_SHIFT)
	}
	if bits&2 != 0 {
		key.modifiers = append(key.modifiers, api.Modifiers_OPTION)
	}
	if bits&4 != 0 {
		key.modifiers = append(key.modifiers, api.Modifiers_CONTROL)
	}
	return key
}

// matches reports whether a keystroke is among those that a pattern names.
func (k keystroke) matches(p *api.KeystrokePattern) bool {
	has := func(m api.Modifiers) bool { return slices.Contains(k.modifiers, m) }
	for _, m := range p.GetRequiredModifiers() {
		if !has(m) {
			return false
		}
	}
	if slices.ContainsFunc(p.GetForbiddenModifiers(), has) {
		return false
	}
	return slices.Contains(p.GetKeycodes(), k.code) || slices.Contains(p.GetCharacters(), k.text) ||
		slices.Contains(p.GetCharactersIgnoringModifiers(), k.ignoring)
}

// maxPatterns is how many patterns one client may give for one subscription, and
// maxPatternBytes how long they may be together.
const maxPatterns, maxPatternBytes = 1024, 64 << 10

// press takes what a person typed into an attached terminal: it is told to the
// clients that watch, and what none of them keeps for itself goes to the program.
func (s *session) press(k *keyboard, input []byte) {
	passed := make([]byte, 0, len(input))
	for _, key := range k.cut(input) {
		if !key.known {
			passed = append(passed, key.bytes...)
			continue
		}
		s.host.hub.publish(about(api.NotificationType_NOTIFY_ON_KEYSTROKE, s.id), func() *api.Notification {
			return &api.Notification{KeystrokeNotification: &api.KeystrokeNotification{
				Characters: &key.text, CharactersIgnoringModifiers: &key.ignoring, Modifiers: key.modifiers,
				KeyCode: &key.code, Session: &s.id, Action: api.KeystrokeNotification_KEY_DOWN.Enum(),
			}}
		})
		if !s.host.hub.wanted(func(c *client) bool { return c.keeps(s.id, key) }) {
			passed = append(passed, key.bytes...)
		}
	}
	s.host.typeInto(s, passed, false)
}

// keeps reports whether a client asked for a keystroke not to reach its session.
func (c *client) keeps(session string, key keystroke) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range []api.NotificationType{api.NotificationType_KEYSTROKE_FILTER, api.NotificationType_NOTIFY_ON_KEYSTROKE} {
		for _, id := range []string{session, everySession} {
			if slices.ContainsFunc(c.patterns[subscription{kind: kind, session: id}], key.matches) {
				return true
			}
		}
	}
	return false
}

// patternsOf are the patterns that a subscription brings. false when they are too
// many or too long.
func patternsOf(in *api.NotificationRequest) ([]*api.KeystrokePattern, bool) {
	list := in.GetKeystrokeFilterRequest().GetPatternsToIgnore()
	if in.GetNotificationType() == api.NotificationType_NOTIFY_ON_KEYSTROKE {
		list = in.GetKeystrokeMonitorRequest().GetPatternsToIgnore()
	}
	bytes := 0
	for _, p := range list {
		bytes += proto.Size(p)
	}
	return list, len(list) <= maxPatterns && bytes <= maxPatternBytes
}
