package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	listed   = regexp.MustCompile(`(?m)^(?:LATER|RACESKIP) := (?:\$\([A-Z]+\)\|)?(\S+)$`)
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestLaterNamesTests is R-586: it checks that every test that the Makefile leaves to the nightly
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

// TestWalks is R-586: the tests that walk at random are those that `make walks` runs, it
// has them take 10^5 steps and print their seeds, and the nightly run includes it and
// leaves no test out.
func TestWalks(t *testing.T) {
	makefile, ci := read(t, filepath.Join(root, "Makefile")), read(t, filepath.Join(root, ".ci/run"))
	named := regexp.MustCompile(`(?m)^WALKS := (\S+)$`).FindStringSubmatch(makefile)
	steps := regexp.MustCompile(`(?m)^STEPS \?= (\d{6,})$`).MatchString(makefile)
	if named == nil || !steps || !strings.Contains(rule(makefile, "walks"), "LATCHKEY_WALK=$(STEPS) go test -v ") {
		t.Fatal("the Makefile has no rule that runs WALKS with STEPS of at least 100000, and shows what they log")
	}
	nightly, _, _ := strings.Cut(afterwards(ci, "= nightly ]"), "else")
	if !strings.Contains(nightly, "make walks") || !strings.Contains(nightly, "make test-all") || strings.Contains(rule(makefile, "test-all"), "-skip") {
		t.Error(".ci/run nightly leaves out walks or tests")
	}
	var walks []string
	watch(t, func(path string) {
		if name := filepath.ToSlash(path); !strings.HasSuffix(name, "_test.go") || strings.Contains(name, "internal/race/") || strings.HasSuffix(name, "internal/arch/later_test.go") {
			return
		}
		for _, f := range strings.Split(read(t, path), "\nfunc ") {
			if name, _, _ := strings.Cut(f, "("); strings.HasPrefix(name, "Test") && strings.Contains(f, " race.Walk(t, ") {
				walks = append(walks, name)
			}
		}
	})
	want := strings.Split(named[1], "|")
	slices.Sort(walks)
	slices.Sort(want)
	if !slices.Equal(walks, want) {
		t.Errorf("make walks runs %q, and race.Walk is called by %q", want, walks)
	}
}

// rule returns the lines of a rule of the Makefile.
func rule(makefile, name string) string {
	text, _, _ := strings.Cut(afterwards(makefile, "\n"+name+":"), "\n\n")
	return text
}

// afterwards returns what follows the first mark in a text.
func afterwards(text, mark string) string {
	_, after, _ := strings.Cut(text, mark)
	return after
}
