package kvstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// alone is a primary that does what ends something and says that no replica has
// it.
type alone struct {
	*memory
	isAlone bool
}

var errAlone = errors.New("no replica has it")

func (a *alone) Put(ctx context.Context, r kvstore.Record, over string) error {
	err := a.memory.Put(ctx, r, over)
	if err == nil && a.isAlone && r.IsVoid() {
		err = errAlone
	}
	return err
}

func (a *alone) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	r, err := a.memory.Delete(ctx, k, version)
	if a.isAlone && !errors.Is(err, latchkey.ErrConflict) {
		err = errAlone
	}
	return r, err
}

// TestWhatMayComeBackIsNoEnd: nobody is told that something is gone which only
// the primary knows of, in the first try or a later one.
func TestWhatMayComeBackIsNoEnd(t *testing.T) {
	ctx, c := t.Context(), &alone{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	_ = accountOf(t, s, "ada")
	for _, token := range []string{"t1", "t2", "t3"} {
		row := latchkey.StoredSession{Token: token, ID: token, UserID: "ada", Expires: time.Now().Add(time.Hour)}
		if err := s.CreateSession(ctx, row); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateVerificationToken(ctx, latchkey.VerificationToken{Identifier: "i", Token: "t", Expires: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateAuthenticator(ctx, latchkey.Authenticator{CredentialID: []byte{1}, UserID: "ada"}); err != nil {
		t.Fatal(err)
	}
	for _, end := range []struct {
		what string
		do   func() error
	}{
		{"a session", func() error { _, err := s.DeleteSession(ctx, "t1"); return err }},
		{"a session by its id", func() error { return s.DeleteSessionByID(ctx, "ada", "t2") }},
		{"all sessions", func() error { _, err := s.DeleteSessions(ctx, "ada", ""); return err }},
		{"a magic link", func() error { _, err := s.UseVerificationToken(ctx, "i", "t"); return err }},
		{"a passkey", func() error { return s.DeleteAuthenticator(ctx, []byte{1}) }},
		{"an account", func() error { _, err := s.UnlinkAccount(ctx, "acme", "ada"); return err }},
		{"a user", func() error { _, err := s.DeleteUser(ctx, "ada"); return err }},
	} {
		t.Run(end.what, func(t *testing.T) {
			c.isAlone = true
			for try := range 3 {
				if err := end.do(); !errors.Is(err, errAlone) {
					t.Errorf("try %d: error %v", try, err)
				}
			}
			c.isAlone = false
			if err := end.do(); err != nil && !errors.Is(err, latchkey.ErrNotFound) {
				t.Errorf("with a replica again: %v", err)
			}
		})
	}
}
