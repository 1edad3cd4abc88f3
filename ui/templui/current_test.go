package templui_test

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/a-h/templ/generator"
	"github.com/a-h/templ/parser/v2"
)

// TestGeneratedIsCurrent generates the Go files of templates again and compares.
func TestGeneratedIsCurrent(t *testing.T) {
	for _, path := range []string{"components.templ", "../../examples/templ/pages.templ"} {
		parsed, err := parser.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		var made bytes.Buffer
		if _, err := generator.Generate(parsed, &made, generator.WithVersion(templ.Version()), generator.WithFileName(filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
		want, err := format.Source(made.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(strings.TrimSuffix(path, ".templ") + "_templ.go")
		if err != nil {
			t.Fatal(err)
		}
		if unstyled(kept) != unstyled(want) {
			t.Errorf("what is kept is not what %s makes: run go generate beside it, and make fmt", path)
		}
	}
}

var (
	imports = regexp.MustCompile(`(?m)^import (\(|)|^\)$`)
	longVar = regexp.MustCompile(`\bvar (\w+) = `)
)

// unstyled undoes what make fmt does to a file.
func unstyled(source []byte) string {
	head, body, _ := strings.Cut(string(source), "\nfunc ")
	head = strings.Join(strings.Fields(imports.ReplaceAllString(head, "")), " ")
	return head + longVar.ReplaceAllString(strings.ReplaceAll(body, "\r\n", "\n"), "$1 := ")
}
