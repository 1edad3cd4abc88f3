package latchkey_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
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
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v\nwant %+v", got, c.want)
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
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) { cfg.Site.URL, cfg.Site.BasePath = c.url, c.base })
			text := s.log.text()
			if (c.says == "" && strings.Contains(text, "basepath")) || !strings.Contains(text, c.says) {
				t.Errorf("log %s", text)
			}
		})
	}
}
