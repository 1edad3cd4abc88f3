package webauthn_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// twoTries is what a client has here.
func twoTries(c *latchkey.Config, _ *latchkey.WebAuthn) {
	c.Limits = latchkey.Limits{CredentialsPerClient: latchkey.Rate{Events: 2, Per: time.Hour}}
}

// TestTries. Wrong answers and new users are counted by client;
// right ones are not, and questions are on their own.
func TestTries(t *testing.T) {
	s := newSite(t, twoTries)
	b, a := s.member("ada@example.com")
	for range 4 {
		b.SignInByPasskey(a, "")
	}
	b.SignOut()
	a.Misbehave(bad{Sign: latchkeytest.SignOtherKey})
	refused(t, b, b.TryPasskey(a, "")) // the second, after the sign-up
	a.Misbehave(bad{})
	if p := b.TryPasskey(a, ""); p.Error() != string(latchkey.ErrWebAuthnVerification) {
		t.Errorf("R-154 a third try: %d %s", p.Status, p.Location())
	}
	isIn(t, b, "")
	if p := b.Get("/auth/webauthn-options/passkey?action=authenticate"); p.Status != http.StatusOK {
		t.Errorf("R-346 options without a name: %d", p.Status)
	}
}

func TestQuestions(t *testing.T) {
	s := newSite(t, twoTries)
	b, _ := s.visit()
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		p := b.Get(fmt.Sprintf("/auth/webauthn-options/passkey?email=ada%d@example.com", i))
		if p.Status != want || want != http.StatusOK && p.Header.Get("Retry-After") == "" {
			t.Errorf("R-184 question %d: %d %s", i, p.Status, p.Body)
		}
	}
}

// TestOwnQuestions: R-184. Questions that the application answers are counted,
// whatever their parameters are called; one about nobody is not.
func TestOwnQuestions(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, p *latchkey.WebAuthn) {
		twoTries(c, p)
		p.UserInfo = func(_ context.Context, r *latchkey.Request) (*latchkey.User, bool, error) {
			name := r.URL.Query().Get("username")
			if name == "" {
				return nil, false, nil
			}
			return &latchkey.User{Email: name + "@example.com"}, false, nil
		}
	})
	b, _ := s.visit()
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if p := b.Get(fmt.Sprintf("/auth/webauthn-options/passkey?username=ada%d", i)); p.Status != want {
			t.Errorf("question %d: %d %s", i, p.Status, p.Body)
		}
		if p := b.Get("/auth/webauthn-options/passkey?action=authenticate"); p.Status != http.StatusOK {
			t.Errorf("about nobody: %d %s", p.Status, p.Body)
		}
	}
}

// halfDone is a store that fails once when it is to keep a passkey.
type halfDone struct {
	*memoryadapter.Adapter
	fails *bool
}

func (h halfDone) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return h.Adapter.InTx(ctx, func(a storage.Adapter) error { return f(halfDone{a.(*memoryadapter.Adapter), h.fails}) })
}

func (h halfDone) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	if *h.fails {
		*h.fails = false
		return errors.New("the disk is full")
	}
	return h.Adapter.CreateAuthenticator(ctx, k)
}

// TestWholeSignUp: R-185. A sign-up whose passkey cannot be kept leaves nothing,
// and the next one succeeds.
func TestWholeSignUp(t *testing.T) {
	fails := true
	s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Adapter = halfDone{c.Adapter.(*memoryadapter.Adapter), &fails}
	})
	b, a := s.visit()
	if p := b.TryRegisterPasskey(a, "ada@example.com"); p.Error() != "Configuration" {
		t.Errorf("the failed one: %d %s", p.Status, p.Location())
	}
	s.holds(t, 0, 0)
	isIn(t, b, "")
	again := latchkeytest.NewAuthenticator(s.url)
	b.RegisterPasskey(again, "ada@example.com")
	s.holds(t, 1, 1)
	isIn(t, b, "ada@example.com")
}
