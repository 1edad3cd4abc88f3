package arch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples holds the folders of examples to what their index says of them: each
// is a program that one can start by its README and that has a test, and each stands
// in the index.
func TestExamples(t *testing.T) {
	index := read(t, filepath.Join(root, "examples", "README.md"))
	mains, err := filepath.Glob(filepath.Join(root, "examples", "*", "main.go"))
	if err != nil || len(mains) < 10 {
		t.Fatalf("only %d programs were found: %v", len(mains), err)
	}
	for _, main := range mains {
		dir := filepath.Dir(main)
		name := filepath.Base(dir)
		if !strings.Contains(index, "| ["+name+"]("+name+") | ") {
			t.Errorf("R-330 examples/README.md has no row for %s", name)
		}
		about := readIfThere(filepath.Join(dir, "README.md"))
		if lines := strings.Count(about, "\n"); lines < 5 || lines > 15 || !startable(about) {
			t.Errorf("R-330 examples/%s/README.md has %d lines, or no command to start it with", name, lines)
		}
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil || len(tests) == 0 && name != "first" { // which readme_test.go of the root compares and the network keeps from running
			t.Errorf("R-330 examples/%s has no test", name)
		}
	}
}

func startable(about string) bool {
	for line := range strings.Lines(about) {
		if strings.HasPrefix(line, "    ") && (strings.Contains(line, "go run ") || strings.Contains(line, "make ")) {
			return true
		}
	}
	return false
}

func readIfThere(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}
