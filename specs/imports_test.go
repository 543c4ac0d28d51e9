package specs

import (
	"go/parser"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "termpilot"

// rule is one row of a table in layout.md.
type rule struct {
	name    string
	allowed []string
	because string
}

func (r rule) allows(name string) bool {
	return slices.Contains(r.allowed, name)
}

// rules reads a three-column table of layout.md.
func rules(t *testing.T, head string) []rule {
	t.Helper()
	var rs []rule
	for _, row := range table(t, "specs/layout.md", head) {
		if len(row) != 3 || row[1] == "" || row[2] == "" {
			t.Fatalf("specs/layout.md: row %q needs three cells", row)
		}
		rs = append(rs, rule{name: row[0], allowed: strings.Fields(row[1]), because: row[2]})
	}
	return rs
}

// find returns the rule with the longest name that is path or a parent of it.
func find(rs []rule, path string) (rule, bool) {
	var best rule
	for _, r := range rs {
		inside := path == r.name || strings.HasPrefix(path, r.name+"/")
		if inside && len(r.name) > len(best.name) {
			best = r
		}
	}
	return best, best.name != ""
}

func TestPackagesImportOnlyWhatTheLayoutAllows(t *testing.T) {
	packages := rules(t, "package")
	used := map[string]bool{}
	for _, f := range goFiles(t, parser.ImportsOnly) {
		if f.test() {
			continue
		}
		from, ok := find(packages, f.dir())
		if !ok {
			t.Errorf("%s: folder %s has no row in the table of specs/layout.md", f.path, f.dir())
			continue
		}
		for _, path := range imports(t, f) {
			path, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			to, ok := find(packages, path)
			used[from.name+" "+to.name] = true
			switch {
			case !ok:
				t.Errorf("%s: imports %s, which has no row in the table of specs/layout.md", f.path, path)
			case to.name == from.name, from.allows("all"), from.allows(to.name):
			default:
				t.Errorf("%s: %s may not import %s (only: %s): %s",
					f.path, from.name, to.name, strings.Join(from.allowed, " "), from.because)
			}
		}
	}
	for _, from := range packages {
		for _, to := range from.allowed {
			if to != "all" && to != "nothing" && !used[from.name+" "+to] {
				t.Errorf("specs/layout.md: %s may import %s, and does not", from.name, to)
			}
		}
	}
}

func TestOutsideModulesAreKnownToTheirOwnersOnly(t *testing.T) {
	packages, modules := rules(t, "package"), rules(t, "module")
	for _, f := range goFiles(t, parser.ImportsOnly) {
		if f.test() {
			continue
		}
		from, _ := find(packages, f.dir())
		for _, path := range imports(t, f) {
			if !outside(path) {
				continue
			}
			m, ok := find(modules, path)
			switch {
			case !ok:
				t.Errorf("%s: %s has no owner: a dependency needs a row in specs/layout.md that says who may use it, and why", f.path, path)
			case m.allows("everybody"), m.allows(from.name):
			case m.allows("tests") && testOnly(f.dir()):
			default:
				t.Errorf("%s: only %s may import %s: %s", f.path, strings.Join(m.allowed, ", "), m.name, m.because)
			}
		}
	}
}

func TestOnlyTestsImportTestPackages(t *testing.T) {
	for _, f := range goFiles(t, parser.ImportsOnly) {
		if f.test() || testOnly(f.dir()) {
			continue
		}
		for _, path := range imports(t, f) {
			if path == "testing" || strings.HasPrefix(path, "testing/") || strings.HasPrefix(path, module+"/") && testOnly(strings.TrimPrefix(path, module+"/")) {
				t.Errorf("%s: imports %s, which would link test code into the program", f.path, path)
			}
		}
	}
}

func TestEveryRowOfTheLayoutIsAPackage(t *testing.T) {
	for _, r := range rules(t, "package") {
		if info, err := os.Stat(filepath.Join(root, r.name)); err != nil || !info.IsDir() {
			t.Errorf("specs/layout.md: row %s names no folder", r.name)
		}
	}
}

// testOnly reports whether the folder's plain files serve tests: terminaltest, tunneltest,
// testneeds, e2e, and programs that exist for a test.
func testOnly(dir string) bool {
	return dir == "terminal/terminaltest" || dir == "tunnel/tunneltest" || dir == "testneeds" || dir == "e2e" || strings.HasPrefix(dir, "e2e/")
}

// outside reports whether path belongs to a module that is neither ours nor Go's.
func outside(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

func imports(t *testing.T, f goFile) []string {
	t.Helper()
	var paths []string
	for _, spec := range f.ast.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", f.path, err)
		}
		paths = append(paths, path)
	}
	return paths
}
