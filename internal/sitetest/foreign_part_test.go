package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// countingLimiter counts what is taken of any budget, and lets everything pass.
type countingLimiter struct{ taken atomic.Int32 }

func (l *countingLimiter) Take(context.Context, string, latchkey.Rate) (wait time.Duration, err error) {
	l.taken.Add(1)
	return 0, nil
}

func (l *countingLimiter) Forget(context.Context, string) error { return nil }

// anyCeremony makes options, and refuses every answer.
type anyCeremony struct{}

func (anyCeremony) CreationOptions(context.Context, passkey.Registration) (json.RawMessage, error) {
	return json.RawMessage(`{}`), nil
}

func (anyCeremony) Register(context.Context, passkey.Registration, []byte) (storage.Authenticator, error) {
	return storage.Authenticator{}, errors.New("refused")
}

func (anyCeremony) RequestOptions(context.Context, passkey.Authentication) (json.RawMessage, error) {
	return json.RawMessage(`{}`), nil
}

func (anyCeremony) Authenticate(context.Context, passkey.Authentication, storage.Authenticator, []byte) (passkey.Presentation, error) {
	return passkey.Presentation{}, errors.New("refused")
}

// TestForeignParts is R-527: on every route, with every action on, what a page of
// another site loads as a part of itself spends no budget of the visitor and sets no
// cookie. It found that images spend the visitor's questions about passkeys, and tries
// at magic links.
func TestForeignParts(t *testing.T) {
	budget := new(countingLimiter)
	s := newSite(t, func(c *latchkey.Config) {
		c.Limits.Limiter = budget
		c.Providers = append(c.Providers, &latchkey.WebAuthn{ID: "passkey", Ceremony: anyCeremony{}})
		plainsite.Whole(c)
	})
	paths, err := s.auth.Routes("")
	if err != nil {
		t.Fatal(err)
	}
	query := "?email=ada%40example.com&token=guessed&action=authenticate&code=x&state=y&do=forgot&callbackUrl=%2Felsewhere"
	ask := func(method, path string, how http.Header) *answer {
		b := s.newBrowser()
		b.header = how.Clone()
		if method == http.MethodPost {
			return b.serve(s.auth, b.request(method, path+query, formContentType, "username=alice&password=x&email=ada%40example.com&token=guessed"))
		}
		return b.serve(s.auth, b.request(method, path+query, "", ""))
	}
	parts := map[string]http.Header{
		"no more than the site": {"Sec-Fetch-Site": {"cross-site"}},
		"an image":              {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"image"}, "Accept": {"image/*"}},
		"a script":              {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Dest": {"empty"}, "Origin": {"https://evil.example"}},
		"an object":             {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"object"}, "Accept": {"text/html"}},
	}
	for kind, how := range parts {
		for _, path := range paths {
			for _, provider := range []string{"known", "post", "acme", "away", "passkey", "crew", "none"} {
				target := strings.Replace(path, "{name}", provider, 1)
				for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodHead} {
					a := ask(method, target, how)
					if n := budget.taken.Swap(0); n != 0 || len(a.Header()["Set-Cookie"]) > 0 {
						t.Errorf("R-527: %s, %s %s: %d of a budget, cookies %q", kind, method, target, n, a.Header()["Set-Cookie"])
					}
				}
				if target == path {
					break
				}
			}
		}
	}
	page := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Accept": {"text/html"}}
	if a := ask(http.MethodGet, "/auth/webauthn-options/passkey", page); budget.taken.Swap(0) != 0 || a.Code != http.StatusForbidden {
		t.Errorf("R-527: options for passkeys as a page: status %d", a.Code)
	}
	if a := ask(http.MethodGet, "/auth/signin", page); a.Code != http.StatusOK || a.cookie("csrf-token") == nil {
		t.Errorf("a link of another site: status %d, %v", a.Code, a.Header())
	}
	if a := ask(http.MethodGet, "/auth/callback/acme", page); a.Code == http.StatusForbidden {
		t.Errorf("a provider that sends the browser back: status %d", a.Code)
	}
	if ask(http.MethodGet, "/auth/webauthn-options/passkey", http.Header{"Sec-Fetch-Site": {"same-origin"}}); budget.taken.Load() == 0 {
		t.Error("the site's own question spends nothing, so this test would see nothing")
	}
}
