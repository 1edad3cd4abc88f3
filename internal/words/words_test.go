package words

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// what a language says has the places of the English text, and nothing
// that does not belong into a text.
func TestTranslations(t *testing.T) {
	for _, l := range builtIn {
		t.Run("R-396 "+l.tag, func(t *testing.T) {
			if !IsTag(l.tag) {
				t.Errorf("%q is no tag", l.tag)
			}
			texts := l.texts()
			for _, key := range slices.Sorted(maps.Keys(english())) {
				s, there := texts[key]
				if !there {
					t.Errorf("%s is not translated: %q", key, english()[key])
					continue
				}
				checkText(t, key, s)
			}
			for key := range texts {
				if _, known := english()[key]; !known {
					t.Errorf("%s is no text any more", key)
				}
			}
		})
	}
}

func checkText(t *testing.T, key, s string) {
	t.Helper()
	if err := Check(key, s); err != nil {
		t.Error(err)
	}
	if got, want := len(Places(s)), len(Places(english()[key])); got != want || strings.Count(s, "{") != want || strings.Count(s, "}") != want {
		t.Errorf("%s has %d places, want %d: %q", key, got, want, s)
	}
	if s == "" || strings.TrimSpace(s) != s || strings.Contains(s, "  ") || !utf8.ValidString(s) {
		t.Errorf("%s is empty, not UTF-8, or has a space too many: %q", key, s)
	}
	if strings.ContainsAny(s, "<>&\"'`") || strings.Contains(s, "...") {
		t.Errorf("%s has a character of a typewriter: %q", key, s)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) && r != '\u00a0' && r != '\u202f' {
			t.Errorf("%s holds %U", key, r)
		}
	}
}

func TestTextFallsBack(t *testing.T) {
	for _, row := range []struct{ tag, key, want string }{
		{"de", "signin.title", "Anmelden"},
		{"de-CH", "signin.title", "Anmelden"},
		{"tlh", "signin.title", "Sign In"},
		{"", "signin.title", "Sign In"},
		{"de", "no.such.key", ""},
	} {
		if got := Text(row.tag, row.key); got != row.want {
			t.Errorf("%s in %q is %q, want %q", row.key, row.tag, got, row.want)
		}
	}
}

func TestEnglishIsACopy(t *testing.T) {
	English()["signin.title"] = "changed"
	All("de")["signin.title"] = "changed"
	if english()["signin.title"] != "Sign In" || Text("de", "signin.title") != "Anmelden" {
		t.Error("a caller changed the texts")
	}
}

func TestDirection(t *testing.T) {
	for tag, want := range map[string]string{
		"": "ltr", "en": "ltr", "ar": "rtl", "ar-EG": "rtl", "HE": "rtl", "az-Arab": "rtl", "az": "ltr", "ar-Latn": "ltr", "fa-IR": "rtl", "uz-Arab-AF": "rtl",
	} {
		if got := Direction(tag); got != want {
			t.Errorf("R-397 %q runs %s, want %s", tag, got, want)
		}
	}
}

func TestTags(t *testing.T) {
	tags := Tags()
	if tags[0] != "en" || !slices.IsSorted(tags[1:]) {
		t.Errorf("%q are not English and then the others in order", tags)
	}
	for tag, want := range map[string]bool{
		"en": true, "pt-BR": true, "zh-Hans-CN": true, "de-1996": true, "": false, "e": false, "e1": false, "é": false, "en_GB": false, "en--GB": false, "en-123456789": false, "en-": false, `en" x="`: false, strings.Repeat("abcdefgh-", 9) + "x": false,
	} {
		if IsTag(tag) != want {
			t.Errorf("%q: %v", tag, !want)
		}
	}
}
