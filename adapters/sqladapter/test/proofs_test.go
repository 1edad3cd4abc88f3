package test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// useProofs gives a user one row in each table of proofs.
func useProofs(ctx context.Context, a storage.Adapter, userID string) map[string]error {
	return map[string]error{
		"factors":        a.(storage.FactorAdapter).Factors().Create(ctx, storage.Factor{ID: "f" + userID, UserID: userID, Kind: storage.FactorTOTP, Created: moment}),
		"recovery_codes": a.(storage.FactorAdapter).Factors().ReplaceRecoveryCodes(ctx, userID, []string{"h"}),
		"challenges":     a.(storage.ChallengeAdapter).Challenges().Create(ctx, storage.Challenge{ID: "c" + userID, Purpose: "signin", UserID: userID, Created: moment, Expires: moment}),
		"browsers":       a.(storage.BrowserAdapter).Browsers().Put(ctx, storage.Browser{ID: "b" + userID, UserID: userID, PublicID: "p" + userID, Created: moment, Seen: moment, Expires: moment}),
		"passwords":      a.(storage.PasswordAdapter).Passwords().Set(ctx, storage.PasswordHash{UserID: userID, Hash: "h", Created: moment, Changed: moment}, ""),
	}
}

// TestProofsBeforeTheirMigration: an adapter of this version works on the tables of the
// last one, names the migration where it needs a new table, and needs no restart after it.
func TestProofsBeforeTheirMigration(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := empty(t)
		atVersion(t, db, e.dialect, 4)
		a := e.adapter(t, db, sqladapter.Options{})
		u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
		ok(t, err)
		for table, err := range useProofs(t.Context(), a, u.ID) {
			says(t, "what is to be done", err, table+": there is no such table", "`latchkey migrate`")
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", table, err)
			}
		}
		err = a.InTx(t.Context(), func(tx storage.Adapter) error {
			_, err := tx.(storage.FactorAdapter).Factors().List(t.Context(), u.ID)
			return err
		})
		if err == nil {
			t.Error("factors were listed that no table keeps")
		}
		ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: moment}))
		ok(t, a.RenewSession(t.Context(), "t", storage.StoredSession{Token: "new", Expires: moment, ACR: "aal2"}))
		if _, err := a.Sweep(t.Context(), moment.Add(time.Hour)); err != nil {
			t.Errorf("Sweep: %v", err)
		}
		_, err = a.DeleteUser(t.Context(), u.ID)
		ok(t, err)
		ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
		u, err = a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
		ok(t, err)
		for _, err := range useProofs(t.Context(), a, u.ID) {
			ok(t, err)
		}
	})
}

// countOwned counts what useProofs made.
func countOwned(t *testing.T, db *sql.DB, e engine, userID string) map[string]int {
	t.Helper()
	left := map[string]int{}
	for _, table := range []string{"factors", "recovery_codes", "challenges", "browsers", "passwords"} {
		left[table] = count(t, db, e.quoted(`SELECT count(*) FROM `+table+` WHERE user_id = '`+userID+`'`))
	}
	return left
}

// TestTableThatAppearsLater: R-678. The deletion of a user reaches a table that was made
// after the adapter had looked at the tables.
func TestTableThatAppearsLater(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		exec(t, db, "ALTER TABLE challenges RENAME TO challenges_of_later")
		early := e.adapter(t, db, sqladapter.Options{})
		users := []storage.User{}
		for _, email := range []string{"ann@example.com", "bob@example.com"} {
			u, err := early.CreateUser(t.Context(), storage.User{Email: email})
			ok(t, err)
			users = append(users, u)
		}
		_, err := early.DeleteUser(t.Context(), users[1].ID) // without the table
		ok(t, err)
		exec(t, db, "ALTER TABLE challenges_of_later RENAME TO challenges")
		ann := users[0].ID
		ok(t, e.adapter(t, db, sqladapter.Options{}).Challenges().Create(t.Context(), storage.Challenge{
			ID: "c", Purpose: "code", UserID: ann, Identifier: "ann@example.com", Created: moment, Expires: moment,
		}))
		_, err = early.DeleteUser(t.Context(), ann)
		ok(t, err)
		if n := count(t, db, "SELECT count(*) FROM challenges"); n != 0 {
			t.Errorf("R-678 %d rows are left", n)
		}
	})
}

// TestProofsGoWithTheirUser: what a program deletes past the adapter takes its rows along,
// but for challenges, whose users need not exist.
func TestProofsGoWithTheirUser(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		sources := map[string]func(*testing.T) *sql.DB{"text": func(t *testing.T) *sql.DB { return e.migrated(t, empty) }}
		if e.dialect != sqladapter.Postgres {
			sources["numbers"] = func(t *testing.T) *sql.DB { return e.numberedTables(t, empty) }
		} else {
			sources["numbers, adopted"] = func(t *testing.T) *sql.DB {
				db := authJSDatabase(t, empty, authJS)
				ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
				return db
			}
			sources["UUIDs, adopted by what is printed"] = func(t *testing.T) *sql.DB {
				db := authJSDatabase(t, empty, withUUIDs(authJS))
				exec(t, db, sqlstore.AdoptionSchema(e.dialect))
				return db
			}
		}
		for name, open := range sources {
			t.Run(name, func(t *testing.T) {
				db := open(t)
				if e.dialect == sqladapter.SQLite {
					db.SetMaxOpenConns(1)
					exec(t, db, "PRAGMA foreign_keys = ON")
				}
				found := detect(t, db, e.dialect)
				if !found.Usable() {
					t.Fatalf("found %+v", found)
				}
				a := e.adapter(t, db, sqladapter.Options{Layout: found.Layout})
				for _, by := range []string{"the adapter", "a program"} {
					u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada"})
					ok(t, err)
					for _, err := range useProofs(t.Context(), a, u.ID) {
						ok(t, err)
					}
					if by == "a program" {
						exec(t, db, "DELETE FROM users WHERE id = '"+u.ID+"'")
					} else if _, err := a.DeleteUser(t.Context(), u.ID); err != nil {
						t.Error(err)
					}
					for table, n := range countOwned(t, db, e, u.ID) {
						if n != 0 && !(table == "challenges" && by == "a program") {
							t.Errorf("deleted by %s: %d rows are left in %s", by, n, table)
						}
					}
				}
			})
		}
	})
}

// numberedTables are ours of version 3, made by hand with numbers as the ids of users,
// and migrated.
func (e engine) numberedTables(t *testing.T, empty source) *sql.DB {
	t.Helper()
	db := empty(t)
	source, err := os.ReadFile("../../sqlstore/schema/" + string(e.dialect) + "/0001_tables.sql")
	ok(t, err)
	schema := string(source)
	for _, change := range [][2]string{
		{"id text PRIMARY KEY NOT NULL", "id integer PRIMARY KEY AUTOINCREMENT"},
		{`"userId" text`, `"userId" integer`},
		{"id varbinary(255) PRIMARY KEY", "id bigint unsigned AUTO_INCREMENT PRIMARY KEY"},
		{"`userId` varbinary(255)", "`userId` bigint unsigned"},
	} {
		schema = strings.ReplaceAll(schema, change[0], change[1])
	}
	exec(t, db, "CREATE TABLE latchkey_migrations (version bigint PRIMARY KEY)", "INSERT INTO latchkey_migrations VALUES (1)")
	for statement := range strings.SplitSeq(strings.TrimSpace(schema), ";\n\n") {
		exec(t, db, statement)
	}
	ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
	return db
}
