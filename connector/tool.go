package connector

import (
	"context"
	"embed"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// access is what a tool does to the world.
type access uint8

const (
	reads  access = iota + 1 // changes nothing
	writes                   // changes something
)

// head is what a tool is called and how it behaves.
type head struct {
	name, title, about string
	set                set
	access             access
	// destroys: some use of the tool may destroy something. reaches: it may
	// reach beyond this machine's terminals. Both follow OpenAI's reading of
	// the hints: what any use may do, the tool may do.
	destroys, reaches bool
	idempotent        bool // of one that writes: doing it again changes nothing more
}

// tool is a row of the table.
type tool struct {
	head
	in, out func() *schema // made when they are first asked for
	run     func(ctx context.Context, c call, args json.RawMessage) (result, error)
}

// result is a tool's answer before it is put into MCP's form.
type result struct {
	structured json.RawMessage
	line       string // what happened
	text       string // what the terminal shows; data
}

// define makes a row from a tool's types: In is its parameters, Out its
// structured result. say puts a result into words.
func define[In, Out any](h head, run func(context.Context, call, In) (Out, error), say func(Out) (line, text string)) tool {
	in := sync.OnceValue(func() *schema { return inputSchema(reflect.TypeFor[In]()) })
	t := tool{head: h, in: in, out: sync.OnceValue(func() *schema { return outputSchema(reflect.TypeFor[Out]()) })}
	t.run = func(ctx context.Context, c call, args json.RawMessage) (result, error) {
		var parsed In
		if err := in().decode(h.name, args, &parsed); err != nil {
			return result{}, err
		}
		out, err := run(ctx, c, parsed)
		if err != nil {
			return result{}, err
		}
		out = cleaned(out)
		structured, err := json.Marshal(out)
		if err != nil {
			return result{}, err
		}
		line, text := say(out)
		return result{structured: structured, line: line, text: text}, nil
	}
	return t
}

// as says that a part of a tool's result, or each item of a list, looks like
// that of another tool, in place of spelling it out again: the list of tools is
// read by every model before its first word. A dot leads into a part.
func (t tool) as(part, other string) tool {
	whole := t.out
	t.out = sync.OnceValue(func() *schema {
		s := whole()
		*s.part(t.name, part) = schema{kind: "object", about: "as in " + other}
		return s
	})
	return t
}

// part returns what a part of a tool's result, or each item of a list, looks like.
func (s *schema) part(tool, path string) *schema {
	for name := range strings.SplitSeq(path, ".") {
		if s.kind == "array" {
			s = s.items
		}
		p, ok := s.property(name)
		if !ok {
			panic(tool + " has no result " + path)
		}
		s = p.schema
	}
	if s.kind == "array" {
		s = s.items
	}
	return s
}

// like says that all of a tool's result looks like that of another tool.
func (t tool) like(other tool) tool {
	t.out = func() *schema { return &schema{kind: "object", about: "as that of " + other.name, result: true} }
	return t
}

// each says that a tool's result looks like each item of a list of another tool's.
func (t tool) each(other, list string) tool {
	t.out = func() *schema { return &schema{kind: "object", about: "as in " + list + " of " + other, result: true} }
	return t
}

// schemas holds each tool as MCP lists it, NAME.json. That it is what the Go
// types say is held by a test, which writes the files with -update: every client
// asks a server for its tools, and making them anew took a tenth of its start.
//
//go:embed schema/*.json
var schemas embed.FS

// listed returns the tool as MCP lists it.
func (t tool) listed() (json.RawMessage, error) {
	return schemas.ReadFile("schema/" + t.name + ".json")
}

// repeatable reports whether the same call again changes nothing more.
func (h head) repeatable() bool { return h.access == reads || h.idempotent }

// ToolInfo is a tool as [Server.Tools] lists it.
type ToolInfo struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Toolset      string          `json:"toolset"`
	ReadOnly     bool            `json:"read_only"`   // changes nothing
	Destructive  bool            `json:"destructive"` // some use of it may destroy something
	Idempotent   bool            `json:"idempotent"`
	OpenWorld    bool            `json:"open_world"` // may reach beyond this machine's terminals
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// Tools lists the tools that this server offers, in the table's order.
func (s *Server) Tools() []ToolInfo {
	infos := make([]ToolInfo, 0, len(s.tools))
	for _, t := range s.tools {
		infos = append(infos, ToolInfo{
			Name: t.name, Title: t.title, Description: t.about, Toolset: string(t.set),
			ReadOnly: t.access == reads, Destructive: t.destroys, Idempotent: t.repeatable(), OpenWorld: t.reaches,
			InputSchema: t.in().raw(), OutputSchema: t.out().raw(),
		})
	}
	return infos
}
