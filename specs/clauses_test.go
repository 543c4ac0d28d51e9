package specs

import (
	"fmt"
	"go/parser"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	clauseLine = regexp.MustCompile(`^([A-Z]{2,12})-(\d+)  \S`)
	clauseish  = regexp.MustCompile(`^[\s*_#>-]*\**([A-Z]{2,12})-\d+\b`)
	citation   = regexp.MustCompile(`\b([A-Z]{2,12})-(\d+)(?:(?:\.\.|–)(?:[A-Z]{2,12}-)?(\d+))?`)
)

// clause names one clause: a prefix and a number.
type clause struct {
	prefix string
	number int
}

func (c clause) String() string { return fmt.Sprintf("%s-%d", c.prefix, c.number) }

// clauses returns every clause of specs/*.md and the place where it stands.
func clauses(t *testing.T) map[clause]string {
	t.Helper()
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[clause]string{}
	for _, file := range files {
		fenced := false
		for i, line := range lines(t, "specs/"+file) {
			place := fmt.Sprintf("specs/%s:%d", file, i+1)
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			m := clauseLine.FindStringSubmatch(line)
			switch {
			case fenced:
				continue
			case m == nil:
				if near := clauseish.FindString(line); near != "" {
					t.Errorf("%s: %q looks like a clause: its name must start the line and be followed by two blanks", place, near)
				}
				continue
			}
			c := clause{m[1], number(t, m[2])}
			if other, taken := found[c]; taken {
				t.Errorf("%s: %s is also at %s", place, c, other)
			}
			found[c] = place
		}
	}
	return found
}

func TestEveryClauseIsCitedByATest(t *testing.T) {
	want := clauses(t)
	cited := map[clause]bool{}
	for c := range citations(t, prefixes(want)) {
		cited[c] = true
	}
	var missing []clause
	for c := range want {
		if !cited[c] {
			missing = append(missing, c)
		}
	}
	slices.SortFunc(missing, func(a, b clause) int {
		if n := strings.Compare(a.prefix, b.prefix); n != 0 {
			return n
		}
		return a.number - b.number
	})
	for _, c := range missing {
		t.Errorf("%s: no test cites %s", want[c], c)
	}
}

func TestEveryCitationNamesAClause(t *testing.T) {
	known := clauses(t)
	for c, place := range citations(t, prefixes(known)) {
		if _, ok := known[c]; !ok {
			t.Errorf("%s: cites %s, which no file of specs/ has", place, c)
		}
	}
}

func prefixes(cs map[clause]string) map[string]bool {
	ps := map[string]bool{}
	for c := range maps.Keys(cs) {
		ps[c.prefix] = true
	}
	return ps
}

// citations returns the clauses that tests cite, each with one place. A
// comment that starts with something like a clause's name cites it, whatever
// its prefix; elsewhere only the known prefixes count, since UTF-8 is no clause.
func citations(t *testing.T, known map[string]bool) map[clause]string {
	t.Helper()
	found := map[clause]string{}
	for _, f := range goFiles(t, parser.ParseComments|parser.SkipObjectResolution) {
		if !f.test() && !testOnly(f.dir()) {
			continue
		}
		for _, group := range f.ast.Comments {
			for _, comment := range group.List {
				text := strings.TrimSpace(strings.TrimLeft(comment.Text, "/*"))
				place := fmt.Sprintf("%s:%d", f.path, f.fset.Position(comment.Pos()).Line)
				cite(t, found, known, text, place)
			}
		}
	}
	for _, path := range committed(t) {
		if !strings.HasSuffix(path, ".txtar") {
			continue
		}
		for i, line := range lines(t, path) {
			if text, ok := strings.CutPrefix(line, "#"); ok {
				cite(t, found, known, strings.TrimSpace(text), fmt.Sprintf("%s:%d", path, i+1))
			}
		}
	}
	return found
}

// notClauses are prefixes with a number behind them that start comments and name no clause.
var notClauses = []string{"UTF", "ISO", "SHA", "RFC", "VT", "OSC", "CSI", "DCS", "ESC", "DEC", "ECMA", "EAST"}

func cite(t *testing.T, found map[clause]string, known map[string]bool, text, place string) {
	t.Helper()
	for _, at := range citation.FindAllStringSubmatchIndex(text, -1) {
		prefix := text[at[2]:at[3]]
		if !known[prefix] && (at[0] != 0 || slices.Contains(notClauses, prefix)) {
			continue
		}
		first := number(t, text[at[4]:at[5]])
		last := first
		if at[6] >= 0 {
			last = number(t, text[at[6]:at[7]])
		}
		if last < first || last-first > 200 {
			t.Errorf("%s: %s is no range", place, text[at[0]:at[1]])
			continue
		}
		for n := first; n <= last; n++ {
			found[clause{prefix, n}] = place
		}
	}
}

func number(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
