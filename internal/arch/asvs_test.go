package arch

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const asvsPage = "docs/asvs.md"

// asvsSections are the numbers of requirements in each section of the chapters of ASVS
// 5.0.0 that the page answers.
var asvsSections = map[string]int{
	"6.1": 3, "6.2": 12, "6.3": 8, "6.4": 6, "6.5": 8, "6.6": 4, "6.7": 2, "6.8": 4,
	"7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 3, "7.6": 2,
	"9.1": 3, "9.2": 4,
	"10.1": 2, "10.2": 3, "10.3": 5, "10.4": 16, "10.5": 5, "10.6": 2, "10.7": 3,
	"16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 4,
}

var asvsAnswers = []string{"met", "by option", "the application's", "not applicable"}

var asvsRow = regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+) \| ([^|]*) \| ([^|]+) \|([^|]*)\|$`)

// caseNumber is the number of a case of a capability, such as F-082.
var caseNumber = regexp.MustCompile(`\b[FPTO]-[0-9]{3}\b`)

// TestASVS compares the page with the standard's numbers and with the tests: O-082.
func TestASVS(t *testing.T) {
	tested := map[string]bool{}
	watch(t, func(path string) {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		if name = filepath.ToSlash(name); !isTest(name) || strings.HasPrefix(name, "internal/arch/") {
			return
		}
		text := read(t, path)
		for _, number := range requirementsIn(text) {
			tested["R-"+number] = true
		}
		for _, number := range caseNumber.FindAllString(text, -1) {
			tested[number] = true
		}
	})
	for _, fault := range asvsFaults(read(t, filepath.Join(root, asvsPage)), tested) {
		t.Errorf("O-082 %s: %s", asvsPage, fault)
	}
}

// asvsFaults returns what is wrong with the page: a number that is missing, unknown or
// there twice, an answer of another kind, one that no test shows, a test that is gone.
func asvsFaults(page string, tested map[string]bool) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	missing := map[string]bool{}
	for section, n := range asvsSections {
		for i := range n {
			missing[fmt.Sprint(section, ".", i+1)] = true
		}
	}
	for _, m := range asvsRow.FindAllStringSubmatch(page, -1) {
		number, answer, shownBy := m[1], m[2], strings.Fields(m[4])
		if !missing[number] {
			add("%s is there twice, or not in the standard", number)
		}
		delete(missing, number)
		if !slices.Contains(asvsAnswers, answer) {
			add("%s: the answer %q is none of %q", number, answer, asvsAnswers)
		}
		if len(shownBy) == 0 && (answer == "met" || answer == "by option") {
			add("%s is %s, and no requirement is named whose test shows it", number, answer)
		}
		for _, r := range shownBy {
			if !tested[r] {
				add("%s: no test names %s", number, r)
			}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(missing)) {
		add("%s is missing", number)
	}
	return faults
}

func TestASVSFaults(t *testing.T) {
	tested := map[string]bool{"R-018": true}
	row := func(number, answer, shownBy string) string {
		return "| " + number + " | " + answer + " | Text. | " + shownBy + " |\n"
	}
	var page strings.Builder
	for section, n := range asvsSections {
		for i := range n {
			page.WriteString(row(fmt.Sprint(section, ".", i+1), "met", "R-018"))
		}
	}
	whole := page.String()
	for _, tt := range []struct{ name, page, fault string }{
		{"the whole standard", whole, ""},
		{"a number is missing", strings.Replace(whole, row("6.2.4", "met", "R-018"), "", 1), "6.2.4 is missing"},
		{"a number is there twice", whole + row("6.2.4", "met", "R-018"), "6.2.4 is there twice"},
		{"a number that the standard does not have", whole + row("6.2.13", "met", "R-018"), "6.2.13 is there twice, or not"},
		{"a test is gone", strings.Replace(whole, row("6.2.4", "met", "R-018"), row("6.2.4", "met", "R-018 R-019"), 1), "6.2.4: no test names R-019"},
		{"nothing shows it", strings.Replace(whole, row("6.2.4", "met", "R-018"), row("6.2.4", "by option", ""), 1), "6.2.4 is by option, and no"},
		{"another answer", strings.Replace(whole, row("6.2.4", "met", "R-018"), row("6.2.4", "perhaps", "R-018"), 1), `6.2.4: the answer "perhaps"`},
	} {
		t.Run("O-082 "+tt.name, func(t *testing.T) {
			faults := strings.Join(asvsFaults(tt.page, tested), "\n")
			if (tt.fault == "") != (faults == "") || !strings.Contains(faults, tt.fault) {
				t.Errorf("got %q, want %q", faults, tt.fault)
			}
		})
	}
}
