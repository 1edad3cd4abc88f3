package jwtclaims

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// DefaultMaxAge is how long a token lives when nothing else is said: 30 days.
const DefaultMaxAge = 30 * 24 * time.Hour

// issued are the claims that every new token gets, in the order in which they
// are added.
var issued = [...]string{"iat", "exp", "jti"}

// AppendIssued appends members to dst as the payload of a new token, one JSON object.
// iat is now, and jti a random UUID. exp is maxAge later (0: 30 days; fractions of a
// second are dropped). Members with these names keep their place and get the new value.
// Those that are missing come last, in the order iat, exp, jti.
func AppendIssued(dst []byte, members []jsonscan.Member, now time.Time, maxAge time.Duration) []byte {
	var done [len(issued)]bool
	dst = append(dst, '{')
	for _, m := range members {
		dst = append(m.AppendKey(separate(dst)), ':')
		if n := indexIssued(m.Key); n >= 0 {
			dst, done[n] = appendIssued(dst, n, now, maxAge), true
		} else {
			dst = append(dst, m.Raw...)
		}
	}
	for n, name := range issued {
		if !done[n] {
			dst = append(jsonscan.AppendText(separate(dst), name), ':')
			dst = appendIssued(dst, n, now, maxAge)
		}
	}
	return append(dst, '}')
}

// Issued are the claims that [AppendIssued] adds, for a payload that encoding/json writes.
type Issued struct {
	IssuedAt int64  `json:"iat"`
	Expiry   int64  `json:"exp"`
	ID       string `json:"jti"`
}

// Issue returns the claims of a token that is issued now and lives for maxAge, as
// AppendIssued adds them.
func Issue(now time.Time, maxAge time.Duration) Issued {
	at := now.Unix()
	return Issued{at, at + lifeSeconds(maxAge), string(AppendUUID(make([]byte, 0, LenUUID)))}
}

// separate appends a comma, unless dst ends with the brace that opens the object. A
// value never ends in "{", so that byte tells that the object is still empty.
func separate(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// indexIssued returns the index of key in issued, or -1.
func indexIssued(key []byte) int {
	for n, name := range issued {
		if string(key) == name {
			return n
		}
	}
	return -1
}

// appendIssued appends the new value of the claim issued[n].
func appendIssued(dst []byte, n int, now time.Time, maxAge time.Duration) []byte {
	switch issued[n] {
	case "iat":
		return strconv.AppendInt(dst, now.Unix(), 10)
	case "exp":
		return strconv.AppendInt(dst, now.Unix()+lifeSeconds(maxAge), 10)
	}
	return append(AppendUUID(append(dst, '"')), '"')
}

// lifeSeconds returns maxAge in whole seconds, or 30 days if it is 0.
func lifeSeconds(maxAge time.Duration) int64 {
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	return int64(maxAge / time.Second)
}

// LenUUID is the length of a UUID as text.
const LenUUID = 36

// AppendUUID appends a random UUID as text, without quotes (RFC 9562 section 5.4).
func AppendUUID(dst []byte) []byte {
	var u [16]byte
	rand.Read(u[:])         // never fails
	u[6] = u[6]&0x0f | 0x40 // version 4
	u[8] = u[8]&0x3f | 0x80 // variant of RFC 9562
	dst = hex.AppendEncode(dst, u[:4])
	for _, group := range [...][]byte{u[4:6], u[6:8], u[8:10], u[10:]} {
		dst = hex.AppendEncode(append(dst, '-'), group)
	}
	return dst
}
