package jwt

import (
	"bytes"
	"encoding/json"
	"time"
)

// SealClaims is Encode under the keys of c: iat, exp and jti are set anew and
// claims are not changed.
func (c *Codec) SealClaims(claims Claims, now time.Time, maxAge time.Duration) (string, error) {
	text, err := marshal(claims)
	if err != nil {
		return "", err
	}
	var room [16]Member
	members, err := Members(text, room[:0])
	if err != nil {
		return "", err
	}
	return c.Seal(AppendIssued(make([]byte, 0, len(text)+128), members, now, maxAge))
}

// OpenClaims is Decode under the keys of c.
func (c *Codec) OpenClaims(token string, now time.Time, maxAge time.Duration) (Claims, error) {
	payload, err := c.Open(token)
	if err != nil {
		return nil, err
	}
	var room [16]Member
	members, err := Members(payload, room[:0])
	if err != nil {
		return nil, err
	}
	if err := Check(members, now, maxAge); err != nil {
		return nil, err
	}
	claims := make(Claims, len(members))
	for _, m := range members {
		value, err := m.value()
		if err != nil {
			return nil, err
		}
		claims[string(m.Key)] = value
	}
	return claims, nil
}

// value is the member as encoding/json with UseNumber would decode it.
func (m Member) value() (any, error) {
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
		return unmarshalValue(m.Raw)
	}
	return json.Number(m.Raw), nil
}

func unmarshalValue(raw []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, ErrInvalid
	}
	return value, nil
}
