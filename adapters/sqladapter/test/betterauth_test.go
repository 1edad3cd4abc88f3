package test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// The program of docs/moving/better-auth.md.

// betterAuthRows reads the default tables of Better Auth on PostgreSQL: a row for each account, and
// one for each user without any. An address counts as proven only for users without an
// account at a provider: all others prove it once more.
const betterAuthRows = `SELECT u.id, u.name, u.email, coalesce(u.image, ''),
	u."emailVerified" AND NOT EXISTS (SELECT 1 FROM account o WHERE o."userId" = u.id AND o."providerId" <> 'credential'),
	coalesce(a."providerId", ''), coalesce(a."accountId", ''), coalesce(a.password, '')
	FROM "user" u LEFT JOIN account a ON a."userId" = u.id ORDER BY u.id`

type betterAuthRow struct {
	user    latchkey.User
	account latchkey.Account
	proven  bool
	hash    string // of a password; empty: the row has none
}

// importUsers copies all users, or none. An e-mail address that the store has already is
// ErrConflict, because it may be another person's.
func importUsers(ctx context.Context, from *sql.DB, to storage.TxAdapter) error {
	rows, err := from.QueryContext(ctx, betterAuthRows)
	if err != nil {
		return err
	}
	defer rows.Close()
	var all []betterAuthRow
	for rows.Next() {
		var r betterAuthRow
		u, a := &r.user, &r.account
		if err := rows.Scan(&u.ID, &u.Name, &u.Email, &u.Image, &r.proven, &a.Provider, &a.ProviderAccountID, &r.hash); err != nil {
			return err
		}
		a.Type = storage.TypeOAuth // or TypeOIDC, by the provider: only a users.Query asks for it
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return to.InTx(ctx, func(store storage.Adapter) error { return writeImported(ctx, store, all) })
}

func writeImported(ctx context.Context, store storage.Adapter, all []betterAuthRow) error {
	passwords, keeps := store.(storage.PasswordAdapter)
	if !keeps {
		return errors.New("the store keeps no passwords")
	}
	now := time.Now().UTC()
	ids := map[string]string{} // theirs to ours
	for _, r := range all {
		theirs := r.user.ID
		if ids[theirs] == "" {
			r.user.ID, r.user.Created = "", now
			if r.proven {
				r.user.EmailVerified = now
			}
			u, err := store.CreateUser(ctx, r.user)
			if err != nil {
				return err
			}
			ids[theirs] = u.ID
		}
		var err error
		switch r.account.UserID = ids[theirs]; {
		case r.hash != "":
			hash := storage.PasswordHash{UserID: ids[theirs], Hash: r.hash, Created: now, Changed: now}
			err = passwords.Passwords().Set(ctx, hash, "") // "": the user has none yet
		case r.account.Provider != "" && r.account.Provider != "credential":
			err = store.LinkAccount(ctx, r.account)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestMovedFromBetterAuth is R-565: people sign up at a site of Better Auth, by a provider
// and by a password. Its users are imported by the program of the guide. The same person
// at the same provider is then the imported user here.
func TestMovedFromBetterAuth(t *testing.T) {
	server := servers.Postgres(t)
	theirs, ours := postgresSchemas(server)(t), postgresSchemas(server)(t)
	iss := latchkeytest.NewIssuer(t)
	p := iss.Provider()
	where := onPostgres(t, server, theirs)
	where["provider"], where["issuer"] = p.ID, record{"url": iss.URL, "id": p.ClientID, "secret": p.ClientSecret}
	text, err := json.Marshal(where)
	ok(t, err)
	peer := realservers.NewPeer(t, "betterauth", "better-auth", string(text))
	ask := func(method string, args ...any) map[string]any {
		t.Helper()
		result, err := peer.Ask(method, args...)
		ok(t, err)
		user, _ := result.(map[string]any)
		return user
	}
	ada := latchkeytest.Person{Subject: "ada-1", Name: "Ada", Email: "ada@example.com", EmailVerified: true}
	iss.SignInAs(ada)
	ask("migrate")
	was := ask("signIn")
	ask("signUp", "Bob", "bob@example.com", "correct horse battery")
	if again := ask("signIn"); again["id"] != was["id"] || was["email"] != ada.Email {
		t.Fatalf("before the move the person is %v, then %v", was, again)
	}

	ok(t, sqladapter.Migrate(t.Context(), ours, sqladapter.Postgres, sqladapter.Options{}))
	store, err := sqladapter.New(ours, sqladapter.Postgres, sqladapter.Options{})
	ok(t, err)
	ok(t, importUsers(t.Context(), theirs, store))
	account, err := store.GetUserByAccount(t.Context(), p.ID, ada.Subject)
	if err != nil || account.Email != ada.Email || account.Name != "Ada" || !account.EmailVerified.IsZero() {
		t.Fatalf("imported is %+v, %v", account, err)
	}
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{"the secret after the move, long enough"},
		Adapter: store, Providers: []latchkey.Provider{p}, Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	})
	ok(t, err)
	b := latchkeytest.NewClient(t, auth)
	b.SignIn(iss)
	if s := b.Session(); s == nil || s.User.Email != ada.Email {
		t.Errorf("after the move the session is %+v", s)
	}
	bob, err := store.GetUserByEmail(t.Context(), "bob@example.com")
	ok(t, err)
	kept, err := store.Passwords().Get(t.Context(), bob.ID)
	if err != nil || !strings.Contains(kept.Hash, ":") || !bob.EmailVerified.IsZero() {
		t.Errorf("imported is %+v with the hash %q, %v", bob, kept.Hash, err)
	}
	if n := count(t, ours, `SELECT count(*) FROM users`); n != 2 {
		t.Errorf("there are %d users, want the two imported ones", n)
	}
}
