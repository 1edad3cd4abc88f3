package admin

import (
	"regexp"
	"slices"
	"testing"
)

var place = regexp.MustCompile(`\{[a-z]+\}`)

// TestTexts: P-057, each of the fifteen languages says everything, with its places.
func TestTexts(t *testing.T) {
	entries, err := files.ReadDir("texts")
	if err != nil || len(entries) != 15 {
		t.Fatalf("%d languages, %v", len(entries), err)
	}
	english := textsOf("en")
	for _, e := range entries {
		tag := e.Name()[:len(e.Name())-len(".txt")]
		texts := textsOf(tag)
		if len(texts) != len(english) {
			t.Errorf("P-057 %s has %d texts, want %d", tag, len(texts), len(english))
		}
		for key, s := range english {
			want, got := place.FindAllString(s, -1), place.FindAllString(texts[key], -1)
			slices.Sort(want)
			slices.Sort(got)
			if texts[key] == "" || !slices.Equal(want, got) {
				t.Errorf("P-057 %s: %s is %q", tag, key, texts[key])
			}
		}
	}
}

func TestTextFallsBack(t *testing.T) {
	w := &words{language: "de-CH", own: textsOf("de"), rtl: true, change: func(_, key, _ string) string {
		if key == "save" {
			return "Sichern"
		}
		return ""
	}}
	if got := w.text("save"); got != "Sichern" {
		t.Errorf("%q", got)
	}
	if got := w.text("delete.heading", "name", "Ada"); got != "\u2068Ada\u2069 löschen?" {
		t.Errorf("%q", got)
	}
}
