package reduce

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"termpilot/testneeds"
)

// sample is the output of a real command, and what of it must survive.
type sample struct {
	name    string
	command string
	text    string
	contain []string         // texts
	say     []*regexp.Regexp // what may be worded in several ways
}

// facts is how many facts must survive.
func (s sample) facts() int { return len(s.contain) + len(s.say) }

// corpus reads testdata/corpus: NAME.log or NAME.log.gz is what a command
// printed, NAME.facts has lines "command …", "contain …" and "say …".
func corpus(tb testing.TB) []sample {
	tb.Helper()
	files, err := filepath.Glob("testdata/corpus/*.facts")
	if err != nil || len(files) == 0 {
		tb.Fatal("no corpus", err)
	}
	var all []sample
	for _, file := range files {
		s := sample{name: strings.TrimSuffix(filepath.Base(file), ".facts"), text: openLog(tb, strings.TrimSuffix(file, ".facts")+".log")}
		facts, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(string(facts)) {
			line = strings.TrimSuffix(line, "\n")
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "", "#":
			case "command":
				s.command = rest
			case "contain":
				s.contain = append(s.contain, rest)
			case "say":
				s.say = append(s.say, regexp.MustCompile(rest))
			default:
				tb.Fatalf("%s: %q is no fact", file, line)
			}
		}
		if s.facts() == 0 {
			tb.Fatalf("%s: nothing must survive", file)
		}
		all = append(all, s)
	}
	return all
}

func openLog(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		return string(data)
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// lost returns the facts that a text does not hold.
func (s sample) lost(text string) []string {
	var lost []string
	for _, c := range s.contain {
		if !strings.Contains(text, c) {
			lost = append(lost, "contain "+c)
		}
	}
	for _, re := range s.say {
		if !re.MatchString(text) {
			lost = append(lost, "say "+re.String())
		}
	}
	return lost
}

// tried picks all of the pairs of a text and a reducer, and under the race detector
// a few: the package starts no goroutine.
func tried(pair int) bool { return !testneeds.Race || pair%11 == 0 }

func TestNoFactOfTheCorpusIsLost(t *testing.T) { // REDUCE-12, REDUCE-13, REDUCE-14
	for n, s := range corpus(t) {
		t.Run(s.name, func(t *testing.T) {
			if lost := s.lost(strings.ReplaceAll(clean(s.text, false), "\r", "")); len(lost) > 0 {
				t.Logf("not in the log as such: %q", lost) // facts that are counted or worded anew
			}
			got := holdRules(t, s.command, s.text, Options{Mask: true})
			if lost := s.lost(got.Text); len(lost) > 0 {
				t.Errorf("lost: %q\n--- got\n%s", lost, got.Text)
			}
			holdRules(t, s.command, s.text, Options{MaxLines: 8, MaxChars: 400})
			holdRules(t, s.command, s.text[:len(s.text)/2], Options{})
			holdRules(t, s.command, strings.ReplaceAll(s.text, "\n", "\r\n"), Options{})
			holdRules(t, s.command, s.text, Options{Skipped: 1000, Seam: len(s.text) / 3})
			holdRules(t, "", s.text, Options{})
			for i := range reducers { // a text that is another program's
				if !tried(n + i) {
					continue
				}
				name, _, _ := strings.Cut(reducers[i].names, ", ")
				holdRules(t, name, s.text[:min(len(s.text), 20000)], Options{})
			}
		})
	}
}
