package kvstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
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
	if a.isAlone && !errors.Is(err, storage.ErrConflict) {
		err = errAlone
	}
	return r, err
}

// TestUsedValuesMayGoSoon: strangers make them, as many as they like, and the
// store has them for little longer than they matter.
func TestUsedValuesMayGoSoon(t *testing.T) {
	m, now := newMemory(), time.Now()
	s := kvstore.New(m, kvstore.Options{Now: func() time.Time { return now }})
	for key, expires := range map[string]time.Time{"past": now.Add(-time.Hour), "soon": now.Add(15 * time.Minute)} {
		if first, err := s.Use(t.Context(), key, expires); err != nil || !first {
			t.Fatalf("first use: %t, error %v", first, err)
		}
	}
	for k, r := range m.records {
		if latest := now.Add(75 * time.Minute); r.Until.After(latest) || r.Until.Before(now.Add(time.Hour)) {
			t.Errorf("%v may go at %v, want within the hour before %v", k, r.Until, latest)
		}
	}
}

// TestWhatMayComeBackIsNoEnd: nobody is told that something is gone which only
// the primary knows of, in the first try or a later one.
func TestWhatMayComeBackIsNoEnd(t *testing.T) {
	ctx, c := t.Context(), &alone{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	_ = accountOf(t, s, "ada")
	for _, token := range []string{"t1", "t2", "t3", "t4", "t5"} {
		row := storage.StoredSession{Token: token, ID: token, UserID: "ada", Expires: time.Now().Add(time.Hour), ProviderSID: "sid-" + token, ProviderSub: "sub-" + token}
		if err := s.CreateSession(ctx, row); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "i", Token: "t", Expires: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateAuthenticator(ctx, storage.Authenticator{CredentialID: []byte{1}, UserID: "ada"}); err != nil {
		t.Fatal(err)
	}
	for _, end := range []struct {
		what string
		do   func() error
	}{
		{"a session", func() error { _, err := s.DeleteSession(ctx, "t1"); return err }},
		{"a session by its id", func() error { return s.DeleteSessionByID(ctx, "ada", "t2") }},
		{"R-759 the sessions of a provider's sid", func() error {
			_, err := s.DeleteProviderSessions(ctx, []string{"sid-t4"}, nil, time.Now())
			return err
		}},
		{"R-759 the sessions of a provider's sub", func() error {
			_, err := s.DeleteProviderSessions(ctx, nil, []string{"sub-t5"}, time.Now())
			return err
		}},
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
			if err := end.do(); err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("with a replica again: %v", err)
			}
		})
	}
}
