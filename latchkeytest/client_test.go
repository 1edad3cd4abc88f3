package latchkeytest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// newAuth is a site with one provider, and a credentials form that lets ada in.
func newAuth(t *testing.T, p latchkey.Provider) *latchkey.Auth {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{p, &latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}},
			Authorize: func(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if fields["name"] != "ada" {
					return latchkey.User{}, latchkey.ErrCredentialsSignin
				}
				return latchkey.User{ID: "1", Name: "Ada"}, nil
			},
		}},
		Secrets: []string{"a secret of a good length for all tests"},
		Site:    latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Limits:  latchkey.Limits{ProviderCallTimeout: time.Minute, ProviderTimeout: time.Minute}, // a busy machine takes its time
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func TestClientSignsIn(t *testing.T) {
	ada := latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true}
	grace := latchkeytest.Person{Subject: "grace", Name: "Grace"}
	for name, row := range map[string]struct {
		issuer   func(*latchkeytest.IssuerConfig)
		provider func(*latchkey.OAuth)
		person   string
		want     string
	}{
		"as the person of SignInAs":  {nil, nil, "", "Ada"},
		"as the first on the page":   {func(c *latchkeytest.IssuerConfig) { c.People = []latchkeytest.Person{grace, ada} }, nil, "", "Grace"},
		"as another on the page":     {func(c *latchkeytest.IssuerConfig) { c.People = []latchkeytest.Person{grace, ada} }, nil, "ada", "Ada"},
		"by form_post":               {nil, func(p *latchkey.OAuth) { p.ResponseMode = "form_post" }, "", "Ada"},
		"by form_post from the page": {func(c *latchkeytest.IssuerConfig) { c.People = []latchkeytest.Person{ada} }, func(p *latchkey.OAuth) { p.ResponseMode = "form_post" }, "", "Ada"},
		"with userinfo":              {nil, func(p *latchkey.OAuth) { p.ProfileFromUserInfo = true }, "", "Ada"},
		"with signed userinfo":       {func(c *latchkeytest.IssuerConfig) { c.SignedUserInfo = true }, func(p *latchkey.OAuth) { p.ProfileFromUserInfo = true }, "", "Ada"},
		"with a secret in the body":  {func(c *latchkeytest.IssuerConfig) { c.ClientAuth = latchkey.ClientSecretPost }, nil, "", "Ada"},
		"with a secret that signs":   {func(c *latchkeytest.IssuerConfig) { c.ClientAuth = latchkey.ClientSecretJWT }, nil, "", "Ada"},
		"without a secret":           {func(c *latchkeytest.IssuerConfig) { c.ClientAuth = latchkey.ClientAuthNone }, nil, "", "Ada"},
		"with ES256":                 {func(c *latchkeytest.IssuerConfig) { c.Algorithm = "ES256" }, nil, "", "Ada"},
		"with EdDSA":                 {func(c *latchkeytest.IssuerConfig) { c.Algorithm = "EdDSA" }, nil, "", "Ada"},
		"under another id":           {func(c *latchkeytest.IssuerConfig) { c.ID, c.ClientID = "corp", "corp client" }, nil, "", "Ada"},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []func(*latchkeytest.IssuerConfig)
			if row.issuer != nil {
				changes = append(changes, row.issuer)
			}
			iss := latchkeytest.NewIssuer(t, changes...)
			iss.SignInAs(ada)
			p := iss.Provider()
			if row.provider != nil {
				row.provider(p)
			}
			browser := latchkeytest.NewClient(t, newAuth(t, p))
			browser.Person = row.person
			if browser.Session() != nil {
				t.Fatal("signed in already")
			}
			page := browser.SignIn(iss)
			if to := page.Location(); to == nil || strings.TrimSuffix(to.String(), "/") != browser.URL || page.Error() != "" {
				t.Fatalf("answered %d, sent to %v", page.Status, to)
			}
			if s := browser.Session(); s == nil || s.User.Name != row.want || s.Expires.Before(time.Now()) {
				t.Errorf("session %+v", s)
			}
			browser.SignOut()
			if s := browser.Session(); s != nil {
				t.Errorf("session after signing out: %+v", s)
			}
		})
	}
}

func TestClientReportsRefusals(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	browser := latchkeytest.NewClient(t, newAuth(t, iss.Provider()))
	iss.Misbehave(latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherKey})
	if page := browser.TrySignIn(iss); page.Error() != "Configuration" {
		t.Errorf("R-018 error %q", page.Error())
	}
	iss.Misbehave(latchkeytest.Misbehaviour{Callback: func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }})
	if page := browser.TrySignIn(iss); page.Error() != "OAuthCallbackError" {
		t.Errorf("R-010 error %q", page.Error())
	}
	if iss.Count(latchkeytest.PathUserInfo) != 0 || iss.Count(latchkeytest.PathToken) != 1 || browser.Session() != nil {
		t.Error("the flow went on")
	}
}

func TestClientSignsInWithCredentials(t *testing.T) {
	browser := latchkeytest.NewClient(t, newAuth(t, latchkeytest.NewIssuer(t).Provider()))
	if page := browser.TryCredentials(map[string]string{"name": "eve"}); page.Error() != "CredentialsSignin" || browser.Session() != nil {
		t.Errorf("error %q", page.Error())
	}
	if page := browser.SignInCredentials(map[string]string{"name": "ada"}); page.Error() != "" || browser.Session().User.Name != "Ada" {
		t.Errorf("error %q", page.Error())
	}
}

func TestClientSignsInByEmail(t *testing.T) {
	for name, confirm := range map[string]bool{"at once": false, "after a button": true} {
		t.Run("R-329 "+name, func(t *testing.T) {
			var box latchkeytest.Mailbox
			auth, err := latchkey.New(latchkey.Config{
				Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
				Adapter:   memoryadapter.New(memoryadapter.Options{}),
				Providers: []latchkey.Provider{&latchkey.Email{Send: box.Send, ConfirmLink: &confirm}},
				Runtime:   latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
			})
			if err != nil {
				t.Fatal(err)
			}
			browser := latchkeytest.NewClient(t, auth)
			browser.SignInByEmail("ada@example.com", &box)
			if s := browser.Session(); s == nil || s.User.Email != "ada@example.com" {
				t.Errorf("session %+v", s)
			}
			if len(box.Messages("ada@example.com")) != 1 || len(box.Messages("bob@example.com")) != 0 {
				t.Error("the mailbox has the wrong links")
			}
		})
	}
}

// A sign-in that failed must not let a test go on, and says what was answered.
func TestClientEndsTheTestOfAFailedSignIn(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	var box latchkeytest.Mailbox
	site := newAuth(t, iss.Provider())
	for name, c := range map[string]struct {
		signIn func(*latchkeytest.Client)
		says   string
	}{
		"at a provider":       {func(c *latchkeytest.Client) { c.SignIn(iss) }, "error=Configuration"},
		"with credentials":    {func(c *latchkeytest.Client) { c.SignInCredentials(map[string]string{"name": "eve"}) }, "error=CredentialsSignin"},
		"by a link":           {func(c *latchkeytest.Client) { c.SignInByEmail("ada@example.com", &box) }, "no link was sent"},
		"where nothing leads": {func(c *latchkeytest.Client) { c.Follow(c.Get("/auth/providers")) }, `"signinUrl"`},
	} {
		t.Run("R-329 "+name, func(t *testing.T) {
			iss.Misbehave(latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherKey})
			watched := &watchedTest{TB: t}
			done := make(chan struct{})
			go func() { // Fatalf ends its goroutine
				defer close(done)
				c.signIn(latchkeytest.NewClient(watched, site))
			}()
			<-done
			if !strings.Contains(watched.said, c.says) {
				t.Errorf("the test was told %q, without %q", watched.said, c.says)
			}
		})
	}
}

// watchedTest is a test that keeps what ended it.
type watchedTest struct {
	testing.TB
	said string
}

func (w *watchedTest) Fatalf(format string, args ...any) {
	w.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestClientCookies(t *testing.T) {
	browser := latchkeytest.NewClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, c := range r.CookiesNamed("forget") {
			http.SetCookie(w, &http.Cookie{Name: c.Value, MaxAge: -1})
		}
		var names []string
		for _, c := range r.Cookies() {
			names = append(names, c.Name)
		}
		fmt.Fprint(w, r.Header.Get("Sec-Fetch-Site")+" "+strings.Join(names, " "))
	}))
	for _, c := range []*http.Cookie{
		{Name: "lax"},
		{Name: "lax", SameSite: http.SameSiteNoneMode}, // is refused, and leaves the one before
		{Name: "none", SameSite: http.SameSiteNoneMode, Secure: true},
		{Name: "none-in-clear", SameSite: http.SameSiteNoneMode},
		{Name: "strict", SameSite: http.SameSiteStrictMode},
		{Name: "deep", Path: "/deep"},
		{Name: "old", Expires: time.Unix(1, 0)},
		{Name: "new", Expires: time.Unix(1, 0), MaxAge: 60},
		{Name: "__Secure-bad"},
		{Name: "__Secure-good", Secure: true},
		{Name: "__Host-bad", Secure: true, Path: "/deep"},
		{Name: "__Host-good", Secure: true, Path: "/"},
	} {
		browser.SetCookie(c)
	}
	sent := func(p *latchkeytest.Page) string { return string(p.Body) }
	if got, want := sent(browser.Get("/")), "none __Host-good __Secure-good lax new none strict"; got != want {
		t.Errorf("GET: %q, want %q", got, want)
	}
	if got := sent(browser.Get("/deep/er")); !strings.Contains(got, " deep ") {
		t.Errorf("below the path: %q", got)
	}
	if got := sent(browser.Get("/deeper")); strings.Contains(got, " deep ") {
		t.Errorf("beside the path: %q", got)
	}
	if got := sent(browser.Post("/", nil)); !strings.HasPrefix(got, "same-origin ") || !strings.Contains(got, " strict") {
		t.Errorf("POST: %q", got)
	}
	elsewhere := &latchkeytest.Page{URL: &url.URL{Scheme: "https", Host: "other.example"}, Header: http.Header{"Location": {browser.URL + "/"}}}
	if got, want := sent(browser.Follow(elsewhere)), "cross-site __Host-good __Secure-good lax new none"; got != want {
		t.Errorf("from elsewhere: %q, want %q", got, want)
	}
	browser.SetCookie(&http.Cookie{Name: "forget", Value: "lax"})
	browser.Get("/")
	if browser.Cookie("lax") != nil || browser.Cookie("none") == nil {
		t.Error("the site's own cookies are not kept")
	}
}

func TestClientIsRefusedAcrossSites(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	p := iss.Provider()
	p.ResponseMode = "form_post"
	browser := latchkeytest.NewClient(t, newAuth(t, p))
	started := browser.Begin("issuer")
	for _, c := range browser.Cookies() {
		c.SameSite = http.SameSiteLaxMode // what a browser would not send with the provider's post
		browser.SetCookie(c)
	}
	if page := browser.Complete(started); page.Error() != "Configuration" || iss.Count(latchkeytest.PathToken) != 0 {
		t.Errorf("error %q", page.Error())
	}
}
