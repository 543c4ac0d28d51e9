package connector

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"termpilot/fault"
)

func FuzzArgumentsThatPassAreWithinTheirBounds(f *testing.F) { // MCP-37
	for _, args := range oneOfEach {
		f.Add([]byte(args))
	}
	f.Add([]byte(`{"session_id":"s","command":"x","timeout_seconds":1e2,"reduce":null}`))
	f.Add([]byte(`{"session_id":"\ud800","source":"all","max_lines":2000.0}`))
	f.Add([]byte(`{"env":{"A":"b","A":"c"},"rows":1000,"columns":null}`))
	f.Add([]byte(`{"session_ids":["a",null],"keys":["f1","alt_x"]}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		ok := func(s *schema, into any) bool {
			err := s.decode("op", args, into)
			if err == nil {
				return true
			}
			if code := fault.CodeOf(err); json.Valid(args) && code != fault.InvalidArgument && code != fault.TooLarge {
				t.Errorf("%q: %v", args, err)
			}
			return false
		}
		var run runCommandIn
		if ok(runCommand.in(), &run) && (run.Command == "" || len(run.Command) > 16384 || !utf8.ValidString(run.Command) || run.Timeout < 0 || run.Timeout > 3600 || run.MaxChars < 1 || run.MaxChars > 131072) {
			t.Errorf("%q became %+v", args, run)
		}
		var read readTerminalIn
		if ok(readTerminal.in(), &read) && (read.MaxLines < 1 || read.MaxLines > 2000 || !slices.Contains([]string{"screen", "history", "all", "since", "command"}, string(read.Source))) {
			t.Errorf("%q became %+v", args, read)
		}
		var keys sendKeysIn
		if ok(sendKeys.in(), &keys) && (len(keys.Keys) < 1 || len(keys.Keys) > 64) {
			t.Errorf("%q became %+v", args, keys)
		}
		var open createWindowIn
		if ok(createWindow.in(), &open) && (open.Rows != 0 && open.Rows < 2 || open.Rows > 1000 || len(open.Env) > 128) {
			t.Errorf("%q became %+v", args, open)
		}
	})
}
