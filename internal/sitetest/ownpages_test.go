package sitetest

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// openPages says which visitors a guard of the whole site lets reach each page of Pages.
// A field that is missing here fails the test: decide in ownPages whom it is for.
var openPages = map[string]struct{ signedOut, denied, unproven bool }{
	"SignIn":        {true, true, true},
	"SignOut":       {true, true, true},
	"Error":         {true, false, true}, // a refused user gets the built-in one
	"VerifyRequest": {true, true, true},
	"Password":      {true, true, true},
	"Factor":        {true, true, true},
	"Reauth":        {false, false, true},
	"Invite":        {true, true, true},
	"NewUser":       {false, false, false},
}

// a guard in front of a whole site keeps no page of Pages from the visitors whom the
// library leads there, and lets nothing else pass.
func TestGuardOfWholeSitePassesOwnPages(t *testing.T) {
	fields := reflect.TypeFor[latchkey.Pages]()
	for i := range fields.NumField() {
		field := fields.Field(i).Name
		want, ok := openPages[field]
		if !ok {
			t.Errorf("R-704 Pages.%s: nothing says whom a guard lets reach it", field)
			continue
		}
		s := newSite(t, func(c *latchkey.Config) {
			c.Adapter = memoryadapter.New(memoryadapter.Options{})
			withFactors(c)
			reflect.ValueOf(&c.Pages).Elem().Field(i).SetString("/own/page?view=it")
		})
		var reached bool
		handler := guardedHandler(&reached)
		signedIn := s.newBrowser()
		signedIn.post("/auth/signin/post", "email", "ada@example.com")
		signedIn.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin))
		s.clock.Advance(2 * time.Hour) // the sign-in is no recent proof
		for _, c := range []struct {
			visitor string
			b       *browser
			guard   http.Handler
			passes  bool
		}{
			{"signed out", s.newBrowser(), s.auth.RequireSession(handler), want.signedOut},
			{"signed out, with a factor asked for", s.newBrowser(), s.auth.RequireFactor()(handler), want.signedOut},
			{"denied", signedIn, s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return latchkey.ErrAccessDenied })(handler), want.denied},
			{"without a recent proof", signedIn, s.auth.RequireRecent(time.Hour)(handler), want.unproven},
			{"without a second factor", signedIn, s.auth.RequireFactor()(handler), want.unproven},
		} {
			for target, isPage := range map[string]bool{
				"/own/page?view=it": true, "/own/page?view=it&error=x&token=y": true,
				"/own/page": false, "/own/page?view=other": false, "/own/page/?view=it": false, "/own//page?view=it": false, "/own/page/x?view=it": false, "/own/%70age?view=it": false, "/": false,
			} {
				for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
					reached = false
					c.b.serve(c.guard, c.b.request(method, target, "", ""))
					if asked := method == http.MethodGet || method == http.MethodHead || method == http.MethodPost; reached != (c.passes && isPage && asked) {
						t.Errorf("R-704 Pages.%s, %s: %s %s passes: %t", field, c.visitor, method, target, reached)
					}
				}
			}
		}
	}
}

// a handler on a page of its own that answers with WriteError asks to sign in, as on
// any other page.
func TestWriteErrorOnOwnPages(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Pages.VerifyRequest = "/mailed" })
	b := s.newBrowser()
	a := b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.auth.WriteError(w, r, latchkey.ErrNoSession) }), b.request(http.MethodGet, "/mailed", "", ""))
	if a.Code != http.StatusFound || !strings.HasPrefix(a.location(), siteOrigin+"/auth/signin?") {
		t.Errorf("R-704 %d to %q", a.Code, a.location())
	}
}

// a post that a guard refuses leads back to the page with its form, and never to the
// path that it was posted to.
func TestRefusedPostLeadsBackToItsForm(t *testing.T) {
	s, signedIn, _ := newSignedInSite(t, withFactors, func(c *latchkey.Config) { c.Pages.SignIn, c.Pages.Reauth = "/login", "/prove" })
	s.clock.Advance(2 * time.Hour)
	var reached bool
	handler := guardedHandler(&reached)
	visitor := s.newBrowser()
	for _, c := range []struct{ policy, method, referer, back string }{
		{"the page of the form", http.MethodPost, siteOrigin + "/members?tab=notes", siteOrigin + "/members?tab=notes"},
		{"the root", http.MethodPost, siteOrigin + "/", siteOrigin + "/"},
		{"no page is named", http.MethodPost, "", siteOrigin},
		{"a page of another site", http.MethodPost, "https://evil.example/members", siteOrigin},
		{"a host that begins alike", http.MethodPost, siteOrigin + ".evil.example/", siteOrigin},
		{"no URL", http.MethodPost, siteOrigin + "/%zz", siteOrigin},
		{"the sign-in page itself", http.MethodPost, siteOrigin + "/login?callbackUrl=x", siteOrigin},
		{"another method", http.MethodDelete, siteOrigin + "/members", siteOrigin + "/members"},
		{"a page that was opened", http.MethodGet, siteOrigin + "/members", siteOrigin + "/members/note"},
		{"the head of a page", http.MethodHead, siteOrigin + "/members", siteOrigin + "/members/note"},
	} {
		for name, guard := range map[string]struct {
			b *browser
			h http.Handler
		}{
			"RequireSession": {visitor, s.auth.RequireSession(handler)},
			"RequireRecent":  {signedIn, s.auth.RequireRecent(time.Hour)(handler)},
			"WriteError":     {visitor, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.auth.WriteError(w, r, latchkey.ErrNoSession) })},
		} {
			r := guard.b.request(c.method, "/members/note", "", "")
			r.Header.Set("Referer", c.referer)
			a := guard.b.serve(guard.h, r)
			to, err := url.Parse(a.location())
			status := http.StatusSeeOther
			if c.method == http.MethodGet || c.method == http.MethodHead {
				status = http.StatusFound
			}
			if err != nil || a.Code != status || to.Query().Get("callbackUrl") != c.back || reached {
				t.Errorf("R-705 %s, %s: %d to %q, want back at %q", name, c.policy, a.Code, a.location(), c.back)
			}
		}
	}
}
