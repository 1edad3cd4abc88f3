package sitetest

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// R-559 A proxy that ends TLS and does not say so is noticed by what browsers send. The
// site was http without a word: cookies without Secure, links and redirect_uri on http.
func TestASiteThatIsHTTPByMistake(t *testing.T) {
	for _, c := range []struct {
		name   string
		site   latchkey.Site
		host   string
		tls    bool
		header http.Header
		warns  bool
	}{
		{"what browsers tell https sites alone", latchkey.Site{TrustHost: true}, "app.example", false, http.Header{"Sec-Fetch-Site": {"none"}}, true},
		{"the origin of a form", latchkey.Site{TrustHost: true}, "app.example", false, http.Header{"Origin": {"https://app.example"}}, true},
		{"the page before", latchkey.Site{AllowedHosts: []string{"app.example"}}, "app.example", false, http.Header{"Referer": {"https://app.example/x"}}, true},
		{"another site's page before", latchkey.Site{TrustHost: true}, "app.example", false, http.Header{"Referer": {"https://app.example.other.example/"}}, false},
		{"a site on http", latchkey.Site{TrustHost: true}, "app.example", false, nil, false},
		{"loopback, where browsers tell it too", latchkey.Site{TrustHost: true}, "localhost:3000", false, http.Header{"Sec-Fetch-Site": {"none"}}, false},
		{"a proxy that says so", latchkey.Site{TrustHost: true}, "app.example", false, http.Header{"Sec-Fetch-Site": {"none"}, "X-Forwarded-Proto": {"https"}}, false},
		{"TLS of its own", latchkey.Site{TrustHost: true}, "app.example", true, http.Header{"Sec-Fetch-Site": {"none"}}, false},
		{"a URL that is configured", latchkey.Site{URL: "https://app.example"}, "app.example", false, http.Header{"Sec-Fetch-Site": {"none"}}, false},
	} {
		t.Run("R-559 "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) { cfg.Site = c.site })
			for range 2 {
				b := s.newBrowser()
				r := b.request(http.MethodGet, "/auth/session", "", "")
				r.Host, r.TLS = c.host, nil
				if c.tls {
					r.TLS = &tls.ConnectionState{}
				}
				for name, values := range c.header {
					r.Header[name] = values
				}
				b.serve(s.auth, r)
			}
			warned := strings.Count(s.log.text(), "arrive as http")
			if c.warns != (warned == 1) || warned > 1 {
				t.Errorf("%d warnings: %s", warned, s.log.text())
			}
			if c.warns && (!strings.Contains(s.log.text(), "X-Forwarded-Proto") || !strings.Contains(s.log.text(), "Site.URL")) {
				t.Errorf("the warning names no cure: %s", s.log.text())
			}
		})
	}
}

// R-559 A cookie domain that browsers drop keeps everybody signed out, so New refuses it.
func TestCookieDomains(t *testing.T) {
	at := func(url string, hosts ...string) latchkey.Site {
		return latchkey.Site{URL: url, AllowedHosts: hosts, TrustHost: url == "" && len(hosts) == 0}
	}
	for _, c := range []struct {
		name   string
		site   latchkey.Site
		domain string
		kept   bool
	}{
		{"the name above", at("https://app.example.com"), "example.com", true},
		{"the name above, with a dot", at("https://app.example.com"), ".Example.com", true},
		{"its own name", at("https://app.example.com"), "app.example.com", true},
		{"a name below", at("https://example.com"), "app.example.com", false},
		{"a name beside", at("https://app.example.com"), "shop.example.com", false},
		{"a name that ends alike", at("https://app.example.com"), "ample.com", false},
		{"a top-level name", at("https://app.example.com"), "com", false},
		{"a top-level name, the host unknown", at(""), "com", false},
		{"any name, the host unknown", at(""), "example.com", true},
		{"loopback by name", at("http://localhost:3000"), "localhost", true},
		{"a name below loopback", at("http://app.localhost:3000"), "localhost", false},
		{"its own IP address", at("http://127.0.0.1:3000"), "127.0.0.1", true},
		{"the end of an IP address", at("http://127.0.0.1:3000"), "0.0.1", false},
		{"one of the hosts", at("", "app.example.com", "example.org:8443"), "example.com", true},
		{"none of the hosts", at("", "app.example.com", "example.org:8443"), "example.net", false},
		{"below a pattern", at("", "*.preview.example.com"), "preview.example.com", true},
		{"a host of a pattern", at("", "*.example.com"), "shop.example.com", true},
		{"any host", at("", "*"), "example.com", true},
	} {
		t.Run("R-559 "+c.name, func(t *testing.T) {
			cfg := plainsite.Config(nil)
			cfg.Adapter, cfg.Site = nil, c.site
			cfg.Cookies.SessionToken = latchkey.CookieOptions{Domain: c.domain}
			_, err := latchkey.New(cfg)
			if (err == nil) != c.kept || err != nil && !strings.Contains(err.Error(), "Cookies.SessionToken.Domain") {
				t.Errorf("%v", err)
			}
		})
	}
}
