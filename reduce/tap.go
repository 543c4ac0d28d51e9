package reduce

import "strings"

var tapReducers = []reducer{
	{names: "node, tap, tape, prove, bats, tsx", reduce: reduceTAP, seen: seenTAP},
}

// seenTAP looks for the first line of TAP, or for the totals of Node's own runner.
func seenTAP(in *input) bool {
	for _, l := range in.lines[:min(len(in.lines), 10)] {
		if strings.HasPrefix(l, "TAP version ") {
			return true
		}
	}
	for _, l := range in.lines {
		if strings.HasPrefix(l, "ℹ tests ") {
			return true
		}
	}
	return false
}

// tap is a run of tests told by TAP (testanything.org), or by Node's runner as
// people read it.
type tap struct {
	report
	passed, skipped int
	totals          []string
	known           bool
	failing         bool   // below "failing tests:"
	place           string // of the test that follows
}

// reduceTAP keeps the totals, and every test that is not ok with its place and reason.
func reduceTAP(in *input) (draft, bool) {
	t := &tap{report: report{in: in}}
	for i := 0; i < len(in.lines); {
		i = t.line(i)
	}
	if !t.known {
		return draft{}, false
	}
	if len(t.totals) > 0 {
		t.note(0, strings.Join(t.totals, ", "))
	} else {
		t.note(0, "no totals: the run did not end here (so far "+in.count(t.passed)+" ok, "+in.count(len(t.found))+" not ok)")
	}
	return t.draft(), true
}

// tapTotals are the words of the totals; those of nothing are left out.
var tapTotals = []string{"tests", "pass", "fail", "cancelled", "skipped", "todo"}

// line reads the line i, and what belongs to it, and returns the next.
func (t *tap) line(i int) int {
	text := strings.TrimSpace(t.in.lines[i])
	switch {
	case strings.HasPrefix(text, "TAP version "):
		t.known = true
	case strings.HasPrefix(text, "ok ") && isNumber(firstWord(text[3:])):
		t.known = true
		t.passed++
	case strings.HasPrefix(text, "not ok ") && isNumber(firstWord(text[7:])):
		t.known = true
		return t.notOK(i, text[7:])
	case strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "ℹ "):
		_, total, _ := strings.Cut(text, " ")
		word, n, _ := strings.Cut(total, " ")
		for _, w := range tapTotals {
			if w == word && isNumber(n) {
				t.known = true
				if n != "0" {
					t.totals = append(t.totals, n+" "+word)
				}
			}
		}
	case strings.HasPrefix(text, "Bail out!"):
		t.say(i, text)
	case text == "✖ failing tests:":
		t.failing = true
	case t.failing && strings.HasPrefix(text, "test at "):
		t.place = strings.TrimPrefix(text, "test at ")
	case t.failing && strings.HasPrefix(text, "✖ "):
		return t.crossed(i, text)
	}
	return i + 1
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// notOK reads a test that failed, and the block in YAML below it.
func (t *tap) notOK(i int, text string) int {
	_, name, _ := strings.Cut(text, " ")
	name = strings.TrimPrefix(name, "- ")
	f := finding{at: i, name: name}
	end := i + 1
	block := end < len(t.in.lines) && strings.TrimSpace(t.in.lines[end]) == "---"
	key, parent := "", false
	for ; block && end < len(t.in.lines); end++ {
		l := strings.TrimSpace(t.in.lines[end])
		if l == "..." {
			break
		}
		k, value, ok := strings.Cut(l, ": ")
		if !ok && strings.HasSuffix(l, ":") {
			k, ok = strings.TrimSuffix(l, ":"), true
		}
		if ok && !strings.ContainsAny(k, " '\"(/") {
			key = k
		} else {
			value = l
		}
		value = strings.Trim(value, "|->")
		if d, ok := tapReason(key, strings.TrimSpace(value)); ok {
			d.at = end
			f.why = append(f.why, d)
		}
		switch {
		case key == "location" && f.place == "":
			f.place = " at " + strings.Trim(value, " '\"")
		case key == "failureType":
			parent = parent || strings.Contains(value, "subtestsFailed")
		}
	}
	if strings.Contains(name, "# TODO") || strings.Contains(name, "# SKIP") {
		t.skipped++
		return end
	}
	f.title = "not ok " + name + f.place
	if !parent {
		t.found = append(t.found, f)
	}
	return end
}

// tapReason ranks what a key of a block says.
func tapReason(key, value string) (detail, bool) {
	switch key {
	case "error", "message":
		return detail{text: value, rank: 1}, value != ""
	case "expected", "actual", "wanted", "found", "got":
		return detail{text: key + ": " + value, rank: 2}, value != ""
	case "stack":
		return detail{text: value, rank: 3}, value != "" && !isLibrary(value)
	}
	return detail{}, false
}

// crossed reads a test in the list of those that failed.
func (t *tap) crossed(i int, text string) int {
	name := strings.TrimPrefix(text, "✖ ")
	if j := strings.LastIndex(name, " ("); j > 0 {
		name = name[:j]
	}
	f := finding{at: i, name: name, place: " at " + t.place}
	end := i + 1
	for ; end < len(t.in.lines); end++ {
		l := strings.TrimSpace(t.in.lines[end])
		if strings.HasPrefix(l, "test at ") || strings.HasPrefix(l, "✖ ") {
			break
		}
		if place, ok := jsFrame(l); ok && isLibrary(place) || l == "" || l == "}" {
			continue
		}
		d := detail{at: end, text: l, rank: 3}
		if len(f.why) == 0 {
			d.rank = 1
		} else if isSide(l) {
			d.rank = 2
		}
		f.why = append(f.why, d)
	}
	f.title = "not ok " + name + f.place
	t.found = append(t.found, f)
	return end
}
