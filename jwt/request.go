package jwt

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// TokenParams says to [GetToken] in which cookie of a request the token is and
// with which secrets to open it. Secrets alone are enough where the site's
// cookies have their usual names and AUTH_URL is set.
type TokenParams struct {
	hidden

	// Secrets are newest first: all of them open tokens. Empty: AUTH_SECRET_3,
	// AUTH_SECRET_2 and AUTH_SECRET_1 from the environment, and then AUTH_SECRET,
	// or else NEXTAUTH_SECRET.
	Secrets []string
	Salt    string // what the token was sealed for; empty: the name of the cookie

	// CookieName is the name of the session cookie. Empty: authjs.session-token.
	// For a site with secure cookies the name then has the prefix __Host- if the
	// request has a cookie of that name, and __Secure- otherwise.
	CookieName string

	// SecureCookie says whether the site sets secure cookies. Nil: it does if
	// ApplicationURL is neither empty nor begins with http://.
	SecureCookie *bool

	// ApplicationURL is where the site lives. Empty: AUTH_URL from the
	// environment, else NEXTAUTH_URL.
	ApplicationURL string
	Getenv         func(string) string // reads the environment; nil: os.Getenv

	// Decode opens the token instead of the function [Decode], on sites that
	// make tokens of their own kind. Nil claims without an error count as
	// ErrInvalid. Nil: the function Decode.
	Decode func(token string, p Params) (Claims, error)

	MaxAge time.Duration    // life of tokens without exp, counted from iat; 0: 30 days
	Logger *slog.Logger     // gets, at debug level, why a token was refused; nil: it is not logged
	Time   func() time.Time // the clock; nil: time.Now
}

// GetToken returns the claims of the token that a request with the header h carries: in
// the session cookie, whole or in pieces, or else as "Authorization: Bearer" with the
// token percent-encoded. If there is a session cookie, the Authorization header is not
// read, even if the cookie is invalid. A token that Latchkey made for that header is
// invalid in a cookie.
//
// GetToken returns [ErrNoToken] if there is no token or a piece is missing, and
// otherwise the error of p.Decode or of [Decode], such as [ErrInvalid], [ErrExpired] or
// [ErrNoSecret]. It logs to p.Logger why a token was refused, and never the token. Claims
// and error are never both set. It is safe for concurrent use.
func GetToken(h http.Header, p TokenParams) (Claims, error) {
	token, isCookie, err := rawToken(h, p)
	if err != nil {
		return nil, err
	}
	decode := p.Decode
	if decode == nil {
		decode = Decode
	}
	claims, err := decode(token, p.params(cookie.Parse(h)))
	if err == nil && (claims == nil || isCookie && claims[jwtclaims.Credential] != nil) { // nil is a replacement's "no"
		err = ErrInvalid
	}
	if err != nil {
		p.refused(err, p.sessionCookie(cookie.Parse(h)))
		return nil, err
	}
	return claims, nil
}

// GetRawToken returns the token that a request with the header h carries, still
// encrypted and without a look at it: it may be expired or forged. It searches
// where [GetToken] does, and needs no secrets. It fails with [ErrNoToken]. Safe
// for concurrent use.
func GetRawToken(h http.Header, p TokenParams) (string, error) {
	token, _, err := rawToken(h, p)
	return token, err
}

// rawToken returns the token that a request with the header h carries, and reports whether
// it came in the session cookie. It returns ErrNoToken if there is none.
func rawToken(h http.Header, p TokenParams) (token string, isCookie bool, err error) {
	jar := cookie.Parse(h)
	token, pieces, ok := jar.Chunked(p.sessionCookie(jar))
	if ok {
		return unescape(token), true, nil
	}
	if len(pieces) > 0 {
		return "", false, ErrNoToken
	}
	token, err = bearer(h["Authorization"])
	return token, false, err
}

// sessionCookie returns the name of the session cookie, as CookieName documents it.
func (p TokenParams) sessionCookie(jar cookie.Jar) string {
	const name = "authjs.session-token"
	switch {
	case p.CookieName != "":
		return p.CookieName
	case !p.secure():
		return name
	}
	// No other host can have planted a cookie with this prefix.
	if _, pieces, ok := jar.Chunked("__Host-" + name); ok || len(pieces) > 0 {
		return "__Host-" + name
	}
	return "__Secure-" + name
}

// secure reports whether the site sets secure cookies, as SecureCookie documents it.
func (p TokenParams) secure() bool {
	if p.SecureCookie != nil {
		return *p.SecureCookie
	}
	site := p.baseURL()
	return site != "" && !strings.HasPrefix(strings.ToLower(site), "http://")
}

// baseURL returns p.ApplicationURL, or the URL in the environment if that is empty.
func (p TokenParams) baseURL() string {
	if p.ApplicationURL != "" {
		return p.ApplicationURL
	}
	return p.env("AUTH_URL", "NEXTAUTH_URL")
}

// env returns the value of the first of the variables that is not empty, or "".
func (p TokenParams) env(names ...string) string {
	getenv := p.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	for _, name := range names {
		if value := getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// secrets returns p.Secrets, or the secrets in the environment if p has none. They are
// newest first. It returns nil if there are none at all.
func (p TokenParams) secrets() []string {
	if len(p.Secrets) > 0 {
		return p.Secrets
	}
	var found []string
	for _, secret := range []string{p.env("AUTH_SECRET_3"), p.env("AUTH_SECRET_2"), p.env("AUTH_SECRET_1"), p.env("AUTH_SECRET", "NEXTAUTH_SECRET")} {
		if secret != "" {
			found = append(found, secret)
		}
	}
	return found
}

// params returns what Decode needs to open a token of the request that has the cookies
// of jar.
func (p TokenParams) params(jar cookie.Jar) Params {
	salt := p.Salt
	if salt == "" {
		salt = p.sessionCookie(jar)
	}
	return Params{Secrets: p.secrets(), Salt: salt, MaxAge: p.MaxAge, Time: p.Time}
}

// refused logs to p.Logger, if set, at debug level that the token of the cookie called
// name was refused. It logs the class of err and not err, since a replaced Decode may
// have put the token into it.
func (p TokenParams) refused(err error, name string) {
	if p.Logger == nil {
		return
	}
	class := "decoder"
	switch {
	case errors.Is(err, ErrInvalid):
		class = "invalid"
	case errors.Is(err, ErrExpired):
		class = "expired"
	case errors.Is(err, ErrNoSecret):
		class = "no secret"
	}
	p.Logger.Debug("token refused", "cookie", name, "reason", class)
}

// unescape undoes the percent-encoding that cookies are sent with. It returns value
// unchanged if that is not validly encoded or does not decode to UTF-8.
func unescape(value string) string {
	if plain, err := url.PathUnescape(value); err == nil && utf8.ValidString(plain) {
		return plain
	}
	return value
}

// bearer returns the percent-decoded token of the Authorization headers, up to a second
// space. It returns ErrNoToken if there is not exactly one header, or if that does not
// begin with "Bearer" in this spelling and one space, as existing clients send it. An
// empty, malformed or overlong token is ErrNoToken, too.
func bearer(values []string) (string, error) {
	const longest = 3 * MaxLen // every character percent-encoded
	if len(values) != 1 || len(values[0]) > longest {
		return "", ErrNoToken
	}
	rest, found := strings.CutPrefix(values[0], "Bearer ")
	encoded, _, _ := strings.Cut(rest, " ")
	token, err := url.PathUnescape(encoded)
	if !found || err != nil || token == "" || len(token) > MaxLen || !utf8.ValidString(token) {
		return "", ErrNoToken
	}
	return token, nil
}
