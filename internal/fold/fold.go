// Package fold returns one form for the spellings of a name, for counting, and of a
// code, for comparing.
package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/latchkeyhq/latchkey/internal/texts"
)

// Name returns the form under which tries at a name are counted. A database or an
// application may take names for equal that differ in case, accents, compatibility
// characters or characters that do not show, so such names share one form. Two
// users may share it as well: it must never decide which user is meant.
func Name(typed string) string {
	name := norm.NFKD.String(strings.Map(texts.Visible, typed))
	name = strings.Map(plain, norm.NFKD.String(cases.Fold().String(name))) // folding may have made marks
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
// that collations without accents (UCA, primary strength) take for equal to others.
func letters() *strings.Replacer {
	return strings.NewReplacer(
		"æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ħ", "h", "ł", "l", "ŧ", "t", "ı", "i", "ƶ", "z",
		"ƍ", "zw", "ƾ", "ts", "ȸ", "db", "ȹ", "qp", "ʣ", "dz", "ʦ", "ts", "ʪ", "ls", "ʫ", "lz", "ᵹ", "g", "ᵺ", "th", "ỻ", "ll",
		"ꜩ", "tz", "ꜳ", "aa", "ꜵ", "ao", "ꜷ", "au", "ꜹ", "av", "ꜻ", "av", "ꜽ", "ay", "ꝏ", "oo", "ꝡ", "vy",
		"ꝺ", "d", "ꝼ", "f", "ꞃ", "r", "ꞅ", "s", "ꞇ", "t", "ꞡ", "g", "ꞣ", "k", "ꞥ", "n", "ꞧ", "r", "ꞩ", "s",
		"🆊", "p", "🆋", "ic", "🆌", "pa", "🆍", "sa", "🆎", "ab", "🆏", "wc", "🆑", "cl", "🆔", "id", "🆖", "ng", "🆗", "ok", "🆚", "vs",
	)
}
