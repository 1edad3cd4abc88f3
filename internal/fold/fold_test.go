package fold_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/fold"
)

func TestName(t *testing.T) {
	for rule, spellings := range map[string][]string{
		"case":                        {"alice", "ALICE", "aLiCe"},
		"accents":                     {"zoe", "zoë", "ZOË", "zoe\u0308", "zo\u00e8", "żöę"},
		"accents without composition": {"alice", "a\u0301\u0302\u0303lice", "al\u0323ice\u20dd"},
		"full case folding":           {"strasse", "straße", "STRAẞE", "STRASSE"},
		"Greek":                       {"σισυφος", "ΣΊΣΥΦΟΣ", "σίσυφος"},
		"Turkish":                     {"izmir", "İZMİR", "ızmır", "IZMIR"},
		"compatibility":               {"alice", "ａｌｉｃｅ", "ⓐlice", "𝐚lice", "🅐lice", "🅰lice", "ªlice"},
		"ligatures":                   {"finn", "ﬁnn"},
		"letters with strokes":        {"oystein aerodal", "Øystein Ærødal", "øystein ærøđal"},
		"what does not show":          {"alice", "al\u200bice", "\ufeffalice", "a\u00adlice", "alice\x00", "al\ufe0fice"},
		"space":                       {"ada lovelace", " Ada\u00a0Lovelace ", "ada \t lovelace\n"},
	} {
		t.Run("R-508 "+rule, func(t *testing.T) {
			for _, s := range spellings {
				if got := fold.Name(s); got != spellings[0] && got != fold.Name(spellings[0]) {
					t.Errorf("%q becomes %q, want %q", s, got, spellings[0])
				}
			}
		})
	}
	for _, two := range [][2]string{{"alice", "alic"}, {"ada", "bob"}, {"ada lovelace", "adalovelace"}, {"1", "2"}, {"ада", "ада1"}, {"山田", "山口"}} {
		t.Run("R-508 apart: "+two[0], func(t *testing.T) {
			if fold.Name(two[0]) == fold.Name(two[1]) {
				t.Errorf("%q and %q are counted together", two[0], two[1])
			}
		})
	}
}

// FuzzName: a form folds to itself, and case, accents and hidden characters
// change nothing.
func FuzzName(f *testing.F) {
	for _, s := range []string{"alice", "Zoë", "İstanbul", "straße", "\u1fb3", "ŉ", "ﷺ", "\u0345", "ǰ", "\xff", "ΐ", "🆎", "Å", "ſ", "㎒", " "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		once := fold.Name(typed)
		if again := fold.Name(once); again != once {
			t.Errorf("%q becomes %q and then %q", typed, once, again)
		}
		if !utf8.ValidString(once) || strings.TrimSpace(once) != once {
			t.Errorf("%q becomes %q", typed, once)
		}
		if !utf8.ValidString(typed) {
			return
		}
		lower := strings.ToLower(typed)
		for _, same := range []string{strings.ToUpper(typed), strings.ToLower(typed), typed + "\u0301", "\u200b" + typed} {
			if fold.Name(same) != once && strings.ToLower(strings.ToUpper(typed)) == lower {
				t.Errorf("%q becomes %q, and %q becomes %q", typed, once, same, fold.Name(same))
			}
		}
	})
}
