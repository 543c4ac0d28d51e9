package specs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"termpilot/fault"
)

// codes returns the values of the constants of type Code in fault/fault.go, in order.
func codes(t *testing.T) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../fault/fault.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, decl := range parsed.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec)
			if id, ok := value.Type.(*ast.Ident); !ok || id.Name != "Code" {
				continue
			}
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, text)
		}
	}
	if len(found) == 0 {
		t.Fatal("fault/fault.go: found no codes")
	}
	return found
}

func TestErrorTableHasExactlyTheCodesOfFault(t *testing.T) {
	var rows []string
	for _, row := range table(t, "specs/errors.md", "code") {
		code := strings.Trim(row[0], "`")
		rows = append(rows, code)
		if len(row) != 4 || slices.Contains(row, "") {
			t.Errorf("specs/errors.md: row %s needs a code, a meaning, what to do, and whether to call again", code)
			continue
		}
		if !slices.Contains([]string{"yes", "no", "after", "look first"}, row[3]) {
			t.Errorf("specs/errors.md: row %s: again? is %q, want yes, no, after or look first", code, row[3])
		}
	}
	want := codes(t)
	for _, code := range want {
		if !fault.Code(code).Known() {
			t.Errorf("fault: Known does not know %s", code)
		}
	}
	for _, code := range want {
		if !slices.Contains(rows, code) {
			t.Errorf("specs/errors.md: code %s of fault/fault.go has no row", code)
		}
	}
	for i, code := range rows {
		if !slices.Contains(want, code) {
			t.Errorf("specs/errors.md: row %s is no code of fault/fault.go", code)
		}
		if slices.Contains(rows[:i], code) {
			t.Errorf("specs/errors.md: row %s is there twice", code)
		}
	}
}
