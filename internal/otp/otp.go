// Package otp computes and checks one-time passwords: HOTP (RFC 4226) and TOTP (RFC
// 6238) with SHA-1, six digits and steps of 30 seconds, which is what every
// authenticator app understands. It also makes the key URI of an app and its QR
// code. It keeps nothing and knows no clock.
package otp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" // the only algorithm that all apps have; HMAC does not need a collision-free hash
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"hash"
	"strings"
	"time"
)

const (
	// Digits is the length of a code.
	Digits = 6

	// Period is the length of a time step.
	Period = 30 * time.Second

	// SecretLen is the length of a secret in bytes (RFC 4226, section 4, R6).
	SecretLen = 20

	// MostSkew is the largest number of steps that a clock may be off.
	MostSkew = 2
)

// NewSecret returns a random secret.
func NewSecret() []byte {
	secret := make([]byte, SecretLen)
	rand.Read(secret) // never fails
	return secret
}

// Step returns the number of the time step of t (RFC 6238, section 4.2).
func Step(t time.Time) int64 { return t.Unix() / int64(Period/time.Second) }

// Code returns the code of a step (RFC 4226, section 5.3).
func Code(secret []byte, step int64) string {
	code := codeOf(hmac.New(sha1.New, secret), step)
	return string(code[:])
}

// codeOf returns the code of a step. mac has the secret as key, and may have been used:
// to make one takes longer than to compute a code with it.
func codeOf(mac hash.Hash, step int64) (code [Digits]byte) {
	mac.Reset()
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac.Write(counter[:])
	var room [sha1.Size]byte
	sum := mac.Sum(room[:0])
	offset := sum[len(sum)-1] & 0xf
	number := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	for i := len(code) - 1; i >= 0; i-- {
		code[i] = '0' + byte(number%10)
		number /= 10
	}
	return code
}

// Check returns the step that code belongs to, at most skew steps before or after now. ok
// is false if there is none. The caller has to refuse a step that is not later than the
// last used one. Check compares code, as [Typed] returns it, with every step in constant
// time. A skew below 0 counts as 0, and one above [MostSkew] as MostSkew.
func Check(secret []byte, code string, now time.Time, skew int) (step int64, ok bool) {
	if len(code) != Digits || len(secret) == 0 {
		return 0, false
	}
	mac, current, found := hmac.New(sha1.New, secret), Step(now), 0
	skew = max(0, min(skew, MostSkew))
	for s := current - int64(skew); s <= current+int64(skew); s++ {
		want := codeOf(mac, s)
		hit := subtle.ConstantTimeCompare(want[:], []byte(code))
		found |= hit
		step += int64(hit) * (s - step) // of two steps with one code the later one counts
	}
	return step, found == 1
}

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// Text returns a secret as apps take it: base32 without padding.
func Text(secret []byte) string { return base32Text.EncodeToString(secret) }

// Grouped returns text in groups of four characters, for users that type it.
func Grouped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i += 4 {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text[i:min(i+4, len(text))])
	}
	return b.String()
}
