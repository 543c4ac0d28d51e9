package main

import "fmt"

// required is the schema of a tool that takes one text.
func required(name string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, name, name)
}

// rich has a keyword of each kind that must survive in tools/list: $schema,
// $defs with an $anchor, composition, condition, additionalProperties.
const rich = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "place", "type": "object", "properties": {"town": {"type": "string"}}}},
	"properties": {
		"by": {"enum": ["letter", "telephone"]},
		"to": {"$ref": "#/$defs/address"},
		"number": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["to"]}, {"required": ["number"]}]}],
	"if": {"properties": {"by": {"const": "letter"}}, "required": ["by"]},
	"then": {"required": ["to"]},
	"else": {"required": ["number"]},
	"additionalProperties": false
}`

// mirrored has an argument that clients of 2026-07-28 repeat in Mcp-Param-Place.
const mirrored = `{"type":"object","properties":{"place":{"type":"string","x-mcp-header":"Place"}}}`

// person is a form of two texts.
const person = `{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username","email"]}`

// defaults has one of every primitive type; the suite knows each name and default.
const defaults = `{"type":"object","properties":{
	"name": {"type": "string", "default": "John Doe"},
	"age": {"type": "integer", "default": 30},
	"score": {"type": "number", "default": 95.5},
	"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
	"verified": {"type": "boolean", "default": true}
}}`

// choices has one of every form of an enum; the suite answers by these names and values.
const choices = `{"type":"object","properties":{
	"untitledSingle": {"type": "string", "enum": ["option1", "option2"]},
	"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}]},
	"legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
	"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
	"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}]}}
}}`
