package latchkey

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
)

// browserCookies are what a browser sent and what it will be sent. They know
// names and attributes, and no user.
type browserCookies struct {
	jar    cookie.Jar
	specs  *cookieSpecs
	former *cookieSpec // the session cookie before HostPrefix; nil: it is not read any more
	out    []*http.Cookie
	chunks sessionChunks  // the session cookie
	opened []openedChecks // of sign-ins under way
	bearer *bearer        // what is read in the place of the session cookie, which then stays as it is; nil: nothing
}

// noTime is for cookies that end with the browser.
var noTime time.Time

func (c *browserCookies) set(k *http.Cookie) { c.out = append(c.out, k) }

// escapeCookie percent-encodes a value as the clients of Auth.js expect it.
func escapeCookie(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// value is the decoded value of the cookie; a broken encoding is taken
// literally.
func (c *browserCookies) value(k *cookieSpec) (string, bool) {
	value, ok := c.jar.Get(k.name())
	if !ok {
		return "", false
	}
	return unescapeCookie(value), true
}

// csrf is the token and its hash, which a separator joins that is nearly always
// escaped, and the only thing that is.
func (c *browserCookies) csrf() (token, hash string) {
	value, _ := c.jar.Get(c.specs.csrf.name())
	token, hash, ok := strings.Cut(value, "%7C")
	if !ok || strings.IndexByte(hash, '%') >= 0 || strings.IndexByte(token, '%') >= 0 {
		token, hash, _ = strings.Cut(unescapeCookie(value), "|")
	}
	return token, hash
}

func unescapeCookie(value string) string {
	if strings.IndexByte(value, '%') < 0 {
		return value
	}
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}

// putSession sets the session cookie, in pieces if it is long, and clears what
// is left of an earlier value.
func (c *browserCookies) putSession(value string, expires time.Time) {
	if c.bearer != nil {
		c.bearer.replaceBy(unescapeCookie(value))
		return
	}
	k := &c.specs.session
	_, old, whole := c.sessionParts()
	if len(old) == 0 && len(value) <= cookie.ChunkSize { // nearly always
		c.set(k.make(value, expires))
		c.clearFormer()
		return
	}
	chunks := cookie.Split(k.name(), value, 0)
	kept := make(map[string]bool, len(chunks))
	for _, chunk := range chunks {
		piece := k.make(chunk.Value, expires)
		piece.Name = chunk.Name
		c.set(piece)
		kept[chunk.Name] = true
	}
	if whole && len(old) == 0 {
		old = []string{k.name()}
	}
	for _, name := range old {
		if !kept[name] {
			c.clearPiece(k, name)
		}
	}
	c.clearFormer()
}

// mostLines of an answer may be cookies when it clears pieces of a session;
// what else it has to set fits into 40 lines. Whoever plants hundreds of
// pieces gets no answer that a proxy refuses for its size.
const mostLines = 34

// clearPiece clears a cookie of a session; one for which there is no room
// waits for the next answer.
func (c *browserCookies) clearPiece(k *cookieSpec, name string) {
	if len(c.out) < mostLines {
		c.set(k.clear(name))
	}
}

// clearSession makes the browser forget its session.
func (c *browserCookies) clearSession() {
	if c.bearer != nil {
		return
	}
	k := &c.specs.session
	_, names, whole := c.sessionParts()
	if whole && len(names) == 0 {
		names = []string{k.name()}
	}
	for _, name := range names {
		c.clearPiece(k, name)
	}
	c.clearFormer()
}

// sessionParts finds the session cookie, whole or in pieces, once.
func (c *browserCookies) sessionParts() (value string, parts []string, ok bool) {
	found := &c.chunks
	if !found.looked {
		found.value, found.parts, found.ok = c.jar.Chunked(c.specs.session.name())
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

// session is the value of the session cookie and the spec it came as.
func (c *browserCookies) session() (string, *cookieSpec) {
	k := &c.specs.session
	if c.bearer != nil {
		if _, err := k.codec.Open(c.bearer.token); err != nil && c.former != nil {
			k = c.former
		}
		return c.bearer.token, k
	}
	value, _, ok := c.sessionParts()
	if !ok && c.former != nil {
		k = c.former
		value, _, ok = c.jar.Chunked(k.name())
	}
	if !ok {
		return "", k
	}
	return unescapeCookie(value), k
}

// hasSession also counts pieces that do not make a whole.
func (c *browserCookies) hasSession() bool {
	_, parts, ok := c.sessionParts()
	if former := c.former; former != nil && !ok {
		_, old, there := c.jar.Chunked(former.name())
		ok = there || len(old) > 0
	}
	return ok || len(parts) > 0
}

// clearFormer ends the migration to HostPrefix for this browser.
func (c *browserCookies) clearFormer() {
	former := c.former
	if former == nil {
		return
	}
	_, names, ok := c.jar.Chunked(former.name())
	if ok && len(names) == 0 {
		names = []string{former.name()}
	}
	for _, name := range names {
		c.clearPiece(former, name)
	}
}
