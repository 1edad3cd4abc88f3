package interop

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/go-jose/go-jose/v4"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// leavingProviders are the providers whose sign-out a browser goes on to. start returns
// the issuer, at which somebody signs in who types what types has.
var leavingProviders = []struct {
	name, who string
	types     object
	start     func(t *testing.T, s *site, c client) (issuer string)
}{
	{"oidc-provider", "ada by id_token", object{"login": "ada", "password": "anything"}, func(t *testing.T, s *site, c client) string {
		return startPeer(t, "openid", "provider.mjs", string(asJSON(t, []object{{
			"client_id": c.id, "client_secret": secretOf(c.id), "redirect_uris": []string{s.callback(c)},
			"grant_types": []string{"authorization_code"}, "response_types": []string{"code"},
			"post_logout_redirect_uris": []string{s.signedOut(c.id)},
		}}))).url()
	}},
	{"zitadel", "Test User", object{"username": "test-user@127.0.0.1", "password": "verysecure"}, func(t *testing.T, s *site, c client) string {
		return serveZitadel(t, s, []client{c}, &jose.JSONWebKey{Key: rsaKey(t).Public(), KeyID: "mine", Use: "sig"})
	}},
	{"dex", "Ada", object{"login": "ada@example.com", "password": "anything"}, func(t *testing.T, s *site, c client) string {
		return realservers.Dex(t, realservers.DexClient{
			ID: c.id, Secret: secretOf(c.id), RedirectURIs: []string{s.callback(c)}, PostLogoutRedirectURIs: []string{s.signedOut(c.id)},
		})
	}},
}

// TestBrowserSignsOutAtProviders has Chromium sign out here and at a real provider, and
// come back (T-069): by a browser client as it is published, and from the built-in pages.
func TestBrowserSignsOutAtProviders(t *testing.T) {
	installed(t, "authjs")
	chromium := startChromium(t)
	for _, p := range leavingProviders {
		t.Run("T-069 "+p.name, func(t *testing.T) {
			s := newSite(t)
			c := client{id: "leaving", set: func(o *latchkey.OAuth) { o.Logout = latchkey.Logout{AtProvider: true} }}
			auth := newAuth(t, latchkey.Config{
				Adapter: memoryadapter.New(memoryadapter.Options{}), Providers: []latchkey.Provider{c.provider(p.start(t, s, c))},
			})
			s.server.Config.Handler = clientSite(auth, "", "/client.js")
			s.server.Start()
			w := openWindow(t, chromium, s.origin())

			enter := func() {
				w.open("/here")
				w.begin(fmt.Sprintf("signIn(%q, {redirectTo: %q})", c.id, s.origin()+"/in"))
				w.fill(p.types, s.origin()+"/in")
				w.signedIn("/auth", p.who)
			}
			enter()
			w.begin(fmt.Sprintf("signOut({redirectTo: %q})", s.origin()+"/out"))
			w.fill(p.types, s.origin()+"/out")
			w.signedIn("/auth", "")

			enter() // with the password again: the provider has forgotten the person
			ok(t, chromedp.Do(w.ctx, chromedp.Navigate(s.origin()+"/auth/signout?callbackUrl=/bye")))
			w.fill(p.types, s.origin()+"/bye")
			w.signedIn("/auth", "")
		})
	}
}

// begin makes a call of the client that leads away from the page.
func (w *window) begin(call string) {
	w.t.Helper()
	ok(w.t, chromedp.Do(w.ctx, chromedp.Evaluate[chromedp.Void]("void client."+call)))
}

// fill sends the first form of each page that comes, with what the person types into
// its fields by their names, until the browser is at a URL.
func (w *window) fill(types object, until string) {
	w.t.Helper()
	w.becomes(fmt.Sprintf(`(() => {
		if (document.readyState !== "complete") return false
		if (location.href === %s) return true
		const form = document.querySelector("form"), types = %s
		if (!form || window.sent) return false
		for (const field of form.elements) if (field.name in types) field.value = types[field.name]
		window.sent = true
		form.requestSubmit(form.querySelector("[type=submit], button:not([type=button])"))
		return false
	})()`, asJSON(w.t, until), asJSON(w.t, types)))
}
