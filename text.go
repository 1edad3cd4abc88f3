package latchkey

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// firstOf is the first of the texts that is not empty.
func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// setDefault gives field a value where it has none.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// override gives field a value where there is one.
func override[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}

// cut is at most the first limit bytes of s.
func cut(s string, limit int) string {
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") // it may have been cut in a character
	}
	return s
}

// equalText compares two secrets in constant time.
func equalText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// randomHex is n random bytes from the system, in hex.
func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// newUserID is a random UUID, which is what Auth.js gives new users.
func newUserID() string { return string(jwtclaims.AppendUUID(make([]byte, 0, jwtclaims.LenUUID))) }

// hashText is the SHA-256 of a text, in hex.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// hashWith is how Auth.js keys a hash with the secret.
func hashWith(token, secret string) string {
	hash := hexHash(token, secret)
	return string(hash[:])
}

// isHashWith compares in constant time.
func isHashWith(hash, token, secret string) bool {
	want := hexHash(token, secret)
	return subtle.ConstantTimeCompare([]byte(hash), want[:]) == 1
}

func hexHash(token, secret string) (text [2 * sha256.Size]byte) {
	sum := sha256.Sum256(append(append(make([]byte, 0, 192), token...), secret...))
	hex.Encode(text[:], sum[:])
	return text
}

// visible drops, as a mapping of [strings.Map], characters that do not show, and
// bytes that are none.
func visible(r rune) rune {
	if r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	return r
}
