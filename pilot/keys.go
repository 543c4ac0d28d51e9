package pilot

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"termpilot/fault"
)

// key is what a key sends (XTerm Control Sequences, "PC-Style Function Keys").
type key struct {
	plain       string
	application string // in application cursor mode (DECCKM); "" is plain
}

// keyTable is the keys by name. ctrl_a … ctrl_z and alt_<char> are computed.
var keyTable = map[string]key{
	"enter":      {plain: "\r"},
	"tab":        {plain: "\t"},
	"shift_tab":  {plain: "\x1b[Z"},
	"escape":     {plain: "\x1b"},
	"backspace":  {plain: "\x7f"},
	"delete":     {plain: "\x1b[3~"},
	"insert":     {plain: "\x1b[2~"},
	"up":         {plain: "\x1b[A", application: "\x1bOA"},
	"down":       {plain: "\x1b[B", application: "\x1bOB"},
	"right":      {plain: "\x1b[C", application: "\x1bOC"},
	"left":       {plain: "\x1b[D", application: "\x1bOD"},
	"home":       {plain: "\x1b[H", application: "\x1bOH"},
	"end":        {plain: "\x1b[F", application: "\x1bOF"},
	"page_up":    {plain: "\x1b[5~"},
	"page_down":  {plain: "\x1b[6~"},
	"space":      {plain: " "},
	"ctrl_space": {plain: "\x00"},
	"f1":         {plain: "\x1bOP"},
	"f2":         {plain: "\x1bOQ"},
	"f3":         {plain: "\x1bOR"},
	"f4":         {plain: "\x1bOS"},
	"f5":         {plain: "\x1b[15~"},
	"f6":         {plain: "\x1b[17~"},
	"f7":         {plain: "\x1b[18~"},
	"f8":         {plain: "\x1b[19~"},
	"f9":         {plain: "\x1b[20~"},
	"f10":        {plain: "\x1b[21~"},
	"f11":        {plain: "\x1b[23~"},
	"f12":        {plain: "\x1b[24~"},
}

// KeyList is what [KeyNames] lists, in few words.
const KeyList = "enter tab shift_tab space escape backspace delete insert up down left right home end page_up page_down f1-f12 ctrl_a-ctrl_z ctrl_space alt_<char>"

// MaxKeys is the most keys of one call.
const MaxKeys = 64

// KeyNames lists the names that SendKeys knows, sorted. "alt_<char>" stands for
// alt_ and any one character.
func KeyNames() []string {
	names := make([]string, 0, len(keyTable)+27)
	for name := range keyTable {
		names = append(names, name)
	}
	for c := 'a'; c <= 'z'; c++ {
		names = append(names, "ctrl_"+string(c))
	}
	slices.Sort(names)
	return append(names, "alt_<char>")
}

// encodeKey returns what the named key sends.
func encodeKey(name string, application bool) (string, bool) {
	if k, ok := keyTable[name]; ok {
		if application && k.application != "" {
			return k.application, true
		}
		return k.plain, true
	}
	if c, ok := strings.CutPrefix(name, "ctrl_"); ok && len(c) == 1 && c[0] >= 'a' && c[0] <= 'z' {
		return string(rune(c[0] & 0x1f)), true
	}
	if c, ok := strings.CutPrefix(name, "alt_"); ok && utf8.RuneCountInString(c) == 1 && utf8.ValidString(c) {
		if r, _ := utf8.DecodeRuneInString(c); !unicode.IsControl(r) {
			return "\x1b" + c, true
		}
	}
	return "", false
}

// encodeKeys returns the bytes of all keys, in parts: after an escape key a
// program needs a pause, or it takes the key and the next one for Alt.
func encodeKeys(keys []string, application bool) ([][]byte, error) {
	refuse := func(code fault.Code, detail, hint string) ([][]byte, error) {
		return nil, &fault.Error{Op: "send_keys", Code: code, Detail: detail, Hint: hint}
	}
	if len(keys) == 0 {
		return refuse(fault.InvalidArgument, "no key is named", "pass one of: "+KeyList)
	}
	if len(keys) > MaxKeys {
		return refuse(fault.TooLarge, count(len(keys), "key")+" are too many for one call", "send text with send_text")
	}
	parts := [][]byte{nil}
	for i, name := range keys {
		text, ok := encodeKey(name, application)
		if !ok {
			return refuse(fault.InvalidArgument, "no key is named "+oneLine(name), "use one of: "+KeyList+"; type characters with send_text")
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], text...)
		if name == "escape" && i < len(keys)-1 {
			parts = append(parts, nil)
		}
	}
	return parts, nil
}
