package shellint

import (
	"testing"
)

func TestEveryShellTellsStatusAndOutput(t *testing.T) { // MARK-20
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		for _, c := range []struct {
			line, output string
			status       int
		}{
			{"true", "", 0},
			{"false", "", 1},
			{"sh -c 'exit 300'", "", 44},
			{"sh -c 'kill -9 $$'; true", "", 0},
			{"nosuch_cmd 2>/dev/null", "", 127},
			{"/etc/passwd 2>/dev/null", "", 126},
			{"printf abc", "abc", 0},
			{"printf 'abc%%'", "abc%", 0},
			{"echo one; echo two", "one\ntwo\n", 0},
			{"sh -c 'kill -9 $$' 2>/dev/null", "", 137},
			{"false | true", "", 0},
			{"sleep 1 &", "", 0},
		} {
			p, output := s.run(c.line)
			if status(p) != c.status || c.output != "" && output != c.output {
				t.Errorf("%s: got %d %q, want %d %q", c.line, status(p), output, c.status, c.output)
			}
		}
	})
}
