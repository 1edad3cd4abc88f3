package test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

func detect(t *testing.T, db *sql.DB, d sqlstore.Dialect) sqlstore.Found {
	t.Helper()
	found, err := sqladapter.Detect(t.Context(), db, d)
	ok(t, err)
	return found
}

// usualIDs has the type of users.id in our tables.
var usualIDs = map[sqlstore.Dialect]string{sqladapter.Postgres: "text", sqladapter.MySQL: "varbinary(255)", sqladapter.SQLite: "text"}

// atVersion makes the tables as an earlier version left them.
func atVersion(t *testing.T, db *sql.DB, d sqlstore.Dialect, version int) {
	t.Helper()
	steps, err := filepath.Glob("../../sqlstore/schema/" + string(d) + "/0*.sql")
	ok(t, err)
	exec(t, db, "CREATE TABLE latchkey_migrations (version bigint PRIMARY KEY)")
	for i, file := range steps[:version] {
		source, err := os.ReadFile(file)
		ok(t, err)
		for statement := range strings.SplitSeq(strings.TrimSpace(string(source)), ";\n\n") {
			exec(t, db, strings.ReplaceAll(statement, "{users.id}", usualIDs[d]))
		}
		exec(t, db, fmt.Sprint("INSERT INTO latchkey_migrations VALUES (", i+1, ")"))
	}
}

func TestMigrate(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		t.Run("many instances at once, from nothing", func(t *testing.T) {
			db := empty(t)
			if found := detect(t, db, e.dialect); found.Schema != sqlstore.SchemaAbsent {
				t.Errorf("found the schema %q in an empty database", found.Schema)
			}
			errs := make(chan error)
			for range 8 {
				go func() { errs <- sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}) }()
			}
			for range 8 {
				ok(t, <-errs)
			}
			if found := detect(t, db, e.dialect); found.Schema != sqlstore.SchemaOwn || found.Version != sqlstore.Version(e.dialect) || found.Layout.DatabaseIDs {
				t.Errorf("found %+v", found)
			}
		})
		t.Run("again, and rows stay", func(t *testing.T) {
			db := e.migrated(t, empty)
			u, err := e.adapter(t, db, sqladapter.Options{}).CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
			ok(t, err)
			ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
			_, err = e.adapter(t, db, sqladapter.Options{}).GetUser(t.Context(), u.ID)
			ok(t, err)
		})
		t.Run("after one that was interrupted", func(t *testing.T) {
			db := empty(t)
			first, _, _ := strings.Cut(sqlstore.Schema(e.dialect), ";\n")
			exec(t, db, first)
			ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
			_, err := e.adapter(t, db, sqladapter.Options{}).CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
			ok(t, err)
		})
		t.Run("from every earlier version, and from where it was interrupted", func(t *testing.T) {
			for v := 1; v < sqlstore.Version(e.dialect); v++ {
				db := empty(t)
				atVersion(t, db, e.dialect, v)
				for range 2 { // the second time with everything there and nothing noted
					ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
					found := detect(t, db, e.dialect)
					if !found.Usable() || found.Version != sqlstore.Version(e.dialect) {
						t.Errorf("from version %d: found %+v", v, found)
					}
					exec(t, db, fmt.Sprint("DELETE FROM latchkey_migrations WHERE version > ", v))
				}
			}
		})
		t.Run("what Schema prints is the schema", func(t *testing.T) {
			db := empty(t)
			for statement := range strings.SplitSeq(sqlstore.Schema(e.dialect), ";\n") {
				if strings.TrimSpace(statement) != "" {
					exec(t, db, statement)
				}
			}
			if found := detect(t, db, e.dialect); found.Schema != sqlstore.SchemaOwn {
				t.Errorf("found the schema %q", found.Schema)
			}
			ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
		})
		t.Run("a users table of somebody else is left alone", func(t *testing.T) {
			db := empty(t)
			exec(t, db, "CREATE TABLE users (id integer PRIMARY KEY, login varchar(20))")
			if err := sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}); !errors.Is(err, sqlstore.ErrForeignSchema) {
				t.Errorf("Migrate: %v", err)
			}
			if found := detect(t, db, e.dialect); found.Schema != sqlstore.SchemaForeign {
				t.Errorf("found the schema %q", found.Schema)
			}
		})
	})
}

// TestSchemaEnforces writes past the adapter what the schema must refuse.
func TestSchemaEnforces(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		if e.dialect == sqladapter.SQLite {
			db.SetMaxOpenConns(1)
			exec(t, db, "PRAGMA foreign_keys = ON")
		}
		account := `INSERT INTO accounts (id, "userId", type, provider, "providerAccountId") VALUES ('%s', '%s', 'oauth', 'acme', '1')`
		session := `INSERT INTO sessions (id, "userId", "sessionToken", expires) VALUES ('%s', '%s', 't', ` + e.someTime() + `)`
		passkey := `INSERT INTO authenticators ("credentialID", "userId", "providerAccountId", "credentialPublicKey", counter, "credentialDeviceType", "credentialBackedUp") VALUES ('%s', '%s', 'p', 'k', 1, 's', ` + e.someFlag() + `)`
		token := `INSERT INTO verification_token (identifier, token, expires) VALUES ('a', 't', ` + e.someTime() + `)`
		exec(t, db, `INSERT INTO users (id, email) VALUES ('u', 'ada@example.com')`, e.quoted(fmt.Sprintf(account, "1", "u")),
			e.quoted(fmt.Sprintf(session, "1", "u")), e.quoted(fmt.Sprintf(passkey, "c", "u")), token)
		for what, statement := range map[string]string{
			"R-199 a second user with the e-mail":   `INSERT INTO users (id, email) VALUES ('v', 'ada@example.com')`,
			"R-199 a second account with the key":   fmt.Sprintf(account, "2", "u"),
			"R-199 a second session with the token": fmt.Sprintf(session, "2", "u"),
			"R-199 a second passkey with the id":    fmt.Sprintf(passkey, "c", "u"),
			"R-199 a second token for the e-mail":   token,
			"R-199 an account of nobody":            strings.Replace(fmt.Sprintf(account, "3", "nobody"), "'1')", "'3')", 1),
			"R-199 a session of nobody":             strings.Replace(fmt.Sprintf(session, "3", "nobody"), "'t'", "'t3'", 1),
			"R-199 a passkey of nobody":             fmt.Sprintf(passkey, "c3", "nobody"),
		} {
			if _, err := db.Exec(e.quoted(statement)); err == nil {
				t.Errorf("%s was accepted", what)
			}
		}
		exec(t, db, `DELETE FROM users`)
		for _, table := range []string{"accounts", "sessions", "authenticators"} {
			if n := count(t, db, "SELECT count(*) FROM "+table); n != 0 {
				t.Errorf("R-199 %d %s of nobody", n, table)
			}
		}
	})
}

func (e engine) someTime() string {
	if e.dialect == sqladapter.Postgres {
		return "now()"
	}
	return "1"
}

func (e engine) someFlag() string {
	if e.dialect == sqladapter.Postgres {
		return "true"
	}
	return "1"
}

// TestMigrateAuthJS takes over databases that Auth.js filled.
func TestMigrateAuthJS(t *testing.T) {
	empty := postgresSchemas(servers.Postgres(t))
	for name, schema := range map[string]string{"integer ids": authJS, "UUID ids, passkeys": withUUIDs(authJS + authJSPasskeys)} {
		t.Run(name, func(t *testing.T) {
			t.Run("the suite holds afterwards", func(t *testing.T) {
				db := authJSDatabase(t, empty, schema)
				ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}))
				adopted(t, db)
				open := engines[1].emptied(db, sqladapter.Options{Layout: detect(t, db, sqladapter.Postgres).Layout})
				storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return open(t) }, choosesIDs)
				latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return open(t) })
			})
			t.Run("people and their sessions stay", func(t *testing.T) { stay(t, authJSDatabase(t, empty, schema)) })
			t.Run("R-199 what breaks a rule is counted, and nothing changes", func(t *testing.T) {
				violate(t, authJSDatabase(t, empty, schema))
			})
		})
	}
}

func adopted(t *testing.T, db *sql.DB) *sqladapter.Adapter {
	t.Helper()
	found := detect(t, db, sqladapter.Postgres)
	if found.Schema != sqlstore.SchemaOwn || !found.Layout.DatabaseIDs || found.Layout.PlainTokens {
		t.Fatalf("found %+v", found)
	}
	a, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: found.Layout})
	ok(t, err)
	return a
}

func stay(t *testing.T, db *sql.DB) {
	ctx := t.Context()
	before, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: detect(t, db, sqladapter.Postgres).Layout})
	ok(t, err)
	u, err := before.CreateUser(ctx, storage.User{Name: "Ada", Email: "Ada@Example.com"}) // as an import may have left it
	ok(t, err)
	ok(t, before.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth}))
	ok(t, before.CreateSession(ctx, storage.StoredSession{Token: "their session", UserID: u.ID, Expires: moment}))
	for range 2 {
		ok(t, sqladapter.Migrate(ctx, db, sqladapter.Postgres, sqladapter.Options{}))
	}
	a := adopted(t, db)
	got, err := a.GetUserByEmail(ctx, "ada@example.com")
	if err != nil || got.ID != u.ID {
		t.Errorf("user %q, error %v", got.ID, err)
	}
	if got, err := a.GetUserByAccount(ctx, "acme", "1"); err != nil || got.ID != u.ID {
		t.Errorf("user by account %q, error %v", got.ID, err)
	}
	if s, _, err := a.GetSessionAndUser(ctx, "their session"); err != nil || !s.Expires.Equal(moment) {
		t.Errorf("session %v, error %v", s, err)
	}
	if n := count(t, db, `SELECT count(*) FROM sessions WHERE "sessionToken" = 'their session'`); n != 0 {
		t.Error("R-104 the token is still in the database")
	}
	exec(t, db, "DELETE FROM users")
	if n := count(t, db, `SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM accounts)`); n != 0 {
		t.Errorf("%d rows of nobody", n)
	}
}

// statementsOf are those of the first listing in SQL on a page.
func statementsOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	ok(t, err)
	_, listing, found := strings.Cut(string(text), "```sql\n")
	listing, _, closed := strings.Cut(listing, ";\n```")
	if !found || !closed {
		t.Fatalf("%s has no listing in SQL", page)
	}
	return strings.Split(listing, ";\n")
}

func violate(t *testing.T, db *sql.DB) {
	nobody := "99999"
	if count(t, db, `SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'users' AND data_type = 'uuid'`) > 0 {
		nobody = "gen_random_uuid()"
	}
	for range 2 {
		exec(t, db, `INSERT INTO users (name, email) VALUES ('secret', 'secret@example.com')`,
			`INSERT INTO accounts ("userId", type, provider, "providerAccountId") SELECT id, 'oauth', 'secret', 'secret' FROM users LIMIT 1`,
			`INSERT INTO sessions ("userId", expires, "sessionToken") SELECT id, now(), 'secret' FROM users LIMIT 1`)
	}
	exec(t, db, `INSERT INTO users (email) VALUES ('SECRET@example.com'), (''), ('')`,
		`INSERT INTO sessions ("userId", expires, "sessionToken") VALUES (`+nobody+`, now(), 'orphan')`)
	err := sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{})
	broken, is := errors.AsType[*sqlstore.ViolationError](err)
	if !is {
		t.Fatalf("Migrate: %v", err)
	}
	want := `[{users e-mail addresses are unique, however they are cased 1} {accounts provider and providerAccountId are unique 1} ` +
		`{sessions sessionToken is unique 1} {sessions every userId is a user's 1}]`
	if got := fmt.Sprint(broken.Violations); got != want {
		t.Errorf("violations %s, want %s", got, want)
	}
	for i, statement := range statementsOf(t, "../../../docs/cli.md") {
		if found, want := count(t, db, "SELECT count(*) FROM ("+statement+") found"), []int{1, 1, 1, 0, 1}[i]; found != want {
			t.Errorf("the page finds %d rows, want %d: %s", found, want, statement)
		}
	}
	if strings.Contains(strings.ToLower(err.Error()), "secret") {
		t.Errorf("the error has values: %v", err)
	}
	if found := detect(t, db, sqladapter.Postgres); found.Schema != sqlstore.SchemaAuthJS || found.Version != 0 {
		t.Errorf("afterwards: %+v", found)
	}
}

// TestAdoptInTurkish has a database in whose language the lower case of I is no i.
func TestAdoptInTurkish(t *testing.T) {
	db := authJSDatabase(t, postgresSchemas(servers.Postgres(t)), authJS)
	exec(t, db, `ALTER TABLE users ALTER email TYPE text COLLATE "tr-x-icu"`, `INSERT INTO users (email) VALUES ('INFO@Example.com')`)
	ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}))
	_, err := adopted(t, db).GetUserByEmail(t.Context(), "info@example.com")
	ok(t, err)
}

// TestVouchedAfterwards runs what docs/moving/differences.md has for accounts that a magic
// link is to keep: of users with several ways in nothing is said.
func TestVouchedAfterwards(t *testing.T) {
	statement := statementsOf(t, "../../../docs/moving/differences.md")[0]
	if !strings.Contains(statement, "email_vouched = TRUE") {
		t.Fatalf("the page has no such statement: %q", statement)
	}
	db := authJSDatabase(t, postgresSchemas(servers.Postgres(t)), authJS)
	ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}))
	a := adopted(t, db)
	for name, ways := range map[string][]string{"one": {"google"}, "two": {"google", "github"}, "key": {"google", ""}, "other": {"github"}} {
		u, err := a.CreateUser(t.Context(), storage.User{Email: name + "@example.com"})
		ok(t, err)
		for _, way := range ways {
			if way == "" {
				ok(t, a.CreateAuthenticator(t.Context(), storage.Authenticator{UserID: u.ID, CredentialID: []byte(name)}))
				continue
			}
			ok(t, a.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Type: storage.TypeOAuth, Provider: way, ProviderAccountID: name}))
		}
	}
	exec(t, db, statement)
	for _, name := range []string{"one", "two", "key"} {
		account, err := a.GetAccount(t.Context(), "google", name)
		if err != nil || account.EmailVouched != (name == "one") || name == "one" && account.Email != "one@example.com" {
			t.Errorf("%s: vouched %t for %q, error %v", name, account.EmailVouched, account.Email, err)
		}
	}
	if n := count(t, db, "SELECT count(*) FROM accounts WHERE email_vouched"); n != 1 {
		t.Errorf("%d accounts are vouched for", n)
	}
}
