package jwt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// DefaultMaxAge is how long a token is valid when no other time is given: 30
// days.
const DefaultMaxAge = jwtclaims.DefaultMaxAge

// SealClaims makes an encrypted token that holds claims, as [Encode] does, with
// the keys that c has derived already. The token's iat (issued at) is now, its
// exp (expires at) is maxAge later (0: 30 days) and its jti (identifier) a
// random UUID, whatever claims say about these. With a negative maxAge the token
// has expired already. claims are not changed. It fails with [ErrTooLong], with
// [ErrNoSecret], or where the platform forbids so short a secret. It also fails if
// claims hold what JSON cannot express, and with [ErrInvalid] if they are nested
// too deep to be opened again.
func (c *Codec) SealClaims(claims Claims, now time.Time, maxAge time.Duration) (string, error) {
	payload := make([]byte, 0, 512)
	nested := false
	for _, key := range ownKeys(claims) {
		payload = append(jsonscan.AppendText(append(payload, ','), key), ':')
		var err error
		var plain bool
		if payload, plain, err = appendValue(payload, claims[key]); err != nil {
			return "", err
		}
		nested = nested || !plain
	}
	payload = closeObject(payload, now, maxAge)
	if nested { // what is nested too deep could be sealed but never opened
		if _, err := jsonscan.Members(payload, nil); err != nil {
			return "", err
		}
	}
	return c.Seal(payload)
}

// ownKeys returns the names, in order, of all claims except those that are set
// anew for every token.
func ownKeys(claims Claims) []string {
	keys := make([]string, 0, len(claims))
	for key := range claims {
		if key != "iat" && key != "exp" && key != "jti" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// closeObject returns one JSON object of members and the claims that every new token
// gets: iat, exp and jti. Each member has a comma before it, as in ,"a":1,"b":2. The object
// takes the place of members, which the caller must not use any more.
func closeObject(members []byte, now time.Time, maxAge time.Duration) []byte {
	end := len(members)
	object := jwtclaims.AppendIssued(members, nil, now, maxAge) // ,"a":1,"b":2{"iat":…}
	object[end] = ','
	object[0] = '{'
	return object
}

// appendValue appends value as JSON to dst. It writes nil, strings, booleans and integers
// without reflection, with plain true, and any other value as encoding/json does. It does
// not escape HTML characters, since cookies have no room for needless escapes. The error
// is that of encoding/json.
func appendValue(dst []byte, value any) (_ []byte, plain bool, _ error) {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...), true, nil
	case string:
		return jsonscan.AppendText(dst, v), true, nil
	case bool:
		return strconv.AppendBool(dst, v), true, nil
	case int64:
		return strconv.AppendInt(dst, v, 10), true, nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), true, nil
	}
	text := bytes.NewBuffer(dst)
	e := json.NewEncoder(text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, false, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), false, nil
}

// OpenClaims decrypts token and returns its claims if it is valid at the time
// now, as [Decode] does, with the keys that c has derived already. maxAge (0:
// 30 days) is the life of tokens that have no exp, counted from their iat. It
// fails with [ErrExpired] when the token's time is over, with [ErrInvalid] for
// whatever else is wrong with it, with [ErrNoSecret], or where the platform
// forbids so short a secret.
func (c *Codec) OpenClaims(token string, now time.Time, maxAge time.Duration) (Claims, error) {
	payload, err := c.Open(token)
	if err != nil {
		return nil, err
	}
	var room [16]jsonscan.Member
	members, err := jsonscan.Members(payload, room[:0])
	if err != nil {
		return nil, err
	}
	if err := jwtclaims.Check(members, now, maxAge); err != nil {
		return nil, err
	}
	claims := make(Claims, len(members))
	for _, m := range members {
		if claims[string(m.Key)], err = valueOf(m); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// valueOf returns the value of m as encoding/json with UseNumber would decode it. The
// error is ErrInvalid.
func valueOf(m jsonscan.Member) (value any, err error) {
	if text, ok := m.Text(); ok {
		return text, nil
	}
	switch m.Raw[0] {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	case 'n':
		return nil, nil
	case '{', '[':
		d := json.NewDecoder(bytes.NewReader(m.Raw))
		d.UseNumber()
		if d.Decode(&value) != nil {
			return nil, ErrInvalid
		}
		return value, nil
	}
	return json.Number(m.Raw), nil
}
