package sitetest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// credulous is a ceremony that takes every answer for a valid one, so that what the site
// itself compares is left.
type credulous struct{ anyCeremony }

func (credulous) RequestOptions(_ context.Context, a passkey.Authentication) (json.RawMessage, error) {
	return json.Marshal(map[string]string{"challenge": base64.RawURLEncoding.EncodeToString(a.Challenge)})
}

func (credulous) Authenticate(_ context.Context, _ passkey.Authentication, key storage.Authenticator, _ []byte) (passkey.Presentation, error) {
	return passkey.Presentation{Counter: key.Counter + 1}, nil
}

// newKeySite is a site where Alice and Eve have a passkey each, and Alice an app.
func newKeySite(t *testing.T, with func(*latchkey.Config)) *factorSite {
	t.Helper()
	s := newFactorSite(t, with, func(c *latchkey.Config) {
		c.Providers = append(c.Providers, &latchkey.WebAuthn{ID: "passkey", Ceremony: credulous{}})
		c.Factors.Kinds = slices.Insert(slices.Clone(c.Factors.Kinds), 1, latchkey.FactorPasskey)
	})
	s.addUser("eve-1", "eve@example.com")
	for _, user := range []string{"alice-1", "eve-1"} {
		id := base64.StdEncoding.EncodeToString([]byte(user))
		account := storage.Account{UserID: user, Provider: "passkey", ProviderAccountID: id, Type: storage.TypeWebAuthn}
		key := storage.Authenticator{CredentialID: []byte(user), UserID: user, ProviderAccountID: id, PublicKey: []byte("public"), Created: s.clock.Now()}
		if err := s.store.LinkAccount(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		if err := s.store.CreateAuthenticator(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// asked returns an answer of a user's passkey to the question for a page; empty: the
// sign-in page.
func (b *browser) asked(user, page string) string {
	b.site.t.Helper()
	query := url.Values{"action": {"authenticate"}}
	if page != "" {
		query.Set("for", page)
	}
	var told struct{ Options struct{ Challenge string } }
	a := b.get("/auth/webauthn-options/passkey?" + query.Encode())
	if err := json.Unmarshal(a.Body.Bytes(), &told); err != nil || told.Options.Challenge == "" {
		b.site.t.Fatalf("no question: %d %s", a.Code, a.Body)
	}
	client := base64.RawURLEncoding.EncodeToString([]byte(`{"challenge":"` + told.Options.Challenge + `"}`))
	return `{"id":"` + base64.RawURLEncoding.EncodeToString([]byte(user)) + `","response":{"clientDataJSON":"` + client + `"}}`
}

func TestPasskeyAsFactorIsTheUsersOwn(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s := newKeySite(t, with)
		b := s.newBrowser()
		b.challenge()
		b.header.Set("Sec-Fetch-Site", "same-origin")
		if b.post("/auth/factor", "use", "passkey", "data", b.asked("eve-1", "factor")); b.isLive() {
			t.Error("F-042 another user's passkey is the second factor")
		}
		if b.post("/auth/factor", "use", "passkey", "data", b.asked("alice-1", "")); b.isLive() {
			t.Error("F-042 a question of the sign-in page is answered at /factor")
		}
		if a := b.post("/auth/callback/passkey", "action", "authenticate", "data", b.asked("alice-1", "factor")); a.signsIn() || b.isLive() {
			t.Error("F-042 a question of /factor is answered at the sign-in")
		}
		answer := b.asked("alice-1", "factor")
		other := b.copy()
		if a := b.post("/auth/factor", "use", "passkey", "data", answer); !a.signsIn() {
			t.Fatalf("F-042 the user's own passkey: %d to %q\n%s", a.Code, a.location(), s.log.text())
		}
		if other.post("/auth/factor", "use", "passkey", "data", answer); s.sessionOf(other) != nil && other.jar["__Secure-authjs.session-token"] != "" {
			t.Error("F-042 the answer works twice")
		}
		t.Run("F-065 another user's passkey proves nothing in a session", func(t *testing.T) {
			before := *s.sessionOf(b)
			b.post("/auth/reauth?for=factor", "use", "passkey", "data", b.asked("eve-1", "reauth"))
			after := s.sessionOf(b)
			if after == nil || after.UserID != "alice-1" || !after.Proved.Equal(before.Proved) || strings.Join(after.AMR, " ") != strings.Join(before.AMR, " ") {
				t.Errorf("%+v\nwas %+v", after, before)
			}
		})
		t.Run("F-068 a user with a passkey proves it again", func(t *testing.T) {
			s.clock.Advance(3600e9)
			a := b.post("/auth/reauth?for=recent&callbackUrl=/pay", "use", "passkey", "data", b.asked("alice-1", "reauth"))
			if now := s.sessionOf(b); a.location() != siteOrigin+"/pay" || now == nil || !now.Proved.Equal(s.clock.Now()) {
				t.Errorf("%d to %q: %+v\n%s", a.Code, a.location(), now, s.log.text())
			}
		})
	})
}
