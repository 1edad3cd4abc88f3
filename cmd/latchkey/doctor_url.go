package main

import (
	"errors"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// site is the URL of the site and its base path, as the environment has them;
// no URL: each request says.
func (p *program) site() (rawURL, basePath string) {
	c := (latchkey.Config{}).WithEnv(p.env.get)
	return strings.TrimRight(c.Site.URL, "/"), c.Site.BasePath
}

func (p *program) urlVariable() string {
	if p.env.get("AUTH_URL") == "" && p.env.get("NEXTAUTH_URL") != "" {
		return "NEXTAUTH_URL"
	}
	return "AUTH_URL"
}

// callbackPrefix is what an id is added to for the callback URL to register
// with a provider; empty: unknown.
func (p *program) callbackPrefix() string {
	rawURL, basePath := p.site()
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + basePath + "/callback/"
}

func (p *program) checkSiteURL(r *report) {
	rawURL, basePath := p.site()
	name := p.urlVariable()
	if rawURL == "" {
		p.checkTrust(r)
		return
	}
	c := validConfig()
	c.Site.URL = rawURL
	if _, err := tryConfig(c); err != nil {
		r.fail(name, "is no URL of a site. Set it to something like https://app.example, without user and password")
		return
	}
	c = validConfig()
	c.Site.BasePath = basePath
	if _, err := tryConfig(c); err != nil {
		r.fail(name, "its path cannot be a base path. Use a plain one such as /auth, or none")
		return
	}
	if u, err := url.Parse(rawURL); err == nil && (u.RawQuery != "" || u.Fragment != "") {
		r.warn(name, "has a query or a fragment, which means nothing. Remove it")
	}
	if isPlainHTTP(rawURL) {
		r.warn(name, "%s is plain http: whoever is on the way reads the session cookies. Use https", printable(rawURL))
		return
	}
	r.ok(name, "the site is %s; its base path is %s", printable(rawURL), basePath)
}

// checkTrust looks at sites whose origin each request says.
func (p *program) checkTrust(r *report) {
	c := (latchkey.Config{Secrets: []string{newSecret()}}).WithEnv(p.env.get)
	c.Site.RedirectProxyURL = validConfig().Site.RedirectProxyURL
	if _, err := tryConfig(c); errors.Is(err, latchkey.ErrUntrustedHost) {
		r.fail("AUTH_URL", "is not set, and nothing says that the Host header can be believed. Set it to the site's URL, or AUTH_TRUST_HOST=true behind a proxy that sets Host")
		return
	}
	r.ok("AUTH_TRUST_HOST", "the Host and X-Forwarded-* headers are believed; right behind a proxy that sets them, else set AUTH_URL")
}

func (p *program) checkProxy(r *report) {
	const name = "AUTH_REDIRECT_PROXY_URL"
	rawURL := p.env.get(name)
	if rawURL == "" {
		return
	}
	c := validConfig()
	c.Site.RedirectProxyURL = rawURL
	_, err := tryConfig(c)
	u, errURL := url.Parse(rawURL)
	switch {
	case err != nil || errURL != nil:
		r.fail(name, "is no URL. Set it to the base path URL of the stable deployment, such as https://app.example/auth")
	case strings.Trim(u.Path, "/") == "":
		r.fail(name, "has no path, so callbacks would miss the proxy. Add the proxy's base path, such as %s/auth", strings.TrimRight(printable(rawURL), "/"))
	case isPlainHTTP(rawURL):
		r.warn(name, "%s is plain http: codes can be read on their way. Use https", printable(rawURL))
	default:
		r.ok(name, "callbacks go by %s, which needs the same secrets", printable(rawURL))
	}
}
