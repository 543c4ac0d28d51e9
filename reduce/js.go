package reduce

import "strings"

var jsReducers = []reducer{
	{names: "jest, vitest, mocha, react-scripts, ava, jasmine, nyc, c8, bun test, deno test", reduce: reduceJS, seen: seenJS},
}

// seenJS looks for the totals of Jest and Vitest, or those of Mocha.
func seenJS(in *input) bool {
	n := len(in.lines)
	for _, l := range in.lines[max(0, n-12):] {
		if _, ok := jsTotal(l); ok {
			return true
		}
	}
	for _, l := range in.lines {
		if _, ok := mochaTotal(l); ok {
			return true
		}
	}
	return false
}

// js is the output of a runner of JavaScript tests, being read.
type js struct {
	report
	totals []drafted
	passed int
	marked []finding // tests told as failed while they ran
	titles map[string]int
	suite  string // the file of the results that follow (Jest)
	mocha  bool   // below Mocha's totals
	seen   bool
}

// reduceJS keeps the totals, and every test that failed with its place and reason;
// it counts those that passed.
func reduceJS(in *input) (draft, bool) {
	j := &js{report: report{in: in}, titles: map[string]int{}}
	for i := 0; i < len(in.lines); {
		i = j.line(i)
	}
	if !j.seen {
		return draft{}, false
	}
	if len(j.found) == 0 {
		j.found = j.marked
	}
	if len(j.totals) == 0 {
		j.note(0, "no totals: the run did not end here (so far "+in.count(j.passed)+" passed, "+in.count(len(j.marked))+" failed)")
	}
	j.lines = append(j.totals, j.lines...)
	return j.draft(), true
}

// jsTotal is a line of the totals of Jest or Vitest: "Tests:  1 failed, 9 total".
func jsTotal(l string) (string, bool) {
	text := strings.TrimSpace(l)
	for _, p := range []string{"Tests: ", "Test Suites: ", "Snapshots: ", "Test Files ", "Tests ", "Snapshots ", "Errors "} {
		if rest, ok := strings.CutPrefix(text, p); ok {
			rest = strings.TrimSpace(rest)
			n, _, _ := strings.Cut(rest, " ")
			if isNumber(n) && (strings.Contains(rest, "passed") || strings.Contains(rest, "failed") || strings.Contains(rest, "total") || strings.Contains(rest, "error") || strings.Contains(rest, "skipped") || strings.Contains(rest, "todo")) {
				return strings.TrimSpace(p) + " " + rest, true
			}
		}
	}
	return "", false
}

// mochaTotal is a line of Mocha's totals: "9 passing (12ms)".
func mochaTotal(l string) (string, bool) {
	if len(l) > 60 || !strings.HasPrefix(l, "  ") {
		return "", false
	}
	text := strings.TrimSpace(l)
	n, rest, _ := strings.Cut(text, " ")
	word, _, _ := strings.Cut(rest, " ")
	return text, isNumber(n) && (word == "passing" || word == "failing" || word == "pending")
}

// line reads the line i, and what belongs to it, and returns the next.
func (j *js) line(i int) int {
	l := j.in.lines[i]
	text := strings.TrimSpace(l)
	if total, ok := jsTotal(l); ok {
		j.total(total)
		return i + 1
	}
	if total, ok := mochaTotal(l); ok {
		j.total(total)
		j.mocha = true
		return i + 1
	}
	switch {
	case text == "":
	case strings.HasPrefix(l, "FAIL "), strings.HasPrefix(l, "PASS "): // Jest
		j.suite = jsFile(text)
		j.seen = true
	case strings.HasPrefix(l, "  ● ") || strings.HasPrefix(l, "● "):
		return j.block(i, strings.TrimPrefix(text, "● "))
	case strings.HasPrefix(text, "FAIL ") && l[0] == ' ' && !strings.Contains(text, " > ") && !strings.Contains(text, " [ "): // Jest on a terminal
		j.suite = jsFile(text)
		j.seen = true
	case strings.HasPrefix(text, "FAIL ") && l[0] == ' ': // Vitest
		return j.block(i, strings.TrimSpace(strings.TrimPrefix(text, "FAIL ")))
	case j.mocha && isListed(text):
		return j.mochaBlock(i)
	case strings.HasPrefix(text, "✓ "), strings.HasPrefix(text, "✔ "), strings.HasPrefix(text, "√ "):
		j.passed++
		j.seen = j.seen || l[0] == ' '
	case strings.HasPrefix(text, "✕ "), strings.HasPrefix(text, "✗ "), strings.HasPrefix(text, "× "), !j.mocha && isListed(text) && l[0] == ' ':
		j.seen = true
		j.marked = append(j.marked, finding{at: i, title: text, name: text})
	case strings.HasPrefix(text, "Time: "), strings.HasPrefix(text, "Duration "), strings.HasPrefix(text, "Start at "), strings.HasPrefix(text, "Ran all test suites"):
	case jsNews(text):
		j.lines = append(j.lines, drafted{text: text, at: i, of: 1})
	case i >= len(j.in.lines)-2 && len(j.totals) == 0:
		j.lines = append(j.lines, drafted{text: text, at: i, of: 1})
	}
	return i + 1
}

// total keeps a line of totals; Jest draws them again and again while it runs.
func (j *js) total(text string) {
	j.seen = true
	word, _, _ := strings.Cut(strings.TrimLeft(text, "0123456789 "), " ")
	if strings.HasPrefix(text, "Snapshots: 0") {
		return
	}
	for n := range j.totals {
		if strings.HasPrefix(strings.TrimLeft(j.totals[n].text, "0123456789 "), word) && !strings.HasPrefix(word, "Test") || j.totals[n].text == text || sameTotal(j.totals[n].text, text) {
			j.totals[n].text = text
			return
		}
	}
	j.totals = append(j.totals, drafted{text: text, weight: maxWeight})
}

func sameTotal(a, b string) bool {
	i, k := strings.IndexAny(a, "0123456789"), strings.IndexAny(b, "0123456789")
	return i > 0 && i == k && a[:i] == b[:i]
}

// jsNews reports whether a line outside of blocks tells of trouble with the run.
func jsNews(text string) bool {
	for _, p := range []string{"Jest did not exit", "Jest: ", "A worker process has failed", "Error: No test", "No tests found", "No test files found", "Unhandled", "⎯⎯⎯⎯ Unhandled", "Test run was interrupted", "Snapshot Summary", "› ", "ERROR: Coverage", "All files"} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// jsFile is the file of "FAIL test/a.test.js (5.2 s)".
func jsFile(text string) string {
	f := strings.Fields(text)
	if len(f) < 2 {
		return ""
	}
	return f[1]
}

// isListed reports whether a text begins as an entry of a list: "3) ".
func isListed(text string) bool {
	n, _, ok := strings.Cut(text, ") ")
	return ok && isNumber(n) && len(n) < 6
}
