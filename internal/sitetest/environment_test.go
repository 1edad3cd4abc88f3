package sitetest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// env is an environment of the test's own.
type env map[string]string

func (e env) get(name string) string { return e[name] }

func TestWithEnv(t *testing.T) {
	everything := env{
		"AUTH_SECRET": "s0", "AUTH_SECRET_1": "s1", "AUTH_SECRET_2": "s2", "AUTH_SECRET_3": "s3", "NEXTAUTH_SECRET": "old",
		"AUTH_URL": "https://env.example/api/auth", "NEXTAUTH_URL": "https://old.example", "AUTH_TRUST_HOST": "true", "AUTH_REDIRECT_PROXY_URL": "https://proxy.example/auth",
	}
	for _, c := range []struct {
		name  string
		given latchkey.Config
		env   env
		want  latchkey.Config
	}{
		{"nothing", latchkey.Config{}, nil, latchkey.Config{Site: latchkey.Site{BasePath: "/auth"}}},
		{"everything", latchkey.Config{}, everything, latchkey.Config{
			Secrets: []string{"s3", "s2", "s1", "s0"}, Site: latchkey.Site{URL: "https://env.example/api/auth", BasePath: "/api/auth", TrustHost: true, RedirectProxyURL: "https://proxy.example/auth"},
		}},
		{"what is configured stays", latchkey.Config{Secrets: []string{"mine"}, Site: latchkey.Site{URL: "https://mine.example", BasePath: "/mine", RedirectProxyURL: "https://mine.example/auth"}}, everything, latchkey.Config{
			Secrets: []string{"mine"}, Site: latchkey.Site{URL: "https://mine.example", BasePath: "/mine", TrustHost: true, RedirectProxyURL: "https://mine.example/auth"},
		}},
		{"a configured URL implies its own base path", latchkey.Config{Site: latchkey.Site{URL: "https://mine.example/x/"}}, everything, latchkey.Config{
			Secrets: []string{"s3", "s2", "s1", "s0"}, Site: latchkey.Site{URL: "https://mine.example/x/", BasePath: "/x", TrustHost: true, RedirectProxyURL: "https://proxy.example/auth"},
		}},
		{"old names", latchkey.Config{}, env{"NEXTAUTH_SECRET": "old", "NEXTAUTH_URL": "https://old.example/api/auth"}, latchkey.Config{Secrets: []string{"old"}, Site: latchkey.Site{URL: "https://old.example/api/auth", BasePath: "/api/auth"}}},
		{"new names win", latchkey.Config{}, env{"AUTH_SECRET": "new", "NEXTAUTH_SECRET": "old", "AUTH_URL": "https://new.example", "NEXTAUTH_URL": "https://old.example"}, latchkey.Config{Secrets: []string{"new"}, Site: latchkey.Site{URL: "https://new.example", BasePath: "/auth"}}},
		{"rotation with gaps", latchkey.Config{}, env{"AUTH_SECRET": "s0", "AUTH_SECRET_2": "s2"}, latchkey.Config{Secrets: []string{"s2", "s0"}, Site: latchkey.Site{BasePath: "/auth"}}},
		{"rotation alone", latchkey.Config{}, env{"AUTH_SECRET_1": "s1"}, latchkey.Config{Secrets: []string{"s1"}, Site: latchkey.Site{BasePath: "/auth"}}},
		{"a root URL", latchkey.Config{}, env{"AUTH_URL": "https://env.example/"}, latchkey.Config{Site: latchkey.Site{URL: "https://env.example/", BasePath: "/auth"}}},
		{"a slash at the end", latchkey.Config{}, env{"AUTH_URL": "https://env.example/login/"}, latchkey.Config{Site: latchkey.Site{URL: "https://env.example/login/", BasePath: "/login"}}},
		{"trust already given", latchkey.Config{Site: latchkey.Site{TrustHost: true}}, env{"AUTH_TRUST_HOST": "false"}, latchkey.Config{Site: latchkey.Site{TrustHost: true, BasePath: "/auth"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := maps.Clone(c.env)
			got := c.given.WithEnv(c.env.get)
			if !slices.Equal(got.Secrets, c.want.Secrets) || !reflect.DeepEqual(got.Site, c.want.Site) {
				t.Errorf("%q %+v\nwant %q %+v", got.Secrets, got.Site, c.want.Secrets, c.want.Site)
			}
			if !maps.Equal(before, c.env) {
				t.Error("the environment changed")
			}
		})
	}
	for value, want := range map[string]bool{"": false, "0": false, "false": false, "FALSE": false, " no ": false, "off": false, "true": true, "1": true, "yes": true, "on": true} {
		t.Run("AUTH_TRUST_HOST="+value, func(t *testing.T) {
			if got := (latchkey.Config{}).WithEnv(env{"AUTH_TRUST_HOST": value}.get); got.Site.TrustHost != want {
				t.Errorf("trusted: %t", got.Site.TrustHost)
			}
		})
	}
}

func TestNewReadsTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"AUTH_SECRET": siteSecret, "AUTH_URL": "https://env.example/login", "AUTH_MY_SITE_ID": "id-of-env", "AUTH_MY_SITE_SECRET": "secret-of-env", "AUTH_OIDC_ISSUER": "https://issuer.example", "AUTH_OIDC_ID": "x", "AUTH_OIDC_SECRET": "y",
	} {
		t.Setenv(name, value)
	}
	site := func(p latchkey.OAuth) latchkey.Provider {
		p.ID, p.Authorization.URL, p.Token.URL, p.UserInfo.URL = "my-site", "https://acme.example/authorize", "https://acme.example/token", "https://acme.example/userinfo"
		return &p
	}
	s := newSite(t)
	for want, p := range map[string]latchkey.OAuth{"id-of-env": {}, "mine": {ClientID: "mine"}} {
		auth, err := latchkey.New(latchkey.Config{Providers: []latchkey.Provider{site(p), &latchkey.OAuth{ID: "oidc", OIDC: true}}, Runtime: latchkey.Runtime{Logger: s.log.logger()}})
		if err != nil {
			t.Fatal(err)
		}
		b := s.newBrowser()
		b.jar[csrfCookie] = csrfPair("token", siteSecret)
		a := b.serve(auth, b.request("POST", "/login/signin/my-site", formContentType, "csrfToken=token"))
		if !strings.Contains(a.location(), "client_id="+want+"&") && !strings.HasSuffix(a.location(), "client_id="+want) || !strings.Contains(a.location(), "redirect_uri=https%3A%2F%2Fenv.example%2Flogin%2Fcallback%2Fmy-site") {
			t.Errorf("sent to %q, want the client %q", a.location(), want)
		}
	}
}

func TestBasePathWarnings(t *testing.T) {
	for _, c := range []struct{ name, url, base, says string }{
		{"the path is repeated", "https://app.example/login", "/login", "env-url-basepath-redundant"},
		{"the path differs", "https://app.example/login", "/auth", "env-url-basepath-mismatch"},
		{"only in the URL", "https://app.example/login", "", ""},
		{"only configured", "https://app.example", "/login", ""},
	} {
		for how, change := range map[string]func(*latchkey.Config){
			"":                          func(*latchkey.Config) {},
			"R-309 after WithEnv":       func(cfg *latchkey.Config) { *cfg = cfg.WithEnv(env{}.get) },
			"R-309 after WithEnv twice": func(cfg *latchkey.Config) { *cfg = cfg.WithEnv(env{}.get).WithEnv(env{}.get) },
		} {
			t.Run(strings.TrimSpace(how+" "+c.name), func(t *testing.T) {
				s := newSite(t, func(cfg *latchkey.Config) { cfg.Site.URL, cfg.Site.BasePath = c.url, c.base; change(cfg) })
				text := s.log.text()
				if (c.says == "" && strings.Contains(text, "basepath")) || !strings.Contains(text, c.says) {
					t.Errorf("log %s", text)
				}
			})
		}
		t.Run("R-309 suppressed: "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) {
				cfg.Site.URL, cfg.Site.BasePath, cfg.Site.SuppressBasePathWarning = c.url, c.base, true
			})
			if text := s.log.text(); strings.Contains(text, "basepath") {
				t.Errorf("log %s", text)
			}
		})
	}
}

// an environment that was handed in is the only one.
func TestHandedInEnvironment(t *testing.T) {
	for _, name := range []string{"AUTH_SECRET", "AUTH_ACME_ID", "AUTH_ACME_SECRET", "AUTH_ACME_ISSUER"} {
		t.Setenv(name, "https://process.example")
	}
	t.Setenv("AUTH_URL", "https://process.example/login")
	given := env{"AUTH_SECRET": siteSecret, "AUTH_URL": "https://given.example", "AUTH_ACME_ID": "given-id", "AUTH_ACME_SECRET": "given-secret"}
	acme := acmeOf(latchkey.OAuth{})
	config := latchkey.Config{Providers: []latchkey.Provider{acme}}
	for name, build := range map[string]func(latchkey.Config) (*latchkey.Auth, error){
		"New": latchkey.New,
		"NewFunc": func(c latchkey.Config) (*latchkey.Auth, error) {
			return latchkey.NewFunc(latchkey.Func{Config: always(&c)})
		},
	} {
		t.Run("R-309 "+name, func(t *testing.T) {
			auth, err := build(config.WithEnv(given.get))
			if err != nil {
				t.Fatal(err)
			}
			if to := signInAt(t, auth, "https://given.example/auth"); clientOf(to) != "given-id" {
				t.Errorf("sent to %q", to)
			}
		})
	}
	t.Run("R-309 what it lacks is missing", func(t *testing.T) {
		_, err := latchkey.New(config.WithEnv(env{"AUTH_URL": "https://given.example"}.get))
		if !errors.Is(err, latchkey.ErrMissingSecret) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("R-309 one after the other", func(t *testing.T) {
		c := config.WithEnv(env{"AUTH_SECRET": siteSecret, "AUTH_ACME_ID": "first"}.get)
		auth, err := latchkey.New(c.WithEnv(env{"AUTH_ACME_ID": "second", "AUTH_ACME_SECRET": "x", "AUTH_URL": "https://given.example/deep"}.get))
		if err != nil {
			t.Fatal(err)
		}
		if to := signInAt(t, auth, "https://given.example/deep"); clientOf(to) != "first" {
			t.Errorf("sent to %q", to)
		}
	})
}

// a field that the caller set, the environment, the catalogue.
func TestProviderVariablePrecedence(t *testing.T) {
	catalogue := latchkey.OAuth{ClientID: "catalogue-id", ClientSecret: "x", Issuer: "https://catalogue.example"}
	variables := env{"AUTH_SECRET": siteSecret, "AUTH_URL": "https://given.example", "AUTH_ACME_ID": "given-id", "AUTH_ACME_ISSUER": "https://given-issuer.example"}
	without := env{"AUTH_SECRET": siteSecret, "AUTH_URL": "https://given.example"}
	for _, row := range []struct {
		name       string
		env        env
		caller     latchkey.OAuth
		change     func(*latchkey.OAuth)
		id, issuer string
	}{
		{"the catalogue", without, latchkey.OAuth{}, nil, "catalogue-id", "https://catalogue.example"},
		{"the environment", variables, latchkey.OAuth{}, nil, "given-id", "https://given-issuer.example"},
		{"the caller", variables, latchkey.OAuth{ClientID: "mine", Issuer: "https://mine.example"}, nil, "mine", "https://mine.example"},
		{"the caller, with the catalogue's value", variables, catalogue, nil, "catalogue-id", "https://catalogue.example"},
		{"the caller, afterwards", variables, latchkey.OAuth{}, func(p *latchkey.OAuth) { p.ClientID, p.Issuer = "mine", "https://mine.example" }, "mine", "https://mine.example"},
		{"two catalogues", variables, *latchkey.OAuth{}.Or(catalogue), nil, "given-id", "https://given-issuer.example"},
	} {
		t.Run("R-309 "+row.name, func(t *testing.T) {
			p := acmeOf(*row.caller.Or(catalogue))
			if row.change != nil {
				row.change(p)
			}
			var issuer string
			p.Derive = func(o *latchkey.OAuth) error { issuer = o.Issuer; return nil }
			auth, err := latchkey.New(latchkey.Config{Providers: []latchkey.Provider{p}}.WithEnv(row.env.get))
			if err != nil {
				t.Fatal(err)
			}
			if to := signInAt(t, auth, "https://given.example/auth"); clientOf(to) != row.id || issuer != row.issuer {
				t.Errorf("issuer %q, sent to %q", issuer, to)
			}
		})
	}
}

// what follows from the environment waits for it, and the caller's own
// fields stay what they are.
func TestEmailSendOfTheEnvironment(t *testing.T) {
	made := ""
	given := env{"AUTH_SECRET": siteSecret, "AUTH_URL": "https://given.example", "AUTH_MAIL_KEY": "given-key"}
	p := &latchkey.Email{NewSend: func(getenv func(string) string) (func(context.Context, latchkey.Message) error, error) {
		if made = getenv("AUTH_MAIL_KEY"); made == "" {
			return nil, errors.New("no key")
		}
		return func(context.Context, latchkey.Message) error { return nil }, nil
	}}
	config := latchkey.Config{Providers: []latchkey.Provider{p}, Adapter: memoryadapter.New(memoryadapter.Options{})}
	if _, err := latchkey.New(config.WithEnv(given.get)); err != nil || made != "given-key" || p.Send != nil {
		t.Errorf("key %q, %v", made, err)
	}
	delete(given, "AUTH_MAIL_KEY")
	if _, err := latchkey.New(config.WithEnv(given.get)); !errors.Is(err, latchkey.ErrInvalidProvider) || !strings.Contains(err.Error(), "no key") {
		t.Errorf("error %v", err)
	}
	p.Send = func(context.Context, latchkey.Message) error { return nil }
	if _, err := latchkey.New(config.WithEnv(given.get)); err != nil {
		t.Error(err)
	}
}

func acmeOf(p latchkey.OAuth) *latchkey.OAuth {
	p.ID, p.Authorization.URL, p.Token.URL, p.UserInfo.URL = "acme", "https://acme.example/authorize", "https://acme.example/token", "https://acme.example/userinfo"
	return &p
}

// signInAt is where a sign-in with acme leads, by an Auth mounted at base.
func signInAt(t *testing.T, auth *latchkey.Auth, base string) string {
	t.Helper()
	r := httptest.NewRequest("POST", base+"/signin/acme", strings.NewReader("csrfToken=token"))
	r.Header.Set("Content-Type", formContentType)
	r.AddCookie(&http.Cookie{Name: "__Host-authjs.csrf-token", Value: csrfPair("token", siteSecret)})
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, r)
	to := w.Header().Get("Location")
	if u, err := url.Parse(to); err != nil || !strings.HasPrefix(u.Query().Get("redirect_uri"), base+"/callback/") {
		t.Errorf("sent to %q", to)
	}
	return to
}

func clientOf(to string) string {
	u, _ := url.Parse(to)
	return u.Query().Get("client_id")
}
