package sitetest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// TestSessionOnSubdomains does what docs/subdomains.md says: two programs, one cookie.
func TestSessionOnSubdomains(t *testing.T) {
	const app, shop = "https://app.example", "https://shop.app.example"
	shared := func(c *latchkey.Config) {
		c.Cookies.SessionToken = latchkey.CookieOptions{Domain: "app.example"}
	}
	first := newSite(t, shared, func(c *latchkey.Config) {
		c.Callbacks.Redirect = func(_ context.Context, to, base string) (string, error) {
			if to == shop || strings.HasPrefix(to, shop+"/") || strings.HasPrefix(to, app+"/") || strings.HasPrefix(to, "/") {
				return to, nil
			}
			return base, nil
		}
	})
	second := newSite(t, shared, func(c *latchkey.Config) {
		c.Site.URL, c.Pages.SignIn = shop, app+"/auth/signin"
	})
	guarded := second.auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(latchkey.SessionFrom(r.Context()).User.Name))
	}))
	b := second.newBrowser()
	a := b.as(opens, guarded, "/cart")
	signIn, back, _ := strings.Cut(a.location(), "?")
	if signIn != app+"/auth/signin" || !strings.HasSuffix(back, "%2Fcart") {
		t.Fatalf("R-559 the shop leads to %q", a.location())
	}
	b.site = first
	a = b.post("/auth/callback/crew", "username", "alice", "password", "wonderland", "callbackUrl", shop+"/cart")
	if c := a.cookie("session-token"); a.location() != shop+"/cart" || c == nil || c.Domain != "app.example" {
		t.Fatalf("R-559 the sign-in leads to %q with %v", a.location(), c)
	}
	b.site = second
	if a := b.as(opens, guarded, "/cart"); a.Body.String() != "Alice" {
		t.Errorf("R-559 the shop answers %d to %q: %s", a.Code, a.location(), a.Body)
	}
	b.site = first
	if a := b.post("/auth/signout"); a.cookie("session-token") == nil || a.cookie("session-token").Domain != "app.example" {
		t.Errorf("R-559 a sign-out leaves the cookie: %v", a.Header())
	}
}
