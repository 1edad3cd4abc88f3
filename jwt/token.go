package jwt

import (
	"errors"
	"fmt"
	"time"
)

// Params says how tokens are made and read.
type Params struct {
	Secrets []string         // newest first; the first seals, all open
	Salt    string           // the name of the cookie: a token is good in no other
	MaxAge  time.Duration    // 0: 30 days; on decoding only for tokens without exp, counted from iat
	Time    func() time.Time // nil: time.Now
}

func (p Params) now() time.Time {
	if p.Time == nil {
		return time.Now()
	}
	return p.Time()
}

// Encode seals c into a token whose iat is now, whose exp is p.MaxAge later and whose jti is a random
// UUID, whatever c says about these; with a negative p.MaxAge it has expired already. c is not changed. It fails with ErrNoSecret, with ErrTooLong, or
// when c holds what JSON cannot express. Safe for concurrent use as long as c is not written to.
func Encode(c Claims, p Params) (string, error) {
	token, err := NewCodec(p.Secrets, p.Salt).SealClaims(c, p.now(), p.MaxAge)
	if err != nil && !errors.Is(err, ErrNoSecret) && !errors.Is(err, ErrTooLong) {
		return "", fmt.Errorf("jwt: the claims cannot be written as JSON: %w", err)
	}
	return token, err
}

// Decode opens a token and judges its life with [Check]. It fails with ErrInvalid for every token that
// is not ours, with ErrExpired for one that was, and with ErrNoSecret.
func Decode(token string, p Params) (Claims, error) {
	return NewCodec(p.Secrets, p.Salt).OpenClaims(token, p.now(), p.MaxAge)
}
