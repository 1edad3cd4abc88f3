package jwt

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"
)

// DefaultMaxAge is the life of a token when none is named: 30 days.
const DefaultMaxAge = 30 * 24 * time.Hour

// issued are the claims that every new token gets, in the order in which they are added.
var issued = [...]string{"iat", "exp", "jti"}

// AppendIssued appends members to dst as the payload of a new token, one JSON object: iat is now, exp is
// maxAge later (0: 30 days; fractions of a second are dropped) and jti a random UUID. Members with these
// names keep their place and lose their value; those that are missing come last, in this order.
func AppendIssued(dst []byte, members []Member, now time.Time, maxAge time.Duration) []byte {
	var done [len(issued)]bool
	dst = append(dst, '{')
	for _, m := range members {
		dst = appendName(dst, m.Key)
		if n := indexIssued(m.Key); n >= 0 {
			dst, done[n] = appendIssued(dst, n, now, maxAge), true
		} else {
			dst = append(dst, m.Raw...)
		}
	}
	for n, name := range issued {
		if !done[n] {
			dst = appendIssued(appendName(dst, name), n, now, maxAge)
		}
	}
	return append(dst, '}')
}

func indexIssued(key []byte) int {
	for n, name := range issued {
		if string(key) == name {
			return n
		}
	}
	return -1
}

func appendIssued(dst []byte, n int, now time.Time, maxAge time.Duration) []byte {
	switch issued[n] {
	case "iat":
		return strconv.AppendInt(dst, now.Unix(), 10)
	case "exp":
		return strconv.AppendInt(dst, now.Unix()+lifeSeconds(maxAge), 10)
	}
	return appendUUID(dst)
}

func lifeSeconds(maxAge time.Duration) int64 {
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	return int64(maxAge / time.Second)
}

// appendUUID appends a random UUID (RFC 9562 section 5.4) as a JSON string.
func appendUUID(dst []byte) []byte {
	var u [16]byte
	rand.Read(u[:])         // never fails
	u[6] = u[6]&0x0f | 0x40 // version 4
	u[8] = u[8]&0x3f | 0x80 // variant of RFC 9562
	dst = hex.AppendEncode(append(dst, '"'), u[:4])
	for _, group := range [...][]byte{u[4:6], u[6:8], u[8:10], u[10:]} {
		dst = hex.AppendEncode(append(dst, '-'), group)
	}
	return append(dst, '"')
}

// appendName begins a member of the object that dst ends with. A value never ends in "{", so that byte
// tells that the object is still empty.
func appendName[T string | []byte](dst []byte, key T) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(appendText(dst, key), ':')
}

// AppendText appends s to dst as a JSON string, written as JSON.stringify writes it: quotes, backslashes
// and control characters are escaped, nothing else is, and invalid UTF-8 becomes U+FFFD. It is not safe
// to put the result into HTML.
func AppendText(dst []byte, s string) []byte {
	return appendText(dst, s)
}

func appendText[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	if isPlain(s) {
		return append(append(dst, s...), '"')
	}
	for _, r := range string(s) {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20:
			dst = appendControl(dst, byte(r))
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// isPlain reports whether s can stand between quotes as it is. Text outside ASCII is left to the slow
// path, which also repairs it.
func isPlain[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendControl(dst []byte, c byte) []byte {
	const short = "btn\x00fr" // \b is 8, \t 9, \n 10, 11 has none, \f 12, \r 13
	if c >= '\b' && c <= '\r' && c != '\v' {
		return append(dst, '\\', short[c-'\b'])
	}
	return append(dst, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
}
