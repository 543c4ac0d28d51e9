package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"termpilot/shellwords"
)

// schema is as much of a tool's input schema as reading words needs.
type schema struct {
	Type       any               `json:"type"` // a name, or a list of names
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Enum       []any             `json:"enum"`
}

// kind is the schema's type, leaving out null.
func (s schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	}
	return ""
}

// arguments reads words of the form name=value as the arguments of a tool:
// each value as the type that the schema gives the parameter. A list is a JSON
// array, or its items separated by commas; given again, its items add up. An
// object is JSON.
func arguments(input json.RawMessage, words []string) (map[string]any, error) {
	var s schema
	if err := json.Unmarshal(input, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	args := map[string]any{}
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not name=value", word)
		}
		property, ok := s.Properties[name]
		if !ok {
			return nil, fmt.Errorf("no parameter %q, only %s", name, strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
		}
		value, err := property.read(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if before, ok := args[name].([]any); ok {
			if more, ok := value.([]any); ok {
				value = append(before, more...)
			}
		} else if _, twice := args[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		args[name] = value
	}
	return args, nil
}

// read reads text as a value of the schema's type.
func (s schema) read(text string) (any, error) {
	switch s.kind() {
	case "string", "":
		return text, s.check(text)
	case "boolean":
		value, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not true or false", text)
		}
		return value, nil
	case "integer":
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return value, nil
	case "number":
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return value, nil
	case "array":
		return s.list(text)
	}
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("%q is not a JSON object", text)
	}
	return value, nil
}

func (s schema) list(text string) (any, error) {
	if strings.HasPrefix(text, "[") {
		var values []any
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			return nil, fmt.Errorf("%q is not a JSON array", text)
		}
		return values, nil
	}
	var item schema
	if s.Items != nil {
		item = *s.Items
	}
	values := []any{}
	for part := range strings.SplitSeq(text, ",") {
		value, err := item.read(part)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func (s schema) check(text string) error {
	if len(s.Enum) == 0 || slices.Contains(s.Enum, any(text)) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", text, strings.Trim(fmt.Sprint(s.Enum), "[]"))
}

// shellLine makes one line for a shell of the words of a command. A single
// word is a line already; of several, those that need it are quoted, so that
// the shell sees the same words.
func shellLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return shellwords.Join(words)
}

// printParameters lists what a tool takes.
func (a *app) printParameters(input json.RawMessage) error {
	var s struct {
		Properties map[string]struct {
			schema
			Description string `json:"description"`
			Default     any    `json:"default"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(input, &s); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		needed := "optional"
		if slices.Contains(s.Required, name) {
			needed = "required"
		} else if p.Default != nil {
			needed = fmt.Sprintf("default %v", p.Default)
		}
		rows = append(rows, []string{name, p.kind(), needed, p.Description})
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.out, "It takes no parameters.")
		return nil
	}
	return a.printTable([]string{"PARAMETER", "TYPE", "", "MEANING"}, rows)
}
