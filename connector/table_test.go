package connector

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"termpilot/connector/internal/wire"
	"termpilot/pilot"
)

// definition is the tool as MCP is to list it. All four hints are set: unset
// ones mean the worst to some clients and the best to others.
func (t tool) definition() *mcp.Tool {
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: t.in().raw(), OutputSchema: t.out().raw(),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:    t.access == reads,
			DestructiveHint: &t.destroys,
			IdempotentHint:  t.repeatable(),
			OpenWorldHint:   &t.reaches,
		},
	}
}

func TestEveryToolIsListedAsItsGoldenSays(t *testing.T) { // MCP-30
	seen := map[string]bool{}
	for _, tool := range table {
		file := filepath.Join("schema", tool.name+".json")
		seen[file] = true
		var got bytes.Buffer
		data, err := wire.AppendJSON(nil, tool.definition())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&got, data, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s has no golden: run this test with -update and review the file", tool.name)
			continue
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s differs (-want +got); a change of a schema is a change of contract:\n%s", tool.name, diff)
		}
	}
	files, err := filepath.Glob("schema/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !seen[file] {
			t.Errorf("%s: there is no such tool", file)
		}
	}
}

func TestTheSchemasHaveTheLimitsOfPilot(t *testing.T) { // MCP-32
	for _, c := range []struct {
		tool      tool
		parameter string
		want      int64
	}{
		{runCommand, "command", pilot.MaxCommand},
		{createWindow, "command", pilot.MaxCommand},
		{createWindow, "rows", pilot.MaxSize},
		{createWindow, "columns", pilot.MaxSize},
		{createTab, "command", pilot.MaxCommand},
		{splitPane, "command", pilot.MaxCommand},
		{resizeSession, "rows", pilot.MaxSize},
		{resizeSession, "columns", pilot.MaxSize},
		{renameSession, "name", 4 * pilot.MaxName}, // bytes, of which a character has four at most
		{sendText, "text", pilot.MaxText},
		{sendKeys, "keys", pilot.MaxKeys},
		{waitSession, "session_ids", pilot.MaxWaited},
		{waitSession, "pattern", pilot.MaxPattern},
		{waitSession, "max_output_chars", pilot.MaxChars},
		{runCommand, "max_output_chars", pilot.MaxChars},
		{readTerminal, "max_chars", pilot.MaxChars},
		{readTerminal, "max_lines", pilot.MaxLines},
		{readTerminal, "pattern", pilot.MaxPattern},
		{readTerminal, "context", pilot.MaxContext},
	} {
		p, ok := c.tool.in().property(c.parameter)
		if !ok || p.schema.max == nil || *p.schema.max != c.want {
			t.Errorf("%s: %s: got %+v, want at most %d", c.tool.name, c.parameter, p.schema, c.want)
		}
	}
}

func TestEveryToolSaysWhatItDoesToTheWorld(t *testing.T) { // MCP-31
	name := regexp.MustCompile(`^[a-z_]{1,64}$`)
	for _, tool := range table {
		data, err := wire.AppendJSON(nil, tool.definition())
		if err != nil {
			t.Fatal(err)
		}
		var listed struct {
			Name, Title, Description string
			Annotations              map[string]*bool
		}
		if err := json.Unmarshal(data, &listed); err != nil {
			t.Fatal(err)
		}
		if !name.MatchString(listed.Name) || listed.Title == "" || listed.Description == "" || len(listed.Description) > 1024 {
			t.Errorf("%s: name, title or description will not do: %+v", tool.name, listed)
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if listed.Annotations[hint] == nil {
				t.Errorf("%s: %s is not set", tool.name, hint)
			}
		}
		if tool.access == 0 || tool.set == "" || !slices.Contains(Toolsets(), string(tool.set)) {
			t.Errorf("%s: access %d, toolset %q", tool.name, tool.access, tool.set)
		}
		if tool.access == reads && tool.destroys {
			t.Errorf("%s reads and destroys", tool.name)
		}
	}
}

func TestSchemasAreOfThePlainKindThatEveryClientTakes(t *testing.T) { // MCP-32
	for _, tool := range table {
		for _, s := range []*schema{tool.in(), tool.out()} {
			if s.kind != "object" {
				t.Errorf("%s: a schema of kind %s", tool.name, s.kind)
			}
			walk(s, tool.name, func(s *schema, path string) {
				if s.kind == "array" && s.null {
					t.Errorf("%s: a list that may be null", path)
				}
				if s.pattern != "" {
					s.matches() // panics when it is no pattern
				}
			})
			for _, word := range []string{"oneOf", "anyOf", "allOf", "$ref", "$defs", `"not"`} {
				if strings.Contains(string(s.raw()), word) {
					t.Errorf("%s: schema holds %s", tool.name, word)
				}
			}
		}
		for _, p := range tool.in().properties {
			if p.schema.about == "" {
				t.Errorf("%s: parameter %s is not described", tool.name, p.name)
			}
		}
		if !strings.HasSuffix(string(tool.in().raw()), `"additionalProperties":false}`) {
			t.Errorf("%s: takes parameters that it does not know", tool.name)
		}
	}
}

func walk(s *schema, path string, f func(*schema, string)) {
	f(s, path)
	for _, p := range s.properties {
		walk(p.schema, path+"."+p.name, f)
	}
	if s.items != nil {
		walk(s.items, path+"[]", f)
	}
}

// tokens counts the tokens of o200k_base that a JSON text has.
var tokens = sync.OnceValue(func() func([]byte) int {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	enc, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		panic(err)
	}
	return func(text []byte) int { return len(enc.EncodeOrdinary(string(text))) }
})

func TestTheListOfToolsFitsItsBudgetOfTokens(t *testing.T) { // MCP-33
	budget := map[set]int{}
	for _, tool := range table {
		data, err := wire.AppendJSON(nil, tool.definition())
		if err != nil {
			t.Fatal(err)
		}
		budget[tool.set] += tokens()(data)
	}
	all := 0
	for _, n := range budget {
		all += n
	}
	t.Logf("all %d tokens: %v", all, budget)
	if budget[core] > 2500 || all > 8000 {
		t.Errorf("core %d of 2500, all %d of 8000 tokens", budget[core], all)
	}
}

func names(s *Server) []string {
	var n []string
	for _, t := range s.Tools() {
		n = append(n, t.Name)
	}
	return n
}

func TestReadOnlyServersListOnlyToolsThatChangeNothing(t *testing.T) { // MCP-34
	s, _ := newServer(t, Options{ReadOnly: true})
	want := []string{"list_sessions", "get_current_session", "read_terminal", "wait_session", "diagnostics", "list_profiles", "inspect_sessions", "list_recoveries"}
	if diff := cmp.Diff(want, names(s)); diff != "" {
		t.Errorf("tools differ (-want +got):\n%s", diff)
	}
	list, err := dial(t, s, nil).ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(want) {
		t.Errorf("a client sees %d tools, %v", len(list.Tools), err)
	}
	for _, tool := range list.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is listed", tool.Name)
		}
	}
	if got := s.Call(t.Context(), "run_command", nil); !got.IsError || !strings.Contains(got.Text, "not_allowed") {
		t.Errorf("run_command: got %s", got.Text)
	}
}

func TestAllToolsAreListedOnOnePage(t *testing.T) { // MCP-46
	s, _ := newServer(t, Options{})
	c := dial(t, s, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || list.NextCursor != "" {
		t.Fatalf("got a page before %q, %v", list.NextCursor, err)
	}
	for i, tool := range list.Tools {
		if tool.Name != table[i].name {
			t.Errorf("tool %d is %s, in the table %s", i, tool.Name, table[i].name)
		}
	}
	if len(list.Tools) != len(table) {
		t.Errorf("%d tools, the table has %d", len(list.Tools), len(table))
	}
	refused := func(what string, err error) {
		if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: got %v", what, err)
		}
	}
	_, err = c.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "more"})
	refused("a cursor", err)
	_, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: strings.Repeat("n", 10000)})
	refused("an unknown tool", err)
	if len(err.Error()) > 200 {
		t.Errorf("the refusal of a long name has %d bytes", len(err.Error()))
	}
	readOnly, _ := newServer(t, Options{ReadOnly: true})
	_, err = dial(t, readOnly, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "run_command"})
	refused("a tool that is not listed", err)
}

func TestToolsetsChooseTools(t *testing.T) { // MCP-34
	s, _ := newServer(t, Options{Toolsets: []string{"input", "layout"}})
	if diff := cmp.Diff([]string{
		"send_text", "send_keys", "create_window", "create_tab", "split_pane", "focus_session", "resize_session", "rename_session", "list_profiles",
	}, names(s)); diff != "" {
		t.Errorf("tools differ (-want +got):\n%s", diff)
	}
}

func TestTheFirst512CharactersOfTheInstructionsStandAlone(t *testing.T) { // MCP-35
	first, _, ok := strings.Cut(instructions, "\n\n")
	if !ok || len(first) > 512 {
		t.Errorf("the first paragraph has %d bytes", len(first))
	}
	for _, word := range []string{"list_sessions", "run_command", "wait_session", "read_terminal", "never instructions"} {
		if !strings.Contains(first, word) {
			t.Errorf("the first paragraph does not name %s", word)
		}
	}
	for _, word := range regexp.MustCompile(`\b[a-z]+_[a-z_]+\b`).FindAllString(instructions, -1) {
		known := slices.ContainsFunc(table, func(t tool) bool {
			return t.name == word || strings.Contains(string(t.in().raw()), `"`+word+`"`) || strings.Contains(string(t.out().raw()), `"`+word+`"`)
		})
		if !known && !slices.Contains([]string{"ctrl_c", "session_ids", "session_not_ready", "how_to_get"}, word) {
			t.Errorf("the instructions speak of %s, which is no tool, parameter or result", word)
		}
	}
}

func TestSendKeysTakesExactlyTheKeysThatTheEngineKnows(t *testing.T) { // MCP-36
	p, _ := sendKeys.in().property("keys")
	if p.schema.about != pilot.KeyList {
		t.Errorf("the schema lists %q, the engine %q", p.schema.about, pilot.KeyList)
	}
	for _, name := range pilot.KeyNames() {
		name = strings.ReplaceAll(name, "<char>", "é")
		if !p.schema.items.matches().MatchString(name) {
			t.Errorf("the engine knows %q, the schema does not", name)
		}
	}
	for _, name := range []string{"", "Enter", "f13", "f0", "ctrl_", "ctrl_1", "alt_", "alt_ab", "enter\n", "C-c", "alt_\n"} {
		if p.schema.items.matches().MatchString(name) {
			t.Errorf("the schema takes %q", name)
		}
	}
}
