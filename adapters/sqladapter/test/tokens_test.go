package test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestTokensAtRest is about what a copy of the database is good for.
func TestTokensAtRest(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		a := e.adapter(t, db, sqladapter.Options{})
		plain := e.adapter(t, db, sqladapter.Options{Layout: sqlstore.Layout{PlainTokens: true}})
		u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
		ok(t, err)
		stored := func(t *testing.T) (token string) {
			ok(t, db.QueryRow(e.quoted(`SELECT "sessionToken" FROM sessions`)).Scan(&token))
			return token
		}
		fresh := func(t *testing.T, a *sqladapter.Adapter, token string) {
			_, err := a.DeleteSessions(t.Context(), u.ID, "")
			ok(t, err)
			ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: token, UserID: u.ID, Expires: moment}))
		}
		const token = "4f6b9c0e2a5d4a0f8c1b7e3d9a2f6c5b4f6b9c0e2a5d4a0f8c1b7e3d9a2f6c5b"
		sum := sha256.Sum256([]byte(token))
		hash := "sha256:" + hex.EncodeToString(sum[:])

		t.Run("R-104 the row has the hash", func(t *testing.T) {
			fresh(t, a, token)
			if got := stored(t); got != hash {
				t.Errorf("stored as %q", got)
			}
		})
		t.Run("R-104 the hash is no token", func(t *testing.T) {
			fresh(t, a, token)
			for _, stolen := range []string{hash, hex.EncodeToString(sum[:])} {
				for name, a := range map[string]*sqladapter.Adapter{"hashing": a, "plain": plain} {
					if _, _, err := a.GetSessionAndUser(t.Context(), stolen); !errors.Is(err, storage.ErrNotFound) {
						t.Errorf("%s: what the database holds opens the session: %v", name, err)
					}
					if _, err := a.DeleteSession(t.Context(), stolen); !errors.Is(err, storage.ErrNotFound) {
						t.Errorf("%s: what the database holds ends the session: %v", name, err)
					}
				}
			}
			if got := stored(t); got != hash {
				t.Errorf("stored as %q", got)
			}
		})
		t.Run("R-104 an old plain row is read and converted", func(t *testing.T) {
			fresh(t, plain, token)
			for range 2 {
				s, owner, err := a.GetSessionAndUser(t.Context(), token)
				if err != nil || s.Token != token || owner.ID != u.ID {
					t.Errorf("read %v of %q, error %v", s, owner.ID, err)
				}
				if got := stored(t); got != hash {
					t.Errorf("stored as %q", got)
				}
			}
		})
		t.Run("an old plain row is renewed, and ends", func(t *testing.T) {
			fresh(t, plain, token)
			ok(t, a.UpdateSession(t.Context(), token, moment.AddDate(1, 0, 0)))
			fresh(t, plain, token)
			_, err := a.DeleteSession(t.Context(), token)
			ok(t, err)
			if n := count(t, db, "SELECT count(*) FROM sessions"); n != 0 {
				t.Errorf("%d sessions left", n)
			}
		})
		t.Run("many readers of an old plain row all find it", func(t *testing.T) {
			fresh(t, plain, token)
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() {
					if _, _, err := a.GetSessionAndUser(t.Context(), token); err != nil {
						t.Errorf("reader %d: %v", i, err)
					}
				})
			}
			all.Wait()
		})
	})
}

// TestNames keeps everything under other names.
func TestNames(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		for _, statement := range []string{
			`ALTER TABLE users RENAME TO "the people"`,
			`ALTER TABLE "the people" RENAME COLUMN "emailVerified" TO "confirmed at"`,
			`ALTER TABLE sessions RENAME COLUMN "sessionToken" TO "key"`,
			`ALTER TABLE sessions DROP COLUMN user_agent`,
			`DROP TABLE revocations`,
		} {
			exec(t, db, e.quoted(statement))
		}
		a := e.adapter(t, db, sqladapter.Options{Layout: sqlstore.Layout{Names: map[string]string{
			"users": "the people", "users.emailVerified": "confirmed at", "sessions.sessionToken": "key", "sessions.user_agent": "", "revocations": "",
		}}})
		u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com", EmailVerified: moment})
		ok(t, err)
		ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: moment, UserAgent: "Firefox"}))
		s, got, err := a.GetSessionAndUser(t.Context(), "t")
		ok(t, err)
		if s.UserAgent != "" || fmt.Sprint(got) != fmt.Sprint(u) || !got.EmailVerified.Equal(moment) {
			t.Errorf("read %v of %v", s, got)
		}
		if n, err := a.Sweep(t.Context(), moment.AddDate(1, 0, 0)); err != nil || n != 1 {
			t.Errorf("Sweep: %d, %v", n, err)
		}
		if err := a.Revoke(t.Context(), "k", moment, moment); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Revoke: %v", err)
		}
	})
}

// TestOneUnreadableSession: R-361, in tables without ids of sessions, one whose expiry cannot
// be read keeps no other from being ended.
func TestOneUnreadableSession(t *testing.T) {
	e := engines[0]
	db := e.laidOut(t, e.start(t), "drizzle_sqlite")
	a := e.adapter(t, db, sqladapter.Options{Layout: detect(t, db, e.dialect).Layout})
	u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada", Email: "ada@example.com"})
	ok(t, err)
	for _, token := range []string{"broken", "old", "present"} {
		ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: token, UserID: u.ID, Expires: moment}))
	}
	present, err := a.GetSession(t.Context(), "present")
	ok(t, err)
	exec(t, db, `UPDATE session SET expires = 'tomorrow' WHERE sessionToken = 'broken'`)
	if _, err := a.DeleteSessions(t.Context(), u.ID, present.ID); !errors.Is(err, sqlstore.ErrUnreadableTime) {
		t.Errorf("DeleteSessions: %v", err)
	}
	if _, err := a.GetSession(t.Context(), "old"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the session after it is still there: %v", err)
	}
	_, err = a.GetSession(t.Context(), "present")
	ok(t, err)
}
