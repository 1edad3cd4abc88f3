package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// LongestCode is the longest code in bytes that is looked at.
const LongestCode = 64

// Code returns a code as it is compared, from what a user typed. It replaces
// compatibility forms (NFKC) and decimal digits of other scripts, and drops spaces,
// dashes and characters that only format text. It returns "" for input that is longer
// than [LongestCode].
func Code(text string) string {
	if len(text) > LongestCode {
		return ""
	}
	text = norm.NFKC.String(strings.ToValidUTF8(text, "\ufffd"))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Pd, r), unicode.Is(unicode.Cf, r):
			return -1
		case r > unicode.MaxASCII && unicode.Is(unicode.Nd, r):
			return digit(r)
		}
		return r
	}, text)
	return norm.NFC.String(text) // a mark may stand beside another letter now
}

// digit returns the ASCII digit of the same value as r, which has to be a decimal
// digit. Unicode has the decimal digits of a script in one run, from zero to nine.
func digit(r rune) rune {
	for _, run := range unicode.Nd.R16 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return '0' + (r-rune(run.Lo))%10
		}
	}
	for _, run := range unicode.Nd.R32 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return '0' + (r-rune(run.Lo))%10
		}
	}
	return r
}
