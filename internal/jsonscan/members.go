package jsonscan

import (
	"bytes"
	"errors"
	"strconv"
)

// ErrInvalid reports that a text is not one JSON object. It is jwt.ErrInvalid as
// well, and has the wording of that: the sender of a token must not learn from the
// error that the token was opened and only its content is bad.
var ErrInvalid = errors.New("jwt: the token is not valid")

// Member is one name and its value in a JSON object. Its methods are safe for
// concurrent use.
type Member struct {
	Key []byte // the name, escapes resolved
	Raw []byte // the value as JSON text, without surrounding space
}

// Text returns the value of m with its escapes resolved. ok is false if the value
// is not a JSON string.
func (m Member) Text() (s string, ok bool) {
	if len(m.Raw) < 2 || m.Raw[0] != '"' {
		return "", false
	}
	return string(unquote(m.Raw, bytes.IndexByte(m.Raw, '\\') < 0)), true
}

// Int returns the value of m as a whole number. ok is false if the value is no number, has
// a fraction or an exponent, or does not fit into 64 bits.
func (m Member) Int() (n int64, ok bool) {
	n, err := strconv.ParseInt(string(m.Raw), 10, 64)
	return n, err == nil
}

// AppendKey appends the name of m to dst as [AppendText] does, without making a
// string of it first.
func (m Member) AppendKey(dst []byte) []byte { return appendText(dst, m.Key) }

// Members appends the top-level members of payload to dst, in order, without copying:
// keys and values are parts of payload, except for keys with escapes. It is strict:
// payload must be exactly one JSON object (RFC 8259) in valid UTF-8, nested at most 1000
// deep; otherwise Members returns nil and ErrInvalid. If a top-level name comes twice,
// the later value takes the earlier place, as with JSON.parse.
func Members(payload []byte, dst []Member) ([]Member, error) {
	had := len(dst)
	members, ok := scanObject(payload, dst)
	if !ok {
		return nil, ErrInvalid
	}
	return members[:had+len(unique(members[had:]))], nil
}

// DistinctMembers does what [Members] does, but returns ErrInvalid also if a top-level
// name comes twice. It is for text that two readers must not read differently.
func DistinctMembers(text []byte, dst []Member) ([]Member, error) {
	had := len(dst)
	members, ok := scanObject(text, dst)
	if !ok || len(unique(members[had:])) != len(members)-had {
		return nil, ErrInvalid
	}
	return members, nil
}

// Lookup returns the value of the member called key as JSON text. ok is false if
// there is no such member. A null counts as present.
func Lookup(members []Member, key string) (raw []byte, ok bool) {
	for i := range members {
		if string(members[i].Key) == key {
			return members[i].Raw, true
		}
	}
	return nil, false
}

// Set sets the value of the member called key to raw, and returns the members. It
// appends a member if there is none of that name. It writes to members, and keeps raw,
// which must be JSON text.
func Set(members []Member, key string, raw []byte) []Member {
	for i := range members {
		if string(members[i].Key) == key {
			members[i].Raw = raw
			return members
		}
	}
	return append(members, Member{Key: []byte(key), Raw: raw})
}

// unique removes repeated names in place: the last value takes the place of the first.
// It compares up to 32 members with one another. More go through a map, so that the
// work stays proportional to their number.
func unique(members []Member) []Member {
	if len(members) > 32 {
		return uniqueByMap(members)
	}
	kept := members[:0]
next:
	for _, m := range members {
		for i := range kept {
			if bytes.Equal(kept[i].Key, m.Key) {
				kept[i].Raw = m.Raw
				continue next
			}
		}
		kept = append(kept, m)
	}
	return kept
}

func uniqueByMap(members []Member) []Member {
	place := make(map[string]int, len(members))
	kept := members[:0]
	for _, m := range members {
		if i, found := place[string(m.Key)]; found {
			kept[i].Raw = m.Raw
			continue
		}
		place[string(m.Key)] = len(kept)
		kept = append(kept, m)
	}
	return kept
}
