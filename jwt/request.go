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
)

// TokenParams says to [GetToken] in which cookie of a request the token is and
// with which secrets to open it. Secrets alone are enough where the site's
// cookies have their usual names and AUTH_URL is set.
type TokenParams struct {
	hidden

	Secrets []string // newest first: all of them open tokens
	Salt    string   // what the token was sealed for; empty: the name of the cookie

	// CookieName is the name of the session cookie. Empty:
	// authjs.session-token, with the prefix __Secure- when SecureCookie says
	// so.
	CookieName string

	// SecureCookie says whether the site sets secure cookies. Nil: unless
	// ApplicationURL is empty or begins with http://.
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
	Logger *slog.Logger     // gets, at debug level, why a token was refused; nil: nobody
	Time   func() time.Time // the clock; nil: time.Now
}

// GetToken returns the claims of the token that a request with the header h
// carries: in the session cookie, whole or in pieces, or else as
// "Authorization: Bearer" with the token percent-encoded. A cookie that is
// there decides, even when it is no good. It fails with [ErrNoToken] when there
// is nothing to decode, with [ErrInvalid], [ErrExpired] or [ErrNoSecret] as
// [Decode] does, or with the error of p.Decode. Claims and error are never both
// set. Safe for concurrent use.
func GetToken(h http.Header, p TokenParams) (Claims, error) {
	token, err := GetRawToken(h, p)
	if err != nil {
		return nil, err
	}
	decode := p.Decode
	if decode == nil {
		decode = Decode
	}
	claims, err := decode(token, p.params())
	if err == nil && claims == nil { // a replacement that means "no"
		err = ErrInvalid
	}
	if err != nil {
		p.refused(err)
		return nil, err
	}
	return claims, nil
}

// GetRawToken returns the token that a request with the header h carries, still
// encrypted and without a look at it: it may be expired or forged. It searches
// where [GetToken] does, and needs no secrets. It fails with [ErrNoToken]. Safe
// for concurrent use.
func GetRawToken(h http.Header, p TokenParams) (string, error) {
	token, parts, ok := cookie.Parse(h).Chunked(p.sessionCookie())
	if ok {
		return unescape(token), nil
	}
	if len(parts) > 0 {
		return "", ErrNoToken
	}
	return bearer(h["Authorization"])
}

func (p TokenParams) sessionCookie() string {
	const name = "authjs.session-token"
	switch {
	case p.CookieName != "":
		return p.CookieName
	case p.secure():
		return "__Secure-" + name
	}
	return name
}

func (p TokenParams) secure() bool {
	if p.SecureCookie != nil {
		return *p.SecureCookie
	}
	site := p.baseURL()
	return site != "" && !strings.HasPrefix(strings.ToLower(site), "http://")
}

func (p TokenParams) baseURL() string {
	if p.ApplicationURL != "" {
		return p.ApplicationURL
	}
	getenv := p.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	if site := getenv("AUTH_URL"); site != "" {
		return site
	}
	return getenv("NEXTAUTH_URL")
}

func (p TokenParams) params() Params {
	salt := p.Salt
	if salt == "" {
		salt = p.sessionCookie()
	}
	return Params{Secrets: p.Secrets, Salt: salt, MaxAge: p.MaxAge, Time: p.Time}
}

// refused logs a class and not err: a replaced Decode may have put the token
// into it.
func (p TokenParams) refused(err error) {
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
	p.Logger.Debug("token refused", "cookie", p.sessionCookie(), "reason", class)
}

// unescape undoes the percent-encoding that cookies are sent with. Text that is
// not validly encoded was not encoded.
func unescape(value string) string {
	if plain, err := url.PathUnescape(value); err == nil && utf8.ValidString(plain) {
		return plain
	}
	return value
}

// bearer reads the values of Authorization. The scheme is compared exactly and
// one space follows it, as existing clients send it; a request with several
// Authorization headers says nothing certain.
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
