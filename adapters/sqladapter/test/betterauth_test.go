package test

import (
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// importUsers is the program of docs/moving/better-auth.md.
func importUsers(ctx context.Context, from *sql.DB, to storage.TxAdapter) error {
	rows, err := from.QueryContext(ctx, `SELECT u.id, u.name, u.email, coalesce(u.image, ''), a."providerId", a."accountId"
		FROM "user" u JOIN account a ON a."userId" = u.id WHERE a."providerId" <> 'credential' ORDER BY u.id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	type row struct {
		user    latchkey.User
		account latchkey.Account
	}
	var all []row
	for rows.Next() {
		var r row
		u, a := &r.user, &r.account
		if err := rows.Scan(&u.ID, &u.Name, &u.Email, &u.Image, &a.Provider, &a.ProviderAccountID); err != nil {
			return err
		}
		a.Type = storage.TypeOAuth
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return to.InTx(ctx, func(store storage.Adapter) error {
		ids := map[string]string{} // theirs to ours
		for _, r := range all {
			theirs := r.user.ID
			if ids[theirs] == "" {
				r.user.ID = ""
				u, err := store.CreateUser(ctx, r.user)
				if err != nil {
					return err
				}
				ids[theirs] = u.ID
			}
			r.account.UserID = ids[theirs]
			if err := store.LinkAccount(ctx, r.account); err != nil {
				return err
			}
		}
		return nil
	})
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
	if n := count(t, ours, `SELECT count(*) FROM users`); n != 1 {
		t.Errorf("there are %d users, want the imported one", n)
	}
}
