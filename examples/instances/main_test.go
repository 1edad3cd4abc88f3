package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestTwoInstancesAreOneSite(t *testing.T) {
	var proxy http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { proxy.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	var mailed string
	var err error
	proxy, err = newSite(server.URL, filepath.Join(t.TempDir(), "auth.db"), func(_ context.Context, m latchkey.Message) error {
		mailed = m.URL
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClientAt(t, server.URL)
	browser.Post("/auth/signin/email", url.Values{"csrfToken": {browser.CSRFToken()}, "email": {"ada@example.com"}})
	browser.Get(mailed)
	seen := map[string]bool{}
	for range 4 {
		p := browser.Get("/")
		hello, name, _ := strings.Cut(string(p.Body), ", from ")
		if p.Status != http.StatusOK || hello != "Hello, ada@example.com" {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		seen[name] = true
	}
	if len(seen) != 2 {
		t.Errorf("only %v answered", seen)
	}
	browser.SignOut()
	for range 2 {
		if p := browser.Get("/"); p.Status == http.StatusOK {
			t.Error("an instance has not heard of the sign-out")
		}
	}
}
