package jwt

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// Claims are what a token says of its owner and of itself, by name: a JSON
// object as a map. Values read from a token have the types of encoding/json, but
// numbers are json.Number. A float64 would round an id above 2^53 to the id of
// another user. A nil Claims is empty. Its methods may be called concurrently
// while it is not written to.
type Claims map[string]any

// String returns the value of the first of keys with a claim that is text or a
// number: text as it is, the empty one included, numbers in decimal notation without
// an exponent. Claims that are absent, null or of another type are passed over. When
// none of keys has such a claim it returns "".
func (c Claims) String(keys ...string) string {
	for _, key := range keys {
		if text, ok := c[key].(string); ok {
			return text
		}
		if text, ok := decimal(c[key]); ok {
			return text
		}
	}
	return ""
}

// Bool reports whether the claim called key is true, or the text "true", which some
// providers send instead. It returns false for an absent claim and for any other value.
func (c Claims) Bool(key string) bool {
	switch v := c[key].(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// Time returns the instant that the claim called key stands for as a
// NumericDate, a number of seconds since 1970 (RFC 7519 section 2), in UTC and
// rounded to milliseconds. ok is false if the claim is anything but a number that falls
// into the years 0 to 9999.
func (c Claims) Time(key string) (t time.Time, ok bool) {
	text, ok := decimal(c[key])
	if !ok {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return time.Time{}, false
	}
	return jwtclaims.Instant(seconds)
}

// decimal returns a number in decimal notation without an exponent. It knows the number
// types that come from JSON or are likely in Claims made by hand. It returns false for
// every other type, int8 and uint16 among them, and for NaN and infinities.
func decimal(value any) (text string, ok bool) {
	switch n := value.(type) {
	case json.Number:
		return plainNumber(string(n))
	case float64:
		return plainFloat(n)
	case float32:
		return plainFloat(float64(n))
	case int:
		return strconv.FormatInt(int64(n), 10), true
	case int32:
		return strconv.FormatInt(int64(n), 10), true
	case int64:
		return strconv.FormatInt(n, 10), true
	case uint:
		return strconv.FormatUint(uint64(n), 10), true
	case uint32:
		return strconv.FormatUint(uint64(n), 10), true
	case uint64:
		return strconv.FormatUint(n, 10), true
	}
	return "", false
}

// plainNumber returns the JSON number n without an exponent. It keeps all digits of an
// integer, and rounds a number with a fraction or an exponent to a float64. It returns
// false if n is no number, or such a number is too large for a float64, as 1e999 is.
func plainNumber(n string) (string, bool) {
	digits := strings.TrimPrefix(n, "-")
	if digits != "" && strings.Trim(digits, "0123456789") == "" {
		return n, true
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return "", false
	}
	return plainFloat(f)
}

// plainFloat returns f as decimal text without an exponent. It returns false for NaN and infinities.
func plainFloat(f float64) (string, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", false
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}
