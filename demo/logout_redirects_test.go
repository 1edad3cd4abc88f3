package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// TestSignOutAtAnotherOrigin signs out on the built-in pages at a provider on another
// origin, which passes the browser on to a third and from there back (T-134). The policy
// of the pages stops none of these redirects.
func TestSignOutAtAnotherOrigin(t *testing.T) {
	browser := startChromium(t)
	for from, leave := range map[string]func(b *tab){
		"the sign-out page": func(b *tab) { b.open("/auth/signout?callbackUrl=/left") },
		"the account page": func(b *tab) {
			b.open("/auth/account")
			b.click(`a[href*="/auth/signout"]`)
		},
	} {
		t.Run("T-134 "+from, func(t *testing.T) {
			origin, ended := newLeavingSite(t)
			b := openTab(t, browser, origin)
			b.open("/auth/signin?callbackUrl=/in")
			b.click(brokerButton)
			b.becomes("location.pathname == '/in'")
			leave(b)
			b.click(`form[action$="/auth/signout"] button`)
			b.becomes("location.pathname.startsWith('/left') || location.pathname == '/' || location.pathname == '/auth/account'")
			if n := len(ended); n != 1 {
				t.Errorf("the provider ended %d sessions, want 1", n)
			}
			b.open("/auth/session")
			b.becomes("document.body.innerText.trim() == 'null'")
		})
	}
}

// newLeavingSite is a site whose sign-out goes on to its provider. ended gets a value for
// each sign-out there.
func newLeavingSite(t *testing.T) (origin string, ended chan string) {
	t.Helper()
	ended = make(chan string, 10)
	serve := func(h http.Handler) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	house := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("post_logout_redirect_uri"); to != "" {
			ended <- r.URL.Query().Get("client_id")
			http.Redirect(w, r, to+"?"+url.Values{"state": r.URL.Query()["state"]}.Encode(), http.StatusFound)
			return
		}
		comeBack(w, r)
	}))
	provider := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/logout" {
			http.Redirect(w, r, strings.Replace(house, "127.0.0.1", "localhost", 1)+"/ended?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		broke(w, r, house)
	}))
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{strings.Repeat("secret ", 6)},
		Adapter: memoryadapter.New(memoryadapter.Options{}), AccountPage: latchkey.AccountPage{Enabled: true},
		Providers: []latchkey.Provider{&latchkey.OAuth{
			ID: "broker", Name: "Broker", ClientID: "site", ClientSecret: "secret",
			Authorization: latchkey.Endpoint{URL: provider + "/authorize"},
			Token:         latchkey.Endpoint{URL: provider + "/token"},
			UserInfo:      latchkey.Endpoint{URL: provider + "/userinfo/broker"},
			Logout:        latchkey.Logout{AtProvider: true, EndSession: latchkey.Endpoint{URL: provider + "/logout"}},
		}},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return serve(auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><title>Page</title><link rel="icon" href="data:,"><p>page`))
	}))), ended
}
