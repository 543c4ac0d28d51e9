package reduce

import (
	"encoding/json"
	"strings"
)

var goReducers = []reducer{
	{names: "go test, gotestsum, gotest, richgo", reduce: reduceGoTest, seen: seenGoTest},
	{names: "go build, go vet, go install, go run, go generate, go list", reduce: reduceGoBuild},
}

// seenGoTest looks for the words that only go test begins lines with.
func seenGoTest(in *input) bool {
	for _, l := range in.lines[:min(len(in.lines), 60)] {
		if strings.HasPrefix(l, "=== RUN   ") || strings.HasPrefix(l, "--- FAIL: ") || strings.HasPrefix(l, "FAIL\t") || strings.HasPrefix(l, `{"Time":`) && strings.Contains(l, `"Action":`) {
			return true
		}
	}
	return false
}

// goTest is the output of go test, being read.
type goTest struct {
	report
	outs    map[string][]detail // what tests printed, by package and name
	raced   bool                // what no test printed tells of a data race
	run     string              // the test that prints now
	failed  string              // the test whose failure was told last: what follows it is its own
	byName  map[string]int      // findings by package and test
	first   int                 // the first finding of the present package
	begun   map[string]bool     // packages without a result
	told    map[string]bool     // packages with a test that says why
	benches int
	ok      int
	cached  int
	empty   int
	bad     int
	passed  int
	skipped int
	failing int
	seen    bool
}

// reduceGoTest keeps every test that failed with what it printed, build failures,
// panics and races, and the packages that failed; it counts the others.
func reduceGoTest(in *input) (draft, bool) {
	g := &goTest{report: report{in: in}, outs: map[string][]detail{}, byName: map[string]int{}, begun: map[string]bool{}, told: map[string]bool{}}
	if lines, at, ok := goEvents(in.lines); ok {
		g.events(lines, at)
	} else {
		for i := 0; i < len(in.lines); {
			i = g.line(i)
		}
		g.closeFindings("")
	}
	if !g.seen {
		return draft{}, false
	}
	g.verdict()
	return g.draft(), true
}

// goEvent is a line of go test -json.
type goEvent struct {
	Action, Package, Test, Output, ImportPath string
}

// goEvents decodes the lines of -json; lines between them are output of no test.
func goEvents(lines []string) (list []goEvent, at []int, ok bool) {
	if len(lines) == 0 || !strings.HasPrefix(lines[0], `{"`) || !strings.Contains(lines[0], `"Action":`) {
		return nil, nil, false
	}
	for i, l := range lines {
		var e goEvent
		if !strings.HasPrefix(l, "{") || json.Unmarshal([]byte(l), &e) != nil || e.Action == "" {
			e = goEvent{Action: "output", Output: l}
		}
		list, at = append(list, e), append(at, i)
	}
	return list, at, true
}

// events makes of events what the lines of text say.
func (g *goTest) events(list []goEvent, at []int) {
	g.seen = true
	sub := map[string]bool{} // tests with subtests that failed
	for n, e := range list {
		key := e.Package + " " + e.Test
		i := at[n]
		switch e.Action {
		case "start":
			g.begun[e.Package] = true
		case "output", "build-output":
			if e.Test == "" {
				key = e.Package + e.ImportPath
			}
			if text := strings.TrimRight(clean(e.Output, false), "\n"); !goNoise(text) {
				g.outs[key] = append(g.outs[key], detail{at: i, text: text})
			}
		case "pass":
			g.passed += boolInt(e.Test != "")
			g.ok += boolInt(e.Test == "")
			g.over(e)
		case "skip":
			g.skipped += boolInt(e.Test != "")
			g.empty += boolInt(e.Test == "")
			g.over(e)
		case "fail", "build-fail":
			if e.Test == "" {
				g.packageFailed(i, e)
				continue
			}
			g.failing++
			if j := strings.LastIndexByte(e.Test, '/'); j > 0 {
				sub[e.Package+" "+e.Test[:j]] = true
			}
			if f := g.test(i, e.Package, e.Test, g.outs[key]); len(f.why) > 0 || !sub[key] {
				g.told[e.Package] = true
				g.found = append(g.found, f)
			}
			delete(g.outs, key) // it may run again (-count)
		}
	}
}

// over forgets what a test or package printed that did not fail.
func (g *goTest) over(e goEvent) {
	delete(g.outs, e.Package+" "+e.Test)
	if e.Test == "" {
		delete(g.begun, e.Package)
	}
}

// packageFailed counts a package that failed; one in which no test did, says why.
func (g *goTest) packageFailed(i int, e goEvent) {
	name := e.Package + e.ImportPath
	delete(g.begun, e.Package)
	if e.Action == "fail" {
		g.bad++
	}
	if g.told[e.Package] { // by its tests
		return
	}
	f := finding{at: i, title: "FAIL " + name, name: name}
	goReasons(g.outs[name], &f)
	delete(g.outs, name)
	if len(f.why) > 0 {
		g.found = append(g.found, f)
	}
}

// test is the finding of a test that failed.
func (g *goTest) test(i int, pkg, name string, outs []detail) finding {
	f := finding{at: i, title: "FAIL " + name, name: name, place: pkg + " "}
	if pkg != "" {
		f.title = "FAIL " + pkg + " " + name
	}
	goReasons(outs, &f)
	return f
}

// goNoise reports whether a line tells how tests went on, not how they went.
func goNoise(l string) bool {
	text := strings.TrimSpace(l)
	for _, p := range []string{"=== ", "--- PASS", "--- SKIP", "--- FAIL", "ok  \t", "FAIL\t", "?   \t", "exit status ", "coverage: ", "# "} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return text == "" || text == "PASS" || text == "FAIL"
}

// goReasons adds what a test printed: panics and races in short, and of lines
// that begin with a place in a file the last first, for what fails comes last.
func goReasons(outs []detail, f *finding) {
	outs = goTraces(outs)
	last := -1
	for i, o := range outs {
		if o.rank == 0 && goPlace(strings.TrimSpace(o.text)) {
			last = i
		}
	}
	rankOnce(outs)
	said := map[string]bool{}
	for i, o := range outs {
		text := strings.TrimSpace(o.text)
		if goPlace(text) {
			o.text = text
			o.rank = 2 - boolInt(i == last)
		} else if o.rank == 0 {
			o.rank = 2
		}
		if text == "" || o.rank == 1 && said[o.text] {
			continue
		}
		said[o.text] = true
		f.why = append(f.why, o)
	}
}

// goPlace reports whether a line begins with "file.go:12: ".
func goPlace(text string) bool {
	i := strings.Index(text, ".go:")
	if i <= 0 || strings.ContainsAny(text[:i], " \t") || i+4 >= len(text) {
		return false
	}
	return isDigit(text[i+4])
}

// verdict puts the counts first.
func (g *goTest) verdict() {
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, g.in.count(n)+" "+text)
		}
	}
	add(g.failing, "failed")
	add(g.passed, "passed")
	add(g.skipped, "skipped")
	tests := strings.Join(parts, ", ")
	parts = nil
	add(g.bad, "FAIL")
	add(g.ok, "ok")
	add(g.empty, "without tests")
	text := "packages: " + strings.Join(parts, ", ")
	if len(parts) == 0 {
		text = "no result of a package"
	}
	if len(g.begun) > 0 {
		text += "; the run did not end here"
	}
	if tests != "" {
		text += "; tests: " + tests
	}
	if g.cached > 0 {
		text += "; " + g.in.count(g.cached) + " cached"
	}
	g.note(0, text)
}
