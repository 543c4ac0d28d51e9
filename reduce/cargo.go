package reduce

import (
	"strconv"
	"strings"
)

var cargoReducers = []reducer{
	{names: "cargo, cargo build, cargo b, cargo check, cargo c, cargo test, cargo t, cargo clippy, cargo run, cargo r, cargo nextest, cargo bench, cargo doc, cargo install, cargo update, cargo add, cargo fetch, rustc, cross, maturin", reduce: reduceCargo, seen: seenCargo},
}

// seenCargo looks for what only cargo and the tests it builds print.
func seenCargo(in *input) bool {
	for _, l := range in.lines[:min(len(in.lines), 40)] {
		if strings.HasPrefix(l, "   Compiling ") || strings.HasPrefix(l, "    Finished `") || strings.HasPrefix(l, "     Running ") && strings.Contains(l, "target/") {
			return true
		}
	}
	return false
}

// cargo is the output of cargo, being read.
type cargo struct {
	report
	steps    map[string]int // lines of cargo's own, by their word
	order    []string
	passed   int
	ignored  int
	failed   []finding // from the lines of single tests
	blocks   map[string]bool
	titles   map[string]bool
	results  int
	sums     [4]int // of the results: what cargoSums counts
	bad      bool   // a result was FAILED
	failures bool   // in the list of names that ends a run of tests
	seen     bool
}

// reduceCargo keeps errors and warnings with their places, tests that failed with
// what they printed, and every result; it counts the rest.
func reduceCargo(in *input) (draft, bool) {
	c := &cargo{report: report{in: in}, steps: map[string]int{}, blocks: map[string]bool{}, titles: map[string]bool{}}
	for i := 0; i < len(in.lines); {
		i = c.line(i)
	}
	if !c.seen {
		return draft{}, false
	}
	for _, f := range c.failed {
		if !c.blocks[f.name] {
			c.found = append(c.found, f)
		}
	}
	c.verdict()
	return c.draft(), true
}

// line reads the line i, and what belongs to it, and returns the next.
func (c *cargo) line(i int) int {
	l := c.in.lines[i]
	if l == "" {
		return i + 1
	}
	if word, ok := cargoStep(l); ok {
		c.failures = false
		c.step(i, word)
		return i + 1
	}
	switch {
	case strings.HasPrefix(l, "test result: "):
		c.seen = true
		c.results++
		c.failures = false
		c.result(l)
	case strings.HasPrefix(l, "test ") && strings.Contains(l, " ... "):
		c.test(i, l)
	case strings.HasPrefix(l, "---- ") && strings.HasSuffix(l, " ----"):
		return c.block(i)
	case strings.HasPrefix(l, "running ") && strings.HasSuffix(l, "s"), l == "successes:":
		c.failures = false
	case l == "failures:":
		c.failures = true
	case c.failures && strings.HasPrefix(l, "    "): // names that their blocks have, too
		if name := strings.TrimSpace(l); !c.blocks[name] {
			c.failed = append(c.failed, finding{at: i, title: "FAILED " + name, name: name})
			c.blocks[name] = false
		}
	case strings.HasPrefix(l, "error"), strings.HasPrefix(l, "warning"):
		return c.message(i)
	case strings.HasPrefix(l, "Some errors have detailed"), strings.HasPrefix(l, "For more information about this error"), strings.HasPrefix(l, "For more information about an error"):
	default:
		if i >= len(c.in.lines)-2 || weight(l) == maxWeight && len(c.lines) < 12 {
			c.lines = append(c.lines, drafted{text: l, at: i, of: 1})
		}
	}
	return i + 1
}

// cargoStep is the word of a line of cargo's own: it ends at the twelfth column.
func cargoStep(l string) (string, bool) {
	text := strings.TrimLeft(l, " ")
	word, _, ok := strings.Cut(text, " ")
	if !ok || len(l)-len(text)+len(word) != 12 || word[0] < 'A' || word[0] > 'Z' {
		return "", false
	}
	return word, true
}

// step counts a line of cargo's own; how the work ended is kept.
func (c *cargo) step(i int, word string) {
	c.seen = true
	l := strings.TrimSpace(c.in.lines[i])
	switch word {
	case "Finished", "Installed", "Replaced", "Installing", "Removed", "Removing", "Replacing", "Executable", "Summary", "Generated":
		c.say(i, l)
		return
	case "FAIL", "TIMEOUT", "SIGABRT", "SIGSEGV": // nextest
		c.failed = append(c.failed, finding{at: i, title: l, name: l})
		return
	case "PASS":
		c.passed++
		return
	}
	if c.steps[word]++; c.steps[word] == 1 {
		c.order = append(c.order, word)
	}
}

// cargoSums are what a line of a result counts.
var cargoSums = [4]string{"passed", "failed", "ignored", "filtered out"}

// result adds up what a line of a result says.
func (c *cargo) result(l string) {
	c.bad = c.bad || strings.HasPrefix(l, "test result: FAILED")
	_, counts, _ := strings.Cut(l, ". ")
	for part := range strings.SplitSeq(counts, "; ") {
		n, word, _ := strings.Cut(part, " ")
		for k, w := range cargoSums {
			if v, err := strconv.Atoi(n); err == nil && w == word {
				c.sums[k] += v
			}
		}
	}
}

// test reads the result of one test.
func (c *cargo) test(i int, l string) {
	c.seen = true
	name, result, _ := strings.Cut(strings.TrimPrefix(l, "test "), " ... ")
	switch {
	case strings.HasPrefix(result, "ok"):
		c.passed++
	case strings.HasPrefix(result, "ignored"):
		c.ignored++
	case strings.HasPrefix(result, "FAILED"):
		name = strings.TrimSuffix(name, " - should panic")
		c.failed = append(c.failed, finding{at: i, title: "FAILED " + name, name: name})
	}
}

// block reads what a test that failed had printed.
func (c *cargo) block(i int) int {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.Trim(c.in.lines[i], "- "), " stdout"), " stderr")
	f := finding{at: i, title: "FAILED " + name, name: name}
	end := i + 1
	trace := false
	for ; end < len(c.in.lines); end++ {
		l := c.in.lines[end]
		if strings.HasPrefix(l, "---- ") || l == "failures:" || l == "successes:" || strings.HasPrefix(l, "test result: ") {
			break
		}
		switch {
		case l == "":
		case l == "stack backtrace:":
			trace = true
		case strings.HasPrefix(l, "note: "):
			trace = false
			if strings.HasPrefix(l, "note: test did not panic") {
				f.why = append(f.why, detail{at: end, text: l, rank: 1})
			}
		case trace:
		case strings.HasPrefix(l, "thread '") && strings.Contains(l, "panicked at "):
			_, place, _ := strings.Cut(l, "panicked at ")
			f.place = " at " + strings.TrimSuffix(place, ":")
			f.title = "FAILED " + name + f.place
		default:
			rank := 2
			if f.place != "" && !hasReason(f.why) {
				rank = 1
			}
			f.why = append(f.why, detail{at: end, text: strings.TrimSpace(l), rank: rank})
		}
	}
	c.seen = true
	c.blocks[name] = true
	c.found = append(c.found, f)
	return end
}

func hasReason(why []detail) bool {
	for _, w := range why {
		if w.rank == 1 {
			return true
		}
	}
	return false
}

// message reads an error or warning of the compiler, up to the next blank line.
func (c *cargo) message(i int) int {
	l := c.in.lines[i]
	f := finding{at: i, title: l, mild: strings.HasPrefix(l, "warning")}
	end := i + 1
	for ; end < len(c.in.lines) && c.in.lines[end] != ""; end++ {
		text := strings.TrimSpace(c.in.lines[end])
		if _, ok := cargoStep(c.in.lines[end]); ok || strings.HasPrefix(c.in.lines[end], "error") || strings.HasPrefix(c.in.lines[end], "warning: ") {
			break
		}
		if place, ok := strings.CutPrefix(text, "--> "); ok && f.name == "" {
			f.name = place
			f.title = l + " at " + place
			continue
		}
		if d, ok := rustDetail(text); ok {
			d.at = end
			f.why = append(f.why, d)
		}
	}
	switch {
	case f.name == "" && strings.Contains(l, " generated ") && strings.Contains(l, " warning"):
	case f.name == "" && (strings.HasPrefix(l, "error: aborting due to") || strings.HasPrefix(l, "error: could not compile") || strings.HasPrefix(l, "error: test failed")):
		c.say(i, l) // totals
	case c.titles[f.title]: // of the same code, built again for its tests
	default:
		c.titles[f.title] = true
		if f.name == "" {
			f.name = f.title
		}
		c.seen = c.seen || f.name != f.title
		c.found = append(c.found, f)
	}
	return end
}

// rustDetail ranks a line below a message of rustc.
func rustDetail(text string) (detail, bool) {
	bare := strings.TrimLeft(text, "|^-_ ~+.")
	switch {
	case bare == "":
		return detail{}, false
	case strings.HasPrefix(text, "|"): // what a pointer says
		if !strings.ContainsAny(text, "^-") {
			return detail{text: text, rank: 3}, true
		}
		return detail{text: bare, rank: 1 + boolInt(!strings.Contains(text, "^"))}, true
	case strings.HasPrefix(text, "= note: `#["), strings.HasPrefix(text, "= help: for further information"):
		return detail{}, false
	case strings.HasPrefix(text, "= "), strings.HasPrefix(text, "help: "), strings.HasPrefix(text, "note: "):
		return detail{text: text, rank: 2}, true
	}
	return detail{text: text, rank: 3}, true
}

// verdict says in front what was counted.
func (c *cargo) verdict() {
	var parts []string
	for _, w := range c.order {
		parts = append(parts, w+" "+c.in.count(c.steps[w]))
	}
	if len(c.found) == 0 && len(parts) > 0 {
		c.lines = append([]drafted{{text: strings.Join(parts, ", "), weight: 1}}, c.lines...)
	}
	if c.results > 0 {
		text := "test result: ok"
		if c.bad {
			text = "test result: FAILED"
		}
		for k, w := range cargoSums {
			if n := c.sums[k]; n > 0 {
				text += ", " + c.in.count(n) + " " + w
			}
		}
		if c.results > 1 {
			text += " (" + c.in.count(c.results) + " runs)"
		}
		c.lines = append([]drafted{{text: text, weight: maxWeight}}, c.lines...)
	}
	if c.results == 0 && c.passed+len(c.failed) > 0 {
		c.note(0, "no result: the run did not end here (so far "+c.in.count(c.passed)+" ok, "+c.in.count(len(c.failed))+" failed)")
	}
}
