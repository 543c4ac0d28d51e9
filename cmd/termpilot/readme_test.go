package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"termpilot/agent"
	"termpilot/closing"
	"termpilot/connector"
)

var update = flag.Bool("update", false, "rewrite the tool table of the README")

const readme = "../../README.md"

func TestReadmeListsTheToolsAsTheyAre(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "<!-- tools")
	mark, rest, ok2 := strings.Cut(rest, "-->\n")
	got, after, ok3 := strings.Cut(rest, "<!-- /tools -->")
	if !ok || !ok2 || !ok3 {
		t.Fatal("README.md: the marks around the tool table are gone")
	}
	want := toolTable(connector.New(connector.Options{Closer: &closing.Closer{}, Agents: &agent.Agents{}}).Tools())
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("README.md: the tool table is not what the tools say; run task docs\n%s", want)
	}
	text := before + "<!-- tools" + mark + "-->\n" + want + "<!-- /tools -->" + after
	if err := os.WriteFile(readme, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func toolTable(tools []connector.ToolInfo) string {
	var b strings.Builder
	b.WriteString("| tool | toolset | access | what it does |\n| --- | --- | --- | --- |\n")
	for _, tool := range tools {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", tool.Name, tool.Toolset, accessWord(tool), firstSentence(tool.Description))
	}
	return b.String()
}

func firstSentence(text string) string {
	first, _, found := strings.Cut(text, ". ")
	if found {
		first += "."
	}
	return strings.ReplaceAll(first, "|", `\|`)
}
