package main

import "testing"

func TestHintsSpeakOfCommands(t *testing.T) { // CLI-45
	for hint, want := range map[string]string{
		"call list_sessions and pass a session_id from it":                        "run termpilot sessions and pass a session_id from it",
		"leave it with send_keys ctrl_c":                                          "leave it with termpilot keys SESSION ctrl_c",
		"wait with wait_session run_id=r1, or interrupt it with send_keys ctrl_c": "wait with termpilot call wait_session run_id=r1, or interrupt it with termpilot keys SESSION ctrl_c",
		"read the session with read_terminal source=history":                      "read the session with termpilot read --source history",
		"ask the person, then pass force=true":                                    "ask the person, then pass --force",
		"set TERMPILOT_HOME to a folder of your own":                              "set TERMPILOT_HOME to a folder of your own",
	} {
		if got := inCommands(hint); got != want {
			t.Errorf("%q: got %q, want %q", hint, got, want)
		}
	}
}
