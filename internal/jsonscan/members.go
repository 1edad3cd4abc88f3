package jsonscan

import (
	"bytes"
	"errors"
)

// ErrInvalid says that a text is not one JSON object. It is jwt.ErrInvalid as
// well, and worded for it: whoever hands in a token must not learn from the
// error that it was opened and only its content is bad.
var ErrInvalid = errors.New("jwt: the token is not valid")

// Member is one name and its value in a JSON object. Its methods are safe for
// concurrent use.
type Member struct {
	Key []byte // the name, escapes resolved
	Raw []byte // the value as JSON text, without surrounding space
}

// Text returns the value of m with its escapes resolved if it is a JSON string;
// ok is false if not.
func (m Member) Text() (s string, ok bool) {
	if len(m.Raw) < 2 || m.Raw[0] != '"' {
		return "", false
	}
	return string(unquote(m.Raw, bytes.IndexByte(m.Raw, '\\') < 0)), true
}

// AppendKey appends the name of m to dst as [AppendText] does, without making a
// string of it first.
func (m Member) AppendKey(dst []byte) []byte { return appendText(dst, m.Key) }

// Members appends the top-level members of payload to dst, in order, without
// copying: keys and values are parts of payload, except for keys with escapes.
// It is strict: payload must be exactly one JSON object (RFC 8259) in valid
// UTF-8. When a name comes twice the later value stands in the earlier place,
// as JSON.parse has it. It fails with ErrInvalid.
func Members(payload []byte, dst []Member) ([]Member, error) {
	had := len(dst)
	members, ok := scanObject(payload, dst)
	if !ok {
		return nil, ErrInvalid
	}
	return members[:had+len(unique(members[had:]))], nil
}

// DistinctMembers is [Members] for text in which two readers must not find
// different things: it fails with ErrInvalid also when a name comes twice.
func DistinctMembers(text []byte, dst []Member) ([]Member, error) {
	had := len(dst)
	members, ok := scanObject(text, dst)
	if !ok || len(unique(members[had:])) != len(members)-had {
		return nil, ErrInvalid
	}
	return members, nil
}

// Lookup returns the value called key as JSON text; ok is false if there is
// none. A null is present.
func Lookup(members []Member, key string) (raw []byte, ok bool) {
	for i := range members {
		if string(members[i].Key) == key {
			return members[i].Raw, true
		}
	}
	return nil, false
}

// Set gives the member called key the value raw: in its place, or as the last
// one. It writes to members and appends to them.
func Set(members []Member, key string, raw []byte) []Member {
	for i := range members {
		if string(members[i].Key) == key {
			members[i].Raw = raw
			return members
		}
	}
	return append(members, Member{Key: []byte(key), Raw: raw})
}

// unique removes repeated names in place. Few members are compared with one
// another; many go through a map, so that the work stays proportional to their
// number.
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
