package secret

import (
	"math"
	"regexp"
	"strings"
	"sync"
)

// BitsOf estimates a token's entropy in bits, by its length and the smallest usual
// alphabet with all of its characters, as if each were random. It is an upper bound up to
// base64, and less than one for tokens of more than 64 different characters. The hyphens
// of a UUID are no part of it.
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

// VaryingBits returns BitsOf of the first sample, without the bytes that all samples have
// in the same place: a prefix, a constant, the date in front of a counter. A place that
// another sample is too short for stays. Of one sample it returns 0, and it panics
// without any.
func VaryingBits(samples []string) float64 {
	varying := strings.Builder{}
	for i := range len(samples[0]) {
		for _, other := range samples[1:] {
			if i >= len(other) || other[i] != samples[0][i] {
				varying.WriteByte(samples[0][i])
				break
			}
		}
	}
	return BitsOf(varying.String())
}
