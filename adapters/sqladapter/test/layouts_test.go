package test

import (
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

// foreign are the tables that other adapters of Auth.js lay out, by file of
// testdata/schemas, each with whose they are.
var foreign = []struct{ file, of, peer string }{
	{"drizzle_postgres", "Drizzle", "drizzle"},
	{"drizzle_sqlite", "Drizzle", "drizzle"},
	{"drizzle_mysql", "Drizzle", "drizzle"},
	{"prisma_postgres", "Prisma", ""}, // as it was documented before, with ids everywhere
	{"prisma_sqlite", "Prisma", ""},
	{"prisma_mysql", "Prisma", ""},
	{"prisma_v5_postgres", "Prisma", "prisma"},
	{"prisma_v5_sqlite", "Prisma", "prisma"},
	{"prisma_v5_mysql", "Prisma", "prisma"},
	{"prisma_plain_postgres", "Prisma", ""},
	{"prisma_plain_sqlite", "Prisma", ""},
	{"kysely_postgres", "Kysely", "kysely"},
	{"kysely_sqlite", "Kysely", "kysely"},
	{"kysely_mysql", "Kysely", "kysely"},
	{"typeorm_postgres", "TypeORM", "typeorm"},
	{"typeorm_sqlite", "TypeORM", "typeorm"},
	{"typeorm_mysql", "TypeORM", "typeorm"},
	{"mikroorm_postgres", "MikroORM", "mikro-orm"},
	{"mikroorm_sqlite", "MikroORM", "mikro-orm"},
	{"mikroorm_mysql", "MikroORM", "mikro-orm"},
	{"sequelize_postgres", "Sequelize", "sequelize"},
	{"sequelize_sqlite", "Sequelize", "sequelize"},
	{"sequelize_mysql", "Sequelize", "sequelize"},
	{"supabase_postgres", "Supabase", "supabase"},
	{"hasura_postgres", "Hasura", "hasura"},
	{"neon_postgres", "Neon", "neon"},
	{"d1_sqlite", "D1", "d1"},
}

// wholeSeconds are those whose columns have nothing below.
var wholeSeconds = map[string]bool{"drizzle_mysql": true, "mikroorm_mysql": true, "sequelize_mysql": true}

// TestForeignLayouts meets the tables of each adapter of Auth.js.
func TestForeignLayouts(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		for _, c := range foreign {
			if !strings.HasSuffix(c.file, "_"+string(e.dialect)) {
				continue
			}
			t.Run(c.file, func(t *testing.T) {
				db := e.laidOut(t, empty, c.file)
				e.whole = wholeSeconds[c.file]
				found := detect(t, db, e.dialect)
				if found.Adapter != c.of || !found.Usable() {
					t.Fatalf("R-363 found %+v", found)
				}
				if c.peer != "neon" { // which can be adopted
					e.makesNoSecondSet(t, db)
				}
				e.uses(t, db, found.Layout)
				if c.peer == "" {
					return
				}
				l, err := sqlstore.SharedWith(e.dialect, c.peer)
				ok(t, err)
				e.uses(t, db, l)
				if again := detect(t, db, e.dialect); again.Adapter != c.of || !again.Usable() {
					t.Errorf("R-363 with rows in it: %+v", again)
				}
			})
		}
	})
}

// laidOut is a database with the tables of a file.
func (e engine) laidOut(t *testing.T, empty source, file string) *sql.DB {
	t.Helper()
	return e.laidOutAs(t, empty, file, func(schema string) string { return schema })
}

func (e engine) laidOutAs(t *testing.T, empty source, file string, change func(string) string) *sql.DB {
	t.Helper()
	text, err := os.ReadFile("testdata/schemas/" + file + ".sql")
	ok(t, err)
	db := empty(t)
	if file == "supabase_postgres" { // whose schema has one name, on a server for all tests
		t.Cleanup(func() { exec(t, db, "DROP SCHEMA next_auth CASCADE") })
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(change(string(text))), ";\n") {
		exec(t, db, e.quoted(strings.TrimSuffix(statement, ";")))
	}
	return db
}

// makesNoSecondSet calls everything that could.
func (e engine) makesNoSecondSet(t *testing.T, db *sql.DB) {
	t.Helper()
	before := len(e.columnsOf(t, db))
	if err := sqladapter.Check(t.Context(), db, e.dialect, sqladapter.Options{}); !errors.Is(err, sqlstore.ErrForeignSchema) {
		t.Errorf("R-363 Check: %v", err)
	}
	if err := sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}); !errors.Is(err, sqlstore.ErrForeignSchema) {
		t.Errorf("R-363 Migrate: %v", err)
	}
	if after := len(e.columnsOf(t, db)); after != before {
		t.Errorf("R-363 %d columns became %d", before, after)
	}
}

// uses lives through a sign-in, by link and by provider, and out again.
func (e engine) uses(t *testing.T, db *sql.DB, l sqlstore.Layout) {
	ctx := t.Context()
	a := e.adapter(t, db, sqladapter.Options{Layout: l})
	u, err := a.CreateUser(ctx, storage.User{Name: "Ada", Email: "ada@example.com", EmailVerified: moment})
	ok(t, err)
	if got, err := a.GetUserByEmail(ctx, "ada@example.com"); err != nil || !e.same(got.EmailVerified, moment) {
		t.Errorf("user %v, error %v", got, err)
	}
	later := moment.AddDate(0, 6, 0)
	if got, err := a.UpdateUser(ctx, u.ID, storage.UserChange{EmailVerified: &later}); err != nil || !e.same(got.EmailVerified, later) {
		t.Errorf("changed user %v, error %v", got, err)
	}
	if _, err := a.CreateUser(ctx, storage.User{Email: "ada@example.com"}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("R-364 the same e-mail again: %v", err)
	}
	account := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth}
	ok(t, a.LinkAccount(ctx, account))
	if err := a.LinkAccount(ctx, account); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("R-364 the same account again: %v", err)
	}
	ok(t, a.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "i", Token: "t", Expires: moment}))
	if got, err := a.UseVerificationToken(ctx, "i", "t"); err != nil || !e.same(got.Expires, moment) {
		t.Errorf("token %v, error %v", got, err)
	}
	e.usesSessions(t, a, u.ID)
	if n, err := a.Sweep(ctx, moment.AddDate(2, 0, 0)); err != nil || n != 1 {
		t.Errorf("Sweep: %d, %v", n, err)
	}
	_, err = a.DeleteUser(ctx, u.ID)
	ok(t, err)
}

// usesSessions leaves one.
func (e engine) usesSessions(t *testing.T, a *sqladapter.Adapter, user string) {
	ctx := t.Context()
	for _, token := range []string{"one", "two", "three"} {
		ok(t, a.CreateSession(ctx, storage.StoredSession{Token: token, UserID: user, Expires: moment}))
	}
	later := moment.AddDate(1, 0, 0)
	ok(t, a.UpdateSession(ctx, "one", later))
	one, _, err := a.GetSessionAndUser(ctx, "one")
	if err != nil || !e.same(one.Expires, later) || one.ID == "" {
		t.Fatalf("R-364 session %v, error %v", one, err)
	}
	two, _, err := a.GetSessionAndUser(ctx, "two")
	ok(t, err)
	ok(t, a.DeleteSessionByID(ctx, user, two.ID))
	if err := a.DeleteSessionByID(ctx, user, two.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a session that is gone: %v", err)
	}
	if n, err := a.DeleteSessions(ctx, user, one.ID); err != nil || n != 1 {
		t.Errorf("DeleteSessions: %d, %v", n, err)
	}
	list, err := a.ListSessions(ctx, user)
	if err != nil || len(list) != 1 || list[0].ID != one.ID {
		t.Errorf("sessions %v, error %v", list, err)
	}
}

// TestTimesOfAnotherForm has a layout, and rows whose times are kept otherwise:
// nobody's session is swept, and nothing is written beside them.
func TestTimesOfAnotherForm(t *testing.T) {
	cases := map[string]struct{ table, value, of string }{
		"digits in text": {"typeorm_", "'1795262400000'", string(sqlstore.TimesMillisText)},
		"texts":          {"kysely_", "'2026-11-21T12:00:00.000Z'", string(sqlstore.TimesISO)},
		"a clock":        {"sequelize_", "'2026-11-21 12:00:00.000 +00:00'", string(sqlstore.TimesUTC)},
		"seconds":        {"mikroorm_", "1795262400", string(sqlstore.TimesSeconds)},
	}
	each(t, func(t *testing.T, e engine, empty source) {
		for name, c := range cases {
			if e.dialect != sqladapter.SQLite && c.table != "typeorm_" {
				continue // the type of the column takes no such thing
			}
			t.Run("R-361 S-007 "+name, func(t *testing.T) {
				db := e.laidOut(t, empty, c.table+string(e.dialect))
				l := detect(t, db, e.dialect).Layout
				e.insertSession(t, db, l, c.value)
				found := detect(t, db, e.dialect)
				if !found.Usable() || string(found.Layout.Times) != c.of {
					t.Fatalf("found %+v", found)
				}
				for _, times := range []sqlstore.Times{sqlstore.TimesUsual, sqlstore.TimesISO, sqlstore.TimesUTC, sqlstore.TimesMillisText, sqlstore.TimesSeconds} {
					if l.Times = times; times != found.Layout.Times {
						e.refuses(t, db, l)
					}
				}
				a := e.adapter(t, db, sqladapter.Options{Layout: found.Layout})
				s, _, err := a.GetSessionAndUser(t.Context(), "t")
				if err != nil || !s.Expires.Equal(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)) {
					t.Errorf("session %v, error %v", s, err)
				}
				n, err := a.Sweep(t.Context(), s.Expires)
				if err != nil || n != 0 {
					t.Errorf("swept %d before it expired, error %v", n, err)
				}
				n, err = a.Sweep(t.Context(), s.Expires.Add(time.Second))
				if err != nil || n != 1 {
					t.Errorf("swept %d afterwards, error %v", n, err)
				}
			})
		}
	})
}

// insertSession adds a row as the other side would.
func (e engine) insertSession(t *testing.T, db *sql.DB, l sqlstore.Layout, expires string) {
	t.Helper()
	at := func(name string) string {
		if to, has := l.Names[name]; has {
			return `"` + to + `"`
		}
		return `"` + name[strings.LastIndexByte(name, '.')+1:] + `"`
	}
	id := "'00000000-0000-0000-0000-000000000001'"
	exec(t, db, e.quoted("INSERT INTO "+at("users")+" (id, email) VALUES ("+id+", 'ada@example.com')"),
		e.quoted("INSERT INTO "+at("sessions")+" (id, "+at("sessions.userId")+", "+at("sessions.sessionToken")+", expires) VALUES ("+id+", "+id+", 't', "+expires+")"))
}

// refuses calls what would write in another form, or delete.
func (e engine) refuses(t *testing.T, db *sql.DB, l sqlstore.Layout) {
	ctx := t.Context()
	a := e.adapter(t, db, sqladapter.Options{Layout: l})
	_, errCreate := a.CreateUser(ctx, storage.User{Email: "ada@example.com"})
	_, errUse := a.UseVerificationToken(ctx, "i", "t")
	_, errSweep := a.Sweep(ctx, time.Now().AddDate(20, 0, 0))
	for what, err := range map[string]error{
		"CreateUser": errCreate, "UseVerificationToken": errUse, "Sweep": errSweep, "UpdateSession": a.UpdateSession(ctx, "t", moment),
		"InTx": a.InTx(ctx, func(storage.Adapter) error { t.Error("R-364 a transaction began"); return nil }),
	} {
		misfit, is := errors.AsType[*sqlstore.MisfitError](err)
		if !is || len(misfit.Misfits) == 0 || !strings.Contains(err.Error(), misfit.Misfits[0].String()) {
			t.Errorf("R-364 %q, %s: %v", l.Times, what, err)
		}
	}
}

// TestUnderstoodOnly is about users who are kept in ways of their own.
func TestUnderstoodOnly(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		for name, c := range map[string]struct {
			schema sqlstore.SchemaKind
			tables string
		}{
			"R-363 a table of users":          {sqlstore.SchemaForeign, `CREATE TABLE "Users" (nr integer, email varchar(50))`},
			"R-363 people with proven e-mail": {sqlstore.SchemaForeign, `CREATE TABLE people (nr integer, email varchar(50), email_verified integer)`},
			"something else":                  {sqlstore.SchemaAbsent, `CREATE TABLE newsletter (nr integer, email varchar(50))`},
			"a table user without e-mail":     {sqlstore.SchemaAbsent, `CREATE TABLE "user" (nr integer, login varchar(50))`},
		} {
			t.Run(name, func(t *testing.T) {
				db := empty(t)
				exec(t, db, e.quoted(c.tables))
				if found := detect(t, db, e.dialect); found.Schema != c.schema || found.Usable() {
					t.Errorf("found %+v", found)
				}
				err := sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{})
				if errors.Is(err, sqlstore.ErrForeignSchema) != (c.schema == sqlstore.SchemaForeign) {
					t.Errorf("Migrate: %v", err)
				}
			})
		}
	})
}

// TestSweepManyRows has more of them than fit into one batch, and on PostgreSQL
// in two partitions.
func TestSweepManyRows(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		if e.dialect == sqladapter.Postgres {
			exec(t, db, `ALTER TABLE sessions RENAME TO whole`, `CREATE TABLE sessions (LIKE whole INCLUDING DEFAULTS, UNIQUE ("sessionToken")) PARTITION BY HASH ("sessionToken")`,
				`CREATE TABLE s0 PARTITION OF sessions FOR VALUES WITH (MODULUS 2, REMAINDER 0)`, `CREATE TABLE s1 PARTITION OF sessions FOR VALUES WITH (MODULUS 2, REMAINDER 1)`)
		}
		later, earlier := "'2100-01-01'", "'2000-01-01'"
		if e.dialect != sqladapter.Postgres {
			later, earlier = "4102444800000", "946684800000"
		}
		exec(t, db, `INSERT INTO users (id) VALUES ('u')`, e.quoted(`INSERT INTO sessions (id, "userId", "sessionToken", expires)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120), r(i) AS (SELECT a.i * 100 + b.i FROM n a JOIN n b ON b.i <= 100)
			SELECT i, 'u', i, CASE WHEN i % 12 = 0 THEN `+e.moment(later)+` ELSE `+e.moment(earlier)+` END FROM r`))
		n, err := e.adapter(t, db, sqladapter.Options{}).Sweep(t.Context(), time.Now())
		if left := count(t, db, "SELECT count(*) FROM sessions"); err != nil || n != 11_000 || left != 1_000 {
			t.Errorf("R-361 removed %d, %d left, error %v", n, left, err)
		}
	})
}

// moment is a time in a statement.
func (e engine) moment(text string) string {
	if e.dialect == sqladapter.Postgres {
		return "timestamptz " + text
	}
	return text
}

// TestSearchForNoAddress: R-755. A text that no e-mail address begins with is looked for
// in names alone, and does not list everybody.
func TestSearchForNoAddress(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.laidOut(t, empty, "drizzle_"+string(e.dialect))
		a, err := sqladapter.New(db, e.dialect, sqladapter.Options{Layout: detect(t, db, e.dialect).Layout})
		ok(t, err)
		for _, name := range []string{"Ada", "Ibrahim"} {
			_, err := a.CreateUser(t.Context(), storage.User{Name: name, Email: strings.ToLower(name) + "@example.com"})
			ok(t, err)
		}
		for text, want := range map[string]int{"\u0130brahim": 1, "\uff25ve": 0} {
			q := storage.PeopleQuery{Folded: storage.FoldName(text), Limit: 10, Window: 10}
			if found, _, err := a.People().Search(t.Context(), q); err != nil || len(found) != want {
				t.Errorf("%q finds %d users, want %d, error %v", text, len(found), want, err)
			}
			if n, err := a.People().Count(t.Context(), q, 10); err != nil || n != want {
				t.Errorf("%q counts %d users, want %d, error %v", text, n, want, err)
			}
		}
		if found, _, err := a.People().Search(t.Context(), storage.PeopleQuery{Limit: 10, Window: 10}); err != nil || len(found) != 0 {
			t.Errorf("nothing finds %d users, error %v", len(found), err)
		}
	})
}
