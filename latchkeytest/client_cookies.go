package latchkeytest

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Cookies returns copies of the site's cookies, sorted by name.
func (c *Client) Cookies() []*http.Cookie {
	list := make([]*http.Cookie, 0, len(c.jar))
	for _, name := range slices.Sorted(maps.Keys(c.jar)) {
		copied := *c.jar[name]
		list = append(list, &copied)
	}
	return list
}

// Cookie returns the cookie of that name; nil: there is none.
func (c *Client) Cookie(name string) *http.Cookie {
	for _, cookie := range c.Cookies() {
		if cookie.Name == name {
			return cookie
		}
	}
	return nil
}

// SetCookie plants a cookie, as an answer of the site would. One that is
// expired removes it.
func (c *Client) SetCookie(cookie *http.Cookie) {
	copied := *cookie
	c.absorb([]*http.Cookie{&copied})
}

// absorb stores the cookies that browsers accept, and removes those that are expired. It
// keeps the pointers.
func (c *Client) absorb(cookies []*http.Cookie) {
	for _, cookie := range cookies {
		if !c.accepts(cookie) {
			continue
		}
		delete(c.jar, cookie.Name)
		if cookie.MaxAge > 0 { // it wins over Expires (RFC 6265, section 5.3)
			cookie.Expires = time.Now().Add(time.Duration(cookie.MaxAge) * time.Second)
		}
		expired := cookie.MaxAge < 0 || !cookie.Expires.IsZero() && !cookie.Expires.After(time.Now())
		if !expired {
			c.jar[cookie.Name] = cookie
		}
	}
}

// accepts applies what browsers ask of cookies: SameSite=None needs Secure, and
// prefixes need what they promise (RFC 6265bis, sections 5.6 and 5.7).
func (c *Client) accepts(cookie *http.Cookie) bool {
	switch {
	case cookie.SameSite == http.SameSiteNoneMode && !cookie.Secure:
		return false
	case cookie.Secure && !c.isTrustworthy():
		return false
	case strings.HasPrefix(cookie.Name, "__Secure-"):
		return cookie.Secure
	case strings.HasPrefix(cookie.Name, "__Host-"):
		return cookie.Secure && cookie.Domain == "" && cookie.Path == "/"
	}
	return true
}

// isTrustworthy reports whether the site may have Secure cookies. Browsers trust loopback
// hosts without TLS.
func (c *Client) isTrustworthy() bool {
	host := c.site.Hostname()
	return c.site.Scheme == "https" || host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// attach adds the cookies that belong to a request. With crossSite it leaves out those with
// SameSite=Strict. With guarded too, which means that the request is a post or is sent by a
// script, it leaves out all but those with SameSite=None. guarded alone changes nothing.
func (c *Client) attach(req *http.Request, crossSite, guarded bool) {
	for _, cookie := range c.Cookies() {
		expired := !cookie.Expires.IsZero() && !cookie.Expires.After(time.Now())
		strict := cookie.SameSite == http.SameSiteStrictMode || guarded
		withheld := crossSite && strict && cookie.SameSite != http.SameSiteNoneMode
		if !expired && !withheld && covers(cookie.Path, req.URL.Path) {
			req.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value, Quoted: cookie.Quoted})
		}
	}
}

// covers reports whether a cookie of cookiePath is for path (RFC 6265, section 5.1.4).
func covers(cookiePath, path string) bool {
	cookiePath = strings.TrimSuffix(cmp.Or(cookiePath, "/"), "/")
	rest, found := strings.CutPrefix(path, cookiePath)
	return found && (rest == "" || strings.HasPrefix(rest, "/"))
}
