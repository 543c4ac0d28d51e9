package specs

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder that holds the module, seen from this package's tests.
const root = ".."

// goFile is a Go file of the product, parsed.
type goFile struct {
	path string // slash-separated, from the root
	fset *token.FileSet
	ast  *ast.File
}

// dir is the folder of the file, "." for the root.
func (f goFile) dir() string { return filepath.ToSlash(filepath.Dir(f.path)) }

// test reports whether the file is compiled into tests only.
func (f goFile) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// goFiles parses every Go file of the product: not the developer's tools, and no testdata.
func goFiles(t *testing.T, mode parser.Mode) []goFile {
	t.Helper()
	var files []goFile
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, filepath.Join(root, path), nil, mode)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		files = append(files, goFile{path: path, fset: fset, ast: parsed})
	})
	if len(files) == 0 {
		t.Fatal("found no Go files: the tests of specs must run inside the source tree")
	}
	return files
}

// walk calls f for every source file, by its path from the root.
func walk(t *testing.T, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && rel != "."
			if hidden || d.Name() == "testdata" || d.Name() == "node_modules" || rel == "tools" {
				return fs.SkipDir
			}
			return nil
		}
		f(rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// committed lists the files that git keeps, from the root. Outside a clone (a
// source archive) it is every file.
func committed(t *testing.T) []string {
	t.Helper()
	var paths []string
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
		if err == nil {
			for p := range bytes.SplitSeq(bytes.TrimRight(out, "\x00"), []byte{0}) {
				paths = append(paths, string(p))
			}
			return paths
		}
	}
	walk(t, func(path string) { paths = append(paths, path) })
	return paths
}

// lines reads a file of the tree. A file that git lists but somebody has just
// deleted has no lines.
func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

var separator = regexp.MustCompile(`^\|[ \-:|]+\|$`)

// table returns the rows below the Markdown table whose first header cell is
// head: one slice of trimmed cells per row.
func table(t *testing.T, path, head string) [][]string {
	t.Helper()
	var rows [][]string
	inside := false
	for _, line := range lines(t, path) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == head:
			inside = true
		case inside && !separator.MatchString(line):
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s: no table whose first column is %q", path, head)
	}
	return rows
}
