package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// Headers by which a browser says for whom it asks.
var (
	opens      = http.Header{"Sec-Fetch-Mode": {"navigate"}, "Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}
	opensOld   = http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}
	fetches    = http.Header{"Sec-Fetch-Mode": {"cors"}, "Accept": {"*/*"}}
	fetchesOld = http.Header{"Accept": {"application/json"}}
	htmx       = http.Header{"Hx-Request": {"true"}, "Hx-Current-Url": {siteOrigin + "/board?x=1"}, "Sec-Fetch-Mode": {"cors"}, "Accept": {"*/*"}}
)

// person is a browser whose pages somebody looks at.
func (s *testSite) newPerson() *browser {
	b := s.newBrowser()
	b.header = opens.Clone()
	return b
}

// as asks h for target the way the headers say.
func (b *browser) as(how http.Header, h http.Handler, target string) *answer {
	b.site.t.Helper()
	saved := b.header
	b.header = how.Clone()
	defer func() { b.header = saved }()
	return b.serve(h, b.request(http.MethodGet, target, "", ""))
}

func (a *answer) isPage() bool {
	return strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") && strings.Contains(a.Body.String(), "<h1>")
}

func (a *answer) isJSON() bool { return a.Header().Get("Content-Type") == "application/json" }

// scripts get a status from guards, people get pages.
func TestWhoReadsAGuardsAnswer(t *testing.T) {
	s := newSite(t)
	guard := s.auth.RequireSession(http.NotFoundHandler())
	signIn := siteOrigin + "/auth/signin?callbackUrl="
	boosted := htmx.Clone()
	boosted.Set("Hx-Boosted", "true")
	abroad := htmx.Clone()
	abroad.Set("Hx-Current-Url", "https://evil.example/")
	for name, test := range map[string]struct {
		how                  http.Header
		status               int
		location, hxRedirect string
	}{
		"a person":                     {opens, 302, signIn + url.QueryEscape(siteOrigin+"/part"), ""},
		"a person, old browser":        {opensOld, 302, signIn + url.QueryEscape(siteOrigin+"/part"), ""},
		"who says nothing":             {nil, 302, signIn + url.QueryEscape(siteOrigin+"/part"), ""},
		"fetch":                        {fetches, 401, "", ""},
		"fetch that takes HTML":        {http.Header{"Sec-Fetch-Mode": {"same-origin"}, "Accept": {"text/html"}}, 401, "", ""},
		"an image":                     {http.Header{"Sec-Fetch-Mode": {"no-cors"}, "Accept": {"image/*"}}, 401, "", ""},
		"a web socket":                 {http.Header{"Sec-Fetch-Mode": {"websocket"}}, 401, "", ""},
		"a client of JSON":             {fetchesOld, 401, "", ""},
		"R-560 a web socket of an app": {http.Header{"Connection": {"Upgrade"}, "Upgrade": {"WebSocket"}}, 401, "", ""},
		"R-560 a stream of events":     {http.Header{"Accept": {"text/event-stream"}}, 401, "", ""},
		"R-560 jQuery":                 {http.Header{"X-Requested-With": {"XMLHttpRequest"}, "Accept": {"text/html, */*"}}, 401, "", ""},
		"R-560 curl with a token":      {http.Header{"Authorization": {"Bearer x"}, "Accept": {"*/*"}}, 401, "", ""},
		"R-560 a WebView of Android":   {http.Header{"X-Requested-With": {"com.example.app"}, "Accept": {"text/html"}}, 302, signIn + url.QueryEscape(siteOrigin+"/part"), ""},
		"R-560 behind a password":      {http.Header{"Authorization": {"Basic eDp5"}, "Accept": {"text/html"}}, 302, signIn + url.QueryEscape(siteOrigin+"/part"), ""},
		"R-560 a page with a password": {http.Header{"Authorization": {"Basic eDp5"}, "Sec-Fetch-Mode": {"navigate"}}, 302, signIn + url.QueryEscape(siteOrigin+"/part"), ""},
		"htmx":                         {htmx, 401, "", signIn + url.QueryEscape(siteOrigin+"/board?x=1")},
		"htmx, boosted":                {boosted, 401, "", signIn + url.QueryEscape(siteOrigin+"/part")},
		"htmx that names another's":    {abroad, 401, "", signIn + url.QueryEscape(siteOrigin+"/part")},
		"a person who wants JSON, too": {http.Header{"Sec-Fetch-Mode": {"navigate"}, "Accept": {"application/json"}}, 302, signIn + url.QueryEscape(siteOrigin+"/part"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.newBrowser().as(test.how, guard, "/part")
			if a.Code != test.status || a.location() != test.location || a.Header().Get("HX-Redirect") != test.hxRedirect {
				t.Errorf("%d to %q, htmx to %q", a.Code, a.location(), a.Header().Get("HX-Redirect"))
			}
			if a.Code == 401 && (!a.isJSON() || !strings.Contains(a.Header().Get("Cache-Control"), "no-store")) {
				t.Errorf("headers %v", a.Header())
			}
			if got := a.Header().Get("WWW-Authenticate"); (a.Code == 401) != (got == `Cookie realm="app.example"`) {
				t.Errorf("R-560: the challenge is %q", got)
			}
		})
	}
}

// whatever fails, people see a page and scripts JSON.
func TestWhoReadsAFault(t *testing.T) {
	broken := newSite(t, stored, func(c *latchkey.Config) {
		c.Adapter = &failingStore{c.Adapter.(*memoryadapter.Adapter), func() {}}
	})
	s := newSite(t)
	panics := s.auth.Authorize(func(*http.Request, *latchkey.Session) error { panic("x") })(http.NotFoundHandler())
	blank := s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return latchkey.RespondWith(nil) })(http.NotFoundHandler())
	lazy := newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) {
		return nil, errors.New("no configuration")
	})
	hosts := newSite(t, func(c *latchkey.Config) { c.Site = latchkey.Site{AllowedHosts: []string{"other.example"}} })
	for name, test := range map[string]struct {
		h              http.Handler
		target         string
		person, script int
	}{
		"a guard whose store fails":    {broken.auth.RequireSession(http.NotFoundHandler()), "/own", 500, 500},
		"a guard that panics":          {panics, "/own", 500, 500},
		"a guard that answers nothing": {blank, "/own", 500, 500},
		"a guard without settings":     {lazy.RequireSession(http.NotFoundHandler()), "/own", 500, 500},
		"a route without settings":     {lazy, "/auth/csrf", 500, 500},
		"a callback without settings":  {lazy, "/auth/callback/acme", 500, 500},
		"a callback URL of nonsense":   {s.auth, "/auth/session?callbackUrl=javascript:x", 500, 500},
		"no such path":                 {s.auth, "/auth/nowhere", 404, 400},
		"a route with a surplus part":  {s.auth, "/auth/signin/a/b", 404, 400},
		"an action that is off":        {s.auth, "/auth/account", 404, 400},
		"another host":                 {hosts.auth, "/auth/signin", 400, 400},
	} {
		t.Run(name, func(t *testing.T) {
			b := s.newBrowser()
			b.jar["__Secure-authjs.session-token"] = strings.Repeat("0", 64)
			for _, how := range []http.Header{opens, opensOld} {
				if a := b.as(how, test.h, test.target); a.Code != test.person || !a.isPage() {
					t.Errorf("a person gets %d %v %.100s", a.Code, a.Header(), a.Body)
				}
			}
			for _, how := range []http.Header{nil, fetches, fetchesOld, htmx} {
				if a := b.as(how, test.h, test.target); a.Code != test.script || !a.isJSON() {
					t.Errorf("a script with %v gets %d %v", how, a.Code, a.Header())
				}
			}
		})
	}
	t.Run("a post from another site", func(t *testing.T) {
		for person, how := range map[bool]http.Header{true: opens, false: fetches} {
			b := s.newBrowser()
			b.header = how.Clone()
			b.header.Set("Sec-Fetch-Site", "cross-site")
			if a := b.do(http.MethodPost, "/auth/signout", formContentType, ""); a.Code != 403 || a.isPage() != person || a.isJSON() == person {
				t.Errorf("person %t: %d %v", person, a.Code, a.Header())
			}
		}
	})
}

// a guard that denies a member says so, instead of asking them to sign in
// for ever.
func TestADeniedMemberIsTold(t *testing.T) {
	s, member, _ := newSignedInSite(t)
	deny := func(err error) http.Handler {
		return s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return err })(http.NotFoundHandler())
	}
	typed := &latchkey.Error{Type: latchkey.ErrAccessDenied, Err: errors.New("no editor")}
	for _, denied := range []error{latchkey.ErrAccessDenied, typed, errors.Join(typed)} {
		a := member.as(opens, deny(denied), "/own")
		if body := a.Body.String(); a.Code != 403 || !a.isPage() || !strings.Contains(body, "do not have permission") || !strings.Contains(body, "ada@example.com") ||
			!strings.Contains(body, `href="`+siteOrigin+`/auth/signin?callbackUrl=`) || strings.Contains(body, "editor") {
			t.Errorf("%v: %d to %q: %s", denied, a.Code, a.location(), body)
		}
		for _, how := range []http.Header{fetches, fetchesOld, htmx, nil} {
			if a := member.as(how, deny(denied), "/own"); a.Code != 403 || !a.isJSON() {
				t.Errorf("%v, %v: %d", denied, how, a.Code)
			}
		}
		if a := s.newPerson().as(opens, deny(denied), "/own"); a.Code != 302 {
			t.Errorf("%v: a stranger gets %d", denied, a.Code)
		}
	}
	if a := member.as(opens, deny(latchkey.ErrNoSession), "/own"); a.Code != 302 {
		t.Errorf("who has to sign in afresh gets %d", a.Code)
	}
	if a := member.as(opens, deny(latchkey.RedirectTo("/own")), "/own"); a.Code != 403 || !a.isPage() {
		t.Errorf("a page that leads to itself is %d", a.Code)
	}
}

// an e-mail address in the query fills the form, and is text there.
func TestTheQueryFillsInAnEmail(t *testing.T) {
	s := newSite(t)
	for email, value := range map[string]string{
		"me@example.com": "me@example.com", "a+b@example.com": "a&#43;b@example.com", "o'hara@example.com": "o&#39;hara@example.com",
		"x&y@example.com": "x&amp;y@example.com",
	} {
		for _, target := range []string{"/auth/signin?email=", "/auth/signin?error=CredentialsSignin&callbackUrl=/x&email="} {
			body := s.newBrowser().get(target + url.QueryEscape(email)).Body.String()
			if !strings.Contains(body, ` name="email" value="`+value+`"`) {
				t.Errorf("%s%s does not fill in %s", target, email, value)
			}
		}
	}
	for _, text := range []string{"call-0800-evil", "a@example.com, b@example.com", `"><script>@example.com`, "a@example.com\r\nx"} {
		body := s.newBrowser().get("/auth/signin?email=" + url.QueryEscape(text)).Body.String()
		if _, rest, found := strings.Cut(body, ` name="email"`); !found || strings.Contains(rest[:strings.IndexByte(rest, '>')], "value=") {
			t.Errorf("%q, which is no mailbox, is filled in", text)
		}
	}
}
