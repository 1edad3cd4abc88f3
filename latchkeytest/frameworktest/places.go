package frameworktest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// placeCases are about where a site lives, and what is in front of it.
var placeCases = []testCase{
	{"HTTP/2", func(f *framework) {
		f.site.HTTP2 = true
		f.page("/members", RequireSession, who)
	}, func(t *testing.T, f *framework) {
		signInAndOut(t, f)
		answers(t, f.openAs("Ada").Get("/members"), http.StatusOK, "here is Ada")
	}},
	{"a group of routes with a prefix", func(f *framework) {
		f.site.Group, f.config.Site.BasePath, f.prefix = "/shop", "/shop/auth", "/shop"
		f.page("/members", RequireSession, who)
	}, provePrefix},
	{"http.StripPrefix", func(f *framework) {
		f.site.StripPrefix, f.config.Site.Prefix, f.prefix = "/app", "/app", "/app"
		f.page("/members", RequireSession, who)
	}, provePrefix},
	{"a reverse proxy that takes a prefix off", func(f *framework) {
		f.config.Site.Prefix, f.prefix = "/app", "/app"
		f.config.Site.TrustHost, f.config.Site.AllowedHosts = true, nil
		f.page("/members", RequireSession, who)
	}, func(t *testing.T, f *framework) {
		f.behind(t, "/app", "http", "")
		provePrefix(t, f)
	}},
	{"a reverse proxy that speaks TLS", func(f *framework) {
		f.config.Site.TrustHost, f.config.Site.AllowedHosts = true, nil
		f.page("/members", RequireSession, who)
		f.page("/url", Unguarded, func(c Context) {
			u, err := c.ActionURL("signin")
			ok(f.t, err)
			c.Write(http.StatusOK, u.String())
		})
	}, func(t *testing.T, f *framework) {
		f.behind(t, "", "https", "shop.example")
		answers(t, f.open().Get("/url"), http.StatusOK, "https://shop.example/auth/signin")
		leads(t, f.open().Get("/members"), "https://shop.example/auth/signin")
		c := f.open()
		to := c.Post("/auth/signin/"+f.issuer.Provider().ID, url.Values{"csrfToken": {c.CSRFToken()}}).Location()
		if to == nil || to.Query().Get("redirect_uri") != "https://shop.example/auth/callback/"+f.issuer.Provider().ID {
			t.Errorf("the provider is asked by %v", to)
		}
		for _, cookie := range c.Cookies() {
			if !cookie.Secure {
				t.Errorf("%s is not Secure", cookie.Name)
			}
		}
	}},
	{"a configuration by the framework's own request", func(f *framework) {
		seen := new(tally)
		tenants := map[string]*latchkey.Config{}
		for _, host := range []string{"a.example", "b.example"} {
			c := f.config
			c.Site, c.Secrets = latchkey.Site{URL: "http://" + host}, []string{"the secret of the tenant " + host + ", long enough"}
			tenants[host] = &c
		}
		f.site.ByHost = func(host string) (*latchkey.Config, error) {
			seen.add("asked")
			if tenants[host] == nil {
				return nil, fmt.Errorf("no tenant is at %q: %w", host, latchkey.ErrNotFound)
			}
			return tenants[host], nil
		}
		f.page("/asked", RequireSession, func(c Context) {
			before := seen.count("asked")
			u, err := c.ActionURL("signin")
			ok(f.t, err)
			text := "here is " + nameOf(c.Session()) + " at " + u.Host
			if seen.count("asked") != before {
				text += ", asked again"
			}
			c.Write(http.StatusOK, text)
		})
	}, proveTenants},
}

// provePrefix checks that signing in and out and a guard work below f.prefix.
func provePrefix(t *testing.T, f *framework) {
	t.Helper()
	signInAndOut(t, f)
	leads(t, f.open().Get(f.prefix+"/members"), f.url+f.prefix+"/auth/signin")
	answers(t, f.openAs("Ada").Get(f.prefix+"/members"), http.StatusOK, "here is Ada")
}

// behind puts a proxy in front of the site and sets f.url to it. The proxy takes prefix
// off and sends X-Forwarded-Proto with scheme. X-Forwarded-Host is host, or the proxy's
// own host if that is empty.
func (f *framework) behind(t *testing.T, prefix, scheme, host string) {
	t.Helper()
	inside, err := url.Parse(f.url)
	ok(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, prefix)
		r.SetURL(inside)
		r.SetXForwarded()
		r.Out.Header.Set("X-Forwarded-Proto", scheme)
		if host != "" {
			r.Out.Header.Set("X-Forwarded-Host", host)
		}
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	f.url = server.URL
}

// proveTenants checks that one server has separate sessions under several host names, and
// answers 404 under an unknown one.
func proveTenants(t *testing.T, f *framework) {
	served, err := url.Parse(f.url)
	ok(t, err)
	at := func(host string) *latchkeytest.Client {
		c := latchkeytest.NewClientAt(t, "http://"+host)
		c.Transport = toHost{host: served.Host, next: c.Transport}
		return c
	}
	for host, other := range map[string]string{"a.example": "b.example", "b.example": "a.example"} {
		c := at(host)
		leads(t, c.Get("/asked"), "http://"+host+"/auth/signin")
		c.SignInCredentials(map[string]string{"name": "Ada", "password": password})
		if p := c.Get("/asked"); string(p.Body) != "here is Ada at "+host {
			t.Error(p.Describe())
		}
		stranger := at(other)
		for _, cookie := range c.Cookies() {
			stranger.SetCookie(cookie)
		}
		leads(t, stranger.Get("/asked"), "http://"+other+"/auth/signin")
	}
	for _, path := range []string{"/asked", "/auth/session"} {
		answers(t, at("c.example").Get(path), http.StatusNotFound, "")
	}
}

// toHost sends every request to host, with the Host header of the URL that was asked for.
type toHost struct {
	host string
	next http.RoundTripper
}

func (h toHost) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Host, out.URL.Host = r.URL.Host, h.host
	return h.next.RoundTrip(out)
}
