package test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// TestNamesNobodyElse (S-024) has users that no adapter of Auth.js keeps, and
// tables like those of one under names that none of them uses.
func TestNamesNobodyElse(t *testing.T) {
	for name, tables := range map[string][]string{
		"Better Auth": {
			`CREATE TABLE "user" (id text PRIMARY KEY, name text NOT NULL, email text NOT NULL UNIQUE, "emailVerified" integer NOT NULL, image text)`,
			`CREATE TABLE session (id text PRIMARY KEY, "expiresAt" date NOT NULL, token text NOT NULL UNIQUE, "userId" text NOT NULL)`,
			`CREATE TABLE account (id text PRIMARY KEY, "accountId" text NOT NULL, "providerId" text NOT NULL, "userId" text NOT NULL)`,
		},
		"Django":  {`CREATE TABLE auth_user (id integer PRIMARY KEY, username text NOT NULL, email text NOT NULL, email_verified integer)`},
		"Devise":  {`CREATE TABLE users (id integer PRIMARY KEY, email text NOT NULL, encrypted_password text NOT NULL)`},
		"Laravel": {`CREATE TABLE users (id integer PRIMARY KEY, name text, email text UNIQUE, email_verified_at timestamp)`, `CREATE TABLE sessions (id text PRIMARY KEY, user_id integer, payload text)`},
	} {
		t.Run(name, func(t *testing.T) {
			db := sqliteFiles(t)(t)
			exec(t, db, tables...)
			if found := detect(t, db, sqladapter.SQLite); found.Schema != sqlstore.SchemaForeign || found.Adapter != "" || found.Usable() {
				t.Errorf("found %+v", found)
			}
			engines[0].makesNoSecondSet(t, db)
		})
	}
	t.Run("numbers as ids", func(t *testing.T) {
		e := engines[0]
		db := numbered(t, "AUTOINCREMENT")
		found := detect(t, db, e.dialect)
		if found.Adapter != "" || !found.Usable() || !found.Layout.DatabaseIDs {
			t.Fatalf("found %+v", found)
		}
		e.uses(t, db, found.Layout)
	})
	t.Run("numbers that come back", func(t *testing.T) {
		found := detect(t, numbered(t, ""), sqladapter.SQLite)
		if found.Usable() || len(found.Misfits) != 1 {
			t.Fatalf("R-364 found %+v", found)
		}
		says(t, "R-364 ids of deleted users", &sqlstore.MisfitError{Misfits: found.Misfits}, "users.id: SQLite would give the id of a deleted user to the next one", "integer PRIMARY KEY AUTOINCREMENT")
	})
	t.Run("names of one's own", func(t *testing.T) {
		e := engines[0]
		db := e.laidOutAs(t, sqliteFiles(t), "drizzle_sqlite", func(schema string) string {
			return strings.NewReplacer(`TABLE "user"`, "TABLE people", `REFERENCES "user"`, "REFERENCES people", "TABLE session", "TABLE visits").Replace(schema)
		})
		found := detect(t, db, e.dialect)
		if found.Adapter != "" || !found.Usable() {
			t.Fatalf("found %+v", found)
		}
		e.uses(t, db, found.Layout)
	})
}

// numbered has tables of nobody's with numbers as ids.
func numbered(t *testing.T, made string) *sql.DB {
	t.Helper()
	return engines[0].laidOutAs(t, sqliteFiles(t), "sequelize_sqlite", func(schema string) string {
		return strings.NewReplacer("id uuid PRIMARY KEY", "id integer PRIMARY KEY "+made, "id uuid", "id integer", "datetime", "integer").Replace(schema) +
			"CREATE UNIQUE INDEX one ON accounts (provider, provider_account_id);\n"
	})
}
