package secret

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// BitsOf estimates the entropy of a token in bits, from its length and from the size of the
// smallest usual alphabet that has all of its characters. It takes each character as random
// and the size as at most 64. So the estimate is an upper bound for a token of up to 64
// different characters. The hyphens of a UUID do not count.
func BitsOf(token string) float64 {
	plain := token
	if uuidShape().MatchString(token) {
		plain = strings.ReplaceAll(token, "-", "")
	}
	return float64(len(plain)) * math.Log2(float64(alphabetOf(plain)))
}

var uuidShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
})

// alphabetOf returns the size of the smallest usual alphabet of token, or 64.
func alphabetOf(token string) int {
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, characters := range []string{digits, digits + "abcdef", digits + "ABCDEF", digits + lower, digits + upper, digits + lower + upper} {
		if strings.Trim(token, characters) == "" {
			return len(characters)
		}
	}
	return 64
}

// VaryingBits returns BitsOf of a part of the sample with the most bits. The part leaves out
// each byte that all samples have in the same place, such as a prefix or the date in front of
// a counter. A byte stays if another sample ends before it. VaryingBits returns 0 for a
// single sample, and panics for none.
func VaryingBits(samples []string) float64 {
	longest := slices.MaxFunc(samples, func(a, b string) int { return cmp.Compare(BitsOf(a), BitsOf(b)) })
	varying := strings.Builder{}
	for i := range len(longest) {
		if slices.ContainsFunc(samples, func(s string) bool { return i >= len(s) || s[i] != longest[i] }) {
			varying.WriteByte(longest[i])
		}
	}
	return BitsOf(varying.String())
}
