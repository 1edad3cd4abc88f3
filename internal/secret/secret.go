// Package secret makes random values and the hashes that are stored or sent in place of
// secrets, and estimates the entropy of tokens.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// Equal compares two secrets in constant time.
func Equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// RandomHex returns n random bytes in hex.
func RandomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// NewUserID returns a random UUID, as Auth.js gives to new users.
func NewUserID() string { return string(jwtclaims.AppendUUID(make([]byte, 0, jwtclaims.LenUUID))) }

// Hash returns the SHA-256 of a text in hex.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// HashWith returns the SHA-256 of token followed by secret, in hex, as Auth.js makes it.
func HashWith(token, secret string) string {
	hash := hexHash(token, secret)
	return string(hash[:])
}

// IsHash reports, in constant time, whether hash is HashWith(token, secret).
func IsHash(hash, token, secret string) bool {
	want := hexHash(token, secret)
	return subtle.ConstantTimeCompare([]byte(hash), want[:]) == 1
}

func hexHash(token, secret string) (text [2 * sha256.Size]byte) {
	sum := sha256.Sum256(append(append(make([]byte, 0, 192), token...), secret...))
	hex.Encode(text[:], sum[:])
	return text
}

// Digits returns n random decimal digits.
func Digits(n int) string {
	digits := make([]byte, 0, n)
	for b := make([]byte, 2*n); len(digits) < n; {
		rand.Read(b) // never fails
		for _, random := range b {
			if random < 250 && len(digits) < n { // a multiple of ten
				digits = append(digits, '0'+random%10)
			}
		}
	}
	return string(digits)
}
