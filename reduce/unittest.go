package reduce

import (
	"slices"
	"strings"
)

// seenUnittest looks for the count that ends a run of unittest.
func seenUnittest(in *input) bool {
	n := len(in.lines)
	for _, l := range in.lines[max(0, n-4):] {
		if isUnittestCount(l) {
			return true
		}
	}
	return false
}

func isUnittestCount(l string) bool {
	return strings.HasPrefix(l, "Ran ") && strings.Contains(l, " test") && strings.Contains(l, " in ")
}

// reduceUnittest keeps the count and the result, and every failure and error with
// its place and reason.
func reduceUnittest(in *input) (draft, bool) {
	r := report{in: in}
	count, result, known := "", "", false
	passed := 0
	var failed []finding // as told while they ran
	for i := 0; i < len(in.lines); i++ {
		l := in.lines[i]
		switch {
		case strings.HasPrefix(l, "======") && i+1 < len(in.lines):
			f, end, ok := unittestBlock(in.lines, i+1)
			if ok {
				known = true
				r.found = append(r.found, f)
				i = end - 1
			}
		case isUnittestCount(l):
			count, known = l, true
		case count != "" && (strings.HasPrefix(l, "OK") || strings.HasPrefix(l, "FAILED") || strings.HasPrefix(l, "NO TESTS RAN")):
			result = l
		case count != "" && l != "":
			r.say(i, l)
		case strings.HasSuffix(l, " ... ok"):
			passed++
		case strings.HasSuffix(l, " ... FAIL"), strings.HasSuffix(l, " ... ERROR"):
			name := l
			if i > 0 && !strings.Contains(l, "(") { // the name stands above what it is about
				name = in.lines[i-1] + " " + l
			}
			failed = append(failed, finding{at: i, title: name, name: name})
		}
	}
	if !known && passed+len(failed) < 3 {
		return draft{}, false
	}
	if len(r.found) == 0 {
		r.found = failed
	}
	if result != "" {
		r.note(0, result+" — "+count)
	} else {
		text := "no result: the run did not end here"
		if passed > 0 {
			text += " (so far " + in.count(passed) + " ok)"
		}
		r.note(0, text)
	}
	return r.draft(), true
}

// unittestBlock reads a failure from the line with its name on; end is the line
// after it.
func unittestBlock(lines []string, i int) (f finding, end int, ok bool) {
	word, name, ok := strings.Cut(lines[i], ": ")
	if !ok || word != "FAIL" && word != "ERROR" && word != "UNEXPECTED SUCCESS" {
		return f, 0, false
	}
	f = finding{at: i, name: name}
	if short, long, ok := strings.Cut(name, " ("); ok && strings.Contains(long, "."+short+")") { // "test_a (m.C.test_a)"
		rest := long[strings.Index(long, ")")+1:]
		f.name = long[:strings.Index(long, ")")] + rest
	}
	end = i + 1
	for end < len(lines) && !strings.HasPrefix(lines[end], "======") && !isUnittestCount(lines[end]) {
		end++
	}
	tracebackReason(lines[i+1:end], i+1, &f)
	f.place = placesOf(pythonPlaces(lines[i+1 : end]))
	f.title = word + " " + f.name + f.place
	return f, end, true
}

// pythonPlaces are the frames of Python tracebacks: File "a.py", line 3, in f.
func pythonPlaces(lines []string) []string {
	var places []string
	for _, l := range lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(l, " |"), `File "`)
		if !ok {
			continue
		}
		file, rest, ok := strings.Cut(rest, `", line `)
		if !ok {
			continue
		}
		line, _, _ := strings.Cut(rest, ",")
		places = append(places, file+":"+line)
	}
	return places
}

// tracebackReason adds what stands below Python tracebacks: the exceptions, and
// what follows them.
func tracebackReason(lines []string, at int, f *finding) {
	inside, after, diff := false, false, false
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "Traceback (most recent call last)"):
			inside, after = true, false
		case inside && l != "" && l[0] != ' ':
			inside, after = false, true
			f.why = append(f.why, detail{at: at + i, text: l, rank: 1})
		case after && l != "" && !strings.HasPrefix(l, "-----"):
			rank := 3
			if l[0] == '-' || l[0] == '+' {
				rank, diff = 2, true
			} else if strings.Trim(l, "?^+- ") == "" {
				continue
			}
			f.why = append(f.why, detail{at: at + i, text: l, rank: rank})
		}
	}
	if diff { // what is equal says nothing
		f.why = slices.DeleteFunc(f.why, func(w detail) bool { return w.rank == 3 && strings.HasPrefix(w.text, "  ") })
	}
}
