package latchkey

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// prepareSite sets s.trust, which knows the origin of the site and what to believe of
// requests. It adds a fault for each value of Site that cannot work. givenPath is the
// base path before the environment was read.
func (s *setup) prepareSite(f *failure.List, givenPath string) {
	c := &s.config.Site
	s.trust = &hostTrust{}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			f.Add(ErrInvalidConfig, "Site.URL (AUTH_URL) %q: want an absolute http or https URL such as https://app.example", weburl.Show(c.URL))
		} else {
			s.trust.origin = weburl.NewOrigin(u.Scheme, u.Host)
			if !s.trust.origin.Secure && !isInside(u.Hostname()) {
				s.log.WarnAtStart("Site.URL (AUTH_URL) is http on a public host: sessions and passwords travel in clear; use https")
			}
			s.compareBasePaths(givenPath, strings.TrimRight(u.Path, "/"))
			c.checkPrefix(f, u.Path)
		}
	}
	c.Prefix, c.BasePath = strings.TrimRight(c.Prefix, "/"), strings.TrimRight(c.BasePath, "/")
	if c.Prefix != "" && !validBasePath(c.Prefix) {
		f.Add(ErrInvalidConfig, "Site.Prefix %q: want a plain path such as /app", c.Prefix)
		c.Prefix = ""
	}
	if !validBasePath(c.BasePath) && (c.BasePath != "" || c.Prefix == "") {
		f.Add(ErrInvalidConfig, "Site.BasePath %q: want a plain path such as /auth", c.BasePath)
		c.BasePath = defaultBasePath
	}
	if s.trust.origin.Text == "" && !c.TrustHost && len(c.AllowedHosts) == 0 {
		f.Add(ErrUntrustedHost, "set Site.URL (AUTH_URL) to the site's URL, or Site.AllowedHosts to the hosts that it answers to, or Site.TrustHost (AUTH_TRUST_HOST=true) behind a proxy that sets the Host header")
	}
	c.checkHosts(f)
	if slices.Contains(c.AllowedHosts, "*") {
		s.log.WarnAtStart("AllowedHosts contains *: links are made for whatever host a request names")
	}
	s.trust.Site = *c
}

// anyPort ends an allowed host that is served on ports that are not known before.
const anyPort = ":*"

// isInside reports whether a host is on this machine or not on the internet, so
// that plain http is safe.
func isInside(host string) bool {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return weburl.IsLoopback(host) || err == nil && (addr.IsPrivate() || addr.IsLinkLocalUnicast())
}

// checkPrefix adds a fault if path, that of Site.URL, neither is empty nor begins with
// Prefix: no proxy can remove the prefix then.
func (c *Site) checkPrefix(f *failure.List, path string) {
	if _, ok := strings.CutPrefix(path+"/", strings.TrimRight(c.Prefix, "/")+"/"); !ok && strings.Trim(path, "/") != "" {
		f.Add(ErrInvalidConfig, "Site.Prefix %q: the path of Site.URL (AUTH_URL) is %q, and has to begin with it", c.Prefix, path)
	}
}

// checkHosts adds a fault for each host, origin and proxy that no request could ever
// match.
func (c *Site) checkHosts(f *failure.List) {
	for _, host := range c.AllowedHosts {
		name, anyOf := strings.CutSuffix(host, anyPort)
		if !weburl.ValidHost(strings.TrimPrefix(name, "*.")) && host != "*" || anyOf && !weburl.IsLoopback(strings.ToLower(name)) {
			f.Add(ErrInvalidConfig, "Site.AllowedHosts: %q: want a host such as app.example, app.example:8443 or *.preview.example; any port is for loopback: localhost:*", host)
		}
	}
	for _, o := range c.RedirectProxyOrigins {
		scheme, host, ok := strings.Cut(o, "://")
		if !ok || (scheme != "https" && scheme != "http") || !weburl.ValidHost(strings.TrimPrefix(host, "*.")) {
			f.Add(ErrInvalidConfig, "Site.RedirectProxyOrigins: %q: want an origin such as https://*.preview.example", o)
		}
	}
	if c.RedirectProxyURL != "" && !weburl.IsHTTP(c.RedirectProxyURL) {
		f.Add(ErrInvalidConfig, "Site.RedirectProxyURL %q: want the proxy's base path URL such as https://app.example/auth", weburl.Show(c.RedirectProxyURL))
	}
}

// compareBasePaths warns if the configuration (given) and Site.URL (named) both have a
// base path, unless the warning is suppressed.
func (s *setup) compareBasePaths(given, named string) {
	if prefix := s.config.Site.Prefix; prefix != "" && given != "" {
		given = strings.TrimRight(prefix, "/") + given
	}
	switch {
	case given == "" || named == "" || s.config.Site.SuppressBasePathWarning:
	case given == named:
		s.log.WarnAtStart("env-url-basepath-redundant: BasePath repeats the path of URL (AUTH_URL)")
	default:
		s.log.WarnAtStart("env-url-basepath-mismatch: BasePath differs from the path of URL (AUTH_URL) and wins")
	}
}

// validBasePath reports whether browsers ask for the path p exactly as it is written. It
// returns false for "/".
func validBasePath(p string) bool {
	u, err := url.Parse(p)
	return err == nil && u.EscapedPath() == p && strings.HasPrefix(p, "/") && path.Clean(p) == p && !strings.ContainsAny(p, "?#%\\ \t\r\n") && p != "/"
}
