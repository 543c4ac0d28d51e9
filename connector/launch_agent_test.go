package connector

import (
	"slices"
	"strings"
	"testing"

	"termpilot/agent"
)

func TestEveryAgentIsLaunchedByItsName(t *testing.T) { // VENDOR-1
	s, _ := newServer(t, Options{})
	c := dial(t, s, nil)
	names, _ := agent.Launchers()
	if len(names) < 5 {
		t.Fatalf("launchers %q", names)
	}
	p, ok := launchAgent.in().property("agent")
	if !ok || !slices.Equal(p.schema.enum, names) {
		t.Errorf("got %q, want %q", p.schema.enum, names)
	}
	for _, name := range names {
		res := callTool(t, c, "launch_agent", `{"agent":"`+name+`"}`)
		if got, ok := res.StructuredContent.(map[string]any); res.IsError || !ok || got["provider"] != name {
			t.Errorf("%s: %s", name, textOf(res))
		}
	}
	for _, args := range []string{`{"agent":"eliza"}`, `{"agent":""}`, `{}`} {
		if res := callTool(t, c, "launch_agent", args); !res.IsError || !strings.Contains(textOf(res), "invalid_argument") {
			t.Errorf("%s: %s", args, textOf(res))
		}
	}
}
