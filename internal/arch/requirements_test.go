package arch

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const requirementsPage = "docs/internals/requirements.md"

// untested are numbers of the page that no test names yet. The list only gets
// shorter.
var untested = []string{}

// TestRequirements compares the numbers that the repository's files name with
// the page that says what they mean.
func TestRequirements(t *testing.T) {
	inCode, inTests := map[string]string{}, map[string]string{}
	watch(t, func(path string) {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		if !mayNameRequirements(name) {
			return
		}
		for _, number := range requirementsIn(read(t, path)) {
			inCode[number] = cmp.Or(inCode[number], name)
			if isTest(name) {
				inTests[number] = name
			}
		}
	})
	text := read(t, filepath.Join(root, requirementsPage))
	for _, fault := range orderFaults(text) {
		t.Error(fault)
	}
	page := pageNumbers(text)
	if len(page) == 0 || len(inTests) == 0 {
		t.Fatalf("the page has %d numbers, the tests have %d", len(page), len(inTests))
	}
	for _, fault := range requirementFaults(page, inCode, inTests, untested) {
		t.Error(fault)
	}
}

// mayNameRequirements leaves out the page itself and the tests of this package
// whose numbers are examples.
func mayNameRequirements(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".mjs", ".txt":
		return name != "internal/arch/requirements_test.go" && name != "internal/arch/asvs_test.go"
	case ".md":
		return name != requirementsPage
	}
	return false
}

// isTest counts what is written down in files of tests, and the suites of
// folder latchkeytest, which the tests of every adapter run. Documents name
// requirements, too, but test none.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "latchkeytest/")
}

// number is R-015 in text, or R015 in the name of a test.
var number = regexp.MustCompile(`\bR-([0-9]{3,})|\b(?:Test|Fuzz|Benchmark|Example)[A-Za-z_]*R([0-9]{3,})`)

func requirementsIn(text string) (numbers []string) {
	for _, m := range number.FindAllStringSubmatch(text, -1) {
		numbers = append(numbers, m[1]+m[2])
	}
	return numbers
}

// row is a line of the page that says something and where it comes from.
var row = regexp.MustCompile(`(?m)^\| R-([0-9]{3}) \| [^|]+ \| [^|]+ \|$`)

func pageNumbers(page string) (numbers []string) {
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		numbers = append(numbers, m[1])
	}
	return numbers
}

// orderFaults says where a section of the page is out of order, and which
// numbers it has twice.
func orderFaults(page string) (faults []string) {
	seen := map[string]bool{}
	for _, text := range strings.Split(page, "\n## ") {
		last := ""
		for _, n := range pageNumbers(text) {
			if seen[n] || last > n {
				faults = append(faults, fmt.Sprintf("R-%s follows R-%s on %s", n, cmp.Or(last, n), requirementsPage))
			}
			seen[n], last = true, n
		}
	}
	return faults
}

// requirementFaults says where the page, the code and the tests differ. The
// maps give the file in which a number was found.
func requirementFaults(page []string, inCode, inTests map[string]string, untested []string) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, n := range page {
		if inTests[n] == "" && !slices.Contains(untested, n) {
			add("R-%s is on %s, and no test names it", n, requirementsPage)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(inCode)) {
		if !slices.Contains(page, n) {
			add("%s names R-%s, which is not on %s", inCode[n], n, requirementsPage)
		}
	}
	for _, n := range untested {
		if inTests[n] != "" || !slices.Contains(page, n) {
			add("R-%s need not be excused any more", n)
		}
	}
	return faults
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRequirementsIn(t *testing.T) {
	for text, want := range map[string][]string{
		`t.Run("R-010 R-237 a name", f)`:     {"010", "237"},
		"(see R-213 to R-215)":               {"213", "215"},
		`"R-137_of_many"`:                    {"137"},
		"func TestR015SupportsS256(t":        {"015"},
		"func FuzzClientR038(f":              {"038"},
		"R-1234 is no number of the page":    {"1234"},
		"OR-015, R015, ErrorR2, TestUTF8, R": nil,
	} {
		if got := requirementsIn(text); !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

func TestRequirementFaults(t *testing.T) {
	page := pageNumbers("| number | requirement | from |\n| R-001 | A. | ours |\n| R-003 | B. | ours |\n| R-002 | C. | ours |\n| R-004 | | ours |\n")
	if want := []string{"001", "003", "002"}; !slices.Equal(page, want) {
		t.Fatalf("the page has %q, want %q", page, want)
	}
	page = []string{"001", "002", "003"}
	here := func(numbers ...string) map[string]string {
		found := map[string]string{}
		for _, n := range numbers {
			found[n] = "file"
		}
		return found
	}
	for _, c := range []struct {
		name                      string
		page                      []string
		inCode, inTests, untested []string
		want                      string
	}{
		{"all agree", page, page, page, nil, ""},
		{"code that names more", page, []string{"004"}, page, nil, "file names R-004"},
		{"a page that no test names", page, page, []string{"001", "003"}, nil, "R-002 is on"},
		{"an excuse", page, page, []string{"001", "003"}, []string{"002"}, ""},
		{"an excuse for what is tested", page, page, page, []string{"002"}, "R-002 need not"},
		{"an excuse for nothing", page, page, page, []string{"009"}, "R-009 need not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := requirementFaults(c.page, here(c.inCode...), here(c.inTests...), c.untested)
			switch {
			case c.want == "" && len(got) != 0, c.want != "" && len(got) != 1, c.want != "" && !strings.HasPrefix(got[0], c.want):
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOrderFaults(t *testing.T) {
	row := func(n string) string { return "| R-" + n + " | A. | ours |\n" }
	for _, c := range []struct{ name, page, want string }{
		{"in order", "## A\n" + row("001") + row("007") + "\n## B\n" + row("003") + row("008"), ""},
		{"out of order", "## A\n" + row("002") + row("001"), "R-001 follows R-002"},
		{"twice in a section", "## A\n" + row("001") + row("001"), "R-001 follows R-001"},
		{"twice on the page", "## A\n" + row("001") + "\n## B\n" + row("001"), "R-001 follows R-001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(orderFaults(c.page), "\n")
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
