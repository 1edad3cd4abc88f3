package kvstore_test

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestCalls counts what the operations cost where nobody else is about.
func TestCalls(t *testing.T) {
	m := newMemory()
	ctx := t.Context()
	expires := time.Now().Add(time.Hour)
	rate := storage.Rate{Events: 2, Per: time.Minute}
	for _, c := range []struct {
		name string
		most int
		do   func(s *kvstore.Store) error
	}{
		{"a sign-up, which stores a user, an account and a session", 8, func(s *kvstore.Store) error {
			if _, err := s.CreateUser(ctx, storage.User{ID: "u", Email: "ada@example.com"}); err != nil {
				return err
			}
			if err := s.LinkAccount(ctx, storage.Account{UserID: "u", Provider: "acme", ProviderAccountID: "1"}); err != nil {
				return err
			}
			return s.CreateSession(ctx, storage.StoredSession{Token: "t", UserID: "u", Expires: expires})
		}},
		{"the record of a sign-up", 2, func(s *kvstore.Store) error {
			if _, err := s.BeginSignUp(ctx, "acme", "1", "u"); err != nil {
				return err
			}
			return s.EndSignUp(ctx, "acme", "1")
		}},
		{"a session with its user", 2, func(s *kvstore.Store) error { _, _, err := s.GetSessionAndUser(ctx, "t"); return err }},
		{"a session", 1, func(s *kvstore.Store) error { _, err := s.GetSession(ctx, "t"); return err }},
		{"a renewal", 3, func(s *kvstore.Store) error { return s.UpdateSession(ctx, "t", expires.Add(time.Hour)) }},
		{"a renewal that is none", 1, func(s *kvstore.Store) error { return s.UpdateSession(ctx, "t", expires) }},
		{"a user by e-mail address", 2, func(s *kvstore.Store) error { _, err := s.GetUserByEmail(ctx, "ada@example.com"); return err }},
		{"a user by account", 3, func(s *kvstore.Store) error { _, err := s.GetUserByAccount(ctx, "acme", "1"); return err }},
		{"another name", 2, func(s *kvstore.Store) error {
			_, err := s.UpdateUser(ctx, "u", storage.UserChange{Name: new("Ada")})
			return err
		}},
		{"another e-mail address", 7, func(s *kvstore.Store) error {
			_, err := s.UpdateUser(ctx, "u", storage.UserChange{Email: new("new@example.com")})
			return err
		}},
		{"an event that is counted", 2, func(s *kvstore.Store) error { _, err := s.Take(ctx, "k", rate); return err }},
		{"a value that is used", 1, func(s *kvstore.Store) error { _, err := s.Use(ctx, "k", expires); return err }},
		{"what is revoked", 1, func(s *kvstore.Store) error { _, err := s.RevokedAt(ctx, "jti:1", "user:u"); return err }},
		{"a sign-out", 3, func(s *kvstore.Store) error { _, err := s.DeleteSession(ctx, "t"); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			conn := &turns{memory: m, yield: func(call) bool { n++; return true }}
			if err := c.do(kvstore.New(conn, kvstore.Options{})); err != nil {
				t.Fatal(err)
			}
			if n > c.most {
				t.Errorf("%d calls, want at most %d", n, c.most)
			}
		})
	}
}
