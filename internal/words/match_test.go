package words

import (
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	offer := []string{"en", "de", "pt-BR", "zh-Hans", "zh-Hant", "sr-Latn", "he", "nb"}
	for _, row := range []struct{ name, header, want string }{
		{"nothing", "", ""},
		{"one language", "de", "de"},
		{"in any case", "DE", "de"},
		{"a country we do not tell apart", "de-AT", "de"},
		{"a country that there is", "pt-BR", "pt-BR"},
		{"another country's variety", "pt-PT", "pt-BR"},
		{"any variety", "pt", "pt-BR"},
		{"what browsers send", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "de"},
		{"the greatest weight", "en;q=0.5, de;q=0.8", "de"},
		{"the first of equals", "de;q=0.8,en;q=0.8", "de"},
		{"a language that we lack", "tlh, de;q=0.3", "de"},
		{"only what we lack", "tlh, sjn;q=0.3", ""},
		{"any language", "*", "en"},
		{"any language, after one that we lack", "tlh, *;q=0.1", "en"},
		{"any language, after one that we have", "*;q=0.1, de;q=0.2", "de"},
		{"not at all", "de;q=0, en;q=0.1", "en"},
		{"only not at all", "de;q=0", ""},
		{"Chinese", "zh", "zh-Hans"},
		{"Chinese of Taiwan", "zh-TW", "zh-Hant"},
		{"Chinese of Singapore", "zh-SG", "zh-Hans"},
		{"script and country", "zh-Hant-HK", "zh-Hant"},
		{"another script of the language", "sr-Cyrl", "sr-Latn"},
		{"the old name of Hebrew", "iw", "he"},
		{"Norwegian", "no", "nb"},
		{"a language that others understand", "nn, da, kk, gsw, lb, sv, hr", ""},
		{"script and country, by the name of Chinese", "zh-Hans-CN", "zh-Hans"},
		{"Chinese of Hong Kong", "zh-HK", "zh-Hant"},
		{"extensions", "de-DE-u-co-phonebk", "de"},
		{"a variant", "de-1996", "de"},
		{"a private part", "de-x-plain", "de"},
		{"a region that nobody knows", "de-XX", "de"},
		{"only a private part", "x-plain, i-klingon, und, mul", ""},
		{"no tag", "deutsch, de_CH_, 1, -", ""},
		{"spaces", "  tlh ; q=1 ,\tde ; q=0.5 ", "de"},
		{"weights that make no sense", "de;q=2.5, de;q=-1, de;q=1x, de;q=, de;p=1, en;q=0.001", "en"},
		{"more decimals than there may be", "de;q=0.1234, en;q=0.1", "en"},
		{"commas", ",,,de,,", "de"},
		{"a range that is too long", strings.Repeat("x", 36) + ", de;q=0.1", "de"},
		{"far behind", strings.Repeat("tlh, ", 31) + "de", "de"},
		{"too far behind", strings.Repeat("tlh, ", 32) + "de", ""},
		{"behind the end", strings.Repeat(" ", 511) + "de", ""},
	} {
		if got := newMatcher(offer).Match(row.header); got != row.want {
			t.Errorf("R-398 R-583 %s: %q, want %q", row.name, got, row.want)
		}
	}
	if got := newMatcher(offer).Match("tlh, en;q=0.1", "de;q=0.2"); got != "de" {
		t.Errorf("two lines: %q", got)
	}
	if got := newMatcher(nil).Match("de, *"); got != "" {
		t.Errorf("without an offer: %q", got)
	}
}

// Whatever a header holds, the answer is one of the languages that there are.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{"de-DE,de;q=0.9,*;q=0.5", "en;q=0.00", ";q=1", "-", "zh-Hant-TW-x-y;q=1.000", "*-DE"} {
		f.Add(s)
	}
	offer := Tags()
	m := NewMatcher(offer)
	f.Fuzz(func(t *testing.T, header string) {
		if found := m.Match(header); found != "" && !slices.Contains(offer, found) {
			t.Errorf("found %q", found)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	header, m := "uk-UA,uk;q=0.9,en-US;q=0.8,en;q=0.7", NewMatcher(Tags())
	b.ReportAllocs()
	for b.Loop() {
		m.Match(header)
	}
}
