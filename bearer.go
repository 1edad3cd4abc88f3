package latchkey

import (
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// saltBearerCode seals codes that apps change for session tokens.
const saltBearerCode = "latchkey.bearer-code"

// bearer is what a request shows in the place of a session cookie: the session
// token in the Authorization header (RFC 6750, section 2.1). Where there is one,
// no cookie is looked at, whatever becomes of it.
type bearer struct {
	token     string
	malformed bool // the header makes no sense, and token is empty

	renews  bool   // the answer can hand out the token that takes its place
	renewed string // that token; empty: the old one stays
}

// wantsNew: whoever reads the session can hand out a new token. A browser's
// cookie always can be set anew.
func (b *bearer) wantsNew() bool { return b == nil || b.renews }

// describe says of a session that it came in the header, and ends with its
// token, where that stays. zero: it is a stored one.
func (b *bearer) describe(s *Session, end time.Time) {
	if b == nil {
		return
	}
	s.Via = ViaBearer
	if !b.renews && !end.IsZero() {
		s.Expires = end
	}
}

// replaceBy keeps the token that the app is to show from now on.
func (b *bearer) replaceBy(token string) {
	if b.renews && token != b.token { // a stored session is extended in place
		b.renewed = token
	}
}

// bearerOf reads the Authorization header. nil: it names no bearer token, and
// is somebody else's business.
func bearerOf(h http.Header) *bearer {
	var found *bearer
	given := 0
	for _, line := range h["Authorization"] {
		for credentials := range strings.SplitSeq(line, ",") { // a proxy may have joined several
			given++
			if token, ok := cutBearer(credentials); ok {
				found = &bearer{token: token}
			}
		}
	}
	if found != nil && (given > 1 || !isToken68(found.token)) {
		return &bearer{malformed: true}
	}
	return found
}

// cutBearer takes the scheme off, which has no case (RFC 9110, section 11.1).
func cutBearer(credentials string) (token string, ok bool) {
	credentials = strings.TrimLeft(credentials, " \t")
	end := strings.IndexAny(credentials, " \t")
	if end < 0 {
		return "", strings.EqualFold(credentials, "Bearer")
	}
	return strings.TrimLeft(credentials[end:], " "), strings.EqualFold(credentials[:end], "Bearer")
}

// isToken68: a header can carry the token (RFC 6750, section 2.1).
func isToken68(token string) bool {
	text := strings.TrimRight(token, "=")
	if text == "" || len(token) > jwt.MaxLen {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && strings.IndexByte("-._~+/", c) < 0 {
			return false
		}
	}
	return true
}

// sessionTokenHeader is where the answer of the session route has the token that
// takes the place of the one shown.
const sessionTokenHeader = "Session-Token"

// handOver puts the new token into a response, which no cache may keep then.
func (b *bearer) handOver(h http.Header) {
	if b.renewed != "" {
		h[sessionTokenHeader] = []string{b.renewed}
		h["Cache-Control"] = neverCache
	}
}

// challengeHeader is WWW-Authenticate, as net/http spells it.
const challengeHeader = "Www-Authenticate"

// challengeFor says what is wrong with a request (RFC 6750, section 3). b is nil
// for one without a token.
func challengeFor(b *bearer, realm string) string {
	challenge := `Bearer realm="` + realm + `"`
	switch {
	case b == nil:
		return challenge
	case b.malformed:
		return challenge + `, error="invalid_request", error_description="Send one Authorization header with one token"`
	}
	return challenge + `, error="invalid_token", error_description="The token is unknown, or its session has ended"`
}
