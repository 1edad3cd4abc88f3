package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	listed   = regexp.MustCompile(`(?m)^(?:LATER|RACESKIP) := (?:\$\([A-Z]+\)\|)?(\S+)$`)
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestLaterNamesTests checks that every test that the Makefile leaves to the nightly
// run exists: a name that is misspelled would move nothing, and one that is outdated
// would hide a later test of that name.
func TestLaterNamesTests(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range listed.FindAllStringSubmatch(string(makefile), -1) {
		names = append(names, strings.Split(m[1], "|")...)
	}
	if len(names) < 10 {
		t.Fatalf("the Makefile leaves only %q to the nightly run", names)
	}
	tests := map[string]bool{}
	watch(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range testFunc.FindAllStringSubmatch(read(t, path), -1) {
				tests[m[1]] = true
			}
		}
	})
	for _, name := range names {
		found := false
		for test := range tests {
			found = found || strings.HasPrefix(test, strings.TrimSuffix(strings.TrimSuffix(name, "$"), "$"))
		}
		if !found {
			t.Errorf("the Makefile leaves %s to the nightly run: no test has that name", name)
		}
	}
}
