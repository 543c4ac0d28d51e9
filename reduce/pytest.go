package reduce

import (
	"strings"
)

var pytestReducers = []reducer{
	{names: "pytest, py.test, tox, nox", reduce: reducePytest, seen: seenPytest},
	{names: "python, unittest", reduce: reduceUnittest, seen: seenUnittest},
}

// seenPytest looks for the line that begins a run, or for what ends it.
func seenPytest(in *input) bool {
	for _, l := range in.lines[:min(len(in.lines), 40)] {
		if title, ok := ruled(l, '='); ok && title == "test session starts" {
			return true
		}
	}
	for _, l := range in.lines[max(0, len(in.lines)-5):] {
		if title, ok := ruled(l, '='); ok && isPytestTotal(title) {
			return true
		}
	}
	return false
}

// pytest is a run of it, being read.
type pytest struct {
	report
	section string
	seen    bool             // something only pytest prints
	total   int              // the line of the totals; -1: none
	ids     map[string][]int // findings by the name in their headings
	listed  map[string]bool  // tests that have a finding
	results map[string]int   // of the lines of progress, by their word
	failed  []finding        // from the lines of progress
	shown   map[string]int   // lines shown of sections with a limit
	named   int              // findings before this one have a name
	root    string           // the folder that pytest's own paths begin in, with a slash
}

// reducePytest keeps the totals, every failure and error with its place and
// reason, warnings by their text, and counts what passed.
func reducePytest(in *input) (draft, bool) {
	p := pytest{report: report{in: in}, total: -1, ids: map[string][]int{}, listed: map[string]bool{}, results: map[string]int{}, shown: map[string]int{}}
	for i := 0; i < len(in.lines); {
		i = p.line(i)
	}
	if !p.seen {
		return draft{}, false
	}
	if len(p.found) == 0 {
		p.found = p.failed
	}
	p.unrooted()
	p.verdict()
	return p.draft(), true
}

// line reads the line i, and what belongs to it, and returns the next.
func (p *pytest) line(i int) int {
	l := p.in.lines[i]
	if title, ok := ruled(l, '='); ok {
		p.heading(i, title)
		return i + 1
	}
	switch p.section {
	case "FAILURES", "ERRORS":
		if name, ok := ruled(l, '_'); ok {
			return p.failure(i, name)
		}
		if strings.HasPrefix(l, "!!!") {
			p.stopped(i)
		} else if place, why, ok := atLine(l); ok { // --tb=line
			p.add(finding{at: i, title: "FAILED " + place, name: place, nameless: true, why: []detail{{at: i, text: why, rank: 1}}})
		}
	case "short test summary info":
		p.summary(i)
	case "warnings summary":
		p.warning(i)
	case "test session starts", "":
		p.progress(i)
	case "PASSES":
	default: // coverage, durations, what plugins print
		p.limited(i, 10)
	}
	return i + 1
}

// ruled returns the title of a line that is a rule of signs with a title in it.
func ruled(line string, sign byte) (string, bool) {
	if len(line) < 5 || line[0] != sign || line[1] != sign && line[1] != ' ' {
		return "", false
	}
	title := strings.Trim(line, string(sign))
	if len(title) < 3 || title[0] != ' ' || title[len(title)-1] != ' ' || title[1] == ' ' {
		return "", false
	}
	return title[1 : len(title)-1], true
}

func (p *pytest) heading(i int, title string) {
	switch {
	case isPytestTotal(title):
		p.seen, p.total = true, i
	case strings.HasPrefix(title, "warnings summary"):
		p.section = "warnings summary"
	default:
		p.section = title
		p.seen = p.seen || title == "test session starts" || title == "FAILURES" || title == "ERRORS" || title == "short test summary info"
	}
}

// isPytestTotal reports whether a line is the last one of a run: "3 failed, 10 passed in 0.12s".
func isPytestTotal(title string) bool {
	i := strings.LastIndex(title, " in ")
	if i < 0 || len(title) > 300 || i+4 == len(title) || !isDigit(title[i+4]) {
		return false
	}
	if strings.HasPrefix(title, "no tests ran") {
		return true
	}
	for part := range strings.SplitSeq(title[:i], ", ") {
		n, word, ok := strings.Cut(part, " ")
		if !ok || !isNumber(n) {
			return false
		}
		switch word {
		case "passed", "failed", "error", "errors", "skipped", "deselected", "xfailed", "xpassed", "warning", "warnings", "rerun", "subtests passed", "subtests failed":
		default:
			return false
		}
	}
	return true
}

// failure reads the block below a heading in the sections of failures.
func (p *pytest) failure(i int, heading string) int {
	f := finding{at: i, name: heading, same: strings.HasPrefix(heading, "ERROR collecting ")}
	word := "FAILED"
	for _, prefix := range []string{"ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "} {
		if name, ok := strings.CutPrefix(heading, prefix); ok {
			f.name, word = name, strings.TrimSpace(prefix)
		}
	}
	var places []string
	captured := false
	margin := 0 // how far the first line of a reason is set in
	end := i + 1
	for ; end < len(p.in.lines); end++ {
		l := p.in.lines[end]
		if _, ok := ruled(l, '_'); ok && !strings.HasPrefix(l, "_ _") || strings.HasPrefix(l, "!!!") {
			break
		}
		if _, ok := ruled(l, '='); ok {
			break
		}
		if _, ok := ruled(l, '-'); ok {
			captured = true
			f.why = append(f.why, detail{at: end, text: strings.Trim(l, "- ") + ":", rank: 3})
			continue
		}
		if place, ok := frame(l); ok && !captured {
			places = append(places, place)
			continue
		}
		if why, ok := pytestReason(l, captured, &margin); ok {
			why.at = end
			f.why = append(f.why, why)
		}
	}
	rankItems(f.why)
	tracebackReason(p.in.lines[i+1:end], i+1, &f)
	if len(places) == 0 { // --tb=native
		places = pythonPlaces(p.in.lines[i+1 : end])
	}
	f.place = placesOf(places)
	f.title = word + " " + f.name + f.place
	p.ids[f.name] = append(p.ids[f.name], len(p.found))
	p.add(f)
	return end
}

func (p *pytest) add(f finding) {
	p.listed[f.name] = true
	p.found = append(p.found, f)
}

// pytestReason says what a line of a failure tells, if anything.
func pytestReason(l string, captured bool, margin *int) (detail, bool) {
	switch {
	case captured:
		return detail{text: l, rank: 3}, l != ""
	case strings.HasPrefix(l, "E  ") || l == "E":
		if *margin == 0 {
			*margin = len(l) - len(strings.TrimLeft(l[1:], " "))
		}
		text := l[min(*margin, len(l)):]
		if strings.TrimSpace(l[1:min(*margin, len(l))]) != "" {
			text = strings.TrimSpace(l[1:])
		}
		if trimmed := strings.TrimSpace(text); trimmed == "" || strings.HasPrefix(trimmed, "?") && strings.Trim(trimmed, "?+-^ ") == "" {
			return detail{}, false // blank, or a pointer below a line of a diff
		}
		for _, a := range pytestAdvice {
			if strings.HasPrefix(strings.TrimSpace(text), a) {
				return detail{}, false
			}
		}
		if strings.HasPrefix(text, " ") {
			return detail{text: strings.TrimPrefix(text, "  "), rank: pytestRank(strings.TrimSpace(text))}, true
		}
		return detail{text: text, rank: 1}, true
	case strings.HasPrefix(l, ">"):
		return detail{text: "> " + strings.TrimSpace(l[1:]), rank: 3}, true
	}
	return detail{}, false
}

// pytestAdvice begins lines below a reason that say how to see more.
var pytestAdvice = []string{"Use -v", "Omitting ", "...Full output", "Full diff:", "Skipping "}

// pytestRank is 2 of lines that tell a difference, 3 of others below a reason.
func pytestRank(text string) int {
	for _, sign := range []string{"- ", "+ ", "where ", "and ", "At index", "Left ", "Right ", "Extra ", "{'", "Regex:", "Input:", "Actual", "Expected", "Missing", "Obtained"} {
		if strings.HasPrefix(text, sign) {
			return 2
		}
	}
	return 3
}

// rankItems ranks what pytest says of two dicts: what they have in common does
// not show, and one of the items that differ tells more than all headings.
func rankItems(why []detail) {
	common, differs := false, false
	for i := range why {
		d := &why[i]
		text := strings.TrimSpace(d.text)
		if strings.HasSuffix(text, " items:") || strings.HasSuffix(text, " item:") {
			common = text == "Common items:"
			d.rank = 3
		}
		switch {
		case common:
			d.rank = 4
		case strings.HasPrefix(text, "{'") && d.rank == 2:
			if differs {
				d.rank = 3
			}
			differs = true
		}
	}
}

// frame returns the place of a line of a traceback in pytest's own form:
// "a/b.py:12: in f" or "a/b.py:12: KeyError".
func frame(l string) (string, bool) {
	place, _, ok := atLine(l)
	if !ok || l[0] == ' ' || strings.Contains(place, " ") {
		return "", false
	}
	return place, true
}

// atLine splits "file:12: text"; the text may be empty.
func atLine(l string) (place, text string, ok bool) {
	i := strings.IndexByte(l, ':')
	if i == 1 && len(l) > 2 && (l[2] == '\\' || l[2] == '/') { // a drive
		if j := strings.IndexByte(l[2:], ':'); j >= 0 {
			i = j + 2
		}
	}
	if i <= 0 {
		return "", "", false
	}
	j := i + 1
	for j < len(l) && isDigit(l[j]) {
		j++
	}
	if j == i+1 || j == len(l) || l[j] != ':' || !strings.ContainsAny(l[:i], "./\\") {
		return "", "", false
	}
	return l[:j], strings.TrimSpace(l[j+1:]), true
}

// placesOf says where: the last place, and the first one if it is in another file.
func placesOf(places []string) string {
	places = own(places)
	if len(places) == 0 {
		return ""
	}
	last, first := places[len(places)-1], places[0]
	a, _, _ := strings.Cut(last, ":")
	if b, _, _ := strings.Cut(first, ":"); a != b {
		return " at " + last + " from " + first
	}
	return " at " + last
}

// own drops places in libraries unless there are no others.
func own(places []string) []string {
	var mine []string
	for _, p := range places {
		if !isLibrary(p) {
			mine = append(mine, p)
		}
	}
	if len(mine) == 0 {
		return places
	}
	return mine
}

// isLibrary reports whether a file belongs to a language or an installed package.
func isLibrary(place string) bool {
	for _, part := range []string{"site-packages/", "dist-packages/", "/lib/python", "node_modules/", "node:", "<frozen", "/usr/lib/", "/usr/local/go/", "/rustc/", ".cargo/registry", "/pkg/mod/"} {
		if strings.Contains(place, part) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
