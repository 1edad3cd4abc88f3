//go:build linux

package interop

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

const proxiedHost = realservers.GuideHost

// TestProxies: O-077. Behind nginx, Caddy and HAProxy as the deployment guide has them, a
// visitor signs in at a provider and signs out, a session of 9 KB passes, headers that
// the visitor forges change nothing, and no code of a provider is in an access log.
func TestProxies(t *testing.T) {
	for _, name := range realservers.GuideProxies {
		t.Run("O-077 "+name, func(t *testing.T) {
			site := newProxiedSite(t)
			instance := httptest.NewServer(site.auth)
			t.Cleanup(instance.Close)
			proxy := realservers.NewGuideProxy(t, name, strings.TrimPrefix(instance.URL, "http://"))
			v := newProxyVisitor(t, proxy)
			v.signsIn(t, site.provider)
			var session struct {
				User  struct{ Email string }
				Notes string
			}
			ok(t, json.Unmarshal([]byte(v.get(t, "/auth/session")), &session))
			if session.User.Email == "" || len(session.Notes) != 6500 {
				t.Fatalf("O-077 the session has the address %q and %d bytes of notes", session.User.Email, len(session.Notes))
			}
			if n := v.cookieBytes(t); n < 9_000 {
				t.Errorf("O-077 the session's cookies have %d bytes, want 9,000", n)
			}
			v.post(t, "/auth/signout", url.Values{})
			if got := v.get(t, "/auth/session"); got != "null" {
				t.Errorf("O-077 after the sign-out: %s", got)
			}
			for _, client := range site.seen() {
				if client != "127.0.0.1" {
					t.Errorf("O-077 an event names the client %q: a forged header was believed", client)
				}
			}
			if name != "haproxy" { // which logs no query by its own format in the guide, and to syslog
				if log := proxy.Log(t); strings.Contains(log, "code=") || !strings.Contains(log, "/auth/callback/") {
					t.Errorf("O-077 the access log has the code, or no callback at all:\n%s", log)
				}
			}
		})
	}
}

type proxiedSite struct {
	auth     *latchkey.Auth
	provider string

	lock    sync.Mutex
	clients []string
}

func newProxiedSite(t *testing.T) *proxiedSite {
	t.Helper()
	s := &proxiedSite{}
	issuer := latchkeytest.NewIssuer(t)
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{TrustHost: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
		Secrets:   []string{newSecret},
		Providers: []latchkey.Provider{issuer.Provider()},
		Session:   latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Callbacks: latchkey.Callbacks{
			Token: func(_ context.Context, in latchkey.TokenInfo) (latchkey.Claims, error) {
				in.Claims["notes"] = strings.Repeat("n", 6500)
				return in.Claims, nil
			},
			Session: func(_ context.Context, in latchkey.SessionInfo) (*latchkey.Session, error) {
				in.Session.Extra = latchkey.Claims{"notes": in.Claims.String("notes")}
				return in.Session, nil
			},
		},
		Events: latchkey.Events{Observe: func(_ context.Context, e latchkey.Event) error {
			s.lock.Lock()
			defer s.lock.Unlock()
			if e.Type == event.SignIn || e.Type == event.SessionEnded {
				s.clients = append(s.clients, e.Client)
			}
			return nil
		}},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))},
	})
	ok(t, err)
	s.auth, s.provider = auth, issuer.Provider().ID
	return s
}

func (s *proxiedSite) seen() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.clients
}

// proxyVisitor is a client that reaches the host by the proxy and forges what proxies say.
type proxyVisitor struct {
	http.Client
	jar http.CookieJar
}

func newProxyVisitor(t *testing.T, proxy realservers.WebProxy) *proxyVisitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	ok(t, err)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: proxy.CA},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == proxiedHost+":443" {
				addr = proxy.Addr
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	v := &proxyVisitor{jar: jar}
	v.Client = http.Client{Jar: jar, Transport: forging{transport}}
	return v
}

// forging adds what a visitor may say and nobody may believe.
type forging struct{ http.RoundTripper }

func (f forging) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == proxiedHost {
		r = r.Clone(r.Context())
		r.Header.Set("X-Forwarded-Host", "evil.example")
		r.Header.Set("X-Forwarded-Proto", "http")
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
	}
	return f.RoundTripper.RoundTrip(r)
}

func (v *proxyVisitor) get(t *testing.T, path string) string {
	t.Helper()
	res, err := v.Get("https://" + proxiedHost + path)
	ok(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	ok(t, err)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s: %s", path, res.Status, body)
	}
	return string(body)
}

// post sends a form with the CSRF token and follows where it leads.
func (v *proxyVisitor) post(t *testing.T, path string, form url.Values) {
	t.Helper()
	var csrf struct{ CSRFToken string }
	ok(t, json.Unmarshal([]byte(v.get(t, "/auth/csrf")), &csrf))
	form.Set("csrfToken", csrf.CSRFToken)
	form.Set("callbackUrl", "https://"+proxiedHost+"/auth/session")
	res, err := v.PostForm("https://"+proxiedHost+path, form)
	ok(t, err)
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || res.Request.URL.String() != "https://"+proxiedHost+"/auth/session" {
		t.Fatalf("POST %s ended at %s with %s", path, res.Request.URL.Redacted(), res.Status)
	}
}

func (v *proxyVisitor) signsIn(t *testing.T, provider string) {
	t.Helper()
	v.post(t, "/auth/signin/"+provider, url.Values{})
}

func (v *proxyVisitor) cookieBytes(t *testing.T) (n int) {
	t.Helper()
	for _, c := range v.jar.Cookies(&url.URL{Scheme: "https", Host: proxiedHost, Path: "/"}) {
		if strings.Contains(c.Name, "session-token") {
			n += len(c.Name) + len(c.Value)
		}
	}
	return n
}
