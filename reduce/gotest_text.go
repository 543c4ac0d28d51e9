package reduce

import (
	"slices"
	"strings"
)

// line reads the line i of go test's text, and returns the next.
func (g *goTest) line(i int) int {
	l := g.in.lines[i]
	text := strings.TrimLeft(l, " ")
	switch {
	case strings.HasPrefix(text, "=== "): // RUN, CONT, NAME, PAUSE
		g.seen = true
		if f := strings.Fields(text); len(f) > 2 {
			g.run, g.failed = f[2], ""
			g.begun[""] = true
		}
	case strings.HasPrefix(text, "--- PASS: "):
		g.passed++
		g.ends(text)
	case strings.HasPrefix(text, "--- SKIP: "):
		g.skipped++
		g.ends(text)
	case strings.HasPrefix(text, "--- FAIL: "):
		g.fail(i, g.ends(text))
	case strings.HasPrefix(l, "ok  \t"), strings.HasPrefix(l, "?   \t"), strings.HasPrefix(l, "FAIL\t"), strings.HasPrefix(l, "\t") && strings.Contains(l, "coverage: "):
		g.pkg(i, l)
	case l == "PASS", l == "FAIL", strings.HasPrefix(l, "coverage: "):
		g.seen = true
		g.run, g.failed = "", ""
		delete(g.begun, "")
	case strings.HasPrefix(l, "Benchmark") && strings.Contains(l, " ns/op"):
		g.seen = true
		if g.benches++; g.benches <= 40 {
			g.say(i, strings.Join(strings.Fields(l), " "))
		}
	case strings.HasPrefix(l, "exit status "):
		g.printed(i, l)
	case strings.HasPrefix(l, "# "):
		return g.build(i)
	case strings.HasPrefix(l, "go: downloading "):
	case strings.HasPrefix(l, "fuzz: elapsed: "):
		if i+1 == len(g.in.lines) || !strings.HasPrefix(g.in.lines[i+1], "fuzz: elapsed: ") {
			g.say(i, l)
		}
	default:
		g.printed(i, l)
	}
	return i + 1
}

// ends takes note that a test ended, and returns its name.
func (g *goTest) ends(text string) string {
	g.seen = true
	g.begun[""] = true
	name, _, _ := strings.Cut(text[len("--- FAIL: "):], " ")
	g.run, g.failed = "", ""
	return name
}

// fail notes a test that failed: with what it printed before (-v), and what
// follows until the next one.
func (g *goTest) fail(i int, name string) {
	g.failing++
	f := finding{at: i, title: "FAIL " + name, name: name}
	f.why = g.outs[name]
	delete(g.outs, name)
	if g.raced { // told before the test that it happened in
		f.why = append(g.outs[""], f.why...)
		delete(g.outs, "")
		g.raced = false
	}
	g.byName[name] = len(g.found)
	g.found = append(g.found, f)
	g.failed = name
}

// printed keeps a line that a test or a package printed.
func (g *goTest) printed(i int, l string) {
	d := detail{at: i, text: l}
	if n, ok := g.byName[g.failed]; ok && g.failed != "" {
		g.found[n].why = append(g.found[n].why, d)
		return
	}
	g.outs[g.run] = append(g.outs[g.run], d)
	g.raced = g.raced || g.run == "" && strings.Contains(l, "WARNING: DATA RACE")
}

// pkg reads the line of a package's result.
func (g *goTest) pkg(i int, l string) {
	g.seen = true
	f := strings.Fields(l)
	switch {
	case f[0] == "ok":
		g.ok++
		g.cached += boolInt(strings.Contains(l, "(cached)"))
		if j := strings.Index(l, "coverage: "); j > 0 && len(g.lines) < 40 {
			g.say(i, f[1]+" "+strings.TrimSuffix(l[j:], " of statements"))
		}
	case f[0] == "FAIL" && len(f) > 1:
		g.bad++
		g.closeFindings(f[1])
		g.loose(i, f[1], l)
	default:
		g.empty++
	}
	clear(g.outs)
	g.raced = false
	clear(g.byName)
	g.run, g.failed = "", ""
	delete(g.begun, "")
	g.first = len(g.found)
}

// closeFindings gives the findings of a package its name, and drops tests that
// failed by their subtests alone.
func (g *goTest) closeFindings(pkg string) {
	list := g.found[g.first:]
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.name
	}
	slices.Sort(names)
	hasSubtest := func(name string) bool {
		i, _ := slices.BinarySearch(names, name+"/")
		return i < len(names) && strings.HasPrefix(names[i], name+"/")
	}
	kept := list[:0]
	for _, f := range list {
		whole := f
		whole.place = pkg + " "
		if pkg != "" {
			whole.title = strings.Replace(f.title, "FAIL ", "FAIL "+pkg+" ", 1)
		}
		whole.why = nil
		goReasons(f.why, &whole)
		if len(whole.why) == 0 && hasSubtest(f.name) {
			continue
		}
		kept = append(kept, whole)
	}
	g.found = append(g.found[:g.first], kept...)
}

// loose makes a finding of what a package printed outside of its tests, when it
// failed and no test says why; and of tests that never ended.
func (g *goTest) loose(i int, pkg, l string) {
	if len(g.found) > g.first {
		return
	}
	f := finding{at: i, title: "FAIL " + pkg, name: pkg}
	if j := strings.Index(l, "["); j > 0 {
		f.title += " " + l[j:]
	}
	var outs []detail
	if g.run != "" {
		f.title += ", while " + g.run + " ran"
		outs = g.outs[g.run]
	}
	goReasons(append(outs, g.outs[""]...), &f)
	g.found = append(g.found, f)
}

// build reads the errors of a compiler below "# package".
func (g *goTest) build(i int) int {
	name, _, _ := strings.Cut(strings.TrimPrefix(g.in.lines[i], "# "), " [")
	end := i + 1
	for end < len(g.in.lines) && (goPlace(strings.TrimPrefix(g.in.lines[end], "vet: ")) || strings.HasPrefix(g.in.lines[end], "\t") || strings.HasPrefix(g.in.lines[end], "too many errors")) {
		end++
	}
	if end == i+1 {
		g.printed(i, g.in.lines[i])
		return end
	}
	g.seen = true
	for j := i + 1; j < end; j++ {
		l := strings.TrimPrefix(g.in.lines[j], "./")
		if strings.HasPrefix(l, "\t") && len(g.found) > 0 { // goes with the line above it
			f := &g.found[len(g.found)-1]
			f.why = append(f.why, detail{at: j, text: strings.TrimSpace(l), rank: 2})
			continue
		}
		g.found = append(g.found, finding{at: j, title: l, name: placeOf(l), place: name})
	}
	g.first = len(g.found)
	return end
}

// placeOf is "file:12:3" of a line that begins so.
func placeOf(l string) string {
	place, rest, ok := atLine(l)
	if !ok {
		return l
	}
	if col, _, ok := strings.Cut(rest, ":"); ok && isNumber(col) {
		return place + ":" + col
	}
	return place
}

// reduceGoBuild keeps the errors of a compiler or of vet.
func reduceGoBuild(in *input) (draft, bool) {
	g := &goTest{report: report{in: in}, outs: map[string][]detail{}, byName: map[string]int{}, begun: map[string]bool{}}
	for i := 0; i < len(in.lines); {
		l := in.lines[i]
		if strings.HasPrefix(l, "# ") {
			i = g.build(i)
			continue
		}
		if l != "" && !strings.HasPrefix(l, "go: downloading ") {
			g.lines = append(g.lines, drafted{text: l, at: i, of: 1})
		}
		i++
	}
	if !g.seen || len(g.lines) > in.rows/2 {
		return draft{}, false
	}
	return g.draft(), true
}
