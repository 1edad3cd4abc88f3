package jwt

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// SealClaims is [Encode] under the keys of c, which are derived once: iat, exp
// and jti are set anew. claims are not changed.
func (c *Codec) SealClaims(claims Claims, now time.Time, maxAge time.Duration) (string, error) {
	payload := append(make([]byte, 0, 512), '{')
	nested := false
	for _, key := range slices.Sorted(maps.Keys(claims)) {
		if indexIssued([]byte(key)) >= 0 {
			continue
		}
		var err error
		var plain bool
		if payload, plain, err = appendValue(appendName(payload, key), claims[key]); err != nil {
			return "", err
		}
		nested = nested || !plain
	}
	for n, name := range issued {
		payload = appendIssued(appendName(payload, name), n, now, maxAge)
	}
	payload = append(payload, '}')
	if nested { // what is nested too deep could be sealed but never opened
		if _, err := Members(payload, nil); err != nil {
			return "", err
		}
	}
	return c.Seal(payload)
}

// appendValue writes what tokens mostly hold (plain) without reflection, and
// anything else as encoding/json does. HTML characters stay as they are: cookies have no
// room for escapes that nobody needs.
func appendValue(dst []byte, value any) (_ []byte, plain bool, _ error) {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...), true, nil
	case string:
		return AppendText(dst, v), true, nil
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

// OpenClaims is [Decode] under the keys of c.
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
		if claims[string(m.Key)], err = m.value(); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// value is the member as encoding/json with UseNumber would decode it.
func (m Member) value() (value any, err error) {
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
