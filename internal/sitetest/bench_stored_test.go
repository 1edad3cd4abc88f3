package sitetest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/storage"
)

// BenchmarkCachedSession is GET /session over HTTP for a stored session that this
// process believes, in turns with a sealed one of the same user, the bare one.
func BenchmarkCachedSession(b *testing.B) {
	store := memoryadapter.New(memoryadapter.Options{})
	u, err := store.CreateUser(b.Context(), latchkey.User{Name: "Alice", Email: "alice@example.com"})
	if err != nil {
		b.Fatal(err)
	}
	now, token := time.Now(), strings.Repeat("t", 64)
	err = store.CreateSession(b.Context(), storage.StoredSession{ID: "1", Token: token, UserID: u.ID, Created: now, Expires: now.Add(30 * 24 * time.Hour)})
	if err != nil {
		b.Fatal(err)
	}
	cached := benchAuth(b, func(c *latchkey.Config) {
		c.Adapter, c.Session.Cache.MaxAge = store, 5*time.Minute
		c.Providers = []latchkey.Provider{&latchkey.OAuth{ID: "p", OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y"}}
	})
	sealed := signedInCookies(b, alice())
	stored := sealed[:strings.LastIndex(sealed, "=")+1] + token
	var wires [2]*wire
	for i, site := range []struct {
		auth    *latchkey.Auth
		cookies string
	}{{cached, stored}, {benchAuth(b, nil), sealed}} {
		r, answer := httptest.NewRequest(http.MethodGet, "/auth/session", nil), httptest.NewRecorder()
		r.Host = "site.example"
		r.Header.Set("Cookie", site.cookies)
		if site.auth.ServeHTTP(answer, r); !strings.Contains(answer.Body.String(), "alice@example.com") {
			b.Fatal(answer.Body)
		}
		wires[i] = openWire(b, site.auth, getRequest("/auth/session", site.cookies))
	}
	look := func(w *wire) func(int) error {
		return func(int) error {
			if status := w.roundTrip(b); !strings.Contains(status, "200") {
				return errors.New(status)
			}
			return nil
		}
	}
	turns.Compare(b, look(wires[0]), look(wires[1]))
}
