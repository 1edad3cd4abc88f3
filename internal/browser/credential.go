package browser

import (
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// Credential is what a request proves its session with: the session cookie, or a
// bearer token. With a bearer token no cookie is looked at, and the browser's
// cookies stay as they are.
type Credential struct {
	Cookies *Cookies
	Bearer  *Bearer // nil: the session cookie
}

// Token returns the session token that the request shows, and what opens it. It opens and
// checks nothing. Its Text is empty if the request has no token, or a malformed bearer
// token.
func (c *Credential) Token() Token {
	if c.Bearer != nil {
		return c.Cookies.TokenOf(BearerKind, c.Bearer.Token)
	}
	text, spec := c.Cookies.session()
	return Token{text, CookieKind, spec}
}

// TokenOf returns text as a session token of the kind, for a token that did not come in
// its cookie. Its Spec is that of the session cookie. If the codec of that cookie does not
// open text, and the session cookie from before HostPrefix is still read, Spec is that of
// the former cookie.
func (c *Cookies) TokenOf(kind Kind, text string) Token {
	k := &c.Specs.Session
	if c.former != nil {
		if _, err := k.Codec.Open(text); err != nil {
			k = c.former
		}
	}
	return Token{text, kind, k}
}

// Renews reports whether the response can hand out a new token. With the session cookie
// it always can.
func (c *Credential) Renews() bool { return c.Bearer == nil || c.Bearer.Renews }

// Put hands out a new session token. value must be escaped by Escape. Without a bearer
// token, Put adds the session cookie to the response, which expires at expires. With a
// bearer token, Put keeps the new one for HandOver in c.Bearer, unless this answer cannot
// hand out a token.
func (c *Credential) Put(value string, expires time.Time) {
	if c.Bearer == nil {
		c.Cookies.putSession(value, expires)
		return
	}
	c.Bearer.replaceBy(Unescape(value))
}

// Clear makes the browser forget its session and the provider tokens that belong to it.
// For a bearer token it does nothing: no response can take the token from its app.
func (c *Credential) Clear() {
	if c.Bearer == nil {
		c.Cookies.clearSession()
	}
}

// Bearer is a session token in the Authorization header (RFC 6750, section 2.1).
type Bearer struct {
	Token     string
	Malformed bool   // the header makes no sense, and Token is empty
	Renews    bool   // the answer can hand out the token that takes its place
	Renewed   string // that token; empty: the old one stays
}

// replaceBy sets Renewed to token, unless the answer cannot hand it out or it is the old
// one.
func (b *Bearer) replaceBy(token string) {
	if b.Renews && token != b.Token { // a stored session is extended in place
		b.Renewed = token
	}
}

// FetchSite returns the header Sec-Fetch-Site (Fetch Metadata, section 2.4), or "" without
// it.
func FetchSite(h http.Header) string {
	if site := h["Sec-Fetch-Site"]; len(site) > 0 {
		return site[0]
	}
	return ""
}

// BearerOf reads the Authorization header. It returns nil if the header has no bearer
// token: such a header may be meant for the application. It returns a malformed Bearer if
// a bearer token comes with other credentials, or if its text cannot be a token. It does
// not set Renews.
func BearerOf(h http.Header) *Bearer {
	var found *Bearer
	given := 0
	for _, line := range h["Authorization"] {
		for credentials := range strings.SplitSeq(line, ",") { // a proxy may have joined several
			given++
			if token, ok := cutBearer(credentials); ok {
				found = &Bearer{Token: token}
			}
		}
	}
	if found != nil && (given > 1 || !IsToken68(found.Token)) {
		return &Bearer{Malformed: true}
	}
	return found
}

// cutBearer returns what follows the scheme in credentials, and whether the scheme is
// "Bearer", in whatever case (RFC 9110, section 11.1).
func cutBearer(credentials string) (token string, ok bool) {
	credentials = strings.TrimLeft(credentials, " \t")
	end := strings.IndexAny(credentials, " \t")
	if end < 0 {
		return "", strings.EqualFold(credentials, "Bearer")
	}
	return strings.TrimLeft(credentials[end:], " "), strings.EqualFold(credentials[:end], "Bearer")
}

// IsToken68 reports whether an Authorization header can carry the token (RFC 6750,
// section 2.1). It returns false for a token that is empty or longer than jwt.MaxLen.
func IsToken68(token string) bool {
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

// SessionTokenHeader is the response header with the token that takes the place
// of the one that an app sent.
const SessionTokenHeader = "Session-Token"

// HandOver puts the new token, if there is one, into the header of a response, and
// forbids caches to keep that response. Without a new token it does nothing.
func (b *Bearer) HandOver(h http.Header) {
	if b.Renewed != "" {
		h[SessionTokenHeader] = []string{b.Renewed}
		h["Cache-Control"] = []string{"private, no-cache, no-store"}
	}
}

// Challenge returns the WWW-Authenticate header for a request that was refused
// (RFC 6750, section 3). b is nil for a request without a bearer token.
func (b *Bearer) Challenge(realm string) string {
	challenge := `Bearer realm="` + realm + `"`
	switch {
	case b == nil:
		return challenge
	case b.Malformed:
		return challenge + `, error="invalid_request", error_description="Send one Authorization header with one token"`
	}
	return challenge + `, error="invalid_token", error_description="The token is unknown, or its session has ended"`
}
