package sqlstore

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"regexp"
)

var uuidText = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// newID returns the id of a new row: given if the layout takes it, else a random one. The
// layout takes every text that is not empty, or with UUIDs only a UUID in lower case.
func (l grammar) newID(given string) string {
	switch {
	case !l.uuids:
		return cmp.Or(given, rand.Text())
	case uuidText.MatchString(given):
		return given
	}
	return newUUID()
}

// newUUID returns a random UUID (RFC 9562 section 5.4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // which never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
