package sqlstore

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
)

var uuidText = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// newID is the id of a new row: the one that is given, if the layout takes it.
func (l grammar) newID(given string) string {
	switch {
	case !l.uuids:
		return cmp.Or(given, rand.Text())
	case uuidText.MatchString(given):
		return given
	}
	return newUUID()
}

// newUUID is a random one (RFC 9562 5.4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // which never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// findableID says whether a text can be an id. Where ids are numbers that a
// database makes, MySQL would find user 12 by "12th", and SQLite by "12.0".
func (s *Store) findableID(texts ...string) bool {
	if !findable(texts...) {
		return false
	}
	if s.ownIDs || s.dialect == Postgres {
		return true
	}
	for _, text := range texts {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || strconv.FormatInt(n, 10) != text {
			return false
		}
	}
	return true
}
