package arch

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
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
	guards := readGuards(t)
	if len(guards) < 250 {
		t.Errorf("only %d guards", len(guards))
	}
	for _, g := range guards {
		t.Run(g.keeps, func(t *testing.T) {
			without, err := g.switchedOff(read(t, filepath.Join(root, g.file)))
			if err != nil {
				t.Fatalf("%s: %v", g.file, err)
			}
			if wanted := os.Getenv("LATCHKEY_GUARDS"); wanted == "all" || wanted != "" && strings.Contains(g.keeps, wanted) {
				g.mustBeMissed(t, without)
			}
		})
	}
}

// mustBeMissed runs the tests of g with the file as it is without the guard. They must
// compile, and fail.
func (g guard) mustBeMissed(t *testing.T, without string) {
	dir, base := t.TempDir(), absolute(t, root)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(base, g.file): filepath.Join(dir, "without.go")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"without.go": without, "overlay.json": string(overlay)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-ldflags=-w", "-timeout=10m",
		"-overlay", filepath.Join(dir, "overlay.json"), "-run", "^("+g.tests+")$", g.pkg)
	run.Dir = base
	out, err := run.CombinedOutput()
	switch {
	case err == nil:
		t.Errorf("%s passes without %q of %s:\n%s", g.tests, g.line, g.file, out)
	case !strings.Contains(string(out), "--- FAIL: ") && !strings.Contains(string(out), "panic: "):
		t.Errorf("%s says nothing of the guard: %v\n%s", g.pkg, err, out)
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
