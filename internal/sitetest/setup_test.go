package sitetest

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// bareStore has users and accounts and no other ability.
type bareStore struct{ storage.Adapter }

// Every fault of a configuration has a type, and names the field to mend.
func TestWrongConfigurations(t *testing.T) {
	memory := memoryadapter.New(memoryadapter.Options{})
	bare := bareStore{memory}
	crew := &latchkey.Credentials{Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
		return latchkey.User{}, nil
	}}
	post := &latchkey.Email{Send: func(context.Context, latchkey.Message) error { return nil }}
	acme := func(change func(*latchkey.OAuth)) func(*latchkey.Config) {
		return func(c *latchkey.Config) {
			p := &latchkey.OAuth{
				ID: "acme", ClientID: "x", ClientSecret: "y", Authorization: latchkey.Endpoint{URL: "https://acme.example/a"},
				Token: latchkey.Endpoint{URL: "https://acme.example/t"}, UserInfo: latchkey.Endpoint{URL: "https://acme.example/u"},
			}
			change(p)
			c.Providers = []latchkey.Provider{p}
		}
	}
	providers := func(all ...latchkey.Provider) func(*latchkey.Config) {
		return func(c *latchkey.Config) { c.Providers = all }
	}
	no := false
	for _, c := range []struct {
		name   string
		change func(*latchkey.Config)
		want   latchkey.ErrorType
		names  string
	}{
		{"no secret", func(c *latchkey.Config) { c.Secrets = nil }, latchkey.ErrMissingSecret, "AUTH_SECRET"},
		{"an empty secret", func(c *latchkey.Config) { c.Secrets = []string{siteSecret, ""} }, latchkey.ErrMissingSecret, "Secrets[1]"},
		{"a blank secret", func(c *latchkey.Config) { c.Secrets = []string{" \t "} }, latchkey.ErrMissingSecret, "Secrets[0]"},
		{"R-840 a key for tokens that is empty", func(c *latchkey.Config) { c.Tokens.Keys = []string{""} }, latchkey.ErrMissingSecret, "Tokens.Keys[0]"},
		{"a published placeholder", func(c *latchkey.Config) { c.Secrets = []string{"ChangeMe "} }, latchkey.ErrMissingSecret, "Secrets[0]"},
		{"R-686 a secret of a guide, hardened", func(c *latchkey.Config) {
			c.Site.URL, c.Secrets, c.Hardened = "https://shop.com", []string{"a secret of 32 characters or more"}, true
		}, latchkey.ErrMissingSecret, "Secrets[0] is made of words"},
		{"a short secret, hardened", func(c *latchkey.Config) { c.Secrets, c.Hardened = []string{"short but not published"}, true }, latchkey.ErrMissingSecret, "Secrets[0]"},

		{"nobody is trusted", func(c *latchkey.Config) { c.Site.URL = "" }, latchkey.ErrUntrustedHost, "TrustHost"},
		{"a relative URL", func(c *latchkey.Config) { c.Site.URL = "app.example" }, latchkey.ErrInvalidConfig, "URL"},
		{"another scheme", func(c *latchkey.Config) { c.Site.URL = "ftp://app.example" }, latchkey.ErrInvalidConfig, "URL"},
		{"user info", func(c *latchkey.Config) { c.Site.URL = "https://user@app.example" }, latchkey.ErrInvalidConfig, "URL"},
		{"a base path that is none", func(c *latchkey.Config) { c.Site.BasePath = "/a/../b" }, latchkey.ErrInvalidConfig, "BasePath"},
		{"a proxy without scheme", func(c *latchkey.Config) { c.Site.RedirectProxyURL = "proxy.example/auth" }, latchkey.ErrInvalidConfig, "RedirectProxyURL"},

		{"page SignIn", func(c *latchkey.Config) { c.Pages.SignIn = "welcome" }, latchkey.ErrInvalidConfig, "Pages.SignIn"},
		{"page SignOut", func(c *latchkey.Config) { c.Pages.SignOut = "//evil.example" }, latchkey.ErrInvalidConfig, "Pages.SignOut"},
		{"page Error", func(c *latchkey.Config) { c.Pages.Error = "javascript:x" }, latchkey.ErrInvalidConfig, "Pages.Error"},
		{"page VerifyRequest", func(c *latchkey.Config) { c.Pages.VerifyRequest = "/\\evil.example" }, latchkey.ErrInvalidConfig, "Pages.VerifyRequest"},
		{"page NewUser", func(c *latchkey.Config) { c.Pages.NewUser = "/a\nb" }, latchkey.ErrInvalidConfig, "Pages.NewUser"},
		{"a colour that is none", func(c *latchkey.Config) { c.Theme.BrandColor = "red;background:url(//evil.example)" }, latchkey.ErrInvalidConfig, "Theme"},
		{"a scheme that is none", func(c *latchkey.Config) { c.Theme.ColorScheme = "sepia" }, latchkey.ErrInvalidConfig, "Theme"},
		{"a logo that is a script", func(c *latchkey.Config) { c.Theme.Logo = "javascript:x" }, latchkey.ErrInvalidConfig, "Theme"},

		{"an unknown strategy", func(c *latchkey.Config) { c.Session.Strategy = "cookie" }, latchkey.ErrUnsupportedStrategy, "Session.Strategy"},
		{"a negative lifetime", func(c *latchkey.Config) { c.Session.MaxAge = -time.Hour }, latchkey.ErrInvalidConfig, "Session.MaxAge"},
		{"a token without lifetime", func(c *latchkey.Config) { c.Session.JWT.MaxAge = time.Millisecond }, latchkey.ErrInvalidConfig, "JWT.MaxAge"},
		{"short session tokens", func(c *latchkey.Config) { c.Session.NewToken = func() string { return "short" } }, latchkey.ErrInvalidConfig, "Session.NewToken"},
		{"stored sessions without a store", func(c *latchkey.Config) { c.Session.Strategy = latchkey.DatabaseSessions }, latchkey.ErrMissingAdapter, "Session.Strategy"},
		{"stored sessions in a bare store", func(c *latchkey.Config) { c.Adapter = bare }, latchkey.ErrMissingAdapterMethods, "SessionAdapter"},

		{"two cookies of one name", func(c *latchkey.Config) { c.Cookies.State.Name, c.Cookies.Nonce.Name = "x", "x" }, latchkey.ErrInvalidConfig, `"x"`},
		{"two kinds of sealed value under one name", func(c *latchkey.Config) { c.Cookies.PKCE.Name = "__Secure-authjs.session-token" }, latchkey.ErrInvalidConfig, "session-token"},
		{"a name browsers refuse", func(c *latchkey.Config) { c.Cookies.SessionToken.Name = "a;b" }, latchkey.ErrInvalidConfig, "Cookies.SessionToken"},
		{"a prefix without Secure", func(c *latchkey.Config) { c.Cookies.CSRFToken = latchkey.CookieOptions{Name: "__Host-x", Secure: &no} }, latchkey.ErrInvalidConfig, "Cookies.CSRFToken"},
		{"a prefix with a domain", func(c *latchkey.Config) {
			c.Cookies.CallbackURL = latchkey.CookieOptions{Name: "__Host-x", Domain: "app.example"}
		}, latchkey.ErrInvalidConfig, "Cookies.CallbackURL"},
		{"SameSite=None without Secure", func(c *latchkey.Config) {
			c.Cookies.Nonce = latchkey.CookieOptions{Name: "x", SameSite: http.SameSiteNoneMode, Secure: &no}
		}, latchkey.ErrInvalidConfig, "Cookies.Nonce.SameSite"},
		{"SameSite=None on plain http", func(c *latchkey.Config) {
			c.Site.URL, c.Cookies.SessionToken.SameSite = "http://app.example", http.SameSiteNoneMode
		}, latchkey.ErrInvalidConfig, `Cookies.SessionToken.SameSite: browsers would drop "authjs.session-token"; a cookie with SameSite=None must be Secure: serve`},
		{"a prefix without Secure, the other", func(c *latchkey.Config) {
			c.Cookies.State = latchkey.CookieOptions{Name: "__Secure-x", Secure: &no}
		}, latchkey.ErrInvalidConfig, "Cookies.State.Name"},

		{"a nil provider", providers(nil), latchkey.ErrInvalidProvider, "Providers[0]"},
		{"a nil pointer", providers(crew, (*latchkey.Email)(nil)), latchkey.ErrInvalidProvider, "Providers[1]"},
		{"a provider without id", acme(func(p *latchkey.OAuth) { p.ID = "" }), latchkey.ErrInvalidProvider, "Providers[0]"},
		{"an id that is a path", acme(func(p *latchkey.OAuth) { p.ID = "a/b" }), latchkey.ErrInvalidProvider, "a/b"},
		{"an id that means none", acme(func(p *latchkey.OAuth) { p.ID = "undefined" }), latchkey.ErrInvalidProvider, "undefined"},
		{"one id twice", providers(crew, crew), latchkey.ErrInvalidProvider, "used twice"},
		{"credentials without a check", providers(&latchkey.Credentials{}), latchkey.ErrMissingAuthorize, "Authorize"},
		{"links without a sender", func(c *latchkey.Config) { c.Adapter, c.Providers = memory, []latchkey.Provider{&latchkey.Email{}} }, latchkey.ErrInvalidProvider, "Email.Send"},
		{"links without a store", providers(post), latchkey.ErrMissingAdapter, "email"},
		{"links in a bare store", func(c *latchkey.Config) {
			c.Adapter, c.Providers, c.Session.Strategy = bare, []latchkey.Provider{post}, latchkey.JWTSessions
		}, latchkey.ErrMissingAdapterMethods, "VerificationTokenAdapter"},
		{"credentials alone with stored sessions", func(c *latchkey.Config) { c.Adapter, c.Providers = memory, []latchkey.Provider{crew} }, latchkey.ErrUnsupportedStrategy, "credentials"},

		{"no client id", acme(func(p *latchkey.OAuth) { p.ClientID = "" }), latchkey.ErrInvalidEndpoints, "acme"},
		{"no endpoints", acme(func(p *latchkey.OAuth) { p.Authorization, p.Token = latchkey.Endpoint{}, latchkey.Endpoint{} }), latchkey.ErrInvalidEndpoints, "acme"},
		{"a plain endpoint", acme(func(p *latchkey.OAuth) { p.Token.URL = "http://acme.example/t" }), latchkey.ErrInvalidEndpoints, "acme"},
		{"an endpoint with a script", acme(func(p *latchkey.OAuth) { p.Authorization.URL = "javascript:x" }), latchkey.ErrInvalidEndpoints, "acme"},
		{"a plain issuer", acme(func(p *latchkey.OAuth) { p.OIDC, p.Issuer = true, "http://issuer.example" }), latchkey.ErrInvalidEndpoints, "acme"},
		{"an unknown check", acme(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{"luck"} }), latchkey.ErrInvalidProvider, "Checks"},
		{"a provider's proxy without scheme", acme(func(p *latchkey.OAuth) { p.RedirectProxyURL = "x" }), latchkey.ErrInvalidProvider, "RedirectProxyURL"},

		{"the account page without a store", func(c *latchkey.Config) { c.AccountPage.Enabled = true }, latchkey.ErrMissingAdapter, "AccountPage.Enabled"},
		{"the account page in a bare store", func(c *latchkey.Config) {
			c.Adapter, c.AccountPage.Enabled, c.Session.Strategy = bare, true, latchkey.JWTSessions
		}, latchkey.ErrMissingAdapterMethods, "AccountAdapter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Providers: someProvider(), Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()}}
			c.change(&config)
			auth, err := latchkey.New(config)
			if auth != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("error %v, want %v that names %q", err, c.want, c.names)
			}
		})
	}
}

// Nobody has to configure anything but what cannot be guessed.
func TestSmallestConfiguration(t *testing.T) {
	auth, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Providers: someProvider(), Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()}})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.auth = auth
	b := s.newBrowser()
	if got := b.get("/auth/providers").Body.String(); !strings.HasPrefix(got, `{"some":{`) {
		t.Errorf("providers %s", got)
	}
	if got := b.session(); got != "null" {
		t.Errorf("session %s", got)
	}
	if a := b.get("/auth/signin"); a.Code != http.StatusOK {
		t.Errorf("sign-in page %d", a.Code)
	}
}

func TestNewFunc(t *testing.T) {
	s := newSite(t)
	made, hooks := 0, 0
	tenants := map[string]*latchkey.Config{}
	for _, name := range []string{"a.example", "b.example"} {
		tenants[name] = &latchkey.Config{
			Site: latchkey.Site{URL: "https://" + name}, Providers: someProvider(), Secrets: []string{siteSecret + name}, Runtime: latchkey.Runtime{Logger: s.log.logger()},
			Session: latchkey.SessionConfig{NewToken: func() string { hooks++; return strings.Repeat("x", 64) }},
		}
	}
	auth := newFunc(func(_ context.Context, r *latchkey.Request) (*latchkey.Config, error) {
		made++
		return tenants[r.Host], nil
	})
	ask := func(host, target string) *answer {
		b := s.newBrowser()
		r := b.request(http.MethodGet, target, "", "")
		r.Host = host
		return b.serve(auth, r)
	}
	for range 10 {
		for _, host := range []string{"a.example", "b.example"} {
			a := ask(host, "/auth/signin")
			if !strings.Contains(a.Body.String(), "https://"+host) && a.Code != http.StatusOK {
				t.Errorf("%s: %d", host, a.Code)
			}
			if c := a.cookie("callback-url"); c == nil || c.Value != "https%3A%2F%2F"+host {
				t.Errorf("%s: cookie %v", host, c)
			}
		}
	}
	if made != 20 || hooks != 2 {
		t.Errorf("asked %d times, prepared %d times, want 20 and once for each of 2", made, hooks)
	}
	b := s.newBrowser()
	r := b.request(http.MethodGet, "/auth/session", "", "")
	r.Host = "unknown.example"
	if a := b.serve(auth, r); a.Code != http.StatusInternalServerError {
		t.Errorf("an unknown tenant: %d", a.Code)
	}
	for _, host := range []string{"a.example", "unknown.example"} { // who is unknown gets our error page
		if !auth.Match(withHost(b.request(http.MethodGet, "/auth/csrf", "", ""), host)) || auth.Match(withHost(b.request(http.MethodGet, "/x", "", ""), host)) {
			t.Errorf("%s: Match is wrong", host)
		}
	}
}

func withHost(r *http.Request, host string) *http.Request {
	r.Host = host
	return r
}

func TestNewFuncNeedsAFunction(t *testing.T) {
	if auth, err := latchkey.NewFunc(latchkey.Func{CacheSize: 10}); auth != nil || !errors.Is(err, latchkey.ErrInvalidConfig) || !strings.Contains(err.Error(), "Func.Config") {
		t.Errorf("%v, %v", auth, err)
	}
}

// Configurations that are new for each request do not pile up.
func TestNewFuncForgets(t *testing.T) {
	const most = 10
	s := newSite(t)
	var made []weak.Pointer[latchkey.Config]
	auth, err := latchkey.NewFunc(latchkey.Func{CacheSize: most, Config: func(context.Context, *latchkey.Request) (*latchkey.Config, error) {
		c := &latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Providers: someProvider(), Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: quiet}}
		made = append(made, weak.Make(c))
		return c, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 * most {
		if a := s.newBrowser().serve(auth, s.newBrowser().request(http.MethodGet, "/auth/session", "", "")); a.Code != http.StatusOK {
			t.Fatalf("%d", a.Code)
		}
	}
	runtime.GC()
	kept := 0
	for _, c := range made {
		if c.Value() != nil {
			kept++
		}
	}
	if len(made) != 10*most || kept > 2*most { // what is under way may be seen by the collector, too
		t.Errorf("of %d configurations %d are kept", len(made), kept)
	}
	runtime.KeepAlive(auth)
}
