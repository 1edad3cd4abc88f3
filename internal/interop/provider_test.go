package interop

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// client is one way to be a provider's client. Each is a provider of its own on
// the site, so that all of them meet one and the same server.
type client struct {
	id, name string
	set      func(*latchkey.OAuth)
	register object // its metadata at the provider, beside the usual
	refused  string // the error that the sign-in has to end with; empty: none
	named    string // who is signed in then
}

// provider is the client as the site knows it.
func (c client) provider(issuer string) *latchkey.OAuth {
	p := &latchkey.OAuth{
		ID: c.id, OIDC: true, Issuer: issuer, ClientID: c.id, ClientSecret: secretOf(c.id),
		Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce},
	}
	if c.set != nil {
		c.set(p)
	}
	return p
}

// secretOf has every character that goes wrong where RFC 6749, section 2.3.1,
// is not followed, and is long enough to sign with.
func secretOf(id string) string { return id + ": secret+with/odd%20&=chars of a good length" }

// site is a site of ours whose providers are not known until it has a URL.
type site struct {
	server *httptest.Server

	mu   sync.Mutex
	last latchkey.SignInEvent
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{server: httptest.NewUnstartedServer(nil)}
	t.Cleanup(s.server.Close)
	return s
}

func (s *site) origin() string { return "http://" + s.server.Listener.Addr().String() }

func (s *site) callback(c client) string { return s.origin() + "/auth/callback/" + c.id }

// signedOut is where the provider of a client sends a browser after a sign-out.
func (s *site) signedOut(id string) string { return s.origin() + "/auth/signed-out/" + id }

func (s *site) open(t *testing.T, issuer string, clients []client) {
	t.Helper()
	config := latchkey.Config{Events: latchkey.Events{SignIn: s.remember}}
	for _, c := range clients {
		config.Providers = append(config.Providers, c.provider(issuer))
	}
	s.server.Config.Handler = newAuth(t, config)
	s.server.Start()
}

func (s *site) remember(_ context.Context, e latchkey.SignInEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = e
	return nil
}

// signIn walks through a whole sign-in. change is how the person differs from
// one who types what they should; nil: they do not.
func (s *site) signIn(t *testing.T, c client, types map[string]string, change func(*person)) {
	t.Helper()
	browser := latchkeytest.NewClientAt(t, s.origin())
	begun := browser.Begin(c.id)
	who := newPerson(t, s.origin(), types)
	if change != nil {
		change(who)
	}
	if q := begun.Location(); q == nil || q.Query().Get("code_challenge_method") != "S256" || q.Query().Get("nonce") == "" || q.Query().Get("state") == "" {
		t.Fatalf("answered %d, and leads to %v", begun.Status, q)
	}
	done := browser.Complete(who.signIn(begun.Location()))
	if got := done.Error(); got != c.refused || done.Status != http.StatusFound {
		t.Fatalf("answered %d with the error %q, want %q", done.Status, got, c.refused)
	}
	session := browser.Session()
	switch {
	case c.refused != "":
		if session != nil {
			t.Error("signed in all the same")
		}
	case session == nil || session.User.Name != c.named:
		t.Errorf("the session is %+v", session)
	}
}

// remembered checks what the application learned about the last sign-in.
func (s *site) remembered(t *testing.T, c client, subject, email string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.last.Account
	if a.Provider != c.id || a.ProviderAccountID != subject || s.last.User.Email != email {
		t.Errorf("learned of %s at %s with the e-mail %q", a.ProviderAccountID, a.Provider, s.last.User.Email)
	}
	if a.Tokens.AccessToken == "" || a.Tokens.IDToken == "" || a.Tokens.TokenType != "bearer" || a.Tokens.ExpiresAt.IsZero() {
		t.Error("learned without all tokens")
	}
}

// The keys that clients sign with.

func rsaKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	ok(t, err)
	return key
}

func ecKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(t, err)
	return key
}

func edKey(t *testing.T) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	ok(t, err)
	return key
}
