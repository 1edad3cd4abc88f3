package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestProviderTokens walks through the page of provider tokens: an API call, one more
// scope, a disconnect, and a sign-out that goes on to the provider and comes back.
func TestProviderTokens(t *testing.T) {
	d := newTestSite(t, environment(t))
	c := latchkeytest.NewClientAt(t, serve(t, d))
	c.Complete(c.Begin("demo"))
	wants(t, c.Get("/tokens"), http.StatusOK, "What its API says of you", "&#34;sub&#34;", "offline_access")

	more := c.Post("/tokens/more", url.Values{})
	if to := more.Location(); to == nil || !strings.Contains(to.Query().Get("scope"), "address") {
		t.Fatalf("connect more leads to %v", to)
	}
	c.Complete(more)
	wants(t, c.Get("/tokens"), http.StatusOK, "What its API says of you", "address")

	c.Post("/tokens/off", url.Values{})
	wants(t, c.Get("/tokens"), http.StatusOK, "connect it again")
	if c.Session() == nil {
		t.Error("a disconnect ends the session")
	}
	c.Complete(c.Post("/tokens/more", url.Values{}))
	wants(t, c.Get("/tokens"), http.StatusOK, "What its API says of you")

	out := c.Post("/tokens/out", url.Values{})
	if to := out.Location(); to == nil || !strings.HasPrefix(to.String(), d.issuer+latchkeytest.PathEndSession) {
		t.Fatalf("the sign-out leads to %v", to)
	}
	if c.Session() != nil {
		t.Error("the session lives")
	}
	if back := c.Get(c.Follow(out).Location().String()); back.Location() == nil || back.Location().Path != "/" {
		t.Errorf("the browser comes back to %s", back.Describe())
	}
}

// TestLogoutAtDemoID has a logout token end the session here.
func TestLogoutAtDemoID(t *testing.T) {
	d := newTestSite(t, environment(t))
	origin := serve(t, d)
	c := latchkeytest.NewClientAt(t, origin)
	c.Complete(c.Begin("demo"))
	token := d.own.LogoutToken(t, func(claims map[string]any) { claims["sub"] = people[0].Subject })
	res, err := http.PostForm(origin+"/auth/backchannel-logout/demo", latchkeytest.LogoutForm(token))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK || c.Session() != nil {
		t.Errorf("status %d, and the session lives: %t", res.StatusCode, c.Session() != nil)
	}
}
