package words

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// docs/translations.md lists the languages and the texts that there are.
func TestThePageListsEverything(t *testing.T) {
	raw, err := os.ReadFile("../../docs/translations.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := Texts{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z.]+\\.[a-z.]+)` \\| (.*) \\|$").FindAllStringSubmatch(string(raw), -1) {
		listed[row[1]] = row[2]
	}
	for _, key := range slices.Sorted(maps.Keys(english())) {
		if listed[key] != english()[key] {
			t.Errorf("R-396 %s is %q on the page, and %q in truth", key, listed[key], english()[key])
		}
	}
	for key := range listed {
		if english()[key] == "" {
			t.Errorf("R-396 the page lists %s, which is no text", key)
		}
	}
	var tags []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z-]+)` \\|").FindAllStringSubmatch(string(raw), -1) {
		tags = append(tags, row[1])
	}
	if !slices.Equal(tags, Tags()) {
		t.Errorf("the page lists the languages %q, there are %q", tags, Tags())
	}
}
