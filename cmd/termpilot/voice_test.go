package main

import (
	"strings"
	"testing"

	"termpilot/agent"
	"termpilot/closing"
	"termpilot/connector"
)

func TestHintsSpeakOfCommands(t *testing.T) { // CLI-45
	for hint, want := range map[string]string{
		"call list_sessions and pass a session_id from it":                        "run termpilot sessions and pass an id or a name from it",
		"leave it with send_keys ctrl_c":                                          "leave it with termpilot keys SESSION ctrl_c",
		"wait with wait_session run_id=r1, or interrupt it with send_keys ctrl_c": "wait with termpilot call wait_session run_id=r1, or interrupt it with termpilot keys SESSION ctrl_c",
		"read the session with read_terminal source=history":                      "read the session with termpilot read --source history",
		"ask the person, then pass force=true":                                    "ask the person, then pass --force",
		"launch one, with claude_agent for example":                               "launch one, with termpilot agent launch claude for example",
		"wait, or call agent_turn action=status until it has":                     "wait, or run termpilot agent status SESSION until it has",
		"use close_session, close_tab, close_window or clean_all_sessions":        "use termpilot close, termpilot close --tab, termpilot close --window or termpilot close --all",
		"set TERMPILOT_HOME to a folder of your own":                              "set TERMPILOT_HOME to a folder of your own",
	} {
		if got := inCommands(hint); got != want {
			t.Errorf("%q: got %q, want %q", hint, got, want)
		}
	}
	known := commands()
	for _, tool := range connector.New(connector.Options{Closer: &closing.Closer{}, Agents: &agent.Agents{}}).Tools() {
		got := inCommands(tool.Name)
		if tool.Name == "wait_session" { // see above: what wait waits for is something else
			continue
		}
		words, flags, _ := strings.Cut(strings.TrimSuffix(got, " SESSION"), " --")
		cmd := known[words]
		for cmd == nil && strings.Contains(words, " ") { // an argument
			words = words[:strings.LastIndexByte(words, ' ')]
			cmd = known[words]
		}
		if cmd == nil || cmd == known["termpilot"] || flags != "" && cmd.Flags().Lookup(flags) == nil {
			t.Errorf("%s is called %q, which is no command", tool.Name, got)
		}
	}
}
