package reduce

import (
	"strconv"
	"strings"
	"testing"
)

// Each of these took time by the square of its length: minutes, at this one.
func TestLongOutputTakesTimeByItsLength(t *testing.T) { // REDUCE-21
	const lines = 60_000
	for name, c := range map[string]struct{ command, text string }{
		"messages with an arrow to the end":  {"ruff check .", strings.Repeat("4 | x = 1\n --> a.py:4:1\n", lines)},
		"subtests of subtests":               {"go test ./...", "--- FAIL: T" + strings.Repeat("/a", 10*lines) + " (0.00s)\nFAIL\tx\t0.1s\n"},
		"a test that fails again":            {"go test -json ./...", strings.Repeat(`{"Action":"output","Package":"x","Test":"T","Output":"a.go:1: no\n"}`+"\n"+`{"Action":"fail","Package":"x","Test":"T"}`+"\n", lines)},
		"a package that fails again":         {"go test -json ./...", strings.Repeat(`{"Action":"output","Package":"x","Output":"a.go:1: no\n"}`+"\n"+`{"Action":"fail","Package":"x"}`+"\n", lines)},
		"tests that fail after other output": {"go test ./...", strings.Repeat("x\n", 2*lines) + strings.Repeat("--- FAIL: T (0.00s)\n", 2*lines)},
		"steps of builds that are alike":     {"docker build .", strings.Repeat("Step 1/2 : RUN make\n", lines) + strings.Repeat("compiling unit 1 of it\n", lines)},
	} {
		if got := Output(c.command, c.text, Options{}); got.Text == "" {
			t.Errorf("%s: nothing is shown", name)
		}
	}
}

func TestAStepThatFailedShowsAlthoughTheBuildIsRunAgain(t *testing.T) { // REDUCE-66
	units := ""
	for i := range 200 {
		units += "unit " + strconv.Itoa(i) + " " + strings.Repeat("x", i%7) + "\n"
	}
	text := "Step 1/1 : RUN make\n" + units + "boom.c is not there\nThe command '/bin/sh -c make' returned a non-zero code: 2\n" +
		"Step 1/1 : RUN make\n" + units + "Successfully built 0123456789ab\n"
	got := Output("docker build . || docker build .", text, Options{}).Text
	if strings.Count(got, "FAILED Step 1/1") != 1 || !strings.Contains(got, "boom.c is not there") {
		t.Errorf("got %s", got)
	}
}

func TestATestThatFailsAgainIsToldByWhatItPrintedThen(t *testing.T) { // REDUCE-60
	var b strings.Builder
	for _, n := range []string{"1", "2"} {
		b.WriteString(`{"Action":"run","Package":"x","Test":"T"}` + "\n" + `{"Action":"output","Package":"x","Test":"T","Output":"    a_test.go:` + n + `: round ` + n + `\n"}` + "\n" + `{"Action":"fail","Package":"x","Test":"T"}` + "\n")
	}
	got := Output("go test -json -count=2 ./...", b.String()+`{"Action":"fail","Package":"x"}`, Options{}).Text
	if strings.Count(got, "round 1") != 1 || strings.Count(got, "round 2") != 1 {
		t.Errorf("got %s", got)
	}
}
