package jwtclaims

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// ErrExpired says that a token is authentic but its life has ended. It is
// jwt.ErrExpired as well.
var ErrExpired = errors.New("jwt: the token has expired")

// tolerance is how many seconds the clocks of two machines may differ.
const tolerance = 15

// Tolerance is how much the clocks of two machines may differ.
const Tolerance = tolerance * time.Second

// IsOutlived reports whether a token that was issued at iat is older at now than maxAge
// (0: 30 days). It does not look at exp: the token's life may have been longer when it
// was made. It has the tolerance of [Check].
func IsOutlived(iat, now time.Time, maxAge time.Duration) bool {
	return iat.Unix()+lifeSeconds(maxAge) <= now.Unix()-tolerance
}

// Check checks the life of an authentic payload at the time now, and allows clocks to
// differ by 15 seconds everywhere. exp, nbf and iat must be numbers where they are
// present (RFC 7519 section 4.1); a null is not one. A token with exp lives until then,
// whatever iat and maxAge say. One without lives until maxAge (0: 30 days) after iat,
// which must not lie in the future. Check returns [ErrExpired] for a token that is over,
// and [jsonscan.ErrInvalid] for one that has not begun, has neither exp nor iat, or
// breaks another of these rules.
func Check(members []jsonscan.Member, now time.Time, maxAge time.Duration) error {
	exp, expErr := numericDate(members, "exp")
	iat, iatErr := numericDate(members, "iat")
	nbf, nbfErr := numericDate(members, "nbf")
	if expErr != nil || iatErr != nil || nbfErr != nil {
		return jsonscan.ErrInvalid
	}
	at := float64(now.Unix())
	if nbf.set && nbf.at > at+tolerance {
		return jsonscan.ErrInvalid
	}
	if !exp.set {
		if !iat.set || iat.at > at+tolerance {
			return jsonscan.ErrInvalid
		}
		exp.at = iat.at + float64(lifeSeconds(maxAge))
	}
	if exp.at <= at-tolerance {
		return ErrExpired
	}
	return nil
}

// date is a NumericDate: seconds since 1970, possibly with a fraction (RFC 7519
// section 2).
type date struct {
	at  float64
	set bool
}

// Time returns the instant of the NumericDate called key. ok is false if there is none,
// or none that [Instant] knows.
func Time(members []jsonscan.Member, key string) (t time.Time, ok bool) {
	d, err := numericDate(members, key)
	if err != nil || !d.set {
		return time.Time{}, false
	}
	return Instant(d.at)
}

// Instant returns a NumericDate as a time in UTC, rounded to milliseconds. ok is false
// outside of the years 0 to 9999, and for NaN.
func Instant(seconds float64) (t time.Time, ok bool) {
	const first, last = -62167219200, 253402300799
	if !(seconds >= first && seconds <= last) { // also what is no number
		return time.Time{}, false
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC(), true
}

// numericDate returns the NumericDate called key. set is false if there is none. It
// returns jsonscan.ErrInvalid for a value that is no number.
func numericDate(members []jsonscan.Member, key string) (date, error) {
	raw, found := jsonscan.Lookup(members, key)
	if !found {
		return date{}, nil
	}
	at, ok := parseNumber(raw)
	if !ok {
		return date{}, jsonscan.ErrInvalid
	}
	return date{at, true}, nil
}

// parseNumber reads a JSON number. Whole numbers of ordinary length, which is
// all we ever write, need no general conversion.
func parseNumber(raw []byte) (float64, bool) {
	if n, ok := parseDigits(raw); ok {
		return float64(n), true
	}
	if len(raw) == 0 || (raw[0] != '-' && (raw[0] < '0' || raw[0] > '9')) {
		return 0, false // a string, a literal, an object or an array
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil // beyond the range of float64 is an error
}

// parseDigits reads a number of at most 15 digits and no other characters.
func parseDigits(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || len(raw) > 15 {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
