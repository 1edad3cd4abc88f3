package latchkey

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/jwt"
)

// cookieSet is every cookie Latchkey sets, for sites served over http or https.
type cookieSet struct {
	session, callbackURL, csrf, pkce, state, nonce, link cookieKind

	former *cookieKind // the session cookie before HostPrefix; nil: nothing to migrate
}

// cookieKind is one cookie: what it is called, its attributes, and the codec of
// those that are sealed. The name is the codec's salt.
type cookieKind struct {
	template http.Cookie
	codec    *jwt.Codec
}

func (k *cookieKind) name() string { return k.template.Name }

// make is a new cookie; a zero expires ends with the browser.
func (k *cookieKind) make(value string, expires time.Time) *http.Cookie {
	c := k.template
	c.Value, c.Expires = value, expires
	return &c
}

// clear is a cookie that makes the browser forget the one called name.
func (k *cookieKind) clear(name string) *http.Cookie {
	c := k.template
	c.Name, c.MaxAge = name, -1
	return &c
}

// settleCookies names the cookies, once for http and once for https.
func (s *setup) settleCookies(f *faults) {
	for i, secure := range []bool{false, true} {
		if s.Cookies.Secure != nil {
			secure = *s.Cookies.Secure
		}
		s.cookies[i] = s.newCookieSet(secure)
	}
	s.states = jwt.NewCodec(s.Secrets, saltState)
	s.checkCookies(f)
}

// cookiesFor is the set that suits an origin.
func (s *setup) cookiesFor(o origin) *cookieSet {
	if o.secure {
		return s.cookies[1]
	}
	return s.cookies[0]
}

func (s *setup) newCookieSet(secure bool) *cookieSet {
	prefix, csrfPrefix := "", ""
	if secure {
		prefix, csrfPrefix = "__Secure-", "__Host-"
		if s.Cookies.HostPrefix {
			prefix = "__Host-"
		}
	}
	kind := func(prefix, name string, o CookieOptions) cookieKind {
		t := http.Cookie{Name: prefix + "authjs." + name, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode}
		o.apply(&t)
		return cookieKind{t, jwt.NewCodec(s.Secrets, t.Name)}
	}
	set := &cookieSet{
		session:     kind(prefix, "session-token", s.Cookies.SessionToken),
		callbackURL: kind(prefix, "callback-url", s.Cookies.CallbackURL),
		csrf:        kind(csrfPrefix, "csrf-token", s.Cookies.CSRFToken),
		pkce:        kind(prefix, "pkce.code_verifier", s.Cookies.PKCE),
		state:       kind(prefix, "state", s.Cookies.State),
		nonce:       kind(prefix, "nonce", s.Cookies.Nonce),
		link:        kind(prefix, "email-link", CookieOptions{}),
	}
	if secure && s.Cookies.HostPrefix && s.Cookies.SessionToken.Name == "" {
		former := kind("__Secure-", "session-token", s.Cookies.SessionToken)
		set.former = &former
	}
	return set
}

// apply puts the operator's choices over the defaults.
func (o *CookieOptions) apply(c *http.Cookie) {
	setIf(&c.Name, o.Name)
	setIf(&c.Domain, o.Domain)
	setIf(&c.Path, o.Path)
	setIf(&c.SameSite, o.SameSite)
	setIf(&c.MaxAge, int(o.MaxAge/time.Second))
	if o.Secure != nil {
		c.Secure = *o.Secure
	}
	if o.HTTPOnly != nil {
		c.HttpOnly = *o.HTTPOnly
	}
}

func setIf[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}

// checkCookies refuses names that browsers refuse, and two cookies of one name:
// names are salts, so a value would serve two purposes.
func (s *setup) checkCookies(f *faults) {
	sets := s.cookies[:] // only those that can ever be used
	if s.site.text != "" {
		sets = []*cookieSet{s.cookiesFor(s.site)}
	} else if s.Cookies.Secure != nil {
		sets = sets[:1]
	}
	for _, set := range sets {
		seen := map[string]string{}
		for field, k := range map[string]*cookieKind{
			"SessionToken": &set.session, "CallbackURL": &set.callbackURL, "CSRFToken": &set.csrf,
			"PKCE": &set.pkce, "State": &set.state, "Nonce": &set.nonce, "(magic link)": &set.link,
		} {
			t := k.template
			t.Value = "x"
			if err := t.Valid(); err != nil {
				f.add(ErrInvalidConfig, "Cookies.%s: %w", field, err)
			}
			if other, taken := seen[t.Name]; taken {
				f.add(ErrInvalidConfig, "Cookies.%s and Cookies.%s are both called %q", field, other, t.Name)
			}
			seen[t.Name] = field
			if err := prefixFault(&t); err != nil {
				f.add(ErrInvalidConfig, "Cookies.%s: %w", field, err)
			}
		}
	}
}

// prefixFault keeps the rules of RFC 6265bis, section 4.1.3, which browsers
// enforce by dropping the cookie.
func prefixFault(c *http.Cookie) error {
	switch {
	case strings.HasPrefix(c.Name, "__Host-") && (!c.Secure || c.Domain != "" || c.Path != "/"):
		return fmt.Errorf("%q must be Secure with Path / and no Domain", c.Name)
	case strings.HasPrefix(c.Name, "__Secure-") && !c.Secure, c.SameSite == http.SameSiteNoneMode && !c.Secure:
		return fmt.Errorf("%q must be Secure", c.Name)
	}
	return nil
}

// addCookie writes c into a response header.
func addCookie(h http.Header, c *http.Cookie) {
	if line := c.String(); line != "" {
		h["Set-Cookie"] = append(h["Set-Cookie"], line)
	}
}

// escapeCookie percent-encodes a value as the original's clients expect it.
func escapeCookie(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// cookieValue is the decoded value of the cookie; a broken encoding is taken literally.
func (v *visit) cookieValue(k *cookieKind) (string, bool) {
	value, ok := v.jar.Get(k.name())
	if !ok {
		return "", false
	}
	return unescapeCookie(value), true
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
func (v *visit) putSession(value string, expires time.Time) {
	k := &v.kinds.session
	_, old, _ := v.sessionParts()
	if len(old) == 0 && len(value) <= cookie.ChunkSize { // nearly always
		v.setCookie(k.make(value, expires))
		v.clearFormer()
		return
	}
	chunks := cookie.Split(k.name(), value, 0)
	kept := make(map[string]bool, len(chunks))
	for _, chunk := range chunks {
		c := k.make(chunk.Value, expires)
		c.Name = chunk.Name
		v.setCookie(c)
		kept[chunk.Name] = true
	}
	if _, whole := v.jar.Get(k.name()); whole && len(old) == 0 {
		old = []string{k.name()}
	}
	for _, name := range old {
		if !kept[name] {
			v.setCookie(k.clear(name))
		}
	}
	v.clearFormer()
}

// clearSession makes the browser forget its session.
func (v *visit) clearSession() {
	k := &v.kinds.session
	_, names, _ := v.sessionParts()
	if _, whole := v.jar.Get(k.name()); whole && len(names) == 0 {
		names = []string{k.name()}
	}
	for _, name := range names {
		v.setCookie(k.clear(name))
	}
	v.clearFormer()
}

// sessionParts finds the session cookie, whole or in pieces, once a visit.
func (v *visit) sessionParts() (value string, parts []string, ok bool) {
	if v.chunks == nil {
		c := &chunks{}
		c.value, c.parts, c.ok = v.jar.Chunked(v.kinds.session.name())
		v.chunks = c
	}
	return v.chunks.value, v.chunks.parts, v.chunks.ok
}

// chunks is what the request brought of the session cookie.
type chunks struct {
	value string
	parts []string
	ok    bool
}

// sessionCookie is the value of the session cookie and the kind it came as.
func (v *visit) sessionCookie() (string, *cookieKind) {
	k := &v.kinds.session
	value, _, ok := v.sessionParts()
	if !ok && v.kinds.former != nil {
		k = v.kinds.former
		value, _, ok = v.jar.Chunked(k.name())
	}
	if !ok {
		return "", k
	}
	return unescapeCookie(value), k
}

// hasSessionCookie also counts pieces that do not make a whole.
func (v *visit) hasSessionCookie() bool {
	_, parts, ok := v.sessionParts()
	if former := v.kinds.former; former != nil && !ok {
		_, old, there := v.jar.Chunked(former.name())
		ok = there || len(old) > 0
	}
	return ok || len(parts) > 0
}

// clearFormer ends the migration to HostPrefix for this browser.
func (v *visit) clearFormer() {
	former := v.kinds.former
	if former == nil {
		return
	}
	_, names, ok := v.jar.Chunked(former.name())
	if ok && len(names) == 0 {
		names = []string{former.name()}
	}
	for _, name := range names {
		v.setCookie(former.clear(name))
	}
}

func (v *visit) setCookie(c *http.Cookie) { v.set = append(v.set, c) }
