package jwt

import (
	"bytes"
	"encoding/json"
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
	text, err := marshal(c)
	if err != nil {
		return "", fmt.Errorf("jwt: the claims cannot be written as JSON: %w", err)
	}
	members, err := Members(text, make([]Member, 0, len(c)))
	if err != nil {
		return "", err
	}
	payload := AppendIssued(make([]byte, 0, len(text)+128), members, p.now(), p.MaxAge)
	return NewCodec(p.Secrets, p.Salt).Seal(payload)
}

// marshal leaves HTML characters alone: cookies have no room for escapes that nobody needs.
func marshal(c Claims) ([]byte, error) {
	if c == nil {
		return []byte("{}"), nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(c)
	return text.Bytes(), err
}

// Decode opens a token and judges its life with [Check]. It fails with ErrInvalid for every token that
// is not ours, with ErrExpired for one that was, and with ErrNoSecret.
func Decode(token string, p Params) (Claims, error) {
	payload, err := NewCodec(p.Secrets, p.Salt).Open(token)
	if err != nil {
		return nil, err
	}
	members, err := Members(payload, make([]Member, 0, 16))
	if err != nil {
		return nil, err
	}
	if err := Check(members, p.now(), p.MaxAge); err != nil {
		return nil, err
	}
	return unmarshal(payload)
}

func unmarshal(payload []byte) (c Claims, err error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	if d.Decode(&c) != nil {
		return nil, ErrInvalid
	}
	return c, nil
}
