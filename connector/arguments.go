package connector

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"termpilot/connector/internal/wire"
	"termpilot/fault"
)

// decode holds arguments against the schema of a tool's parameters, fills in
// what was left out, and stores the values in into, a pointer to the struct
// that the schema was made from. null counts as left out: some clients send it
// for every optional parameter. Every failure names the parameter: TooLarge
// for a text over its limit, else InvalidArgument.
func (s *schema) decode(op string, args json.RawMessage, into any) error {
	given := map[string]json.RawMessage{}
	if len(args) > 0 && string(args) != "null" {
		if !json.Valid(args) || !wire.IsObject(args) {
			return &fault.Error{Op: op, Code: fault.InvalidArgument, Detail: "arguments must be an object", Hint: "pass the parameters by name in one object"}
		}
	}
	maps.Insert(given, wire.Members(args))
	for name := range given {
		if _, ok := s.property(name); !ok {
			name = s.firstUnknown(given)
			return &fault.Error{
				Op: op, Code: fault.InvalidArgument,
				Detail: fmt.Sprintf("unknown parameter %q", wire.Clip(name, 80)),
				Hint:   fmt.Sprintf("leave out %s; %s", wire.Clip(name, 80), s.known()),
			}
		}
	}
	full := []byte{'{'} // all of them, in the schema's order
	add := func(name string, value json.RawMessage) {
		if len(full) > 1 {
			full = append(full, ',')
		}
		full = append(strconv.AppendQuote(full, name), ':')
		full = append(full, value...)
	}
	for _, p := range s.properties {
		value, ok := given[p.name]
		if !ok || string(value) == "null" {
			if p.required {
				return &fault.Error{
					Op: op, Code: fault.InvalidArgument,
					Detail: fmt.Sprintf("parameter %q is missing", p.name), Hint: fmt.Sprintf("pass %s as %s", p.name, p.schema.want()),
				}
			}
			if p.schema.preset != nil {
				add(p.name, p.schema.preset)
			}
			continue
		}
		checked, code, detail := p.schema.check(value)
		if code != "" {
			return &fault.Error{
				Op: op, Code: code,
				Detail: fmt.Sprintf("parameter %q %s", p.name, detail), Hint: fmt.Sprintf("pass %s as %s", p.name, p.schema.want()),
			}
		}
		add(p.name, checked)
	}
	if err := json.Unmarshal(append(full, '}'), into); err != nil {
		return fmt.Errorf("%s: arguments: %w", op, err)
	}
	return nil
}

// firstUnknown is the first by name of those given that there is no parameter for.
func (s *schema) firstUnknown(given map[string]json.RawMessage) string {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := s.property(name); !ok {
			return name
		}
	}
	return ""
}

// known lists the parameters, for a hint.
func (s *schema) known() string {
	if len(s.properties) == 0 {
		return "this tool takes no parameters"
	}
	names := make([]string, 0, len(s.properties))
	for _, p := range s.properties {
		names = append(names, p.name)
	}
	return "the parameters are " + strings.Join(names, ", ")
}

// check holds one value against its schema. It returns the value, a whole
// number spelled as one, or a code and what is wrong.
func (s *schema) check(value json.RawMessage) (json.RawMessage, fault.Code, string) {
	bad := func(detail string) (json.RawMessage, fault.Code, string) {
		return nil, fault.InvalidArgument, detail
	}
	switch s.kind {
	case "boolean":
		if v := string(value); v != "true" && v != "false" {
			return bad("must be true or false, not " + typeName(value))
		}
	case "integer":
		return s.checkInteger(value)
	case "string":
		return s.checkString(value)
	case "array":
		var items []json.RawMessage
		if value[0] != '[' || json.Unmarshal(value, &items) != nil {
			return bad("must be a list, not " + typeName(value))
		}
		if s.out(int64(len(items))) {
			return bad(fmt.Sprintf("has %d items", len(items)))
		}
		for i, item := range items {
			checked, code, detail := s.items.check(item)
			if code != "" {
				return nil, code, fmt.Sprintf("item %d %s", i, detail)
			}
			items[i] = checked
		}
	case "object":
		var entries map[string]json.RawMessage
		if value[0] != '{' || json.Unmarshal(value, &entries) != nil {
			return bad("must be an object, not " + typeName(value))
		}
		if s.out(int64(len(entries))) {
			return bad(fmt.Sprintf("has %d entries", len(entries)))
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if _, code, detail := s.values.check(entries[name]); code != "" {
				return nil, code, fmt.Sprintf("entry %q %s", wire.Clip(name, 80), detail)
			}
		}
	}
	return value, "", ""
}

func (s *schema) checkInteger(value json.RawMessage) (json.RawMessage, fault.Code, string) {
	var n float64
	if c := value[0]; c != '-' && (c < '0' || c > '9') || json.Unmarshal(value, &n) != nil {
		return nil, fault.InvalidArgument, "must be an integer, not " + typeName(value)
	}
	if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return nil, fault.InvalidArgument, "must be an integer, not " + wire.Clip(string(value), 40)
	}
	if s.out(int64(n)) {
		return nil, fault.InvalidArgument, fmt.Sprintf("is %d", int64(n))
	}
	return fmt.Appendf(nil, "%d", int64(n)), "", ""
}

func (s *schema) checkString(value json.RawMessage) (json.RawMessage, fault.Code, string) {
	var v string
	if value[0] != '"' || json.Unmarshal(value, &v) != nil {
		return nil, fault.InvalidArgument, "must be a string, not " + typeName(value)
	}
	size := int64(len(v))
	switch {
	case !whole(value):
		return nil, fault.InvalidArgument, "is not Unicode: it holds half a character"
	case s.max != nil && size > *s.max:
		return nil, fault.TooLarge, fmt.Sprintf("has %d bytes", size)
	case s.min != nil && size < *s.min:
		return nil, fault.InvalidArgument, "is too short"
	case s.enum != nil && !slices.Contains(s.enum, v):
		return nil, fault.InvalidArgument, fmt.Sprintf("is %q", wire.Clip(v, 80))
	case s.pattern != "" && !s.matches().MatchString(v):
		return nil, fault.InvalidArgument, fmt.Sprintf("is %q, which is not one of those allowed", wire.Clip(v, 80))
	}
	return value, "", ""
}

// whole reports whether a JSON string is all Unicode: neither bytes that are no
// UTF-8 nor half a surrogate pair, for which the decoder puts U+FFFD. A text
// that is to be typed as given must not be changed on the way.
func whole(value json.RawMessage) bool {
	if !utf8.Valid(value) {
		return false
	}
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			continue
		}
		high, ok := escape(value[i:])
		switch {
		case !ok:
			i++ // a short escape
		case !utf16.IsSurrogate(high):
			i += 5
		default:
			low, ok := escape(value[i+6:])
			if !ok || utf16.DecodeRune(high, low) == utf8.RuneError {
				return false
			}
			i += 11
		}
	}
	return true
}

// escape reads the \uXXXX that value may begin with.
func escape(value json.RawMessage) (rune, bool) {
	if len(value) < 6 || value[0] != '\\' || value[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(value[2:6]), 16, 16)
	return rune(n), err == nil
}

// out reports whether a number is out of the schema's bounds.
func (s *schema) out(n int64) bool {
	return s.min != nil && n < *s.min || s.max != nil && n > *s.max
}

func typeName(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
