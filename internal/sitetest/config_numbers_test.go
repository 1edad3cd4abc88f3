package sitetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// number is a field of Config, or of a struct in it, that holds a number or a duration.
type number struct {
	name  string // such as Limits.StoreTimeout
	owner string // the name of its struct
	field string
	at    []int // as reflect has it
}

// numbersOf returns the numbers of a struct of the root package. It leaves out names for
// numbers, such as http.SameSite.
func numbersOf(of reflect.Type, prefix string, at []int) (all []number) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, here := prefix+f.Name, append(at[:len(at):len(at)], i)
		switch path := f.Type.PkgPath(); {
		case !f.IsExported():
		case f.Type.Kind() == reflect.Struct && path == of.PkgPath():
			all = append(all, numbersOf(f.Type, name+".", here)...)
		case f.Type.Kind() >= reflect.Int && f.Type.Kind() <= reflect.Int64 && (path == "" || path == "time"):
			all = append(all, number{name, of.Name(), f.Name, here})
		}
	}
	return all
}

// commentsOfFields returns the comments of the fields of the root's structs, under names
// such as Limits.StoreTimeout.
func commentsOfFields(t *testing.T) map[string]string {
	files, err := filepath.Glob("../../*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	comments := map[string]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range of.Fields.List {
					for _, name := range f.Names {
						comments[spec.Name.Name+"."+name.Name] = f.Doc.Text() + f.Comment.Text()
					}
				}
			}
			return true
		})
	}
	return comments
}

// TestNegativeNumbers gives each number of Config a negative value, whatever the
// number is for. New refuses it, unless the comment of the field says what a negative one
// means.
func TestNegativeNumbers(t *testing.T) {
	comments, numbers := commentsOfFields(t), numbersOf(reflect.TypeFor[latchkey.Config](), "", nil)
	if len(numbers) < 30 {
		t.Fatalf("only %d numbers were found", len(numbers))
	}
	for _, n := range numbers {
		c := plainsite.Config(nil)
		c.Adapter = memoryadapter.New(memoryadapter.Options{})
		c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorTOTP}
		reflect.ValueOf(&c).Elem().FieldByIndex(n.at).SetInt(-7e9)
		_, err := latchkey.New(c)
		said := comments[n.owner+"."+n.field]
		switch explained := strings.Contains(said, "negative"); {
		case explained && err != nil:
			t.Errorf("R-851 %s is documented as %q, and New says: %v", n.name, said, err)
		case !explained && err == nil:
			t.Errorf("R-851 New takes a negative %s, and its comment, %q, does not say what that means", n.name, said)
		case err != nil && !strings.Contains(err.Error(), n.field) && !strings.Contains(err.Error(), "timeouts"):
			t.Errorf("R-851 New refuses a negative %s without its name: %v", n.name, err)
		}
	}
}
