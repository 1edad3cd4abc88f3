// Package words holds the texts of the built-in pages and mails, two files for each
// language, and finds the language that suits a browser.
//
// Everything in it is safe for concurrent use.
package words

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Texts are texts by key. A text may hold places in braces, such as {name}, which
// are filled when it is shown. A translation holds the same places, in the order
// of its grammar.
type Texts map[string]string

// builtIn are the built-in languages, English first and the others by tag. The
// texts of a language are built on first use.
var builtIn = []struct {
	tag   string
	texts func() Texts
}{
	{"en", english},
	{"ar", both("ar", arabic, arabicProfile)},
	{"de", both("de", german, germanProfile)},
	{"es", both("es", spanish, spanishProfile)},
	{"fr", both("fr", french, frenchProfile)},
	{"it", both("it", italian, italianProfile)},
	{"ja", both("ja", japanese, japaneseProfile)},
	{"ko", both("ko", korean, koreanProfile)},
	{"nl", both("nl", dutch, dutchProfile)},
	{"pl", both("pl", polish, polishProfile)},
	{"pt-BR", both("pt-BR", portuguese, portugueseProfile)},
	{"ru", both("ru", russian, russianProfile)},
	{"tr", both("tr", turkish, turkishProfile)},
	{"uk", both("uk", ukrainian, ukrainianProfile)},
	{"zh-Hans", both("zh-Hans", chinese, chineseProfile)},
}

// english returns all English texts, as both does.
var english = both("en", englishPages, englishProfile)

// both returns a function that returns one map with the texts of pages and profile and
// those of lost and regained for the tag. The map is built on first use and is
// shared: do not change it.
func both(tag string, pages, profile func() Texts) func() Texts {
	return sync.OnceValue(func() Texts { return join(pages(), profile(), lost()[tag], regained()[tag]) })
}

// join returns all texts in one map. Of a repeated key the last text counts.
func join(all ...Texts) Texts {
	joined := Texts{}
	for _, texts := range all {
		maps.Copy(joined, texts)
	}
	return joined
}

// Tags returns the tags of the built-in languages, as in <html lang>, English
// first. The caller may change the slice.
func Tags() []string {
	tags := make([]string, 0, len(builtIn))
	for _, l := range builtIn {
		tags = append(tags, l.tag)
	}
	return tags
}

// Near returns the built-in language nearest to a tag, such as de for de-CH. It
// returns an empty string if there is none.
func Near(tag string) string { return builtInMatcher().Match(tag) }

// English returns a copy of the English texts.
func English() Texts { return maps.Clone(english()) }

// Text returns the text of key in the language nearest to a tag, or else in
// English. The text of an unknown key is empty.
func Text(tag, key string) string {
	if near := Near(tag); near != "" {
		return text(near, key)
	}
	return english()[key]
}

// text returns the text of key in a built-in language, or else in English. It is empty
// for an unknown key.
func text(builtInTag, key string) string {
	for _, l := range builtIn {
		if l.tag == builtInTag {
			if s, ok := l.texts()[key]; ok {
				return s
			}
		}
	}
	return english()[key]
}

// All returns the texts of the language nearest to a tag, or else the English
// ones. The caller may change the map.
func All(tag string) Texts {
	all, near := English(), Near(tag)
	for key := range all {
		if near != "" {
			all[key] = text(near, key)
		}
	}
	return all
}

// Places returns the places of a text, braces included, in order.
func Places(s string) []string { return placeForm().FindAllString(s, -1) }

var placeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z]+\}`) })

// Check returns an error if key is unknown, or if own does not hold each place of the
// English text exactly once.
func Check(key, own string) error {
	original, known := english()[key]
	if !known {
		return fmt.Errorf("no text has the key %q", key)
	}
	for _, place := range Places(original) {
		if strings.Count(own, place) != 1 {
			return fmt.Errorf("%q must hold %s exactly once", key, place)
		}
	}
	return nil
}

// rightToLeft are scripts, and languages that are written in one of them.
var rightToLeft = []string{
	"adlm", "arab", "hebr", "nkoo", "rohg", "syrc", "thaa",
	"ar", "ckb", "dv", "fa", "he", "iw", "ji", "ks", "ps", "sd", "ug", "ur", "yi",
}

// Direction returns the dir attribute of a language: rtl or ltr.
func Direction(tag string) string {
	primary, rest, _ := strings.Cut(strings.ToLower(tag), "-")
	if script, _, _ := strings.Cut(rest, "-"); len(script) == 4 {
		primary = script
	}
	if slices.Contains(rightToLeft, primary) {
		return "rtl"
	}
	return "ltr"
}

// Isolate returns a value that does not disturb the order of the words around it. In a
// language from right to left it wraps the value in directional isolates. A name, a time
// or a URL is then shown as it would be alone (Unicode UAX 9, 2.4).
func Isolate(tag, value string) string {
	if Direction(tag) == "rtl" {
		return "\u2068" + value + "\u2069"
	}
	return value
}
