package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guard is one check of the product that a test has to miss when it is gone. An entry of
// the files in testdata/guards has four lines: what the guard keeps, its file, the text
// of one line, and the package and the tests that fail without it. A line that begins
// with if is switched off by a condition that is never true. What any other line becomes
// stands behind an arrow. Comments are entries that begin with #.
type guard struct {
	keeps, file, line, instead string
	pkg, tests                 string
}

// TestGuards is R-719: it switches off one guard after the other, and runs the tests that have to
// notice. LATCHKEY_GUARDS is a part of what the guards keep, or all. Without it TestGuards
// only checks that every guard is where testdata/guards says.
func TestGuards(t *testing.T) {
	guards, chosen := readGuards(t), []guard(nil)
	if len(guards) < 250 {
		t.Errorf("only %d guards", len(guards))
	}
	for _, g := range guards {
		if _, err := g.switchedOff(read(t, filepath.Join(root, g.file))); err != nil {
			t.Errorf("%s: %s: %v", g.keeps, g.file, err)
		} else if wanted := os.Getenv("LATCHKEY_GUARDS"); wanted == "all" || wanted != "" && strings.Contains(g.keeps, wanted) {
			chosen = append(chosen, g)
		}
	}
	if t.Failed() || len(chosen) == 0 {
		return
	}
	if found := weave(t, chosen); found != nil {
		found.mustMiss(t)
	}
}

// switchedOff returns source without the guard, or an error if the line is not there
// exactly once.
func (g guard) switchedOff(source string) (string, error) {
	var at []int
	lines := strings.SplitAfter(source, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == g.line {
			at = append(at, i)
		}
	}
	if len(at) != 1 {
		return "", fmt.Errorf("the line %q occurs %d times", g.line, len(at))
	}
	if g.instead != "" {
		lines[at[0]] = g.instead + "\n"
		return strings.Join(lines, ""), nil
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, g.file, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	without := ""
	ast.Inspect(parsed, func(n ast.Node) bool {
		if check, ok := n.(*ast.IfStmt); ok && files.Position(check.Pos()).Line == at[0]+1 {
			from, to := files.Position(check.Cond.Pos()).Offset, files.Position(check.Cond.End()).Offset
			without = source[:from] + "false && (" + source[from:to] + ")" + source[to:]
		}
		return without == ""
	})
	if without == "" {
		return "", fmt.Errorf("the line %q begins no if: say what it becomes", g.line)
	}
	return without, nil
}

// readGuards reads the files in testdata/guards.
func readGuards(t *testing.T) (all []guard) {
	t.Helper()
	files, err := filepath.Glob("testdata/guards/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		for entry := range strings.SplitSeq(strings.TrimSpace(read(t, file)), "\n\n") {
			if strings.HasPrefix(entry, "#") {
				continue
			}
			lines := strings.Split(entry, "\n")
			if len(lines) != 4 || names[lines[0]] {
				t.Fatalf("%s: an entry has four lines, the first one unique: %q", file, entry)
			}
			names[lines[0]] = true
			g := guard{keeps: lines[0], file: lines[1]}
			g.line, g.instead, _ = strings.Cut(strings.TrimSpace(lines[2]), " → ")
			g.pkg, g.tests, _ = strings.Cut(lines[3], " ")
			if g.tests == "" {
				t.Fatalf("%s: %s names no test", file, g.keeps)
			}
			all = append(all, g)
		}
	}
	return all
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
