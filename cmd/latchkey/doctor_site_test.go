package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// runningSite is a site that runs, with what stands in front of it.
type runningSite struct {
	t       *testing.T
	issuer  *latchkeytest.Issuer
	config  latchkey.Config
	front   func(site http.Handler) http.Handler // what breaks it
	tls     bool
	base    string // asked for; empty: /auth
	host    string // asked for, in place of the address
	flags   siteFlags
	change  func(*siteProbe)
	mails   int
	address string

	registered []string // redirect URIs at the provider; none: all
}

// origin is replaced by that of the server in the URL of a site.
const origin = "ORIGIN"

// ask starts the site, runs the doctor against it and returns the report.
func (s *runningSite) ask(t *testing.T) string {
	t.Helper()
	s.t = t
	s.issuer = latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Algorithm, c.RedirectURIs = "ES256", s.registered })
	inner := http.NewServeMux()
	server := httptest.NewUnstartedServer(inner)
	if s.tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	s.address = server.URL
	if s.host != "" {
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		s.address = u.Scheme + "://" + s.host + ":" + u.Port()
	}
	var handler http.Handler = s.newSite()
	if s.front != nil {
		handler = s.front(handler)
	}
	inner.Handle("/", handler)
	var out bytes.Buffer
	p := &program{now: time.Now, http: &http.Client{Transport: server.Client().Transport.(*http.Transport)}}
	r := &report{out: &out}
	probe, err := newSiteProbe(p, r, s.address+s.base)
	if err != nil {
		t.Fatal(err)
	}
	if s.change != nil {
		s.change(probe)
	}
	for i, address := range s.flags.instances {
		s.flags.instances[i] = strings.Replace(address, origin, server.URL, 1)
	}
	s.flags.health = strings.Replace(s.flags.health, origin, server.URL, 1)
	ctx, cancel := context.WithTimeout(t.Context(), siteTime)
	defer cancel()
	probe.run(ctx, s.flags)
	_ = r.end()
	s.harmless(out.String())
	return out.String()
}

// newSite makes the site itself.
func (s *runningSite) newSite() *latchkey.Auth {
	s.t.Helper()
	return s.newSiteWith("the secret of a site that the doctor asks")
}

// newSiteWith makes an instance of the site that has a secret.
func (s *runningSite) newSiteWith(secret string) *latchkey.Auth {
	s.t.Helper()
	c := s.config
	c.Secrets = []string{secret}
	c.Adapter = memoryadapter.New(memoryadapter.Options{})
	provider := s.issuer.Provider()
	provider.IDTokenAlgs = []string{"ES256"}
	c.Providers = []latchkey.Provider{provider, &latchkey.Email{From: "site@example.com", Send: func(context.Context, latchkey.Message) error { s.mails++; return nil }}}
	c.Runtime.Logger = slog.New(slog.DiscardHandler)
	c.Site.URL = strings.Replace(c.Site.URL, origin, s.address, 1)
	if c.Site.URL == "" && !c.Site.TrustHost {
		c.Site.AllowedHosts = []string{"127.0.0.1:*", "localhost:*"}
	}
	auth, err := latchkey.New(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return auth
}

// secretText finds what has the form of a token.
var secretText = regexp.MustCompile(`[0-9a-f]{32}|[A-Za-z0-9_-]{40}`)

// harmless fails the test if the doctor has traded a code, sent a mail, or printed a cookie,
// and if a line of the report has a control character.
func (s *runningSite) harmless(report string) {
	s.t.Helper()
	if n := s.issuer.Count(latchkeytest.PathToken); n != 0 || s.mails != 0 {
		s.t.Errorf("%d calls at the provider, %d mails", n, s.mails)
	}
	if found := secretText.FindString(report); found != "" {
		s.t.Errorf("the report has %q", found)
	}
	if strings.ContainsFunc(report, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
		s.t.Errorf("the report has control characters: %q", report)
	}
}

// altering is a front that changes the answers of a site, or the requests to it.
func altering(request func(*http.Request), answer func(path string, h http.Header)) func(http.Handler) http.Handler {
	return func(site http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if request != nil {
				request(r)
			}
			got := httptest.NewRecorder()
			site.ServeHTTP(got, r)
			if answer != nil {
				answer(r.URL.Path, got.Header())
			}
			for name, values := range got.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(got.Code)
			_, _ = w.Write(got.Body.Bytes())
		})
	}
}

// answering is a front that answers some paths itself.
func answering(end string, f http.HandlerFunc) func(http.Handler) http.Handler {
	return func(site http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, end) {
				f(w, r)
				return
			}
			site.ServeHTTP(w, r)
		})
	}
}

// strictly has browsers keep to https, as a sound site does.
var strictly = altering(nil, func(_ string, h http.Header) { h.Set("Strict-Transport-Security", "max-age=31536000") })

// proxied puts a reverse proxy of this process in front of a site.
func proxied(rewrite func(*httputil.ProxyRequest)) func(http.Handler) http.Handler {
	return func(site http.Handler) http.Handler {
		inner := httptest.NewServer(site)
		to, _ := url.Parse(inner.URL)
		return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			rewrite(r)
		}}
	}
}

// TestDoctorFindsNothing asks sound sites (O-065).
func TestDoctorFindsNothing(t *testing.T) {
	for name, s := range map[string]*runningSite{
		"O-065 by its address":   {},
		"O-065 with its URL set": {config: latchkey.Config{Site: latchkey.Site{URL: origin}}},
		"O-065 over https":       {tls: true, front: strictly},
		"O-065 below another base path": {
			config: latchkey.Config{Site: latchkey.Site{BasePath: "/api/auth"}}, base: "/api/auth",
		},
		"O-065 behind a proxy, with an instance": {
			config: latchkey.Config{Site: latchkey.Site{TrustHost: true, AllowedHosts: []string{"127.0.0.1:*"}}},
			front: proxied(func(r *httputil.ProxyRequest) {
				r.SetXForwarded()
				r.Out.Header.Del("Forwarded")
			}),
			flags: siteFlags{instances: []string{origin}, health: origin + "/auth/session"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.ask(t)
			if strings.Contains(got, "FAIL") || strings.Contains(got, "WARN") || !strings.Contains(got, "OK    site.sign-in") {
				t.Errorf("a sound site:\n%s", got)
			}
		})
	}
}

// TestDoctorFinds asks broken sites. Each fault is found by name (O-065).
func TestDoctorFinds(t *testing.T) {
	over := func(size int) func(http.Handler) http.Handler {
		return func(site http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if len(r.Header.Get("Cookie")) > size {
					w.Header().Set("Server", "nginx/1.22.1")
					w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
					return
				}
				site.ServeHTTP(w, r)
			})
		}
	}
	at := func(off time.Duration) func(http.Handler) http.Handler {
		return altering(nil, func(_ string, h http.Header) { h.Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat)) })
	}
	trusting := latchkey.Config{Site: latchkey.Site{TrustHost: true}}
	for name, c := range map[string]struct {
		site *runningSite
		want string
	}{
		"O-065 nothing is mounted": {&runningSite{front: func(http.Handler) http.Handler { return http.NotFoundHandler() }}, `FAIL  site.routes: "/auth/csrf" answers with status 404`},
		"O-065 the prefix is removed": {
			&runningSite{base: "/app/auth", config: latchkey.Config{Site: latchkey.Site{BasePath: "/app/auth"}}, front: func(site http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if path, inside := strings.CutPrefix(r.URL.Path, "/app/auth"); inside { // and so another path than the site's
						r.URL.Path = "/lost" + path
					} else {
						r.URL.Path = "/app/auth" + r.URL.Path
					}
					site.ServeHTTP(w, r)
				})
			}}, "FAIL  site.routes: the routes answer without a base path",
		},
		"O-065 another base path": {&runningSite{config: latchkey.Config{Site: latchkey.Site{BasePath: "/api/auth"}}}, "FAIL  site.routes: the routes are below /api/auth"},
		"O-065 a cache in front": {&runningSite{front: func(site http.Handler) http.Handler {
			kept := httptest.NewRecorder()
			return answering("/csrf", func(w http.ResponseWriter, r *http.Request) {
				if kept.Body.Len() == 0 {
					site.ServeHTTP(kept, r)
				}
				w.Header().Set("Set-Cookie", kept.Header().Get("Set-Cookie"))
				_, _ = w.Write(kept.Body.Bytes())
			})(site)
		}}, "FAIL  site.routes: two visitors get the same CSRF token"},
		"O-065 Cache-Control is dropped": {&runningSite{front: altering(nil, func(_ string, h http.Header) { h.Del("Cache-Control") })}, "WARN  site.routes: the Cache-Control"},
		"O-065 Set-Cookie is dropped":    {&runningSite{front: altering(nil, func(_ string, h http.Header) { h.Del("Set-Cookie") })}, "FAIL  site.cookies: the answer has a token and no cookie"},
		"O-065 Cookie is dropped":        {&runningSite{front: altering(func(r *http.Request) { r.Header.Del("Cookie") }, nil)}, "FAIL  site.cookies: the site does not get its own cookie back"},
		"O-065 the scheme is lost": {&runningSite{tls: true, config: trusting, front: func(site http.Handler) http.Handler {
			return altering(func(r *http.Request) { r.TLS = nil }, nil)(site)
		}}, "FAIL  site.cookies: over https the cookies are those of http"},
		"O-065 the URL is plain http": {&runningSite{tls: true, config: latchkey.Config{Site: latchkey.Site{URL: "http://127.0.0.1"}}}, "FAIL  site.cookies: over https the cookies are those of http"},
		"O-065 an inner host":         {&runningSite{config: latchkey.Config{Site: latchkey.Site{URL: "http://app.internal"}}}, `FAIL  site.urls: the site believes that it is "app.internal"`},
		"O-065 an inner port":         {&runningSite{config: latchkey.Config{Site: latchkey.Site{URL: "http://127.0.0.1:3000"}}}, `FAIL  site.urls: the site believes that its port is "3000"`},
		"O-065 X-Forwarded-Host is believed": {
			&runningSite{config: trusting}, "FAIL  site.headers: a visitor's X-Forwarded-Host is believed",
		},
		"R-782 the site believes in http, and its proxy overwrites what is forged": {
			&runningSite{tls: true, config: trusting, front: proxied(func(r *httputil.ProxyRequest) {
				r.Out.Header.Set("X-Forwarded-Host", "127.0.0.1")
			})}, "OK    site.headers",
		},
		"R-782 the site believes in http, and in a visitor's X-Forwarded-Proto": {
			&runningSite{tls: true, config: trusting, front: proxied(func(r *httputil.ProxyRequest) {
				r.Out.Header["X-Forwarded-Proto"] = r.In.Header["X-Forwarded-Proto"]
			})}, "FAIL  site.headers: a visitor's X-Forwarded-Proto is believed",
		},
		"R-782 a visitor's Host": {
			&runningSite{config: trusting, front: proxied(func(*httputil.ProxyRequest) {})}, "FAIL  site.headers: a visitor's Host is believed. Have the proxy answer to no other name",
		},
		"O-065 no cookie of 4 KB":  {&runningSite{front: over(4 << 10)}, "FAIL  site.sizes: cookies of 4 KB are answered with status 431. Raise large_client_header_buffers"},
		"O-065 no cookies of 8 KB": {&runningSite{front: over(8 << 10)}, "WARN  site.sizes: cookies of 8 KB are answered with status 431. Raise large_client_header_buffers"},
		"O-065 40 s ahead":         {&runningSite{front: at(40 * time.Second)}, "WARN  site.clock: the clock of the proxy in front of the site is "},
		"O-065 2 min behind":       {&runningSite{front: at(-2 * time.Minute)}, "FAIL  site.clock: the clock of the proxy in front of the site is "},
		"R-784 a clock that a proxy hides": {
			&runningSite{config: latchkey.Config{Runtime: latchkey.Runtime{Time: func() time.Time { return time.Now().Add(7 * time.Minute) }}}, front: at(0)},
			"FAIL  site.clock: the clock of the site is 7m",
		},
		"O-065 the session fails": {&runningSite{front: answering("/session", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
		})}, `FAIL  site.routes: "/auth/session": status 502`},
		"O-065 a page in place of the providers": {&runningSite{front: answering("/providers", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		})}, `FAIL  site.urls: "/auth/providers": status 200 with "text/html"`},
		"R-833 a redirect URI that is not registered": {
			&runningSite{registered: []string{"http://site.example/auth/callback/issuer"}},
			`FAIL  site.sign-in: "issuer": the provider refuses the request with status 400. Register "http://127.0.0.1`,
		},
		"R-833 a proxy without a program": {&runningSite{front: func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		}}, `FAIL  site.routes: "/auth/csrf" answers with status 502: the proxy reaches no program`},
		"O-065 posts are refused": {&runningSite{front: func(site http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					http.Error(w, "no", http.StatusForbidden)
					return
				}
				site.ServeHTTP(w, r)
			})
		}}, `FAIL  site.sign-in: "issuer": the sign-in begins with status 403`},
		"O-065 a certificate of another name": {&runningSite{tls: true, host: "localhost"}, "FAIL  site.tls: the certificate is for another name"},
		"O-065 browsers may leave https":      {&runningSite{tls: true}, "WARN  site.tls: no Strict-Transport-Security"},
		"O-065 an unknown name": {&runningSite{host: "localhost", change: func(s *siteProbe) {
			s.lookup = func(context.Context, string) ([]net.IPAddr, error) { return nil, errors.New("no such host") }
		}}, "FAIL  site.dns: the name does not resolve"},
		"O-065 addresses that are silent": {&runningSite{host: "localhost", change: func(s *siteProbe) {
			s.round = time.Second
			s.lookup = func(context.Context, string) ([]net.IPAddr, error) {
				return []net.IPAddr{{IP: net.ParseIP("127.0.0.1")}, {IP: net.ParseIP("100::1")}}, nil
			}
		}}, "WARN  site.dns: the name has IPv6 addresses that do not answer"},
		"O-065 not ready": {&runningSite{flags: siteFlags{health: origin + "/auth/nothing"}}, "FAIL  site.health: not ready"},
		"R-777 ready, and late": {&runningSite{flags: siteFlags{health: origin + "/readyz"}, front: func(site http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/readyz" {
					w.Header().Set("Date", "Sat, 21 Nov 2020 12:00:00 GMT")
					return
				}
				site.ServeHTTP(w, r)
			})
		}}, "FAIL  site.health: it is ready, but the clock of the instance is -"},
		"R-777 no list of providers": {&runningSite{front: func(site http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/auth/providers" {
					http.Error(w, "no", http.StatusForbidden)
					return
				}
				site.ServeHTTP(w, r)
			})
		}}, "WARN  site.sign-in: not begun: the list of providers could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.site.ask(t); !strings.Contains(got, c.want) {
				t.Errorf("want %q in\n%s", c.want, got)
			}
		})
	}
}

// TestDoctorComparesInstances asks an instance with a secret of its own (O-065).
func TestDoctorComparesInstances(t *testing.T) {
	other := &runningSite{}
	other.ask(t) // which starts it
	s := &runningSite{flags: siteFlags{instances: []string{origin, other.address}}}
	s.config.Runtime.Time = time.Now
	stranger := httptest.NewServer(altering(func(r *http.Request) { r.Header.Del("Cookie") }, nil)(other.newSite()))
	t.Cleanup(stranger.Close)
	s.flags.instances = append(s.flags.instances, stranger.URL)
	got := s.ask(t)
	if strings.Count(got, "OK    site.instances") != 2 || strings.Count(got, "FAIL  site.instances") != 1 || !strings.Contains(got, "its secret is another one") {
		t.Errorf("%s", got)
	}
}

// TestDoctorFindsTwoSecrets asks sites of several instances, of which one has another
// secret, behind a proxy that takes turns.
func TestDoctorFindsTwoSecrets(t *testing.T) {
	for instances := 2; instances <= 4; instances++ {
		for odd := range instances {
			s := &runningSite{}
			s.front = func(site http.Handler) http.Handler {
				other := s.newSiteWith("another secret, of an instance that is odd")
				var asked atomic.Int64
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if int(asked.Add(1))%instances == odd {
						other.ServeHTTP(w, r)
						return
					}
					site.ServeHTTP(w, r)
				})
			}
			if got := s.ask(t); !strings.Contains(got, "FAIL  site.cookies") || !strings.Contains(got, "instances have different secrets. Give all") {
				t.Errorf("R-783 number %d of %d:\n%s", odd, instances, got)
			}
		}
	}
}

// TestDoctorIsBounded asks sites that hang, never end, lead on for ever, and say what a
// terminal would obey (O-066).
func TestDoctorIsBounded(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		front http.HandlerFunc
		want  string
	}{
		"O-066 it hangs":      {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer in time"},
		"O-066 it never ends": {endless, "the answer is longer than 1048576 bytes"},
		"O-066 it trickles": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "no answer in time"},
		"O-066 it leads on for ever": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}, "more than 5 redirects"},
		"O-066 it leads elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid/"+strings.Repeat("x", 200), http.StatusFound)
		}, `status 302 to "http://elsewhere.invalid"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &runningSite{front: func(http.Handler) http.Handler { return c.front }, change: func(s *siteProbe) { s.round = 500 * time.Millisecond }}
			got := s.ask(t)
			if !strings.Contains(got, "FAIL  site.routes") || !strings.Contains(got, c.want) || len(got) > 2000 {
				t.Errorf("want %q in\n%s", c.want, got)
			}
		})
	}
	t.Run("O-066 it writes to the terminal", func(t *testing.T) {
		s := &runningSite{front: answering("/providers", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"\u001b[2J":{"type":"oauth","callbackUrl":"`+strings.Repeat("y ", 500)+`\u001b[31m\n"}}`)
		})}
		if got := s.ask(t); !strings.Contains(got, "FAIL  site.urls: a callback URL is none") || len(got) > 2000 {
			t.Errorf("%s", got)
		}
	})
	t.Run("O-066 everything but the first answers hangs", func(t *testing.T) {
		var asked atomic.Int64
		s := &runningSite{change: func(s *siteProbe) { s.round = time.Second }, front: func(site http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) > 4+mostInstances {
					_, _ = io.Copy(io.Discard, r.Body) // or the server would not notice that the doctor has left
					<-r.Context().Done()
					return
				}
				site.ServeHTTP(w, r)
			})
		}}
		if got := s.ask(t); !strings.Contains(got, "FAIL  site.sign-in") || !strings.Contains(got, "FAIL  site.sizes") {
			t.Errorf("%s", got)
		}
	})
}

// TestDoctorSiteIsCalled shows the flags.
func TestDoctorSiteIsCalled(t *testing.T) {
	s := &runningSite{}
	s.ask(t)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"doctor", "--json", "--site", s.address}, strings.NewReader(""), &out, &errs, nil)
	if code != exitOK || !strings.Contains(out.String(), `"name": "site.sign-in"`) || !strings.Contains(out.String(), `"failures": 0`) {
		t.Errorf("code %d: %s%s", code, out.String(), errs.String())
	}
	for _, args := range [][]string{{"--site", "app.example"}, {"--site", "https://u:p@app.example"}, {"--health", "http://127.0.0.1"}} {
		if code := run(t.Context(), append([]string{"doctor"}, args...), strings.NewReader(""), io.Discard, io.Discard, nil); code != exitUsage {
			t.Errorf("%q: code %d", args, code)
		}
	}
	if text := fmt.Sprint(siteNames); !strings.Contains(text, "site.dns") || !isReported("site.tls") {
		t.Error("--accept does not know the names")
	}
}
