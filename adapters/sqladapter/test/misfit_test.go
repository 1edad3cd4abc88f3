package test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestForgottenMigration uses an adapter before its tables are there, and after
// some of them are gone.
func TestForgottenMigration(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := empty(t)
		a := e.adapter(t, db, sqladapter.Options{})
		_, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
		says(t, "R-323 without tables", err, "users: there is no such table", "`latchkey migrate`")
		ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
		u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
		if err != nil {
			t.Fatalf("R-364 once the tables are there: %v", err)
		}
		exec(t, db, "DROP TABLE revocations", e.quoted(`ALTER TABLE users RENAME COLUMN "emailVerified" TO verified`))
		_, err = a.GetUser(t.Context(), u.ID)
		if e.dialect == sqladapter.SQLite { // which takes a name it does not know for a text
			_, err = e.adapter(t, db, sqladapter.Options{}).GetUser(t.Context(), u.ID)
		}
		says(t, "R-323 without a column", err, "users.emailVerified: there is no such column", "`latchkey migrate`")
		exec(t, db, e.quoted(`ALTER TABLE users RENAME COLUMN verified TO "emailVerified"`))
		_, err = a.GetUser(t.Context(), u.ID)
		ok(t, err)
		says(t, "R-323 without one table", a.Revoke(t.Context(), "k", moment, moment), "revocations: there is no such table")
		_, err = a.GetUser(t.Context(), u.ID)
		ok(t, err)
	})
}

// says wants an error that says all of the texts.
func says(t *testing.T, what string, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: error %v does not say %q", what, err, text)
		}
	}
}

// uuids makes users.id a UUID, which every foreign key to it has to give way to.
const uuids = `DO $$
	DECLARE c record;
	BEGIN
		FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint WHERE confrelid = 'users'::regclass LOOP
			EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname);
		END LOOP;
	END$$; ALTER TABLE users ALTER id TYPE uuid USING id::uuid`

// TestMisfits changes one thing about tables that fit.
func TestMisfits(t *testing.T) {
	plain := sqlstore.Layout{}
	cases := map[sqlstore.Dialect]map[string]struct {
		change string
		layout sqlstore.Layout
		names  string
	}{
		sqladapter.SQLite: {
			"no unique e-mail":          {"DROP INDEX users_email", plain, `users: nothing keeps email unique: CREATE UNIQUE INDEX "users_unique" ON "users" ("email")`},
			"unique where there is any": {"DROP INDEX users_email; CREATE UNIQUE INDEX e ON users (email) WHERE \"email\" IS NOT NULL", plain, ""},
			"unique in lower case":      {"DROP INDEX users_email; CREATE UNIQUE INDEX e ON users (lower(email)) WHERE email IS NOT NULL", plain, ""},
			"unique among some":         {"DROP INDEX users_email; CREATE UNIQUE INDEX e ON users (email) WHERE image IS NOT NULL", plain, "users: nothing keeps email unique"},
			"no unique account":         {"DROP INDEX accounts_provider", plain, "accounts: nothing keeps provider and providerAccountId unique"},
			"a column without default":  {"ALTER TABLE accounts ADD COLUMN rank integer NOT NULL DEFAULT 1", plain, ""},
			"times as text":             {"UPDATE users SET email = NULL; INSERT INTO users (id, emailVerified) VALUES ('t', '2026-11-21T12:00:00Z')", plain, "users.emailVerified: there are texts"},
			"times in seconds":          {"INSERT INTO verification_token (identifier, token, expires) VALUES ('i', 't', 1795219200)", plain, "verification_token.expires: there are seconds"},
		},
		sqladapter.MySQL: {
			"no unique session token": {"ALTER TABLE sessions DROP KEY sessions_token", plain, "sessions: nothing keeps sessionToken unique"},
			"texts taken for others":  {"ALTER TABLE users MODIFY email varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", plain, "users.email: its collation utf8mb4_general_ci"},
			"texts compared exactly":  {"ALTER TABLE users MODIFY email varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", plain, ""},
			"times as datetime":       {"ALTER TABLE users MODIFY emailVerified datetime", plain, "users.emailVerified: it is datetime, and times are kept as bigint"},
			"a required column":       {"ALTER TABLE users ADD COLUMN age int NOT NULL", plain, "users.age: it must not be null"},
		},
		sqladapter.Postgres: {
			"a text id into a UUID":      {uuids, plain, "users.id: it is uuid, and ids are texts: with Layout.DatabaseIDs"},
			"an id that nobody makes":    {"ALTER TABLE sessions ALTER id DROP DEFAULT", sqlstore.Layout{DatabaseIDs: true}, `sessions.id: Layout.DatabaseIDs leaves it to the database`},
			"times as text":              {"ALTER TABLE sessions ALTER expires TYPE text", plain, "sessions.expires: it is text, and times are kept as timestamptz"},
			"no unique passkey":          {"ALTER TABLE authenticators DROP CONSTRAINT authenticators_pkey", plain, "authenticators: nothing keeps credentialID unique"},
			"unique whatever the case":   {"DROP INDEX users_email; CREATE UNIQUE INDEX ON users (lower(email))", plain, ""},
			"unique where there is any":  {"DROP INDEX users_email; CREATE UNIQUE INDEX ON users (email) WHERE email IS NOT NULL", plain, ""},
			"unique among some":          {"DROP INDEX users_email; CREATE UNIQUE INDEX ON users (email) WHERE image IS NULL", plain, "users: nothing keeps email unique"},
			"unique in lower case":       {"DROP INDEX users_email; CREATE UNIQUE INDEX ON users (lower(email)) WHERE email IS NOT NULL", plain, ""},
			"unique among those with":    {"DROP INDEX users_email; CREATE UNIQUE INDEX ON users (email) WHERE image IS NOT NULL", plain, "users: nothing keeps email unique"},
			"a required column":          {"ALTER TABLE users ADD COLUMN age int NOT NULL", plain, "users.age: it must not be null"},
			"one that a trigger fills":   {`ALTER TABLE users ADD COLUMN age int NOT NULL; CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.age = 1; RETURN NEW; END'; CREATE TRIGGER fill BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION fill()`, plain, ""},
			"partitions with the expiry": {"ALTER TABLE verification_token DROP CONSTRAINT verification_token_pkey, ADD PRIMARY KEY (identifier, token, expires)", plain, ""},
		},
	}
	each(t, func(t *testing.T, e engine, empty source) {
		for name, c := range cases[e.dialect] {
			t.Run("R-364 "+name, func(t *testing.T) {
				db := e.migrated(t, empty)
				for statement := range strings.SplitSeq(c.change, "; ") {
					if !strings.HasPrefix(statement, "RETURN") && !strings.HasPrefix(statement, "END") {
						exec(t, db, whole(c.change, statement))
					}
				}
				a := e.adapter(t, db, sqladapter.Options{Layout: c.layout})
				_, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
				if c.names == "" {
					ok(t, err)
					return
				}
				says(t, "CreateUser", err, c.names)
				if err := sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}); c.layout.DatabaseIDs == (err != nil) {
					t.Errorf("R-361 Migrate: %v", err)
				}
			})
		}
	})
}

// whole gives a function its body back.
func whole(all, begun string) string {
	if strings.HasPrefix(begun, "CREATE FUNCTION") {
		return all[strings.Index(all, begun) : strings.Index(all, "END'")+len("END'")]
	}
	return begun
}

// TestTimesWithoutZone proves that they are UTC in a connection of another zone.
func TestTimesWithoutZone(t *testing.T) {
	server := servers.Postgres(t)
	e := engines[1]
	schemas := postgresSchemas(server)
	elsewhere := func(t testing.TB) *sql.DB {
		var schema string
		ok(t, schemas(t).QueryRow("SELECT current_schema()").Scan(&schema))
		return open(t, "pgx", server.DSN("postgres")+" default_query_exec_mode=exec timezone=Europe/London search_path="+schema)
	}
	db := e.laidOut(t, elsewhere, "drizzle_postgres")
	e.uses(t, db, detect(t, db, e.dialect).Layout)
}

// TestUnreadableTime has one row that is not like the others.
func TestUnreadableTime(t *testing.T) {
	e := engines[0]
	db := e.migrated(t, e.start(t))
	a := e.adapter(t, db, sqladapter.Options{})
	u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	ok(t, err)
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: moment}))
	ok(t, a.CreateVerificationToken(t.Context(), storage.VerificationToken{Identifier: "i", Token: "t", Expires: moment}))
	exec(t, db, "UPDATE sessions SET expires = 'tomorrow'", "UPDATE verification_token SET expires = 'tomorrow'")
	_, _, errRead := a.GetSessionAndUser(t.Context(), "t")
	_, errUse := a.UseVerificationToken(t.Context(), "i", "t")
	for what, err := range map[string]error{"GetSessionAndUser": errRead, "UseVerificationToken": errUse} {
		if !errors.Is(err, sqlstore.ErrUnreadableTime) || !strings.Contains(err.Error(), sqlstore.ErrUnreadableTime.Error()) {
			t.Errorf("R-364 %s: %v", what, err)
		}
	}
	if n := count(t, db, "SELECT count(*) FROM verification_token"); n != 1 {
		t.Error("R-364 a link is removed, and an error returned")
	}
	if _, err := a.Sweep(t.Context(), moment.AddDate(1, 0, 0)); err != nil || count(t, db, "SELECT count(*) FROM sessions") != 1 {
		t.Errorf("R-361 what cannot be read is swept: %v", err)
	}
}

// TestAdoptWithoutIDs takes over tables that lack ids of accounts and sessions.
func TestAdoptWithoutIDs(t *testing.T) {
	empty := postgresSchemas(servers.Postgres(t))
	for name, drop := range map[string][]string{
		"both": {"ALTER TABLE accounts DROP COLUMN id", "ALTER TABLE sessions DROP COLUMN id"}, "accounts": {"ALTER TABLE accounts DROP COLUMN id"},
		"sessions": {"ALTER TABLE sessions DROP COLUMN id"}, "no table of links": {"DROP TABLE verification_token"},
	} {
		for kind, schema := range authJSSchemas {
			t.Run("R-362 "+name+", "+kind, func(t *testing.T) {
				db := authJSDatabase(t, empty, schema)
				exec(t, db, drop...)
				found := detect(t, db, sqladapter.Postgres)
				if found.Schema != sqlstore.SchemaAuthJS || found.Usable() != (name != "no table of links") {
					t.Fatalf("found %+v", found)
				}
				if found.Usable() {
					engines[1].uses(t, db, found.Layout)
					stay(t, db)
				}
				ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}))
				adopted(t, db)
				engines[1].uses(t, db, detect(t, db, sqladapter.Postgres).Layout)
			})
		}
	}
}

// TestAdoptRefuses has tables that would not work once they were taken over.
func TestAdoptRefuses(t *testing.T) {
	empty := postgresSchemas(servers.Postgres(t))
	for name, change := range map[string]string{
		"times as text":              `ALTER TABLE users ALTER "emailVerified" TYPE varchar(40)`,
		"a required column":          `ALTER TABLE sessions ADD COLUMN device text NOT NULL`,
		"ids that nobody makes":      `ALTER TABLE users ALTER id DROP DEFAULT`,
		"a time where a text should": `ALTER TABLE users ADD COLUMN extra timestamptz`,
	} {
		t.Run("R-361 "+name, func(t *testing.T) {
			db := authJSDatabase(t, empty, authJS)
			exec(t, db, change)
			before := len(engines[1].columnsOf(t, db))
			err := sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{})
			if _, is := errors.AsType[*sqlstore.MisfitError](err); !is {
				t.Errorf("Migrate: %v", err)
			}
			if after := len(engines[1].columnsOf(t, db)); after != before {
				t.Errorf("%d columns became %d", before, after)
			}
		})
	}
}
