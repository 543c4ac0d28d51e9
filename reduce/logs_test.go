package reduce

import "testing"

func TestTheLevelOfALineIsAWordOfItsOwn(t *testing.T) {
	for line, want := range map[string]string{
		"ERROR":                                    "error",
		"10:00:00 [WARN] disk is full":             "warning",
		"time=10:00 level=error msg=\"no\"":        "error",
		`{"level":"warning","msg":"x"}`:            "warning",
		"main: Error: no such file":                "error",
		"pod|crit|x":                               "error",
		"a (notice) and then an error":             "info",
		"TRACE: in":                                "debug",
		"3 errors were found":                      "",
		"no-error here, ErrorList and _error_":     "",
		"GET /error HTTP/1.1":                      "",
		"":                                         "",
		"nothing ends here, not even with err\x00": "",
	} {
		if got := levelWord(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
