// Package fold returns one form for the spellings of a name, for counting, and of a
// code, for comparing.
package fold

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/latchkeyhq/latchkey/internal/texts"
)

// Name returns the form under which tries at a name are counted. A database or an
// application may take names for equal that differ in case, accents, compatibility
// characters or characters that do not show, so such names share one form. Two
// users may share it as well: it must never decide which user is meant.
func Name(typed string) string {
	if name, all := ascii(typed); all {
		return name
	}
	return folded(typed)
}

// ascii returns the form of a name of ASCII characters, at a fraction of the cost of
// folded. all is false if there are other characters.
func ascii(typed string) (name string, all bool) {
	b := make([]byte, 0, len(typed))
	for _, c := range []byte(typed) {
		switch {
		case c >= utf8.RuneSelf:
			return "", false
		case c < ' ' || c == 0x7f: // as texts.Visible
		case c == ' ' && (len(b) == 0 || b[len(b)-1] == ' '):
		case 'A' <= c && c <= 'Z':
			b = append(b, c-'A'+'a')
		default:
			b = append(b, c)
		}
	}
	return strings.TrimSuffix(string(b), " "), true
}

// folded returns the form of any name.
func folded(typed string) string {
	name := norm.NFKD.String(strings.Map(texts.Visible, typed))
	name = strings.ToLower(cases.Fold().String(name)) // Cherokee folds to capitals
	name = strings.Map(plain, norm.NFKD.String(name)) // folding may have made marks
	return strings.Join(strings.Fields(letters().Replace(name)), " ")
}

// plain maps characters for [strings.Map]. It drops accents and other marks, and turns
// the white letters in black circles and squares into letters.
func plain(r rune) rune {
	switch {
	case unicode.IsMark(r), r == '·':
		return -1
	case r >= '🅐' && r <= '🅩':
		return r - '🅐' + 'a'
	case r >= '🅰' && r <= '🆉':
		return r - '🅰' + 'a'
	}
	return texts.Visible(r)
}

// letters returns a replacer of lower-case letters that Unicode does not decompose, and
// that collations without accents (UCA, primary strength) take for equal to others. It is
// made once.
var letters = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(
		"æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ħ", "h", "ł", "l", "ŧ", "t", "ı", "i", "ƶ", "z",
		"ƍ", "zw", "ƾ", "ts", "ȸ", "db", "ȹ", "qp", "ʣ", "dz", "ʦ", "ts", "ʪ", "ls", "ʫ", "lz", "ᵹ", "g", "ᵺ", "th", "ỻ", "ll",
		"ꜩ", "tz", "ꜳ", "aa", "ꜵ", "ao", "ꜷ", "au", "ꜹ", "av", "ꜻ", "av", "ꜽ", "ay", "ꝏ", "oo", "ꝡ", "vy",
		"ꝺ", "d", "ꝼ", "f", "ꞃ", "r", "ꞅ", "s", "ꞇ", "t", "ꞡ", "g", "ꞣ", "k", "ꞥ", "n", "ꞧ", "r", "ꞩ", "s",
		"🆊", "p", "🆋", "ic", "🆌", "pa", "🆍", "sa", "🆎", "ab", "🆏", "wc", "🆑", "cl", "🆔", "id", "🆖", "ng", "🆗", "ok", "🆚", "vs",
	)
})
