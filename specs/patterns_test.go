package specs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

func TestEveryPatternIsCompiledWhenItIsFirstUsed(t *testing.T) {
	for _, f := range goFiles(t, parser.SkipObjectResolution) {
		if f.test() || testOnly(f.dir()) {
			continue
		}
		for _, decl := range f.ast.Decls {
			if _, ok := decl.(*ast.GenDecl); !ok {
				continue
			}
			calls(decl, "regexp", "MustCompile", func(call *ast.CallExpr) {
				t.Errorf("%s:%d: every start of the program compiles this pattern: write lazy.Regexp", f.path, f.fset.Position(call.Pos()).Line)
			})
		}
	}
}

func TestEveryPatternCompiles(t *testing.T) {
	elsewhere := map[string]string{
		"connector/schema.go": "of the parameters' tags, which a test of connector compiles",
	}
	found := 0
	for _, f := range goFiles(t, parser.SkipObjectResolution) {
		if f.test() || testOnly(f.dir()) || elsewhere[f.path] != "" {
			continue
		}
		calls(f.ast, "lazy", "Regexp", func(call *ast.CallExpr) {
			found++
			line := f.fset.Position(call.Pos()).Line
			text, ok := literal(call.Args[0])
			if !ok {
				t.Errorf("%s:%d: a pattern is spelled out where it stands, as literals joined by +", f.path, line)
				return
			}
			if _, err := regexp.Compile(text); err != nil {
				t.Errorf("%s:%d: %v", f.path, line, err)
			}
		})
	}
	if found < 50 {
		t.Errorf("%d patterns were found", found)
	}
}

// calls calls found with every call of pkg.name below n.
func calls(n ast.Node, pkg, name string, found func(*ast.CallExpr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
				found(call)
			}
		}
		return true
	})
}

// literal returns the text that string literals joined by + spell.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, ok2 := literal(e.Y)
		return left + right, ok && ok2 && e.Op == token.ADD
	}
	return "", false
}
