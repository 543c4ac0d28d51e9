package shellwords

import (
	"fmt"
	"strings"
	"testing"
)

func TestACommandLineIsSplitAsAShellWould(t *testing.T) { // REDUCE-11
	for text, want := range map[string]string{
		"a b|c":                  "[a b]| [c]",
		"a && b || c; d & e":     "[a]&& [b]|| [c]; [d]& [e]",
		"(a; b) | c":             "[a]; [b]| [c]",
		"a 2>&1 |& b":            "[a]|& [b]",
		"a > f":                  "[a]quiet",
		"a 2> f":                 "[a]",
		"a &> f; b 1>g; c >&2":   "[a]quiet; [b]quiet; [c]",
		"'a b' \"c $(d | e) f\"": "[a b c $(d | e) f]",
		"a <<E\nx | y\nE\nb":     "[a]\n [b]",
		"a \\\n b":               "[a b]",
	} {
		var got []string
		for _, c := range Parse(text) {
			quiet := ""
			if c.Quiet {
				quiet = "quiet"
			}
			got = append(got, fmt.Sprint(c.Words)+quiet+c.Op)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Parse(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestProgramsThatRunAnotherAreSeenThrough(t *testing.T) { // REDUCE-11
	for text, want := range map[string]string{
		"A=b sudo -u x -- nice -n 5 a b": "[a b]",
		"sudo -u x nice -n 5 a b":        "[a b]",
		"timeout -k 1 30 a":              "[a]",
		"if ! a b":                       "[a b]",
		"A=b":                            "[]",
	} {
		if got := fmt.Sprint(Program(Parse(text)[0])); got != want {
			t.Errorf("Program of %q is %s, want %s", text, got, want)
		}
	}
	if s, ok := Script([]string{"bash", "-lc", "a; b"}, ""); !ok || s != "a; b" {
		t.Errorf("got %q, %v", s, ok)
	}
}
