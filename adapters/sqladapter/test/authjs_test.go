package test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// peer is an adapter of Auth.js in a process of its own.
type peer struct {
	*realservers.Peer
	at      time.Time // an instant that both keep
	numbers bool      // emailVerified is handed out as it is kept, in milliseconds
}

// verified is at, as the emailVerified of a user.
func (p *peer) verified() any {
	if p.numbers {
		return float64(p.at.UnixMilli())
	}
	return p.at.Format(iso)
}

type record = map[string]any

// newPeer starts the PostgreSQL adapter on the database that db uses.
func newPeer(t *testing.T, server realservers.PG, db *sql.DB) *peer {
	t.Helper()
	return startPeer(t, "pg", sqladapter.Postgres, onPostgres(t, server, db))
}

// onPostgres says where a database is.
func onPostgres(t *testing.T, server realservers.PG, db *sql.DB) record {
	t.Helper()
	var schema string
	ok(t, db.QueryRow("SELECT current_schema()").Scan(&schema))
	return record{"host": server.Dir, "database": "postgres", "schema": schema}
}

// startPeer starts an adapter of Auth.js on a database.
func startPeer(t *testing.T, name string, d sqlstore.Dialect, where record) *peer {
	t.Helper()
	text, err := json.Marshal(where)
	ok(t, err)
	if name == "prisma" {
		return &peer{Peer: realservers.NewPeer(t, "prisma", "prisma", string(d), string(text)), at: moment}
	}
	return &peer{Peer: realservers.NewPeer(t, "js", "@mikro-orm/better-sqlite", name, string(d), string(text)), at: moment}
}

// wants compares what a record has under each key of want, as text.
func wants(t *testing.T, what string, got, want record) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: none", what)
	}
	for key, value := range want {
		if fmt.Sprint(got[key]) != fmt.Sprint(value) {
			t.Errorf("%s: %s is %v, want %v", what, key, got[key], value)
		}
	}
}

const iso = "2006-01-02T15:04:05.000Z"

var moment = time.Date(2031, 5, 17, 22, 30, 15, 123e6, time.UTC)

// TestSharedWithAuthJS has both work on one database at the same time.
func TestSharedWithAuthJS(t *testing.T) {
	server := servers.Postgres(t)
	empty := postgresSchemas(server)
	for name, schema := range map[string]string{"integer ids": authJS, "UUID ids": withUUIDs(authJS)} {
		t.Run(name, func(t *testing.T) {
			db := authJSDatabase(t, empty, schema)
			js := newPeer(t, server, db)
			a, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: sqlstore.AuthJS()})
			ok(t, err)
			t.Run("they write, we read", func(t *testing.T) { theyWrite(t, js, a) })
			t.Run("we write, they read", func(t *testing.T) { weWrite(t, js, a) })
			t.Run("each changes what the other wrote", func(t *testing.T) { bothChange(t, js, a) })
		})
	}
}

// TestAuthJSBesideFactors is F-005: a database of Auth.js that was migrated keeps second
// factors and passwords beside integer and UUID ids, and Auth.js goes on working on it.
func TestAuthJSBesideFactors(t *testing.T) {
	server := servers.Postgres(t)
	empty := postgresSchemas(server)
	for name, schema := range map[string]string{"integer ids": authJS, "UUID ids": withUUIDs(authJS)} {
		t.Run("F-005 "+name, func(t *testing.T) {
			db := authJSDatabase(t, empty, schema)
			ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}))
			a, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: detect(t, db, sqladapter.Postgres).Layout})
			ok(t, err)
			js := newPeer(t, server, db)
			made := js.Call(t, "createUser", record{"name": "Ada", "email": "ada@example.com", "emailVerified": moment.Format(iso), "image": nil})
			id := fmt.Sprint(made["id"])
			for what, err := range useProofs(t.Context(), a, id) {
				if err != nil {
					t.Errorf("%s of a user of theirs: %v", what, err)
				}
			}
			js.Call(t, "createSession", record{"userId": made["id"], "expires": moment.Format(iso), "sessionToken": "theirs"})
			wants(t, "their user", js.Call(t, "getUserByEmail", "ada@example.com"), record{"id": id, "name": "Ada"})
			js.Call(t, "updateUser", record{"id": made["id"], "name": "Ada L.", "email": "ada@example.com", "emailVerified": moment.Format(iso), "image": nil})
			if s, u, err := a.GetSessionAndUser(t.Context(), "theirs"); err != nil || u.Name != "Ada L." || !s.Proved.IsZero() || s.ACR != "" || len(s.AMR) != 0 {
				t.Errorf("their session is %+v of %+v, error %v", s, u, err)
			}
			js.Call(t, "deleteSession", "theirs")
			if n := len(countOwned(t, db, engines[1], id)); n != 5 {
				t.Errorf("%d tables were counted", n)
			}
			for table, n := range countOwned(t, db, engines[1], id) {
				if n != 1 {
					t.Errorf("%d rows are left in %s", n, table)
				}
			}
		})
	}
}

func theyWrite(t *testing.T, js *peer, a *sqladapter.Adapter) {
	ctx := t.Context()
	made := js.Call(t, "createUser", record{"name": "Ada", "email": "ada@example.com", "emailVerified": js.at.Format(iso), "image": nil})
	id := fmt.Sprint(made["id"])
	js.Call(t, "linkAccount", record{
		"userId": made["id"], "provider": "github", "type": "oauth", "providerAccountId": "42", "access_token": "at",
		"expires_at": 1936866615, "refresh_token": "rt", "id_token": "it", "scope": "read", "session_state": "ss", "token_type": "bearer",
	})
	js.Call(t, "createSession", record{"userId": made["id"], "expires": js.at.Format(iso), "sessionToken": "their session"})
	js.Call(t, "createVerificationToken", record{"identifier": "ada@example.com", "token": "their token", "expires": js.at.Format(iso)})

	wants(t, "their own", js.Call(t, "getUser", made["id"]), record{"emailVerified": js.verified()})
	want := storage.User{ID: id, Name: "Ada", Email: "ada@example.com", EmailVerified: js.at}
	for what, get := range map[string]func() (storage.User, error){
		"by id":      func() (storage.User, error) { return a.GetUser(ctx, id) },
		"by e-mail":  func() (storage.User, error) { return a.GetUserByEmail(ctx, "ada@example.com") },
		"by account": func() (storage.User, error) { return a.GetUserByAccount(ctx, "github", "42") },
	} {
		if u, err := get(); err != nil || fmt.Sprint(u) != fmt.Sprint(want) {
			t.Errorf("%s: %v, error %v, want %v", what, u, err, want)
		}
	}
	account, err := a.GetAccount(ctx, "github", "42")
	ok(t, err)
	wantAccount := storage.Account{UserID: id, Provider: "github", ProviderAccountID: "42", Type: storage.TypeOAuth, Tokens: storage.Tokens{
		AccessToken: "at", RefreshToken: "rt", IDToken: "it", TokenType: "bearer", Scope: "read", SessionState: "ss", ExpiresAt: time.Unix(1936866615, 0).UTC(),
	}}
	if fmt.Sprint(account) != fmt.Sprint(wantAccount) {
		t.Errorf("account %v, want %v", account, wantAccount)
	}
	s, u, err := a.GetSessionAndUser(ctx, "their session")
	if err != nil || s.UserID != id || !s.Expires.Equal(js.at) || u.ID != id {
		t.Errorf("session %v of %v, error %v", s, u, err)
	}
	token, err := a.UseVerificationToken(ctx, "ada@example.com", "their token")
	if err != nil || !token.Expires.Equal(js.at) {
		t.Errorf("verification token until %v, error %v", token.Expires, err)
	}
	if js.Call(t, "useVerificationToken", record{"identifier": "ada@example.com", "token": "their token"}) != nil {
		t.Error("a token was used twice")
	}
}

func weWrite(t *testing.T, js *peer, a *sqladapter.Adapter) {
	ctx := t.Context()
	u, err := a.CreateUser(ctx, storage.User{Name: "Eve", Email: "eve@example.com", EmailVerified: js.at, Image: "i"})
	ok(t, err)
	ok(t, a.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "github", ProviderAccountID: "43", Type: storage.TypeOAuth, Tokens: storage.Tokens{AccessToken: "at"}}))
	ok(t, a.CreateSession(ctx, storage.StoredSession{Token: "our session", UserID: u.ID, Expires: js.at}))
	ok(t, a.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "eve@example.com", Token: "our token", Expires: js.at}))

	want := record{"id": u.ID, "name": "Eve", "email": "eve@example.com", "emailVerified": js.verified(), "image": "i"}
	wants(t, "by id", js.Call(t, "getUser", u.ID), want)
	wants(t, "by e-mail", js.Call(t, "getUserByEmail", "eve@example.com"), want)
	wants(t, "by account", js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "43"}), want)
	both := js.Call(t, "getSessionAndUser", "our session")
	wants(t, "session", both["session"].(record), record{"sessionToken": "our session", "userId": u.ID, "expires": js.at.Format(iso)})
	wants(t, "its user", both["user"].(record), want)
	wants(t, "verification token", js.Call(t, "useVerificationToken", record{"identifier": "eve@example.com", "token": "our token"}),
		record{"identifier": "eve@example.com", "token": "our token", "expires": js.at.Format(iso)})
	if _, err := a.UseVerificationToken(ctx, "eve@example.com", "our token"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a token was used twice: %v", err)
	}
}

func bothChange(t *testing.T, js *peer, a *sqladapter.Adapter) {
	ctx := t.Context()
	ada, err := a.GetUserByEmail(ctx, "ada@example.com")
	ok(t, err)
	_, err = a.UpdateUser(ctx, ada.ID, storage.UserChange{Name: new("Countess")})
	ok(t, err)
	js.Call(t, "updateUser", record{"id": ada.ID, "image": "new"})
	wants(t, "changed user", js.Call(t, "getUser", ada.ID), record{"name": "Countess", "image": "new", "email": "ada@example.com"})
	later := js.at.Add(time.Hour)
	ok(t, a.UpdateSession(ctx, "their session", later))
	wants(t, "renewed session", js.Call(t, "getSessionAndUser", "their session")["session"].(record), record{"expires": later.Format(iso)})
	js.Call(t, "updateSession", record{"sessionToken": "our session", "expires": later.Format(iso)})
	s, eve, err := a.GetSessionAndUser(ctx, "our session")
	if err != nil || !s.Expires.Equal(later) {
		t.Errorf("session until %v, error %v", s.Expires, err)
	}
	_, err = a.DeleteSession(ctx, "their session")
	ok(t, err)
	js.Call(t, "deleteSession", "our session")
	if js.Call(t, "getSessionAndUser", "their session") != nil {
		t.Error("we deleted a session that they still find")
	}
	if _, _, err := a.GetSessionAndUser(ctx, "our session"); err == nil {
		t.Error("they deleted a session that we still find")
	}
	_, err = a.DeleteUser(ctx, ada.ID)
	ok(t, err)
	if js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "42"}) != nil {
		t.Error("we deleted a user that they still find")
	}
	js.Call(t, "deleteUser", eve.ID)
	if _, err := a.GetUserByAccount(ctx, "github", "43"); err == nil {
		t.Error("they deleted a user that we still find")
	}
}
