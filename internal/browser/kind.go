package browser

import (
	"bytes"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
)

// Kind is what a session token may be used as. The token itself says it: a JWT by a
// claim, the key of a stored session by how it begins. Where a request shows the
// token decides nothing.
type Kind string

// The kinds. A token of any other kind is no session here.
const (
	CookieKind Kind = ""       // the session cookie; tokens of Auth.js have no mark either
	BearerKind Kind = "bearer" // the Authorization header
)

// unknownKind is the kind of a token whose mark makes no sense.
const unknownKind Kind = "?"

// KindOfClaims returns the kind of a token with these claims: CookieKind if they lack the
// claim that says the kind. It may return a kind that is none of the constants. The
// caller must refuse a token of such a kind.
func KindOfClaims(c jwt.Claims) Kind {
	switch mark := c[jwtclaims.Credential].(type) {
	case nil:
		return CookieKind
	case string:
		return Kind(mark)
	}
	return unknownKind
}

// KindOfMembers does what KindOfClaims does, for a token whose claims are the members of
// a JSON object.
func KindOfMembers(members []jsonscan.Member) Kind {
	raw, marked := jsonscan.Lookup(members, jwtclaims.Credential)
	if !marked || bytes.Equal(raw, []byte("null")) {
		return CookieKind
	}
	if mark, ok := (jsonscan.Member{Raw: raw}).Text(); ok {
		return Kind(mark)
	}
	return unknownKind
}

// Mark sets the claim that says the kind of a token to k. For CookieKind it removes the
// claim.
func (k Kind) Mark(c jwt.Claims) {
	if k == CookieKind {
		delete(c, jwtclaims.Credential)
		return
	}
	c[jwtclaims.Credential] = string(k)
}

// bearerRow begins the key of a stored session that is shown as a bearer token.
const bearerRow = string(BearerKind) + "."

// RowKey returns the key of a new stored session of the kind: random, with "bearer." in
// front of it for a bearer token.
func (k Kind) RowKey(random string) string {
	if k == BearerKind {
		return bearerRow + random
	}
	return random
}

// KindOfRow returns the kind of a stored session with this key: BearerKind if the key
// begins with "bearer." in any case, else CookieKind. The case is ignored because some
// stores compare keys without it.
func KindOfRow(key string) Kind {
	if len(key) >= len(bearerRow) && strings.EqualFold(key[:len(bearerRow)], bearerRow) {
		return BearerKind
	}
	return CookieKind
}

// Token is a session token that a request shows, and the kind that it has to be.
type Token struct {
	Text string // empty: none
	Kind Kind
	Spec *Spec // whose codec opens it
}
