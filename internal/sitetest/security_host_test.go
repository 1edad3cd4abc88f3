package sitetest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// hostileHosts are more than a hundred things that are not the site's host.
func hostileHosts() []string {
	hosts := []string{
		"evil.example", "EVIL.example", "evil.example:443", "app.example.evil.example", "app.example:8443", "app.example@evil.example", "evil.example/app.example", "evil.example\\app.example",
		"app.example evil.example", "evil.example,app.example", "app.example, evil.example", "evil.example\tapp.example", "evil.example;app.example", "evil.example?app.example", "evil.example#app.example",
		"<script>alert(1)</script>", "\"><script>alert(1)</script>", "javascript:alert(1)", "https://evil.example", "//evil.example", "evil.example%00", "evil.example%2f", "evil.example\x00", "ev\x7fil.example", "évil.example", "ｅvil.example",
		"[::1]", "[::1", "::1", "[fe80::1%25eth0]", "[evil.example]", "[::1]:x", "127.0.0.1", "0x7f.1", "localhost", "localhost:3000", "evil.example:", "evil.example:0x50", "evil.example:99999999", "evil.example:-1", "evil.example:80:80",
		"-evil.example", ".evil.example", "evil..example", "evil.example.", "*", "*.example", "{{.Host}}", "${jndi:ldap://evil.example}", "evil.example'", "evil.example`", "evil.example|x", "evil.example^", "evil.example&x=y", "evil.example=x", "evil.example(", "evil.example!",
		strings.Repeat("a", 300) + ".example", "evil_.example", "metadata.google.internal", "169.254.169.254", "evil.example\u2028", "evil.example\u00a0", "evil.example%0d%0aX-Evil:1", "evil.example\u200b", "~", "evil.example:80 ", "a:b@evil.example", "evil.example:@app.example",
	}
	for _, c := range "!\"#$%&'()*+,/;<=>?@[\\]^`{|}~ " {
		hosts = append(hosts, "evil"+string(c)+"example")
	}
	return hosts
}

// everything that a request can say about where it went.
var hostHeaders = []string{"X-Forwarded-Host", "Forwarded", "X-Original-Url", "X-Original-Host", "X-Rewrite-Url", "X-Host", "X-Forwarded-Server", "X-Http-Host-Override", "X-Forwarded-Port", "X-Forwarded-Prefix"}

// outputs are all answers in which the site names itself.
func outputs(s *testSite, shape func(*http.Request)) string {
	var all strings.Builder
	b := s.newBrowser()
	ask := func(method, target, body string) {
		kind := ""
		if method == http.MethodPost {
			kind, body = formContentType, "csrfToken="+b.token()+"&"+body
		}
		r := b.request(method, target, kind, body)
		shape(r)
		a := b.serve(s.auth, r)
		fmt.Fprintln(&all, target, a.Code, a.location(), a.Header()["Set-Cookie"], a.Header().Get("Content-Security-Policy"), a.Body)
	}
	for _, target := range []string{"/auth/providers", "/auth/signin", "/auth/signout", "/auth/error?error=AccessDenied", "/auth/verify-request", "/auth/csrf", "/auth/session", "/auth/signin?callbackUrl=/x"} {
		ask(http.MethodGet, target, "")
	}
	ask(http.MethodPost, "/auth/signin/acme", "")
	ask(http.MethodPost, "/auth/signin/post", "email=a@example.com")
	ask(http.MethodPost, "/auth/callback/crew", "username=alice&password=wonderland")
	ask(http.MethodPost, "/auth/signout", "callbackUrl=/bye")
	for _, l := range s.sent() {
		all.WriteString(l.URL)
	}
	return all.String()
}

func TestHostNoTrust(t *testing.T) {
	for _, host := range []string{"app.example", "localhost:3000", "127.0.0.1"} {
		t.Run("R-213 "+host, func(t *testing.T) {
			c := latchkey.Config{Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()}}
			if _, err := latchkey.New(c); !errors.Is(err, latchkey.ErrUntrustedHost) || !strings.Contains(err.Error(), "AUTH_TRUST_HOST") || !strings.Contains(err.Error(), "Site.AllowedHosts") {
				t.Errorf("New: %v", err)
			}
			auth := newFunc(always(&c))
			for _, target := range []string{"/auth/providers", "/auth/session", "/auth/csrf", "/auth/signin", "/auth/signout", "/auth/error", "/auth/verify-request"} {
				r := httptest.NewRequest(http.MethodGet, "http://"+host+target, nil)
				w := httptest.NewRecorder()
				auth.ServeHTTP(w, r)
				if w.Code != http.StatusInternalServerError || len(w.Result().Cookies()) != 0 || strings.Contains(w.Body.String(), host) {
					t.Errorf("%s: %d %s", target, w.Code, w.Body)
				}
			}
			if s, err := auth.ReadSession(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)); s != nil || !errors.Is(err, latchkey.ErrUntrustedHost) {
				t.Errorf("Session: %v, %v", s, err)
			}
		})
	}
}

func TestHostFixed(t *testing.T) {
	want := ""
	clean := func(s string) string { // fresh values differ
		for _, word := range []string{"csrf-token=", "session-token=", "authjs.browser=", "code_verifier=", "state=", "code_challenge=", `csrfToken" value="`, `csrfToken":"`, "token="} {
			parts := strings.Split(s, word)
			for i := range parts[1:] {
				if end := strings.IndexAny(parts[i+1], "\";&] "); end >= 0 {
					parts[i+1] = parts[i+1][end:]
				} else {
					parts[i+1] = ""
				}
			}
			s = strings.Join(parts, word)
		}
		return s
	}
	try := func(t *testing.T, shape func(*http.Request)) {
		s := newSite(t)
		got := clean(outputs(s, shape))
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("the site says\n%s\nwant\n%s", got, want)
		}
	}
	try(t, func(*http.Request) {})
	if strings.Count(want, "302 https://") < 4 || !strings.Contains(want, "__Secure-") || !strings.Contains(want, "redirect_uri=https%3A%2F%2Fapp.example") {
		t.Fatalf("the site says too little to compare:\n%s", want)
	}
	for _, host := range hostileHosts() {
		t.Run("R-214 "+host, func(t *testing.T) {
			try(t, func(r *http.Request) {
				r.Host = host
				for _, name := range hostHeaders {
					r.Header[name] = []string{host}
				}
				r.Header["X-Forwarded-Proto"] = []string{"http"}
				r.Header["Forwarded"] = []string{"host=" + host + ";proto=http"}
				r.URL.Host, r.URL.Scheme, r.TLS = host, "http", nil
			})
		})
	}
}

func TestHostTrusted(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"trusted": func(c *latchkey.Config) { c.Site.URL, c.Site.TrustHost = "", true },
		"listed": func(c *latchkey.Config) {
			c.Site.URL, c.Site.AllowedHosts = "", []string{"app.example", "*.preview.example"}
		},
		"listed, behind a proxy": func(c *latchkey.Config) {
			c.Site.URL, c.Site.TrustHost, c.Site.AllowedHosts = "", true, []string{"app.example", "*.preview.example"}
		},
	} {
		t.Run("R-215 "+name, func(t *testing.T) {
			s := newSite(t, change)
			for _, host := range hostileHosts() {
				for _, header := range []string{"Host", "X-Forwarded-Host"} {
					r := s.newBrowser().request(http.MethodGet, "/auth/providers", "", "")
					r.TLS = nil
					if header == "Host" {
						r.Host = host
					} else {
						r.Header[header] = []string{host}
					}
					a := s.newBrowser().serve(s.auth, r)
					plain := plainHost(strings.TrimRight(host, " "))
					switch {
					case header == "Host" && strings.HasSuffix(host, " "): // no server hands this on
					case name == "listed" && header != "Host": // nobody vouches for it: it says nothing
						if a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"http://app.example/auth/signin/crew"`) || strings.Contains(a.Body.String(), "evil") {
							t.Errorf("%s %q: %d %s", header, host, a.Code, a.Body)
						}
					case name == "trusted" && plain:
						if a.Code != http.StatusOK {
							t.Errorf("%s %q: %d, but any plain host is trusted", header, host, a.Code)
						}
					case a.Code != http.StatusBadRequest || len(a.Result().Cookies()) != 0 || a.Body.String() != `"Bad request."`:
						t.Errorf("%s %q: %d %s", header, host, a.Code, a.Body)
					}
				}
			}
		})
	}
	t.Run("R-215 guards refuse as routes do", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"app.example"} })
		pages := map[string]http.Handler{
			"a route": s.auth, "RequireSession": s.auth.RequireSession(http.NotFoundHandler()),
			"Authorize":  s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return nil })(http.NotFoundHandler()),
			"WriteError": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.auth.WriteError(w, r, latchkey.ErrNoSession) }),
			"WriteError of the session's fault": s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, err := s.auth.Session(r.Context())
				s.auth.WriteError(w, r, err)
			})),
		}
		for name, h := range pages {
			for _, how := range []http.Header{opens, fetches} {
				r := httptest.NewRequest(http.MethodGet, "https://evil.example/auth/session", nil)
				r.Header = how.Clone()
				w := httptest.NewRecorder()
				before := len(s.log.records(t))
				h.ServeHTTP(w, r)
				if w.Code != http.StatusBadRequest || len(w.Result().Cookies()) != 0 || strings.Contains(w.Body.String(), "evil.example") {
					t.Errorf("R-215 %s: status %d, %s", name, w.Code, w.Body)
				}
				lines := s.log.records(t)[before:]
				if len(lines) != 1 || lines[0]["level"] != "WARN" {
					t.Errorf("R-215 %s logs %v", name, lines)
				}
			}
		}
	})
	t.Run("R-215 patterns", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) {
			c.Site.URL, c.Site.AllowedHosts = "", []string{"app.example", "*.preview.example", "Admin.Example:8443", "[::1]:3000"}
		})
		for host, allowed := range map[string]bool{
			"app.example": true, "APP.EXAMPLE": true, "app.example:443": true, "a.preview.example": true, "a.b.preview.example": true, "admin.example:8443": true, "[::1]:3000": true,
			"preview.example": false, ".preview.example": false, "xpreview.example": false, "admin.example": false, "admin.example:443": false, "a.preview.example.evil.example": false, "[::1]": false, "app.example.": false, "": false,
		} {
			if a := askAt(s, host, true); (a.Code == http.StatusOK) != allowed {
				t.Errorf("%q: %d, want allowed: %t", host, a.Code, allowed)
			}
		}
	})
	t.Run("R-353 a port has to be named, or the scheme's own", func(t *testing.T) {
		for _, trust := range []bool{false, true} {
			s := newSite(t, func(c *latchkey.Config) {
				c.Site.URL, c.Site.TrustHost = "", trust
				c.Site.AllowedHosts = []string{"app.example", "*.preview.example", "*.ports.example:8443", "admin.example:443", "LocalHost:*", "127.0.0.1:*", "[::1]:*"}
			})
			for host, allowed := range map[string]struct{ https, http bool }{
				"app.example": {true, true}, "app.example:443": {true, false}, "app.example:80": {false, true},
				"app.example:31337": {}, "app.example:8080": {}, "app.example:0443": {},
				"a.preview.example": {true, true}, "a.preview.example:443": {true, false}, "a.preview.example:1": {},
				"a.ports.example:8443": {true, true}, "a.ports.example": {}, "admin.example": {true, false}, "admin.example:443": {true, true},
				"localhost:3000": {true, true}, "localhost": {true, true}, "LOCALHOST:1": {true, true}, "127.0.0.1:3000": {true, true}, "[::1]:3000": {true, true},
				"127.0.0.10:3000": {}, "localhost.evil.example:3000": {}, "[::]:3000": {},
			} {
				if a := askAt(s, host, true); (a.Code == http.StatusOK) != allowed.https {
					t.Errorf("https, %q: %d, want allowed: %t", host, a.Code, allowed.https)
				}
				if a := askAt(s, host, false); (a.Code == http.StatusOK) != allowed.http {
					t.Errorf("http, %q: %d, want allowed: %t", host, a.Code, allowed.http)
				}
			}
		}
	})
	t.Run("R-353 any port of other hosts is refused", func(t *testing.T) {
		for _, host := range []string{"app.example:*", "*:*", "*.localhost:*x", ":*", "*.preview.example:*"} {
			_, err := latchkey.New(latchkey.Config{Site: latchkey.Site{AllowedHosts: []string{host}}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: quiet}})
			if err == nil || !strings.Contains(err.Error(), "AllowedHosts") {
				t.Errorf("%s: %v", host, err)
			}
		}
	})
	t.Run("R-353 links in mails need a host that is known", func(t *testing.T) {
		const warning = "links in mails lead to whatever host"
		for name, c := range map[string]struct {
			change func(*latchkey.Config)
			warns  bool
		}{
			"a URL":  {func(*latchkey.Config) {}, false},
			"a list": {func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"app.example"} }, false},
			"a list and trust": {func(c *latchkey.Config) {
				c.Site = latchkey.Site{TrustHost: true, AllowedHosts: []string{"app.example"}}
			}, false},
			"a URL and trust":   {func(c *latchkey.Config) { c.Site.TrustHost = true }, false},
			"trust alone":       {func(c *latchkey.Config) { c.Site.URL, c.Site.TrustHost = "", true }, true},
			"trust, no mailing": {func(c *latchkey.Config) { c.Site.URL, c.Site.TrustHost, c.Providers = "", true, c.Providers[:1] }, false},
		} {
			if got := newSite(t, c.change).log.text(); strings.Contains(got, warning) != c.warns {
				t.Errorf("%s: want a warning: %t, log %s", name, c.warns, got)
			}
		}
	})
	t.Run("R-215 any host by name, with a warning", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"*"} })
		if !strings.Contains(s.log.text(), `"WARN"`) || !strings.Contains(s.log.text(), "AllowedHosts") {
			t.Error("no warning")
		}
		r := s.newBrowser().request(http.MethodGet, "/auth/providers", "", "")
		r.Host = "anything.example"
		if a := s.newBrowser().serve(s.auth, r); !strings.Contains(a.Body.String(), "https://anything.example/auth/signin") {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
	t.Run("R-215 forwarded headers are one plain value", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Site.URL, c.Site.TrustHost = "", true })
		for _, c := range []struct {
			name, value, want string // want: the origin; empty: 400
		}{
			{"X-Forwarded-Host", "shop.example", "https://shop.example"},
			{"X-Forwarded-Host", "shop.example:8443", "https://shop.example:8443"},
			{"X-Forwarded-Host", "Shop.Example:443", "https://shop.example"},
			{"X-Forwarded-Host", "", "https://app.example"},
			{"X-Forwarded-Host", "evil.example, app.example", ""},
			{"X-Forwarded-Host", "evil.example app.example", ""},
			{"X-Forwarded-Proto", "http", "http://app.example"},
			{"X-Forwarded-Proto", "HTTPS", "https://app.example"},
			{"X-Forwarded-Proto", "https:", "https://app.example"},
			{"X-Forwarded-Proto", "http,https", ""},
			{"X-Forwarded-Proto", "ftp", ""},
			{"X-Forwarded-Proto", "javascript", ""},
			{"X-Forwarded-Proto", "https://evil.example/", ""},
			{"X-Forwarded-Proto", "https\r\nX: y", ""},
		} {
			r := s.newBrowser().request(http.MethodGet, "/auth/providers", "", "")
			r.Header[c.name] = []string{c.value}
			a := s.newBrowser().serve(s.auth, r)
			if c.want == "" {
				if a.Code != http.StatusBadRequest {
					t.Errorf("%s %q: %d", c.name, c.value, a.Code)
				}
				continue
			}
			if !strings.Contains(a.Body.String(), `"`+c.want+"/auth/signin/crew\"") {
				t.Errorf("%s %q: %s, want %s", c.name, c.value, a.Body, c.want)
			}
		}
		r := s.newBrowser().request(http.MethodGet, "/auth/providers", "", "")
		r.Header["X-Forwarded-Host"] = []string{"evil.example", "app.example"}
		if a := s.newBrowser().serve(s.auth, r); a.Code != http.StatusBadRequest {
			t.Errorf("two headers: %d", a.Code)
		}
	})
}

// plainHost is the test's own idea of a host name with an optional port.
func plainHost(host string) bool {
	if addr, err := netip.ParseAddrPort(host); err == nil {
		return addr.Addr().Zone() == ""
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && addr.Zone() == "" && strings.HasSuffix(host, "]")
	}
	name, port, hasPort := strings.Cut(host, ":")
	if hasPort && (port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "") || len(host) > 255 || name == "" {
		return false
	}
	return strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-._") == "" && name[0] != '-' && name[0] != '.' && !strings.Contains(name, "..")
}

func TestHostClientAddr(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		name    string
		remote  string
		hops    []string
		proxies []netip.Prefix
		want    string // empty: none
	}{
		{"nobody is trusted by default", "192.0.2.1:1", []string{"203.0.113.9"}, nil, "192.0.2.1"},
		{"the connection itself", "192.0.2.1:1", nil, proxies, "192.0.2.1"},
		{"a stranger's word", "192.0.2.1:1", []string{"203.0.113.9"}, proxies, "192.0.2.1"},
		{"a proxy's word", "10.0.0.1:1", []string{"203.0.113.9"}, proxies, "203.0.113.9"},
		{"the right-most hop that is no proxy", "10.0.0.1:1", []string{"1.1.1.1, 203.0.113.9, 10.0.0.2"}, proxies, "203.0.113.9"},
		{"over several headers", "10.0.0.1:1", []string{"1.1.1.1", "203.0.113.9", "10.0.0.2"}, proxies, "203.0.113.9"},
		{"nobody but proxies", "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, proxies, "10.0.0.3"},
		{"a proxy that says nothing", "10.0.0.1:1", nil, proxies, "10.0.0.1"},
		{"a proxy that says nonsense", "10.0.0.1:1", []string{"1.1.1.1, unknown"}, proxies, "10.0.0.1"},
		{"an injected line", "10.0.0.1:1", []string{"1.1.1.1\r\nX: y"}, proxies, "10.0.0.1"},
		{"IPv6 proxies", "[fd00::1]:1", []string{"2001:db8::7"}, proxies, "2001:db8::7"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1", []string{"::ffff:203.0.113.9"}, proxies, "203.0.113.9"},
		{"a hop with a port", "10.0.0.1:1", []string{"203.0.113.9:4711"}, proxies, "203.0.113.9"},
		{"no port", "192.0.2.1", nil, nil, "192.0.2.1"},
		{"a socket", "@", []string{"203.0.113.9"}, proxies, ""},
		{"nothing", "", nil, nil, ""},
	} {
		t.Run("R-217 "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) {
				cfg.Site.TrustedProxies = c.proxies
				cfg.Limits.CredentialsPerClient = latchkey.Rate{Events: 1, Per: time.Hour}
			})
			try := func(name string) {
				b := s.newBrowser()
				r := b.request(http.MethodPost, "/auth/callback/crew", formContentType, "username="+name+"&csrfToken="+url.QueryEscape(b.token()))
				r = withCookies(b, r)
				r.RemoteAddr = c.remote
				if c.hops != nil {
					r.Header["X-Forwarded-For"] = c.hops
				}
				b.serve(s.auth, r)
			}
			try("a")
			if got := fmt.Sprint(lastOf(s.log.records(t))["client"]); got != c.want && (c.want != "" || got != "<nil>") {
				t.Errorf("logged %q, want %q", got, c.want)
			}
			try("b")
			if counted := s.tried() == 1; counted != (c.want != "") {
				t.Errorf("the limit counts: %t", counted)
			}
		})
	}
}

// askAt asks for the list of providers under a host.
func askAt(s *testSite, host string, https bool) *answer {
	r := s.newBrowser().request(http.MethodGet, "/auth/providers", "", "")
	r.Host, r.URL.Host = host, ""
	if !https {
		r.TLS = nil
	}
	return s.newBrowser().serve(s.auth, r)
}

func withCookies(b *browser, r *http.Request) *http.Request {
	var all []string
	for name, value := range b.jar {
		all = append(all, name+"="+value)
	}
	r.Header.Set("Cookie", strings.Join(all, "; "))
	return r
}

func lastOf(records []map[string]any) map[string]any {
	if len(records) == 0 {
		return nil
	}
	return records[len(records)-1]
}

func TestHostClientSpelling(t *testing.T) {
	for _, c := range []struct {
		name, one, other string
		same             bool
		logged           string
	}{
		{"IPv4 in IPv6 is IPv4", "::ffff:192.0.2.1", "192.0.2.1", true, "192.0.2.1"},
		{"however it is written", "::FFFF:c000:0201", "192.0.2.1", true, "192.0.2.1"},
		{"two of them are two", "::ffff:192.0.2.1", "::ffff:192.0.2.2", false, "192.0.2.1"},
		{"a port is no part of it", "192.0.2.1:4711", "192.0.2.1:4712", true, "192.0.2.1"},
		{"nor with IPv6", "[2001:db8::1]:4711", "2001:db8::1", true, "2001:db8::1"},
		{"nor are brackets", "[2001:db8::1]", "2001:0db8:0::1", true, "2001:db8::1"},
		{"nor is a zone", "fe80::1%eth0", "fe80::1%eth1", true, "fe80::1"},
		{"IPv6 counts by its network", "2001:db8:1:2::1", "2001:db8:1:2:ffff::1", true, "2001:db8:1:2::1"},
		{"another network is another client", "2001:db8:1:2::1", "2001:db8:1:3::1", false, "2001:db8:1:2::1"},
		{"spaces around it", " 192.0.2.1\n", "192.0.2.1", true, "192.0.2.1"},
		{"a name stays a name", "kiosk 7", "kiosk 7", true, "kiosk 7"},
		{"two names are two", "kiosk 7", "kiosk 8", false, "kiosk 7"},
	} {
		t.Run("R-395 "+c.name, func(t *testing.T) {
			said := c.one
			s := newSite(t, func(cfg *latchkey.Config) {
				cfg.Site.ClientAddress = func(*latchkey.Request) string { return said }
				cfg.Limits.CredentialsPerClient = latchkey.Rate{Events: 1, Per: time.Hour}
			})
			s.newBrowser().post("/auth/callback/crew", "username", "a", "password", "x")
			if got := fmt.Sprint(lastOf(s.log.records(t))["client"]); got != c.logged {
				t.Errorf("logged %q, want %q", got, c.logged)
			}
			said = c.other
			s.newBrowser().post("/auth/callback/crew", "username", "b", "password", "x")
			if same := s.tried() == 1; same != c.same {
				t.Errorf("one client: %t, want %t", same, c.same)
			}
		})
	}
	t.Run("R-395 nor does the connection's count by zone", func(t *testing.T) {
		s := newSite(t, func(cfg *latchkey.Config) { cfg.Limits.CredentialsPerClient = latchkey.Rate{Events: 1, Per: time.Hour} })
		for i, remote := range []string{"[fe80::1%eth0]:1", "[fe80::1%eth1]:2", "fe80::2%eth1"} {
			b := s.newBrowser()
			r := withCookies(b, b.request(http.MethodPost, "/auth/callback/crew", formContentType, fmt.Sprintf("username=%d&csrfToken=%s", i, b.token())))
			r = withCookies(b, r)
			r.RemoteAddr = remote
			b.serve(s.auth, r)
		}
		if n := s.tried(); n != 1 {
			t.Errorf("%d tries got through, want 1", n)
		}
	})
}

func TestHostBasePath(t *testing.T) {
	s := newSite(t)
	for path, found := range map[string]bool{
		"/auth/session": true, "/auth//session": true, "/auth/session/": true, "//auth/session": false, "/authsession": false, "/auth": false, "/auth/": false, "/authx/session": false, "/AUTH/session": false, "/x/auth/session": false,
		"/auth/session/x": false, "/auth/Session": false, "/auth/%73ession": false, "/%61uth/session": false, "/auth/./session": false, "/auth/../auth/session": false, "/auth/session;x": false, "/auth\\session": false, "/auth/session%00": false, "/auth/session%2f": false, "/": false, "": false,
	} {
		t.Run("R-219 "+path, func(t *testing.T) {
			a := s.newBrowser().get(path)
			if ok := a.Code == http.StatusOK && a.Body.String() == "null"; ok != found || (!found && a.Code != http.StatusBadRequest) {
				t.Errorf("%d %s, want it found: %t", a.Code, a.Body, found)
			}
		})
	}
	for _, base := range []string{"/a.b", "/a+b", "/a(b)", "/a*", "/[x]", "/a$", "/api/v1/auth"} {
		t.Run("R-219 literal "+base, func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config) { c.Site.BasePath = base })
			if a := s.newBrowser().get(base + "/session"); a.Code != http.StatusOK {
				t.Errorf("%d", a.Code)
			}
			for _, other := range []string{strings.ReplaceAll(base, ".", "x"), strings.ReplaceAll(base, "*", "aa"), base + "x", strings.ReplaceAll(base, "+", "aa")} {
				if other != base && s.newBrowser().get(other+"/session").Code == http.StatusOK {
					t.Errorf("%s is answered too", other)
				}
			}
		})
	}
	for _, base := range []string{"auth", "/a/../b", "//auth", "/a//b", "/a?b", "/a#b", "/a%20b", "/a b", "/./a", "/", "/a\\b", "/a/.", "/a\nb", "/a|b", "/é", "/a%41"} {
		t.Run("R-219 refused "+base, func(t *testing.T) {
			_, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: siteOrigin, BasePath: base}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()}})
			if !errors.Is(err, latchkey.ErrInvalidConfig) || !strings.Contains(err.Error(), "BasePath") {
				t.Errorf("error %v", err)
			}
		})
	}
}
