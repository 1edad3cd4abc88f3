package browser

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
)

// Cookies are what a browser sent and what it will be sent. They belong to one
// request and are not safe for concurrent use.
type Cookies struct {
	Specs *Specs
	Out   []*http.Cookie // what the browser will be sent

	jar    cookie.Jar
	former *Spec          // the session cookie before HostPrefix; nil: it is not read any more
	chunks sessionChunks  // the session cookie
	opened []openedChecks // of sign-ins under way
	known  *openedKnown   // what the cookie of known browsers says; nil: not read yet
}

// NewCookies returns the cookies of a request with the header h. h must not change while
// the result is in use. Until the end of its migration, the session cookie from before
// HostPrefix is read too.
func NewCookies(h http.Header, specs *Specs, now time.Time) Cookies {
	c := Cookies{jar: cookie.Parse(h), Specs: specs}
	if specs.former != nil && now.Before(specs.until) {
		c.former = specs.former
	}
	return c
}

// Set adds a cookie to Out. Cookies of the same name stay there: the browser takes the
// last.
func (c *Cookies) Set(k *http.Cookie) { c.Out = append(c.Out, k) }

// replace adds a cookie to Out, and removes those of the same name from it.
func (c *Cookies) replace(k *http.Cookie) {
	kept := c.Out[:0]
	for _, old := range c.Out {
		if old.Name != k.Name {
			kept = append(kept, old)
		}
	}
	c.Out = append(kept, k)
}

// Forget makes the browser forget a cookie that it has sent, also if Set has added a new one
// to the response before. If the browser has not sent the cookie, Forget does nothing, and
// the one of Set counts. Forget is not for cookies that may come in pieces.
func (c *Cookies) Forget(k *Spec) {
	if _, there := c.jar.Get(k.Name()); there {
		c.Set(k.Clear(k.Name()))
	}
}

// Raw returns the value of a cookie as the browser sent it, and false if it sent none.
func (c *Cookies) Raw(k *Spec) (string, bool) { return c.jar.Get(k.Name()) }

// Value returns the value of a cookie that the browser sent, percent-decoded, and false
// if it sent none. A value with a broken encoding is returned as it is.
func (c *Cookies) Value(k *Spec) (string, bool) {
	value, ok := c.jar.Get(k.Name())
	if !ok {
		return "", false
	}
	return Unescape(value), true
}

// Sizes returns, in the form "name=length", the sizes of the cookies of the session, of
// CSRF and of checks that the browser sent. It leaves out a session that came in pieces.
// The zero Cookies have none.
func (c *Cookies) Sizes() (sizes []string) {
	if c.Specs == nil {
		return nil
	}
	for _, k := range []*Spec{&c.Specs.Session, &c.Specs.CSRF, &c.Specs.PKCE, &c.Specs.State, &c.Specs.Nonce, &c.Specs.Challenge} {
		if value, sent := c.Raw(k); sent {
			sizes = append(sizes, k.Name()+"="+strconv.Itoa(len(value)))
		}
	}
	return sizes
}

// CSRF returns the token and its hash from the CSRF cookie. It does not check that they
// belong together. Both may be empty.
func (c *Cookies) CSRF() (token, hash string) {
	value, _ := c.jar.Get(c.Specs.CSRF.Name())
	token, hash, ok := strings.Cut(value, "%7C") // the separator is the only character that is escaped, nearly always
	if !ok || strings.IndexByte(hash, '%') >= 0 || strings.IndexByte(token, '%') >= 0 {
		token, hash, _ = strings.Cut(Unescape(value), "|")
	}
	return token, hash
}

// Secrets returns the values of all cookies in h, as they came and decoded, for logs to
// hide. Of the cookie of the callback URL it returns the query alone: the rest is a
// page of the site, which logs have to name. Without specs it treats all cookies alike.
func Secrets(h http.Header, specs *Specs) (secrets []string) {
	for _, line := range h["Cookie"] {
		for pair := range strings.SplitSeq(line, ";") {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				continue
			}
			plain := Unescape(value)
			if specs != nil && strings.TrimSpace(name) == specs.CallbackURL.Name() {
				_, plain, _ = strings.Cut(plain, "?")
				value = Escape(plain)
			}
			secrets = append(secrets, value, plain)
		}
	}
	return secrets
}

// Escape percent-encodes a value as the clients of Auth.js expect it.
func Escape(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// Unescape percent-decodes a value. It leaves "+" as it is, and returns a value with a
// broken encoding as it is.
func Unescape(value string) string {
	if strings.IndexByte(value, '%') < 0 {
		return value
	}
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}

// putSession sends the session cookie, in pieces if value is long. value must be escaped
// already. putSession clears the pieces of an earlier value that it does not overwrite,
// and the session cookie from before HostPrefix.
func (c *Cookies) putSession(value string, expires time.Time) {
	k := &c.Specs.Session
	_, old, whole := c.sessionParts()
	if len(old) == 0 && len(value) <= cookie.ChunkSize { // nearly always
		c.Set(k.New(value, expires))
		c.clearFormer()
		return
	}
	chunks := cookie.Split(k.Name(), value, 0)
	kept := make(map[string]bool, len(chunks))
	for _, chunk := range chunks {
		piece := k.New(chunk.Value, expires)
		piece.Name = chunk.Name
		c.Set(piece)
		kept[chunk.Name] = true
	}
	if whole && len(old) == 0 {
		old = []string{k.Name()}
	}
	for _, name := range old {
		if !kept[name] {
			c.clearPiece(k, name)
		}
	}
	c.clearFormer()
}

// mostLines bounds the cookies of an answer that clears pieces of a session; all
// other cookies fit into 40 lines. An attacker who plants hundreds of pieces gets
// no answer that a proxy refuses for its size.
const mostLines = 34

// clearPiece makes the browser forget the cookie called name, which is k or a piece of
// it. If the response has mostLines cookies already, it does nothing, so that a later
// response clears the cookie.
func (c *Cookies) clearPiece(k *Spec, name string) {
	if len(c.Out) < mostLines {
		c.Set(k.Clear(name))
	}
}

// clearSession makes the browser forget the session cookies that it sent, also the one
// from before HostPrefix, and the provider tokens that belong to the session.
func (c *Cookies) clearSession() {
	c.EndTokenCookie()
	k := &c.Specs.Session
	_, names, whole := c.sessionParts()
	if whole && len(names) == 0 {
		names = []string{k.Name()}
	}
	for _, name := range names {
		c.clearPiece(k, name)
	}
	c.clearFormer()
}

// sessionParts returns the value of the session cookie, as it was sent. If the browser sent
// pieces of the cookie, parts has the names of all of its cookies, and otherwise parts is
// nil. It returns false if there is no value or a piece is missing. It reads the request
// once and keeps the result.
func (c *Cookies) sessionParts() (value string, parts []string, ok bool) {
	found := &c.chunks
	if !found.looked {
		found.value, found.parts, found.ok = c.jar.Chunked(c.Specs.Session.Name())
		found.looked = true
	}
	return found.value, found.parts, found.ok
}

// sessionChunks is what the request brought of the session cookie.
type sessionChunks struct {
	looked bool
	value  string
	parts  []string
	ok     bool
}

// session returns the percent-decoded value of the session cookie, and the spec of the
// cookie that it came in. If there is none, it looks for the one from before HostPrefix.
// It returns "" if the browser sent neither.
func (c *Cookies) session() (string, *Spec) {
	k := &c.Specs.Session
	value, _, ok := c.sessionParts()
	if !ok && c.former != nil {
		k = c.former
		value, _, ok = c.jar.Chunked(k.Name())
	}
	if !ok {
		return "", k
	}
	return Unescape(value), k
}

// HasSession reports whether the browser sent a session cookie, or pieces of one. It does
// not open the cookie.
func (c *Cookies) HasSession() bool {
	_, parts, ok := c.sessionParts()
	if former := c.former; former != nil && !ok {
		_, old, there := c.jar.Chunked(former.Name())
		ok = there || len(old) > 0
	}
	return ok || len(parts) > 0
}

// clearFormer clears the session cookie from before HostPrefix, if the browser sent it.
func (c *Cookies) clearFormer() {
	former := c.former
	if former == nil {
		return
	}
	_, names, ok := c.jar.Chunked(former.Name())
	if ok && len(names) == 0 {
		names = []string{former.Name()}
	}
	for _, name := range names {
		c.clearPiece(former, name)
	}
}
