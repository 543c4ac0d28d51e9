package connector

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"termpilot/connector/internal/wire"
	"termpilot/lazy"
)

// schema is the part of JSON Schema that the tools need, made from Go types:
// no oneOf, no $ref, which some clients reject together with the whole list.
// Properties keep the order of the struct's fields.
//
// A type of string with a method among may have the values that it returns. The
// tags of a field of a tool's parameters:
//
//	json        its name; with omitempty it may be left out
//	jsonschema  its description
//	default     its value when it is left out
//	enum        the values that it may have, comma-separated
//	min, max    bounds of an integer, of a string's bytes, of an array's or map's length
//	pattern     what a string, or each string of an array, must match
type schema struct {
	kind       string // object, array, string, integer, boolean
	about      string
	null       bool // may be null
	properties []property
	closed     bool    // no other properties
	result     bool    // part of a tool's result: which properties it needs is not spelled out
	items      *schema // of an array
	values     *schema // of an object that is a map
	enum       []string
	preset     json.RawMessage
	min, max   *int64
	pattern    string
	matches    func() *regexp.Regexp // the pattern
}

// property is a named part of an object.
type property struct {
	name     string
	required bool
	schema   *schema
}

func inputSchema(t reflect.Type) *schema {
	s := reflected(t, true)
	s.closed = true
	return s
}

// outputSchema describes a result. It leaves room for later fields and does not
// list those that are always there, which are all but a few: a tenth of the
// list of tools would be that.
func outputSchema(t reflect.Type) *schema { return reflected(t, false) }

// reflected describes a type. It panics on a type that no tool has use for: a
// test asks for the schemas of all tools.
func reflected(t reflect.Type, isInput bool) *schema {
	if t == reflect.TypeFor[time.Time]() {
		return &schema{kind: "string"} // as it is in JSON
	}
	switch t.Kind() {
	case reflect.String:
		s := &schema{kind: "string"}
		if v, ok := reflect.Zero(t).Interface().(interface{ among() []string }); ok {
			s.enum = v.among()
		}
		return s
	case reflect.Bool:
		return &schema{kind: "boolean"}
	case reflect.Int, reflect.Int64:
		return &schema{kind: "integer"}
	case reflect.Slice:
		return &schema{kind: "array", items: reflected(t.Elem(), isInput)}
	case reflect.Map:
		return &schema{kind: "object", values: reflected(t.Elem(), isInput)}
	case reflect.Pointer:
		s := reflected(t.Elem(), isInput)
		s.null = true
		return s
	case reflect.Struct:
		s := &schema{kind: "object", result: !isInput}
		for f := range t.Fields() {
			if f.Anonymous { // its fields are the struct's own, as for encoding/json
				s.properties = append(s.properties, reflected(f.Type, isInput).properties...)
				continue
			}
			s.properties = append(s.properties, field(f, isInput))
		}
		return s
	}
	panic("no schema for " + t.String())
}

func field(f reflect.StructField, isInput bool) property {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	s := reflected(f.Type, isInput)
	s.about = f.Tag.Get("jsonschema")
	p := property{name: name, required: options == "", schema: s}
	if !p.required {
		s.null = false // it is left out instead
	}
	inner := s
	if s.kind == "array" {
		inner = s.items
	}
	if v := f.Tag.Get("enum"); v != "" {
		inner.enum = strings.Split(v, ",")
	}
	if v := f.Tag.Get("pattern"); v != "" {
		inner.pattern, inner.matches = v, lazy.Regexp(v)
	}
	s.min, s.max = bound(f.Tag.Get("min")), bound(f.Tag.Get("max"))
	if v, ok := f.Tag.Lookup("default"); ok {
		p.required = false
		s.preset = json.RawMessage(v)
		if s.kind == "string" {
			s.preset = json.RawMessage(strconv.Quote(v))
		}
	}
	return p
}

func bound(tag string) *int64 {
	if tag == "" {
		return nil
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic(err)
	}
	return &n
}

// MarshalJSON writes the schema in a fixed order.
func (s *schema) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

// raw returns the schema as JSON.
func (s *schema) raw() json.RawMessage { return s.appendJSON(nil) }

func (s *schema) appendJSON(to []byte) []byte {
	w := objectWriter{to: append(to, '{')}
	if s.null {
		w.add("type", []string{s.kind, "null"})
	} else {
		w.add("type", s.kind)
	}
	if s.about != "" {
		w.add("description", s.about)
	}
	if s.enum != nil {
		w.add("enum", s.enum)
	}
	if s.pattern != "" {
		w.add("pattern", s.pattern)
	}
	lower, upper := s.boundNames()
	if s.min != nil {
		w.add(lower, *s.min)
	}
	if s.max != nil {
		w.add(upper, *s.max)
	}
	if s.preset != nil {
		w.add("default", s.preset)
	}
	if s.items != nil {
		w.key("items")
		w.to = s.items.appendJSON(w.to)
	}
	if s.properties != nil || s.closed {
		w.key("properties")
		properties := objectWriter{to: append(w.to, '{')}
		var required []string
		for _, p := range s.properties {
			properties.key(p.name)
			properties.to = p.schema.appendJSON(properties.to)
			if p.required {
				required = append(required, p.name)
			}
		}
		w.to = append(properties.to, '}')
		if required != nil && !s.result {
			w.add("required", required)
		}
	}
	if s.values != nil {
		w.key("additionalProperties")
		w.to = s.values.appendJSON(w.to)
	}
	if s.closed {
		w.add("additionalProperties", false)
	}
	return append(w.to, '}')
}

func (s *schema) boundNames() (lower, upper string) {
	switch s.kind {
	case "string":
		return "minLength", "maxLength"
	case "array":
		return "minItems", "maxItems"
	case "object":
		return "minProperties", "maxProperties"
	}
	return "minimum", "maximum"
}

// want says what a value must be, for a hint.
func (s *schema) want() string {
	switch {
	case s.enum != nil:
		return "one of " + strings.Join(s.enum, ", ")
	case s.kind == "array" && s.items.pattern != "":
		return "a list of: " + s.about
	case s.kind == "array":
		return "a list of " + strings.TrimPrefix(strings.TrimPrefix(s.items.want(), "an "), "a ") + "s" + s.extent(" with %d to %d items", " with at most %d items")
	case s.kind == "integer":
		return "an integer" + s.extent(" from %d to %d", " of at most %d")
	case s.kind == "string":
		return "a string" + s.extent(" of %d to %d bytes", " of at most %d bytes")
	case s.kind == "boolean":
		return "true or false"
	}
	return "an object of strings"
}

func (s *schema) extent(both, upper string) string {
	switch {
	case s.max == nil:
		return ""
	case s.min == nil:
		return fmt.Sprintf(upper, *s.max)
	}
	return fmt.Sprintf(both, *s.min, *s.max)
}

// property returns the part with the given name.
func (s *schema) property(name string) (property, bool) {
	i := slices.IndexFunc(s.properties, func(p property) bool { return p.name == name })
	if i < 0 {
		return property{}, false
	}
	return s.properties[i], true
}

// objectWriter writes the members of a JSON object, whose keys keep their order.
type objectWriter struct {
	to    []byte
	begun bool
}

// key begins a member, whose value the caller writes.
func (w *objectWriter) key(name string) {
	if w.begun {
		w.to = append(w.to, ',')
	}
	w.begun = true
	w.to = append(strconv.AppendQuote(w.to, name), ':')
}

func (w *objectWriter) add(name string, v any) {
	w.key(name)
	var err error
	if w.to, err = wire.AppendJSON(w.to, v); err != nil {
		panic(err) // it is a string, a number or a list of strings
	}
}
