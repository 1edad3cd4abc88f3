package sitetest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// endless is a body that never ends, and knows how much of it was read.
type endless struct{ total int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	e.total += len(p)
	return len(p), nil
}

func (e *endless) Close() error { return nil }

func TestLimitBodies(t *testing.T) {
	for _, c := range []struct {
		name, mediaType string
		length          int
		body            int // the limit of the configuration
		want            int // status
	}{
		{"a form at the limit", formContentType, 64 << 10, 0, 302},
		{"a form over it", formContentType, 64<<10 + 1, 0, 413},
		{"a form in capitals", "Application/X-WWW-Form-Urlencoded", 64<<10 + 1, 0, 413},
		{"JSON at the limit", "application/json", 1 << 20, 0, 302},
		{"JSON over it", "application/json", 1<<20 + 1, 0, 413},
		{"anything at the limit", "text/plain", 1 << 20, 0, 302},
		{"anything over it", "text/plain", 1<<20 + 1, 0, 413},
		{"no type", "", 1<<20 + 1, 0, 413},
		{"a smaller limit", "application/json", 101, 100, 413},
		{"a smaller limit for forms", formContentType, 101, 100, 413},
		{"a greater limit", "application/json", 2 << 20, 2 << 20, 302},
		{"a greater limit is not for forms", formContentType, 64<<10 + 1, 2 << 20, 413},
	} {
		for _, declared := range []bool{true, false} {
			t.Run(fmt.Sprintf("R-221 %s, length declared %t", c.name, declared), func(t *testing.T) {
				s := newSite(t, func(cfg *latchkey.Config) { cfg.Limits.MaxBodyBytes = c.body })
				b := s.newBrowser()
				body := strings.Repeat("a", c.length)
				switch { // each value is short
				case strings.Contains(c.mediaType, "json"):
					body = `{"x":["` + strings.Repeat(strings.Repeat("a", 2997)+`","`, max(0, c.length-16)/3000)
					body += strings.Repeat("a", max(0, c.length-len(body)-3)) + `"]}`
				case strings.EqualFold(c.mediaType, formContentType):
					body = strings.Repeat("x="+strings.Repeat("a", 1021)+"&", c.length/1024+1)[:c.length]
				}
				r := b.request(http.MethodPost, "/auth/signout", c.mediaType, body)
				if !declared {
					r.ContentLength = -1
				}
				a := b.serve(s.auth, r)
				if a.Code != c.want {
					t.Errorf("status %d, want %d", a.Code, c.want)
				}
				if closes := a.Header().Get("Connection") == "close"; closes != (c.want == 413) {
					t.Errorf("the connection is closed: %t", closes)
				}
			})
		}
	}
	t.Run("R-221 the rest stays unread", func(t *testing.T) {
		b := newSite(t).newBrowser()
		for declared, most := range map[int64]int{-1: 2 << 20, 1 << 40: 0} {
			body := &endless{}
			r := b.request(http.MethodPost, "/auth/signout", "application/json", "")
			r.Body, r.ContentLength = body, declared
			if a := b.serve(b.site.auth, r); a.Code != http.StatusRequestEntityTooLarge || body.total > most {
				t.Errorf("status %d after %d bytes, want at most %d", a.Code, body.total, most)
			}
		}
	})
	t.Run("R-221 GET has no body", func(t *testing.T) {
		b := newSite(t).newBrowser()
		body := &endless{}
		r := b.request(http.MethodGet, "/auth/session", "application/json", "")
		r.Body, r.ContentLength = body, 1<<30
		if a := b.serve(b.site.auth, r); a.Code != http.StatusOK || body.total != 0 {
			t.Errorf("status %d, %d bytes read", a.Code, body.total)
		}
	})
	t.Run("R-221 for other frameworks", func(t *testing.T) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("a", 1<<20+1)))
		if _, err := latchkey.FromHTTP(r); !errors.Is(err, latchkey.ErrBodyTooLarge) {
			t.Errorf("FromHTTP: %v", err)
		}
		r = httptest.NewRequest(http.MethodPost, "/", strings.NewReader("body"))
		if req, err := latchkey.FromHTTP(r); err != nil || string(req.Body) != "body" {
			t.Errorf("FromHTTP: %q, %v", req.Body, err)
		}
	})
}

func TestLimitShapeOfRequests(t *testing.T) {
	many := func(n int) string { return strings.TrimSuffix(strings.Repeat(`"a":0,`, n), ",") }
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		target, mediaType, body string
		want                    int
	}{
		"1,000 members":                 {"/auth/signout", "application/json", "{" + many(1000) + "}", 302},
		"1,001 members":                 {"/auth/signout", "application/json", "{" + many(1001) + "}", 400},
		"half a million members":        {"/auth/signout", "application/json", "{" + many(170_000) + "}", 400},
		"an array as wide":              {"/auth/session", "application/json", `{"data":[0` + strings.Repeat(",0", 500_000) + "]}", 400},
		"wide to whoever tries to type": {"/auth/callback/crew", "application/json", "{" + many(1001) + "}", 400},
		"64 levels":                     {"/auth/signout", "application/json", strings.Repeat(`{"a":`, 64) + "0" + strings.Repeat("}", 64), 302},
		"65 levels":                     {"/auth/signout", "application/json", strings.Repeat(`{"a":`, 65) + "0" + strings.Repeat("}", 65), 400},
		"65 levels of what is typed":    {"/auth/callback/crew", "application/json", strings.Repeat(`{"a":`, 65) + "0" + strings.Repeat("}", 65), 400},
		"a value of 4 KiB":              {"/auth/signout", "application/json", `{"a":"` + long(4<<10) + `"}`, 302},
		"a longer value":                {"/auth/signout", "application/json", `{"a":"` + long(4<<10+1) + `"}`, 400},
		"a longer value inside":         {"/auth/session", "application/json", `{"data":{"a":["` + long(4<<10+1) + `"]}}`, 400},
		"a longer name":                 {"/auth/signout", "application/json", `{"` + long(4<<10+1) + `":0}`, 400},
		"a longer number":               {"/auth/signout", "application/json", `{"a":` + strings.Repeat("1", 4<<10+1) + `}`, 400},
		"a longer credential":           {"/auth/callback/crew", "application/json", `{"password":"` + long(4<<10+1) + `"}`, 302},
		"1,000 fields":                  {"/auth/signout", formContentType, strings.Repeat("a=0&", 999) + "a=0", 302},
		"1,001 fields":                  {"/auth/signout", formContentType, strings.Repeat("a=0&", 1000) + "a=0", 400},
		"a field of 4 KiB":              {"/auth/signout", formContentType, "a=" + long(4<<10), 302},
		"a longer field":                {"/auth/signout", formContentType, "a=" + long(4<<10+1), 400},
		"the same, sent twice":          {"/auth/signout", formContentType, "a=" + long(4<<10+1) + "&a=0", 400},
		"a longer name of a field":      {"/auth/signout", formContentType, long(4<<10+1) + "=0", 400},
		"a longer credential by form":   {"/auth/callback/crew", formContentType, "password=" + long(4<<10+1), 302},
		"a query of 8 KiB":              {"/auth/signout?a=" + long(4<<10) + "&b=" + long(4<<10-5), formContentType, "", 302},
		"a longer query":                {"/auth/signout?a=" + long(4<<10) + "&b=" + long(4<<10-4), formContentType, "", 400},
		"a value of a query":            {"/auth/signout?a=" + long(4<<10+1), formContentType, "", 400},
	} {
		t.Run("R-390 "+name, func(t *testing.T) {
			s := newSite(t)
			a := s.newBrowser().do(http.MethodPost, c.target, c.mediaType, c.body)
			if a.Code != c.want {
				t.Errorf("status %d, want %d", a.Code, c.want)
			}
			if lines := strings.Count(s.log.text(), "too deeply nested"); c.want == 400 && lines != 1 {
				t.Errorf("%d lines in the log say why", lines)
			}
			if s.tried() != 0 {
				t.Error("Authorize was asked")
			}
		})
	}
	t.Run("R-390 a long query asks for nothing", func(t *testing.T) {
		s := newSite(t)
		for _, action := range []string{"session", "signin", "callback/acme", "callback/post"} {
			if a := s.newBrowser().get("/auth/" + action + "?x=" + long(9<<10)); a.Code != http.StatusBadRequest || len(a.Result().Cookies()) != 0 {
				t.Errorf("%s: %d", action, a.Code)
			}
		}
	})
	t.Run("R-390 floods of them are sampled in the log", func(t *testing.T) {
		s := newSite(t)
		for range 100 {
			s.newBrowser().get("/auth/session?x=" + long(9<<10))
		}
		if n := strings.Count(s.log.text(), "too deeply nested"); n != 10 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestLimitLog(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) {
		c.Callbacks.Session = func(context.Context, latchkey.SessionInfo) (*latchkey.Session, error) {
			return nil, errors.New("fault")
		}
	})
	flood := func() (debug, failed int) {
		before := len(s.log.records(t))
		for range 200 {
			b := s.newBrowser()
			b.jar["__Secure-authjs.session-token"] = "junk"
			b.get("/auth/session")
			s.newBrowser().do(http.MethodPost, "/auth/signout", formContentType, "")
		}
		for _, r := range s.log.records(t)[before:] {
			switch {
			case r["level"] == "DEBUG":
				debug++
			case strings.Contains(fmt.Sprint(r["msg"]), "MissingCSRF"):
				failed++
			}
		}
		return debug, failed
	}
	for range 2 {
		if debug, failed := flood(); debug == 0 || debug > 10 || failed == 0 || failed > 10 {
			t.Errorf("R-224: %d and %d lines in one second, want some and at most 10", debug, failed)
		}
		s.clock.Advance(time.Second)
	}
	t.Run("R-224 junk hides no real fault", func(t *testing.T) {
		b := s.newBrowser()
		b.signIn()
		s.clock.Advance(time.Second)
		flood()
		before := len(s.log.records(t))
		b.get("/auth/session")
		if text := fmt.Sprint(s.log.records(t)[before:]); !strings.Contains(text, "fault") {
			t.Error("the fault is not in the log")
		}
	})
}

// newIssuerSite is a site with a scripted issuer as its provider; both read one
// clock.
func newIssuerSite(t *testing.T, change ...func(*latchkey.Config)) (*testSite, *latchkeytest.Issuer) {
	t.Helper()
	clock := newTestClock()
	issuer := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Time = clock.Now })
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
	transport := &http.Transport{MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	s := newSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Providers = append(c.Providers, issuer.Provider())
		c.Runtime.HTTPClient = &http.Client{Transport: transport}
		c.Runtime.Time = clock.Now
		c.Limits.ProviderCallTimeout, c.Limits.ProviderTimeout = time.Minute, time.Minute // a busy machine takes its time
	}}, change...)...)
	s.clock = clock
	return s, issuer
}

// tryOAuth follows a sign-in to the issuer and back. The answer is the
// callback's, or that of the sign-in where it got no further.
func (b *browser) tryOAuth(client *http.Client, provider string) (*answer, error) {
	a := b.post("/auth/signin/" + provider)
	if strings.HasPrefix(a.location(), siteOrigin) || a.location() == "" {
		return a, nil
	}
	res, err := client.Get(a.location())
	if err != nil {
		return nil, err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return b.get(strings.TrimPrefix(res.Header.Get("Location"), siteOrigin)), nil
}

// newHTTPClient follows no redirect, so that a test can look at each.
func newHTTPClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestLimitColdHerd(t *testing.T) {
	s, issuer := newIssuerSite(t, func(c *latchkey.Config) { c.Limits.StoreTimeout = time.Minute }) // for so many
	client := newHTTPClient(t)
	const herd = 1000
	failed := make(chan string, herd)
	var all sync.WaitGroup
	for range herd {
		all.Go(func() {
			a, err := s.newBrowser().tryOAuth(client, "issuer")
			switch {
			case err != nil:
				failed <- err.Error()
			case !a.signsIn():
				failed <- fmt.Sprint(a.Code, " to ", a.location())
			}
		})
	}
	all.Wait()
	close(failed)
	for why := range failed {
		t.Fatalf("R-225: %d of %d sign-ins failed, one with %s", len(failed)+1, herd, why)
	}
	if discovery, keys := issuer.Count(latchkeytest.PathDiscovery), issuer.Count(latchkeytest.PathJWKS); discovery != 1 || keys != 1 {
		t.Errorf("R-225: %d discovery and %d key requests, want one each", discovery, keys)
	}
	if contents := s.store.Contents(); len(contents.Users) != 1 || len(contents.Accounts) != 1 {
		t.Errorf("R-188: %d users and %d accounts for one person", len(contents.Users), len(contents.Accounts))
	}
}

func TestLimitDiscovery(t *testing.T) {
	client := newHTTPClient(t)
	works := func(t *testing.T, s *testSite) {
		t.Helper()
		if a, err := s.newBrowser().tryOAuth(client, "issuer"); err != nil || !a.signsIn() {
			t.Fatalf("no sign-in: %v, %+v", err, a.location())
		}
	}
	down := latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathDiscovery: {Status: http.StatusServiceUnavailable}}}
	t.Run("R-226 success is kept", func(t *testing.T) {
		s, issuer := newIssuerSite(t)
		works(t, s)
		s.clock.Advance(4*time.Minute + 59*time.Second)
		works(t, s)
		if n := issuer.Count(latchkeytest.PathDiscovery); n != 1 {
			t.Errorf("%d requests within five minutes", n)
		}
		s.clock.Advance(25 * time.Hour)
		works(t, s)
		if n := issuer.Count(latchkeytest.PathDiscovery); n != 2 {
			t.Errorf("%d requests after a day, want 2", n)
		}
	})
	t.Run("R-226 stale metadata beats none", func(t *testing.T) {
		s, issuer := newIssuerSite(t)
		works(t, s)
		issuer.Misbehave(down)
		s.clock.Advance(25 * time.Hour)
		works(t, s)
	})
	t.Run("R-226 failure is kept, for a while", func(t *testing.T) {
		s, issuer := newIssuerSite(t)
		issuer.Misbehave(down)
		for range 20 {
			if a, _ := s.newBrowser().tryOAuth(client, "issuer"); a.error() != "Configuration" {
				t.Fatalf("sent to %q", a.location())
			}
		}
		if n := issuer.Count(latchkeytest.PathDiscovery); n > 2 {
			t.Errorf("%d requests in a second", n)
		}
		issuer.Misbehave(latchkeytest.Misbehaviour{})
		s.clock.Advance(31 * time.Second)
		works(t, s)
	})
	t.Run("R-226 both can be switched off", func(t *testing.T) {
		s, issuer := newIssuerSite(t, func(c *latchkey.Config) { c.Limits.DiscoveryMaxAge, c.Limits.DiscoveryPause = -1, -1 })
		issuer.Misbehave(down)
		_, _ = s.newBrowser().tryOAuth(client, "issuer")
		issuer.Misbehave(latchkeytest.Misbehaviour{})
		works(t, s)
		before := issuer.Count(latchkeytest.PathDiscovery)
		works(t, s)
		if issuer.Count(latchkeytest.PathDiscovery) == before {
			t.Error("the metadata was kept")
		}
	})
}

// patientTransport waits for every answer but that to one path: the short limit
// that ends a call which hangs would, whenever the machine is busy, end one that
// is well too.
type patientTransport struct {
	http.Transport
	not atomic.Value // string
}

func (p *patientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == p.not.Load() {
		return p.Transport.RoundTrip(r)
	}
	endless, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, r.URL.String(), r.Body)
	if err != nil {
		return nil, err
	}
	endless.Header, endless.ContentLength = r.Header, r.ContentLength
	return p.Transport.RoundTrip(endless)
}

func TestLimitUpstreamFaults(t *testing.T) {
	faults := map[string]latchkeytest.Answer{
		"R-227 hangs": {Hang: true}, "R-227 hangs up": {Drop: true}, "R-228 huge": {Pad: 1<<20 + 1}, "R-228 huge headers": {Header: http.Header{"X-Long": {strings.Repeat("x", 65<<10)}}},
		"500": {Status: 500}, "429": {Status: 429}, "empty": {Body: []byte{}}, "cut": {Truncate: true}, "HTML": {Body: []byte("<html>"), Header: http.Header{"Content-Type": {"text/html"}}}, "R-047 redirect": {Redirect: "http://127.0.0.1:1/"},
		"an array": {Body: []byte("[]")}, "null": {Body: []byte("null")}, "deep": {Body: bytes.Repeat([]byte("["), 100_000)},
	}
	client := newHTTPClient(t)
	for _, path := range []string{latchkeytest.PathDiscovery, latchkeytest.PathToken, latchkeytest.PathJWKS, latchkeytest.PathUserInfo} {
		for name, fault := range faults {
			t.Run(name+" at "+path, func(t *testing.T) {
				t.Parallel()
				waits := &patientTransport{Transport: http.Transport{MaxResponseHeaderBytes: 64 << 10}}
				t.Cleanup(waits.CloseIdleConnections)
				if fault.Hang {
					waits.not.Store(path)
				}
				s, issuer := newIssuerSite(t, func(c *latchkey.Config) {
					c.Limits.ProviderCallTimeout, c.Limits.DiscoveryPause = 300*time.Millisecond, -1
					c.Runtime.HTTPClient = &http.Client{Transport: waits}
					p := c.Providers[3].(*latchkey.OAuth)
					p.ProfileFromUserInfo = true
				})
				issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{path: fault}})
				before := s.contents()
				a, err := s.newBrowser().tryOAuth(client, "issuer")
				if err != nil {
					t.Fatal(err)
				}
				if a.signsIn() || a.Code != http.StatusFound || a.error() == "" || s.contents() != before {
					t.Errorf("%d to %q, want it refused", a.Code, a.location())
				}
				if issuer.Count(path) == 0 {
					t.Fatal("the endpoint was not asked")
				}
				issuer.Misbehave(latchkeytest.Misbehaviour{})
				waits.not.Store("")
				s.clock.Advance(time.Minute)
				if a, err := s.newBrowser().tryOAuth(client, "issuer"); err != nil || !a.signsIn() {
					t.Errorf("no full service afterwards: %v, to %q", err, a.location())
				}
			})
		}
	}
}

func TestLimitRequestEndsCalls(t *testing.T) {
	s, issuer := newIssuerSite(t)
	asked := make(chan struct{}, 1)
	issuer.Misbehave(latchkeytest.Misbehaviour{
		Before:  func(path string) { asked <- struct{}{} },
		Answers: map[string]latchkeytest.Answer{latchkeytest.PathDiscovery: {Hang: true}},
	})
	before := runtime.NumGoroutine()
	b := s.newBrowser()
	ctx, cancel := context.WithCancel(t.Context())
	r := b.request(http.MethodPost, "/auth/signin/issuer", formContentType, "csrfToken="+b.token())
	r = withCookies(b, r)
	go func() {
		<-asked
		cancel() // the user closes the tab
	}()
	if a := b.serve(s.auth, r.WithContext(ctx)); a.error() != "Configuration" {
		t.Errorf("R-227: sent to %q", a.location())
	}
	issuer.Close()
	waitForGoroutines(t, before)
}

// waitForGoroutines waits until no more goroutines run than before.
func waitForGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(race.Patience(time.Minute)); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			buf := make([]byte, 64<<10)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestLimitTLS(t *testing.T) {
	for _, c := range []struct {
		name    string
		trusted bool
		old     bool
		addr    string // replaces 127.0.0.1
		reached bool
	}{
		{"R-230 an unknown authority", false, false, "", false},
		{"R-230 another name", true, false, "localhost", false},
		{"R-230 TLS 1.1", true, true, "", false},
		{"R-230 all is well", true, false, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached := false
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached = true }))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			if c.old {
				server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
			}
			server.StartTLS()
			defer server.Close()
			var client *http.Client
			if c.trusted {
				roots := x509.NewCertPool()
				roots.AddCert(server.Certificate())
				client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
			}
			addr := server.URL
			if c.addr != "" {
				addr = strings.Replace(addr, "127.0.0.1", c.addr, 1)
			}
			s := newSite(t, func(cfg *latchkey.Config) {
				cfg.Runtime.HTTPClient = client
				cfg.Providers = append(cfg.Providers, &latchkey.OAuth{ID: "far", OIDC: true, Issuer: addr, ClientID: "x", ClientSecret: "y"})
			})
			a := s.newBrowser().post("/auth/signin/far")
			if a.error() != "Configuration" || reached != c.reached {
				t.Errorf("sent to %q, provider reached: %t", a.location(), reached)
			}
		})
	}
}

func TestLimitLeaks(t *testing.T) {
	s, issuer := newIssuerSite(t, func(c *latchkey.Config) {
		c.Limits.Disabled = true
		c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
			if a.User.Email == "panic@example.com" {
				panic("boom")
			}
			return nil
		}
	})
	b := s.newBrowser()
	b.signIn()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	mixed := []func(i int){
		func(int) { b.get("/auth/session") },
		func(int) { s.newBrowser().get("/auth/signin") },
		func(int) { s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "?") },
		func(int) { s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland") },
		func(int) { s.newBrowser().post("/auth/signin/post", "email", "panic@example.com") },
		func(int) { s.newBrowser().post("/auth/signin/acme") },
		func(int) { s.newBrowser().get("/auth/callback/acme?code=x&state=y") },
		func(int) { s.newBrowser().get("/auth/callback/post?token=x&email=a@example.com") },
		func(int) {
			b := s.newBrowser()
			r := withCookies(b, b.request(http.MethodPost, "/auth/callback/crew", formContentType, "username=alice&csrfToken="+b.token()))
			b.serve(s.auth, r.WithContext(gone))
		},
		func(int) {
			b := s.newBrowser()
			r := withCookies(b, b.request(http.MethodPost, "/auth/signin/issuer", formContentType, "csrfToken="+b.token()))
			b.serve(s.auth, r.WithContext(gone))
		},
		func(i int) {
			b := s.newBrowser()
			b.jar["__Secure-authjs.session-token"] = fmt.Sprint("junk", i)
			b.get("/auth/session")
		},
	}
	for _, f := range mixed {
		f(0)
	}
	rest := func() (goroutines int, heap uint64) {
		s.mu.Lock()
		s.links, s.tries = nil, nil
		s.mu.Unlock()
		s.log.mu.Lock()
		s.log.buf = bytes.Buffer{}
		s.log.mu.Unlock()
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	goroutines, heap := rest()
	for i := range 10_000 {
		mixed[i%len(mixed)](i)
	}
	waitForGoroutines(t, goroutines)
	if _, after := rest(); after > heap+8<<20 {
		t.Errorf("R-231: the heap grew from %d to %d KiB", heap>>10, after>>10)
	}
	if n := issuer.Count(""); n > 1 {
		t.Errorf("requests whose browsers had left cost the provider %d requests", n)
	}
}

func TestLimitMalformedHTTP(t *testing.T) {
	s := newSite(t)
	server := httptest.NewUnstartedServer(s.auth)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	addr := strings.TrimPrefix(server.URL, "http://")
	cookie := "Cookie: " + csrfCookie + "=" + csrfPair("token", siteSecret) + "\r\n"
	post := func(headers, body string) string {
		return "POST /auth/signout HTTP/1.1\r\nHost: x\r\n" + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	}
	form := "Content-Type: " + formContentType + "\r\n"
	for name, raw := range map[string]string{
		"%zz in the path":            "GET /auth/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		"%zz in the query":           "GET /auth/signin?callbackUrl=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		"semicolons":                 "GET /auth/signin?a;b;callbackUrl=/x HTTP/1.1\r\nHost: x\r\n\r\n",
		"NUL in the query":           "GET /auth/signin?callbackUrl=/%00 HTTP/1.1\r\nHost: x\r\n\r\n",
		"NUL in a header":            "GET /auth/session HTTP/1.1\r\nHost: x\r\nCookie: a=\x00\r\n\r\n",
		"invalid UTF-8 path":         "GET /auth/\xff HTTP/1.1\r\nHost: x\r\n\r\n",
		"invalid UTF-8 query":        "GET /auth/signin?error=\xff&email=\xff HTTP/1.1\r\nHost: x\r\n\r\n",
		"invalid UTF-8 cookie":       "GET /auth/session HTTP/1.1\r\nHost: x\r\nCookie: __Secure-authjs.session-token=\xff\r\n\r\n",
		"duplicate parameters":       "GET /auth/callback/acme?code=a&code=b&state=c&state=d HTTP/1.1\r\nHost: x\r\n\r\n",
		"no host":                    "GET /auth/session HTTP/1.1\r\n\r\n",
		"two hosts":                  "GET /auth/session HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"odd method":                 "G@T /auth/session HTTP/1.1\r\nHost: x\r\n\r\n",
		"long method":                strings.Repeat("A", 5000) + " /auth/session HTTP/1.1\r\nHost: x\r\n\r\n",
		"negative length":            "POST /auth/signout HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"two lengths":                "POST /auth/signout HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"length and chunks":          "POST /auth/signout HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"broken chunks":              "POST /auth/signout HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
		"huge header":                "GET /auth/session HTTP/1.1\r\nHost: x\r\nCookie: a=" + strings.Repeat("a", 2<<20) + "\r\n\r\n",
		"many cookies":               "GET /auth/session HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("a=b; ", 20_000) + "\r\n\r\n",
		"many parameters":            "GET /auth/session?" + strings.Repeat("a=b&", 20_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"absolute form":              "GET http://evil.example/auth/session HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"authority form":             "CONNECT app.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"asterisk form":              "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"HTTP/1.0":                   "GET /auth/session HTTP/1.0\r\n\r\n",
		"invalid UTF-8 form":         post(cookie+form, "csrfToken=token&callbackUrl=%ff%fe"),
		"broken escapes in a form":   post(cookie+form, "csrfToken=token&callbackUrl=%zz&%=%"),
		"semicolons in a form":       post(cookie+form, "csrfToken=token;callbackUrl=/x"),
		"NUL in a form":              post(cookie+form, "csrfToken=token&callbackUrl=/\x00"),
		"invalid UTF-8 JSON":         post(cookie+"Content-Type: application/json\r\n", "{\"csrfToken\":\"token\",\"callbackUrl\":\"/\xff\"}"),
		"deep JSON":                  post(cookie+"Content-Type: application/json\r\n", strings.Repeat(`{"a":`, 20_000)),
		"surrogates in JSON":         post(cookie+"Content-Type: application/json\r\n", `{"csrfToken":"token","callbackUrl":"/\ud800"}`),
		"odd content type":           post(cookie+"Content-Type: ;;;=\r\n", "x"),
		"content type, many options": post(cookie+"Content-Type: application/json"+strings.Repeat(";a=b", 5000)+"\r\n", "{}"),
		"a body with GET":            "GET /auth/session HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
	} {
		t.Run("R-234 "+name, func(t *testing.T) {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			go func() { _, _ = io.WriteString(conn, raw) }()
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "reset") {
					return // the server hung up, which is its right
				}
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode >= 500 && !strings.Contains(string(body), "configuration") && res.StatusCode != http.StatusNotImplemented {
				t.Errorf("status %d: %.200s", res.StatusCode, body)
			}
			for _, c := range res.Cookies() {
				if strings.Contains(c.Name, "session-token") && c.Value != "" {
					t.Error("a session is set")
				}
			}
			if to := res.Header.Get("Location"); to != "" && landsOn(siteOrigin, to) != siteOrigin {
				t.Errorf("sent to %q", to)
			}
		})
	}
}

func TestLimitPanicsStayInside(t *testing.T) {
	boom := func() { panic(fmt.Errorf("boom")) }
	s := newSite(t, func(c *latchkey.Config) {
		c.Events = latchkey.Events{
			SignIn: func(context.Context, latchkey.SignInEvent) error { boom(); return nil }, SignOut: func(context.Context, latchkey.SignOutEvent) error { boom(); return nil },
			CreateUser: func(context.Context, latchkey.User) error { boom(); return nil }, Session: func(context.Context, latchkey.SessionEvent) error { boom(); return nil },
		}
		post := *c.Providers[1].(*latchkey.Email)
		post.ID, post.Normalize = "normal", func(string) (string, error) { boom(); return "", nil }
		maker := *c.Providers[1].(*latchkey.Email)
		maker.ID, maker.NewToken = "maker", func() (string, error) { boom(); return "", nil }
		sender := *c.Providers[1].(*latchkey.Email)
		sender.ID, sender.Send = "sender", func(context.Context, latchkey.Message) error { boom(); return nil }
		c.Providers = append(c.Providers, &post, &maker, &sender)
		c.Limits.Replay = brokenReplayStore{}
	})
	b := s.newBrowser()
	b.signIn()
	for _, a := range []*answer{b.get("/auth/session"), b.post("/auth/signout"), b.post("/auth/signin/normal", "email", "a@example.com"), b.post("/auth/signin/maker", "email", "a@example.com"), b.post("/auth/signin/sender", "email", "a@example.com")} {
		if a.Code >= 500 {
			t.Errorf("R-233: %d", a.Code)
		}
	}
	if n := len(s.store.Contents().VerificationTokens); n != 0 {
		t.Errorf("R-149: %d links are left whose mail never went", n)
	}
}

type brokenReplayStore struct{}

func (brokenReplayStore) Use(context.Context, string, time.Time) (bool, error) { panic("once") }

// countingReplay counts what it is asked to remember, and may be full.
type countingReplay struct {
	used int
	full bool
}

func (r *countingReplay) Use(context.Context, string, time.Time) (bool, error) {
	if r.used++; r.full {
		return false, limit.ErrNoRoom
	}
	return true, nil
}

func TestReplayMemory(t *testing.T) {
	t.Run("R-507 only sign-ins whose code was traded are remembered", func(t *testing.T) {
		used := &countingReplay{}
		s := newOAuthSite(t, withIssuer(fullChecks), func(c *latchkey.Config) { c.Limits.Replay = used })
		good := s.authResponse(s.newBrowser(), "issuer")
		for range 20 {
			b := s.newBrowser()
			mine := s.authResponse(b, "issuer")
			mine.Set("code", "junk")
			b.callback("issuer", mine)
			b = s.newBrowser()
			mine = s.authResponse(b, "issuer")
			mine.Del("code")
			mine.Set("error", "access_denied")
			b.callback("issuer", mine)
			s.newBrowser().callback("issuer", good)
		}
		if used.used != 0 {
			t.Errorf("%d answers that cost nothing were remembered", used.used)
		}
		if s.mustSignIn(s.newBrowser()); used.used != 1 {
			t.Errorf("a sign-in is remembered %d times", used.used)
		}
	})
	t.Run("R-507 a full memory is an outage, and not the operator's fault", func(t *testing.T) {
		used := &countingReplay{full: true}
		_, b, params := newAnsweredSite(t, withIssuer(fullChecks), func(c *latchkey.Config) { c.Limits.Replay = used })
		b.header.Set("Accept", "text/html")
		b.header.Set("Sec-Fetch-Mode", "navigate")
		b.header.Set("Sec-Fetch-Dest", "document")
		a := b.callback("issuer", params)
		if a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") == "" || a.signsIn() || !strings.Contains(a.Body.String(), `href="https://app.example/auth/signin"`) {
			t.Errorf("%d to %q, Retry-After %q\n%s", a.Code, a.location(), a.Header().Get("Retry-After"), a.Body)
		}
	})
}
