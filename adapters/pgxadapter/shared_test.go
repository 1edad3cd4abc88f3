package pgxadapter_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestSharedWith (S-007) lives through a sign-in on the tables of others, with the
// types that pgx itself writes.
func TestSharedWith(t *testing.T) {
	s := start(t)
	for peer, file := range map[string]string{
		"prisma": "prisma_v5", "drizzle": "drizzle", "kysely": "kysely", "typeorm": "typeorm", "sequelize": "sequelize", "hasura": "hasura", "neon": "neon",
	} {
		t.Run(peer, func(t *testing.T) {
			pool := s.empty(t)
			schema, err := os.ReadFile("../sqladapter/test/testdata/schemas/" + file + "_postgres.sql")
			ok(t, err)
			_, err = pool.Exec(t.Context(), string(schema))
			ok(t, err)
			layout, err := sqlstore.SharedWith(sqlstore.Postgres, peer)
			ok(t, err)
			signsIn(t, adapter(t, pool, pgxadapter.Options{Layout: layout}))
		})
	}
}

func signsIn(t *testing.T, a *pgxadapter.Adapter) {
	ctx, at := t.Context(), time.Date(2031, 5, 17, 22, 30, 15, 123e6, time.UTC)
	u, err := a.CreateUser(ctx, storage.User{Email: "ada@example.com", EmailVerified: at})
	ok(t, err)
	account := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth}
	ok(t, a.LinkAccount(ctx, account))
	if err := a.LinkAccount(ctx, account); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("the same account again: %v", err)
	}
	ok(t, a.CreateSession(ctx, storage.StoredSession{Token: "t", UserID: u.ID, Expires: at}))
	ok(t, a.UpdateSession(ctx, "t", at.Add(time.Hour)))
	session, user, err := a.GetSessionAndUser(ctx, "t")
	if err != nil || !session.Expires.Equal(at.Add(time.Hour)) || !user.EmailVerified.Equal(at) {
		t.Errorf("session until %v, user proven %v, error %v", session.Expires, user.EmailVerified, err)
	}
	if n, err := a.Sweep(ctx, at.Add(2*time.Hour)); err != nil || n != 1 {
		t.Errorf("swept %d, error %v", n, err)
	}
	if _, err := a.GetUser(ctx, "nobody's id"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
	_, err = a.DeleteUser(ctx, u.ID)
	ok(t, err)
}
