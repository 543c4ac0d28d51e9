package specs

import (
	"bytes"
	"go/ast"
	"go/parser"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostLines is where a file has stopped doing one thing. Aim at 400.
const mostLines = 600

func TestNoGoFileIsTooLong(t *testing.T) {
	for _, f := range goFiles(t, parser.ParseComments|parser.PackageClauseOnly) {
		if ast.IsGenerated(f.ast) {
			continue
		}
		if n := len(lines(t, f.path)) - 1; n > mostLines {
			t.Errorf("%s: %d lines, more than %d: split it by what its verbs or bytes are", f.path, n, mostLines)
		}
	}
}

func TestReadmeFitsAPersonsPatience(t *testing.T) {
	if n := len(lines(t, "README.md")) - 1; n > 200 {
		t.Errorf("README.md: %d lines, more than 200: the manual is elsewhere", n)
	}
}

// A path of the machine that somebody built on, or a package registry's host.
// Put together from parts, so that this file does not match itself.
var (
	buildPath = regexp.MustCompile(`(^|[^A-Za-z0-9_./-])/` + `(work|root|farm)/`)
	hostName  = regexp.MustCompile(`https?://[a-z0-9.-]*(registry` + `|proxy|pythonhosted|pypi|mirror)[a-z0-9.-]*\.[a-z]`)
)

func TestNothingCommittedNamesABuildMachine(t *testing.T) {
	for _, path := range committed(t) {
		if filepath.Base(path) == "go.sum" || strings.Contains(path, "testdata/fuzz/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			continue // deleted a moment ago, or not text
		}
		for i, line := range strings.Split(string(data), "\n") {
			if found := buildPath.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is a path of a build machine", path, i+1, found)
			}
			if found := hostName.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is the host of a registry", path, i+1, found)
			}
		}
	}
}

// A program that was built in its folder is as easily committed as its sources.
func TestNoBuiltProgramIsCommitted(t *testing.T) {
	for _, path := range committed(t) {
		f, err := os.Open(filepath.Join(root, path))
		if err != nil {
			continue // deleted a moment ago
		}
		head := make([]byte, 4)
		_, err = io.ReadFull(f, head)
		_ = f.Close()
		if err == nil && slices.Contains([]string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}, string(head)) {
			t.Errorf("%s is a program that was built", path)
		}
	}
}

// A test that sleeps is slow when it works and wrong when the machine is slow.
// Where nothing can be waited for (to show that something does not happen), a
// comment on the same line, or the line above, says why.
func TestTestsDoNotSleepWithoutAReason(t *testing.T) {
	for _, f := range goFiles(t, parser.ParseComments|parser.SkipObjectResolution) {
		if !f.test() && !testOnly(f.dir()) {
			continue
		}
		commented := map[int]bool{}
		for _, group := range f.ast.Comments {
			for line := f.fset.Position(group.Pos()).Line; line <= f.fset.Position(group.End()).Line; line++ {
				commented[line] = true
			}
		}
		uses(f, "time", "Sleep", func(line int) {
			if !commented[line] && !commented[line-1] {
				t.Errorf("%s:%d: time.Sleep without a comment that says why there is nothing to wait for", f.path, line)
			}
		})
	}
}

func TestOnlyTheCommandLineKnowsTheStandardOutput(t *testing.T) {
	excused := map[string]bool{
		"host/start.go": true, // hands its standard files on to the host, and writes nothing
	}
	for _, f := range goFiles(t, parser.SkipObjectResolution) {
		if f.test() || testOnly(f.dir()) || strings.HasPrefix(f.path, "cmd/") || excused[f.path] {
			continue
		}
		report := func(what string) func(int) {
			return func(line int) {
				t.Errorf("%s:%d: %s: the standard output belongs to the protocol, and only cmd/termpilot touches it", f.path, line, what)
			}
		}
		uses(f, "os", "Stdout", report("os.Stdout"))
		for _, print := range []string{"Print", "Printf", "Println"} {
			uses(f, "fmt", print, report("fmt."+print))
		}
	}
}

func TestTodosNameAnIssue(t *testing.T) {
	bare := regexp.MustCompile(`\b(TODO|FIXME|XXX)\b(\(#\d+\))?`)
	for _, f := range goFiles(t, parser.ParseComments|parser.SkipObjectResolution) {
		for _, group := range f.ast.Comments {
			for _, m := range bare.FindAllStringSubmatch(group.Text(), -1) {
				if m[2] == "" && f.dir() != "specs" {
					t.Errorf("%s:%d: %s without an issue: write %[3]s(#123), or do it", f.path, f.fset.Position(group.Pos()).Line, m[1])
				}
			}
		}
	}
}

// uses calls found with the line of every use of pkg.name in f.
func uses(f goFile, pkg, name string, found func(line int)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != name {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
			found(f.fset.Position(sel.Pos()).Line)
		}
		return true
	})
}

func TestHouseRulesSeeWhatTheyForbid(t *testing.T) {
	for text, want := range map[string]bool{
		"see /" + "work/main/x":           true,
		"rm -rf /" + "root/":              true,
		"https://example.org/" + "root/x": false,
		"a/" + "work/b":                   false,
	} {
		if got := buildPath.MatchString(text); got != want {
			t.Errorf("build path in %q: got %v, want %v", text, got, want)
		}
	}
	if !hostName.MatchString("https://" + "registry.npmjs.org/x") {
		t.Error("a registry's host is not seen")
	}
}
