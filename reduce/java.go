package reduce

import "strings"

// mavenAdvice reports whether a line is among those that Maven ends every failure with.
func mavenAdvice(l string) bool {
	text := strings.TrimSpace(strings.TrimPrefix(l, "[ERROR]"))
	for _, p := range []string{"-> [Help", "[Help ", "To see the full stack trace", "Re-run Maven", "For more information about", "Please refer to", "After correcting the problems"} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return text == ""
}

// mavenAgain reports whether a line says again what lines with more in them said.
func mavenAgain(l string) bool {
	if strings.HasPrefix(l, "[ERROR] Tests run: ") {
		return strings.Contains(l, "Time elapsed: ")
	}
	for _, p := range []string{"[ERROR] Failures:", "[ERROR] Errors:", "[ERROR] COMPILATION ERROR", "[WARNING] COMPILATION WARNING", "[ERROR]   symbol:", "[ERROR]   location:"} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	rest, ok := strings.CutPrefix(l, "[ERROR]   ") // "  CartTest.counts:14 expected: <70> but was: <7>"
	test, _, _ := strings.Cut(rest, " ")
	return ok && strings.Contains(test, ".") && strings.Contains(test, ":")
}

// javaTest reads a test that failed, as Surefire or Gradle tell it: its name, the
// exception, and the first frame of one's own.
func (c *checks) javaTest(i int) int {
	name, ok := javaFailed(c.in.lines[i])
	if !ok {
		return i
	}
	f := finding{at: i, title: "FAILED " + name, name: name}
	own := 0
	end := i + 1
	for ; end < len(c.in.lines); end++ {
		l := strings.TrimSpace(c.in.lines[end])
		if l == "" && len(f.why) == 0 {
			continue
		}
		if _, ok := javaFailed(c.in.lines[end]); ok || l == "" || l[0] == '[' {
			break
		}
		frame, isFrame := strings.CutPrefix(l, "at ")
		switch {
		case !isFrame && strings.HasPrefix(l, "... "), isFrame && isJavaLibrary(frame):
		case isFrame:
			if own++; own <= 2 {
				f.why = append(f.why, detail{at: end, text: l, rank: 2})
			}
			if own == 1 {
				f.place = frame
			}
		default:
			f.why = append(f.why, detail{at: end, text: l, rank: 1 + boolInt(len(f.why) > 0 && !strings.HasPrefix(l, "Caused by: "))})
		}
	}
	c.stops++
	c.add(f)
	return end
}

// javaFailed is the name of a test in the line that tells its failure.
func javaFailed(l string) (string, bool) {
	if rest, ok := strings.CutPrefix(l, "[ERROR] "); ok && !strings.Contains(rest, "Tests run:") {
		name, mark, ok := strings.Cut(rest, " Time elapsed: ")
		if ok && (strings.HasSuffix(mark, "<<< FAILURE!") || strings.HasSuffix(mark, "<<< ERROR!")) {
			return strings.TrimRight(name, " -"), true
		}
	}
	name, ok := strings.CutSuffix(l, " FAILED")
	return name, ok && strings.Contains(name, " > ") && l != "" && l[0] != '>' && l[0] != ' '
}

// isJavaLibrary reports whether a frame is of Java itself or of what runs tests.
func isJavaLibrary(frame string) bool {
	for _, p := range []string{"java.", "javax.", "jdk.", "sun.", "app//org.junit", "org.junit", "app//junit", "junit.", "org.gradle", "org.apache.maven", "worker.org.gradle", "org.mockito", "org.hamcrest", "org.assertj", "org.testng", "kotlin.", "scala."} {
		if strings.HasPrefix(frame, p) {
			return true
		}
	}
	return false
}
