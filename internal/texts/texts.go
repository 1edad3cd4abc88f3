// Package texts shortens and cleans text that a client sent.
package texts

import (
	"strings"
	"unicode"
)

// Cut returns s if it has at most limit bytes. Otherwise it returns its first limit
// bytes, without bytes that are not valid UTF-8, such as a partial character at the
// end. limit must not be negative.
func Cut(s string, limit int) string {
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "")
	}
	return s
}

// Visible maps characters for [strings.Map]. It drops invisible characters and invalid
// bytes.
func Visible(r rune) rune {
	if r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	return r
}
