package main

import (
	"errors"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// site returns the URL of the site and its base path, as the environment has them. The
// URL is empty if each request decides.
func (e environment) site() (rawURL, basePath string) {
	c := (latchkey.Config{}).WithEnv(e.get)
	return strings.TrimRight(c.Site.URL, "/"), c.Site.BasePath
}

// urlVariable returns the name of the variable that the site's URL is read from.
func (e environment) urlVariable() string {
	if e.get("AUTH_URL") == "" && e.get("NEXTAUTH_URL") != "" {
		return "NEXTAUTH_URL"
	}
	return "AUTH_URL"
}

// callbackPrefix returns the callback URL to register with a provider, up to the id of
// the provider, which the caller appends. It returns "" if the site's URL is unknown.
func (e environment) callbackPrefix() string {
	rawURL, basePath := e.site()
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + basePath + "/callback/"
}

// checkSiteURL checks the URL of the site and its base path. If no URL is set, it checks
// instead whether the site may believe the Host header.
func (d *doctor) checkSiteURL() {
	rawURL, basePath := d.env.site()
	name := d.env.urlVariable()
	if rawURL == "" {
		d.checkTrust()
		return
	}
	c := validConfig()
	c.Site.URL = rawURL
	if _, err := tryConfig(c); err != nil {
		d.fail(name, "is no URL of a site. Set it to something like https://app.example, without user and password")
		return
	}
	c = validConfig()
	c.Site.BasePath = basePath
	if _, err := tryConfig(c); err != nil {
		d.fail(name, "its path cannot be a base path. Use a plain one such as /auth, or none")
		return
	}
	if u, err := url.Parse(rawURL); err == nil && (u.RawQuery != "" || u.Fragment != "") {
		d.warn(name, "has a query or a fragment, which means nothing. Remove it")
	}
	if isPlainHTTP(rawURL) {
		d.warn(name, "%s is plain http: whoever is on the way reads the session cookies. Use https", printable(rawURL))
		return
	}
	d.ok(name, "the site is %s; its base path is %s", printable(rawURL), basePath)
}

// checkTrust checks whether a site without a URL may believe the Host header.
func (d *doctor) checkTrust() {
	c := (latchkey.Config{Secrets: []string{newSecret()}}).WithEnv(d.env.get)
	c.Site.RedirectProxyURL = validConfig().Site.RedirectProxyURL
	if _, err := tryConfig(c); errors.Is(err, latchkey.ErrUntrustedHost) {
		d.fail("AUTH_URL", "is not set, and nothing says that the Host header can be believed. Set it to the site's URL, or AUTH_TRUST_HOST=true behind a proxy that sets Host")
		return
	}
	d.ok("AUTH_TRUST_HOST", "the Host and X-Forwarded-* headers are believed; right behind a proxy that sets them, else set AUTH_URL. Without X-Forwarded-Proto: https, providers get redirect URIs with http and refuse them, and the log has nothing of it: `latchkey doctor --site URL` shows the URIs that the site sends")
}

// checkProxy checks the URL of the redirect proxy, if it is set.
func (d *doctor) checkProxy() {
	const name = "AUTH_REDIRECT_PROXY_URL"
	rawURL := d.env.get(name)
	if rawURL == "" {
		return
	}
	c := validConfig()
	c.Site.RedirectProxyURL = rawURL
	_, err := tryConfig(c)
	u, errURL := url.Parse(rawURL)
	switch {
	case err != nil || errURL != nil:
		d.fail(name, "is no URL. Set it to the base path URL of the stable deployment, such as https://app.example/auth")
	case strings.Trim(u.Path, "/") == "":
		d.fail(name, "has no path, so callbacks would miss the proxy. Add the proxy's base path, such as %s/auth", strings.TrimRight(printable(rawURL), "/"))
	case isPlainHTTP(rawURL):
		d.warn(name, "%s is plain http: codes can be read on their way. Use https", printable(rawURL))
	default:
		d.ok(name, "callbacks go by %s, which needs the same secrets", printable(rawURL))
	}
}
