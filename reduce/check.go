package reduce

import "strings"

var checkReducers = []reducer{
	{names: "make, gmake, ninja, cmake, gcc, g++, cc, c++, clang, clang++, ld, meson, bear, javac, kotlinc, swiftc, ant, bazel", reduce: reduceChecks},
	{names: "mvn, mvnw, gradle, gradlew, sbt", reduce: reduceChecks},
	{names: "tsc, vue-tsc, eslint, ruff, ruff check, mypy, dmypy, pyright, flake8, pylint, pycodestyle, pyflakes", reduce: reduceChecks},
	{names: "golangci-lint, staticcheck, revive, gofumpt, shellcheck, clang-tidy, cppcheck, biome, oxlint, dotnet, msbuild, rubocop, stylelint", reduce: reduceChecks},
	{names: "npm run, pnpm run, yarn run, pnpm, yarn, npm test, pnpm test, yarn test, task, just, pre-commit", reduce: reduceChecks},
}

// checks is the output of compilers and checkers, and of what runs them.
type checks struct {
	report
	file    string // the file that the lines of eslint are about
	errors  int
	mild    int
	noise   int // lines that tell how things went on
	context []detail
	kinds   map[uint64]int // other lines by their kind
	total   bool           // a line told how many there are
	stops   int            // tests that failed, and lines that say what stopped
	halts   int            // these lines
	told    bool           // messages say how bad they are
	titles  map[string]bool
	arrows  int // the end of what belongs to the last message with an arrow
}

// reduceChecks keeps every error that is different, the first in full, warnings by
// their text with their number, and what stopped; steps are counted.
func reduceChecks(in *input) (draft, bool) {
	for _, seen := range []func(*input) bool{seenPytest, seenUnittest, seenGoTest, seenCargo, seenJS, seenTAP} {
		if seen(in) {
			return draft{}, false
		}
	}
	c := &checks{report: report{in: in, brief: true}, kinds: map[uint64]int{}, titles: map[string]bool{}}
	for i := 0; i < len(in.lines); {
		i = c.line(i)
	}
	if len(c.found) == 0 && c.stops == 0 && c.noise < len(in.lines)/2 {
		return draft{}, false
	}
	if c.errors+c.mild > 3 && !c.total {
		var parts []string
		if !c.told {
			parts = append(parts, in.counted(c.errors+c.mild, "problem"))
		} else {
			if c.errors > 0 { // none is no success: the run may not be at its end
				parts = append(parts, in.counted(c.errors, "error"))
			}
			if c.mild > 0 {
				parts = append(parts, in.counted(c.mild, "warning"))
			}
		}
		c.note(0, strings.Join(parts, ", "))
	}
	return c.draft(), true
}

// line reads the line i, and what belongs to it, and returns the next.
func (c *checks) line(i int) int {
	l := c.in.lines[i]
	switch {
	case l == "":
		return i + 1
	case isStep(l):
		c.noise++
		c.context = nil
		return i + 1
	}
	if end := c.cmake(i); end > i {
		return end
	}
	if end := c.javaTest(i); end > i {
		return end
	}
	if f, ok := c.diagnosis(i); ok {
		return c.finding(i, f)
	}
	if c.aside(i) {
		return i + 1
	}
	c.other(i)
	return i + 1
}

// finding adds a diagnosis with the lines below that show its place.
func (c *checks) finding(i int, f finding) int {
	f.at = i
	f.why = append(c.context, f.why...)
	for _, d := range c.context {
		if place, message, ok := splitPlace(d.text); ok && strings.HasSuffix(message, "required from here") {
			f.title += ", required from " + place
		}
	}
	c.context = nil
	end := i + 1
	stop := len(c.in.lines)
	if strings.HasPrefix(f.title, f.name+" "+c.in.lines[i]) {
		end, stop = i+2, c.arrowEnd(i+1)
	}
	pointer := false
	for end < stop {
		l := c.in.lines[end]
		rank, ok := c.below(l, end)
		if !ok && stop < len(c.in.lines) || !ok && pointer && strings.HasPrefix(l, "    ") { // advice, or what clang would write there
			rank, ok = 3, true
		}
		if !ok {
			break
		}
		pointer = isPointer(l)
		if rank > 0 && l != "" {
			f.why = append(f.why, detail{at: end, text: strings.TrimRight(strings.TrimPrefix(l, "    "), " "), rank: rank})
		}
		end++
	}
	c.add(f)
	return end
}

// add counts a finding, unless it was told before word by word.
func (c *checks) add(f finding) {
	if c.titles[f.title] {
		return
	}
	c.titles[f.title] = true
	if f.mild {
		c.mild++
	} else {
		c.errors++
	}
	c.found = append(c.found, f)
}

// isPointer reports whether a line only points into the one above it.
func isPointer(l string) bool {
	return l != "" && strings.Trim(l, " \t|^~-") == "" && strings.ContainsAny(l, "^~")
}

// below ranks a line that may belong to a diagnosis above it.
func (c *checks) below(l string, i int) (rank int, ok bool) {
	text := strings.TrimSpace(l)
	if text == "" { // one blank line between a diagnosis and its code (tsc, ruff)
		if i+1 < len(c.in.lines) && isExcerpt(c.in.lines[i+1]) {
			return 0, true
		}
		return 0, false
	}
	if isExcerpt(l) {
		if strings.Trim(text, "|^~- ") == "" {
			return 0, true // a pointer alone: the column says it
		}
		return 3, true
	}
	if _, message, ok := splitPlace(l); ok {
		return 2, isNote(message)
	}
	for _, p := range []string{"symbol:", "location:", "required:", "found:", "reason:", "Did you mean", "help:", "= note:", "= help:", "note:", "help:"} {
		if strings.HasPrefix(text, p) {
			return 2, true
		}
	}
	if l[0] != ' ' && l[0] != '\t' {
		return 0, false
	}
	if c.file == "" && i+1 < len(c.in.lines) && isPointer(c.in.lines[i+1]) {
		return 3, true // code, with a pointer below (javac, golangci-lint)
	}
	return 0, isPointer(l)
}

// isExcerpt reports whether a line shows source: "  12 | x = 1", "12   x = 1" with
// a pointer below it, or the pointer.
func isExcerpt(l string) bool {
	text := strings.TrimLeft(l, " ")
	if text == "" || isTotal(l) {
		return false
	}
	if text[0] == '|' {
		return true
	}
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	if n > 0 && n < len(text) {
		rest := strings.TrimLeft(text[n:], " ")
		return rest != "" && rest[0] == '|' || rest == "" || l[0] != ' ' && n < 7 && strings.HasPrefix(text[n:], " ")
	}
	return strings.Trim(text, "~^") == "" && len(text) < 200
}

// cmake reads a message of CMake's: its heading and the lines set in below.
func (c *checks) cmake(i int) int {
	l := c.in.lines[i]
	if !strings.HasPrefix(l, "CMake Error") && !strings.HasPrefix(l, "CMake Warning") && !strings.HasPrefix(l, "CMake Deprecation") {
		return i
	}
	f := finding{at: i, title: l, name: strings.TrimPrefix(l, "CMake "), mild: !strings.HasPrefix(l, "CMake Error")}
	end := i + 1
	for ; end < len(c.in.lines); end++ {
		text := c.in.lines[end]
		if text != "" && !strings.HasPrefix(text, "  ") {
			break
		}
		if text != "" {
			f.why = append(f.why, detail{at: end, text: strings.TrimSpace(text), rank: 1 + boolInt(len(f.why) > 1)})
		}
	}
	c.add(f)
	return end
}

// aside deals with lines that go with diagnoses: where they were found, what
// stopped, how many there were.
func (c *checks) aside(i int) bool {
	l := c.in.lines[i]
	switch {
	case strings.HasPrefix(l, "In file included from "), strings.HasPrefix(l, "                 from "):
		c.context = append(c.context, detail{at: i, text: l, rank: 3})
	case strings.HasSuffix(l, ":") && strings.Contains(l, ": ") && c.next(i):
		// "a.c: In function 'f':"
	case isStop(l):
		c.stops++
		if c.halts++; c.halts <= 3 || i >= len(c.in.lines)-2 {
			c.say(i, l)
		}
	case isTotal(l):
		c.total = true
		c.say(i, strings.TrimSpace(l))
	case strings.Contains(l, "undefined reference to ") || strings.HasPrefix(l, "Undefined symbols for "):
		c.add(finding{at: i, title: strings.TrimSpace(l), name: l})
	default:
		return false
	}
	return true
}

// next reports whether the line after i is a diagnosis.
func (c *checks) next(i int) bool {
	if i+1 >= len(c.in.lines) {
		return false
	}
	_, _, ok := splitPlace(c.in.lines[i+1])
	return ok
}

// other keeps a line that no rule knows if its words are news, three of a kind,
// and what stands at the very end.
func (c *checks) other(i int) {
	l := c.in.lines[i]
	last := i >= len(c.in.lines)-2
	if w := weight(l); w < 2 && !last {
		return
	}
	if k := kind(l); !last {
		if c.kinds[k]++; c.kinds[k] > 3 || len(c.kinds) > 12 {
			return
		}
	}
	c.lines = append(c.lines, drafted{text: l, at: i, of: 1})
}

// isTotal reports whether a line tells how many problems there are in all.
func isTotal(l string) bool {
	l = strings.TrimSpace(l)
	n := strings.TrimLeft(l, "✖✗×Found ")
	if n == "" || !isDigit(n[0]) || len(l) > 160 {
		return false
	}
	for _, w := range []string{" problem", " error", " warning", " issue", " diagnostic", " offense"} {
		if i := strings.Index(n, w); i > 0 && strings.Trim(n[:i], "0123456789") == "" {
			return true
		}
	}
	return false
}

// isStop reports whether a line tells what did not go on.
func isStop(l string) bool {
	text := l
	if strings.HasPrefix(text, "make") || strings.HasPrefix(text, "gmake") {
		return strings.Contains(text, ": *** ")
	}
	for _, p := range []string{
		"ninja: ", "FAILED: ", "collect2: ", "-- Configuring incomplete", "BUILD FAILED", "BUILD SUCCESSFUL", "FAILURE: ", "Execution failed for ", "> Compilation failed", "> Task ", "[INFO] BUILD ",
		"BUILD FAILURE", "BUILD SUCCESS", "Error: ", "error: could not", "fatal: ", "ld: ", "Your code has been rated", "npm error code", "npm error Lifecycle", "ELIFECYCLE",
		"clang: error", "gcc: ", "cc1: ", "compilation terminated", "Would reformat", "would be reformatted", "Finished in", "Traceback (most",
	} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// isStep reports whether a line only tells that something was done.
func isStep(l string) bool {
	switch l[0] {
	case '[': // [ 12%] Building, [3/44] Building, [INFO] of Maven
		i := strings.IndexByte(l, ']')
		if i < 0 {
			return false
		}
		inside := strings.TrimSpace(l[1:i])
		if strings.HasSuffix(inside, "%") {
			return isNumber(strings.TrimSuffix(inside, "%"))
		}
		if inside == "INFO" {
			return !strings.Contains(l, "BUILD ")
		}
		if inside == "ERROR" || inside == "WARNING" {
			return mavenAdvice(l) || mavenAgain(l)
		}
		if a, b, ok := strings.Cut(inside, "/"); ok {
			return isNumber(a) && isNumber(b)
		}
		return false
	case '-':
		return strings.HasPrefix(l, "-- ") && !strings.Contains(l, "incomplete") && !strings.Contains(l, "rror")
	case 'm', 'g':
		if strings.HasPrefix(l, "make[") || strings.HasPrefix(l, "make: ") || strings.HasPrefix(l, "gmake[") {
			return !strings.Contains(l, "***") && !strings.Contains(l, "arning")
		}
	case 'D', 'P':
		return strings.HasPrefix(l, "Download http") || strings.HasPrefix(l, "Downloading from ") || strings.HasPrefix(l, "Downloaded from ") || strings.HasPrefix(l, "Progress (")
	case '*':
		return strings.HasPrefix(l, "************* Module ")
	}
	return isCommandLine(l)
}

// isCommandLine reports whether a line is the call of a compiler.
func isCommandLine(l string) bool {
	word, rest, ok := strings.Cut(l, " ")
	if !ok || !strings.Contains(rest, "-") && !strings.Contains(rest, ".") {
		return false
	}
	if i := strings.LastIndexByte(word, '/'); i >= 0 {
		word = word[i+1:]
	}
	switch word {
	case "cc", "gcc", "g++", "c++", "clang", "clang++", "ar", "ranlib", "libtool:", "/bin/sh", "ccache", "ld", "rustc", "javac", "mkdir", "rm", "cp", "install":
		return true
	case "checking":
		return strings.Contains(rest, "...")
	case "CC", "LD", "AR", "CXX", "AS", "GEN", "HOSTCC":
		return true
	}
	return false
}
