package arch

import (
	"go/ast"
	"path/filepath"
	"strings"
	"testing"
)

// TestFailuresSayWhy is R-824: what makes the event of a failure names its Detail there.
// Package admin is left out, whose details are actions.
func TestFailuresSayWhy(t *testing.T) {
	found := 0
	watch(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(filepath.Dir(path)) == "admin" {
			return
		}
		ast.Inspect(parse(t, path), func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok && fails(fieldsOf(literal)["Outcome"]) {
				if found++; fieldsOf(literal)["Detail"] == nil {
					t.Errorf("%s: the event of a failure has no Detail", path)
				}
			}
			return true
		})
	})
	if found < 5 {
		t.Errorf("only %d events of failures", found)
	}
}

// fieldsOf returns the values of a literal of a struct, by the names of their fields.
func fieldsOf(literal *ast.CompositeLit) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok {
				fields[name.Name] = pair.Value
			}
		}
	}
	return fields
}

func fails(outcome ast.Expr) bool {
	named, ok := outcome.(*ast.SelectorExpr)
	return ok && named.Sel.Name == "Failed"
}
