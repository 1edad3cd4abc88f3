package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestPreview(t *testing.T) {
	box := &latchkeytest.Mailbox{}
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{"a secret for tests that is long enough"},
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions}, Adapter: memoryadapter.New(memoryadapter.Options{}),
	}, box.Send)
	if err != nil {
		t.Fatal(err)
	}
	preview := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "preview." + r.Host // as it would come through DNS
		if r.Header.Get("Origin") != "" {
			r.Header.Set("Origin", "http://"+r.Host)
		}
		site.ServeHTTP(w, r)
	})

	visitor := latchkeytest.NewClient(t, site)
	if p := visitor.Get("/auth/signin"); strings.Contains(string(p.Body), "tester") {
		t.Error("testers may come in everywhere")
	}
	if visitor.TryCredentials(map[string]string{"name": "bob"}); visitor.Session() != nil {
		t.Error("testers come in everywhere")
	}
	visitor.SignInByEmail("ada@example.com", box)
	if p := visitor.Get("/"); string(p.Body) != "Hello, ada@example.com" {
		t.Errorf("ada gets %d %s", p.Status, p.Body)
	}
	tester := latchkeytest.NewClient(t, preview)
	tester.SignInCredentials(map[string]string{"name": "bob"})
	if p := tester.Get("/"); string(p.Body) != "Hello, bob@preview.example" {
		t.Errorf("bob gets %d %s", p.Status, p.Body)
	}
}
