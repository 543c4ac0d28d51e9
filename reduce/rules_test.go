package reduce

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// foldOf is what a reader without knowledge makes of a text: cleaned, runs of
// equal lines counted, and of more than 60 lines the first 30 and the last 20.
func foldOf(text string) string {
	var lines []string
	list := tidy(clean(text, false))
	for i := 0; i < len(list); {
		n := equalRun(list[i:])
		line := list[i].text
		if n >= 3 {
			line += "  <×" + strconv.Itoa(n) + ">"
		} else {
			n = 1
		}
		lines = append(lines, line)
		i += n
	}
	if len(lines) > 60 {
		hidden := "… [" + strconv.Itoa(len(lines)-50) + " lines hidden] …"
		lines = append(append(append([]string{}, lines[:30]...), hidden), lines[len(lines)-20:]...)
	}
	for i, l := range lines {
		if n := chars(l); n > 2000 {
			lines[i] = l[:byteOf(l, 1200)] + "… [" + strconv.Itoa(n-1800) + " characters hidden] …" + l[byteOf(l, n-600):]
		}
	}
	return strings.Join(lines, "\n")
}

// holdRules fails the test when an answer breaks what holds for all of them.
func holdRules(t *testing.T, command, text string, o Options) Result {
	t.Helper()
	got := Output(command, text, o)
	if again := Output(command, text, o); again != got {
		t.Fatalf("%q: not the same twice:\n%q\n%q", command, got.Text, again.Text)
	}
	if !utf8.ValidString(got.Text) {
		t.Fatalf("%q: %q is not UTF-8", command, got.Text)
	}
	if i := strings.IndexFunc(got.Text, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		t.Fatalf("%q: %q holds a control character", command, got.Text)
	}
	f := o.filled(defaultLines)
	if n := chars(got.Text); n > f.MaxChars {
		t.Fatalf("%q: %d characters, want at most %d", command, n, f.MaxChars)
	}
	if n := countLines(got.Text); n > f.MaxLines {
		t.Fatalf("%q: %d lines, want at most %d:\n%s", command, n, f.MaxLines, got.Text)
	}
	// A fold knows nothing of progress, which becomes one line with its count.
	if n, fold := chars(got.Text), chars(foldOf(text)); n > fold && o.Skipped == 0 {
		t.Fatalf("%q: %d characters, and the fold has %d:\n%s\n--- fold\n%s", command, n, fold, got.Text, foldOf(text))
	}
	if n := got.Lines - countLines(text) - f.Skipped; n < -1 || n > 1 || n != 0 && o.Skipped == 0 || got.Dropped < f.Skipped || got.Dropped > got.Lines {
		t.Fatalf("%q: %d lines, %d left out, of %d and %d skipped", command, got.Lines, got.Dropped, countLines(text), f.Skipped)
	}
	if got.Dropped == 0 && got.Masked == 0 {
		have := strings.Join(strings.Fields(got.Text), " ")
		for _, word := range strings.FieldsFunc(clean(text, false), notOfWord) {
			if !strings.Contains(have, word) {
				t.Fatalf("%q: nothing is said to be left out, and %q is missing from\n%s", command, word, got.Text)
			}
		}
	}
	return got
}

// notOfWord separates what must survive when nothing is said to be left out.
// Signs are free to go: many only draw.
func notOfWord(r rune) bool {
	return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// programsWithRules has a name of every reducer.
func programsWithRules() []string {
	var names []string
	for _, r := range reducers {
		name, _, _ := strings.Cut(r.names, ", ")
		names = append(names, name)
	}
	return names
}
