package sitetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// plainHasher hashes at no cost, and counts its calls.
type plainHasher struct {
	hashes, checks atomic.Int64
	fail           error
	stale          atomic.Bool
	breached       atomic.Bool
}

func (h *plainHasher) of(password string) string {
	sum := sha256.Sum256([]byte("salt" + password))
	return "plain$" + hex.EncodeToString(sum[:])
}

func (h *plainHasher) Hash(_ context.Context, password string) (string, error) {
	h.hashes.Add(1)
	return h.of(password), h.fail
}

func (h *plainHasher) Check(_ context.Context, hash, password string) (latchkey.PasswordCheck, error) {
	h.checks.Add(1)
	ok := hash == h.of(password) || hash == "old$"+password
	return latchkey.PasswordCheck{OK: ok, Stale: ok && (h.stale.Load() || strings.HasPrefix(hash, "old$")), Breached: ok && h.breached.Load()}, h.fail
}

// weakness refuses what is short, or the address.
func weakness(_ context.Context, password string, about []string) (string, error) {
	if len(password) < 8 {
		return "short", nil
	}
	if password == about[0] {
		return "context", nil
	}
	return "", nil
}

// managedSite is a site with passwords, an account page, and mails that are there
// when the answer is.
type managedSite struct {
	*testSite
	hasher *plainHasher
}

const (
	annMail  = "ann@example.com"
	annsPass = "correct horse battery"
	newPass  = "a new one of some length"
)

func newManagedSite(t testing.TB, strategy latchkey.Strategy, change ...func(*latchkey.Config)) *managedSite {
	t.Helper()
	hasher := &plainHasher{}
	site := &managedSite{hasher: hasher}
	all := append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Session.Strategy = strategy
		c.AccountPage.Enabled = true
		c.Providers = append(c.Providers, &latchkey.Password{Hasher: hasher, Weakness: weakness, MinLength: 8})
		c.Runtime.Background = func(f func(context.Context)) {
			site.clock.Advance(time.Millisecond) // mails leave after the answer
			f(context.Background())
		}
	}}, change...)
	site.testSite = newSite(t, all...)
	return site
}

// eachStrategy runs a test for both strategies.
func eachStrategy(t *testing.T, f func(t *testing.T, strategy latchkey.Strategy)) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(string(strategy), func(t *testing.T) { f(t, strategy) })
	}
}

// addUser stores a user with a proven address and a password.
func (s *managedSite) addUser(email, password string) storage.User {
	s.t.Helper()
	u, err := s.store.CreateUser(s.t.Context(), storage.User{Email: email, EmailVerified: s.clock.Now()})
	if err == nil && password != "" {
		err = s.store.Passwords().Set(s.t.Context(), storage.PasswordHash{UserID: u.ID, Hash: s.hasher.of(password), Created: s.clock.Now(), Changed: s.clock.Now()}, "")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

// tries shows a password at the sign-in page.
func (b *browser) tries(email, password string) *answer {
	b.site.t.Helper()
	return b.post("/auth/callback/password", "email", email, "password", password)
}

// lastMail is the newest mail, which must be of a kind.
func (s *managedSite) lastMail(kind latchkey.MessageKind) latchkey.Message {
	s.t.Helper()
	all := s.sent()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			return all[i]
		}
	}
	s.t.Fatalf("no mail of the kind %s among %d", kind, len(all))
	return latchkey.Message{}
}

// path is where the link of a mail leads.
func path(m latchkey.Message) string {
	u, _ := url.Parse(m.URL)
	return u.RequestURI()
}

// signUp signs up with the site, and proves the address in the same browser.
func (s *managedSite) signUp(b *browser, email, password string) *answer {
	s.t.Helper()
	b.post("/auth/password?do=signup", "email", email, "password", password)
	return b.post(path(s.lastMail(latchkey.MessageVerify)))
}

// resetLink asks for a link to a new password.
func (s *managedSite) resetLink(email string) string {
	s.t.Helper()
	s.newBrowser().post("/auth/password?do=forgot", "email", email)
	return path(s.lastMail(latchkey.MessagePasswordReset))
}
