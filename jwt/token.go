package jwt

import (
	"errors"
	"fmt"
	"time"
)

// Params are the secrets, the purpose, the lifetime and the clock that [Encode]
// makes tokens with and [Decode] reads them with.
type Params struct {
	hidden

	Secrets []string         // newest first: the first seals new tokens, all of them open tokens
	Salt    string           // the name of the cookie: a token is good in no other
	MaxAge  time.Duration    // how long a token lives; 0: 30 days; Decode uses it, from iat on, only when exp is absent
	Time    func() time.Time // the clock; nil: time.Now
}

func (p Params) now() time.Time {
	if p.Time == nil {
		return time.Now()
	}
	return p.Time()
}

// Encode makes an encrypted token that holds the claims c. The token's iat (issued at)
// is now, its exp (expires at) is p.MaxAge later and its jti (identifier) a random UUID,
// whatever c says about these; with a negative p.MaxAge it has expired already. c is not
// changed. It fails with [ErrNoSecret], with [ErrTooLong], or when c holds what JSON
// cannot express or is nested too deep. It also fails where the platform forbids so
// short a secret, as FIPS 140 does. It is safe for concurrent use as long as c is not
// written to.
func Encode(c Claims, p Params) (string, error) {
	token, err := NewCodec(p.Secrets, p.Salt).SealClaims(c, p.now(), p.MaxAge)
	if err != nil && !errors.Is(err, ErrNoSecret) && !errors.Is(err, ErrTooLong) {
		return "", fmt.Errorf("jwt: the claims cannot be written as JSON: %w", err)
	}
	return token, err
}

// Decode decrypts a token made by [Encode], or by Auth.js with the same secret and salt,
// and returns its claims if it is valid now: from 15 seconds before its nbf, when it has
// one, until 15 seconds after its exp, because clocks differ. A token without exp is
// valid for p.MaxAge from its iat on (0: 30 days); a token without exp and iat is not
// valid. It returns [ErrExpired] when that time is over, [ErrInvalid] for any other
// fault of the token, and [ErrNoSecret] without a secret. Any other error says that the
// platform forbids a secret, as FIPS 140 does with very short ones. It is safe for
// concurrent use.
func Decode(token string, p Params) (Claims, error) {
	return NewCodec(p.Secrets, p.Salt).OpenClaims(token, p.now(), p.MaxAge)
}
