package providers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// codeOf is a file without comments, imports and blank lines.
func codeOf(t *testing.T, path string) (lines []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	imports := false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "import ("):
			imports = true
		case imports:
			imports = line != ")"
		case line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "package ") || strings.HasPrefix(line, "import "):
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// TestProviderFilesAreShort holds that a provider is a filled-in struct for the
// most part, and that no two share six lines of logic.
func TestProviderFilesAreShort(t *testing.T) {
	files := map[string][]string{}
	names := map[string]bool{}
	for _, e := range catalogue.Providers() {
		names["func "+functionName(e)+"("] = true
	}
	all, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		code := codeOf(t, path)
		isProvider := func(line string) bool { name, _, _ := strings.Cut(line, "("); return names[name+"("] }
		if !strings.HasSuffix(path, "_test.go") && slices.ContainsFunc(code, isProvider) {
			files[path] = code
		}
	}
	var lengths []int
	seen := map[string]string{}
	for path, code := range files {
		lengths = append(lengths, len(code))
		for i := range len(code) - 5 {
			window := strings.Join(code[i:i+6], "\n")
			if other := seen[window]; other != "" && other != path {
				t.Errorf("%s and %s share\n%s", path, other, window)
			}
			seen[window] = path
		}
	}
	slices.Sort(lengths)
	if median := lengths[len(lengths)/2]; median >= 45 {
		t.Errorf("the median provider has %d lines of code", median)
	}
	t.Logf("%d files, the median has %d lines of code, the longest %d", len(lengths), lengths[len(lengths)/2], lengths[len(lengths)-1])
}
