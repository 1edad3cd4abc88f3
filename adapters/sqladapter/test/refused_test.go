package test

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// afterNumbers is past what 32 bits hold: 2038.
var afterNumbers = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

// TestRefusedByName (S-007, S-020, S-021, S-022) has values that the columns of
// others do not take. Nothing is cut, and the error names the column.
func TestRefusedByName(t *testing.T) {
	for _, c := range []struct{ engine, file, peer, column string }{
		{"PostgreSQL", "neon_postgres", "neon", "accounts.expires_at"},
		{"PostgreSQL", "prisma_v5_postgres", "prisma", "Account.expires_at"},
		{"PostgreSQL", "prisma_v5_postgres", "prisma", "User.email"},
		{"PostgreSQL", "kysely_postgres", "kysely", "User.email"},
		{"PostgreSQL", "hasura_postgres", "hasura", "users.email"},
		{"PostgreSQL", "hasura_postgres", "hasura", "accounts.type"},
		{"PostgreSQL", "sequelize_postgres", "sequelize", "accounts.access_token"},
		{"MariaDB", "prisma_v5_mysql", "prisma", "Account.expires_at"},
		{"MariaDB", "prisma_v5_mysql", "prisma", "User.name"},
		{"MariaDB", "drizzle_mysql", "drizzle", "session.expires"},
		{"MariaDB", "drizzle_mysql", "drizzle", "account.access_token"},
		{"SQLite", "kysely_sqlite", "kysely", "User.email"},
	} {
		t.Run(c.peer+" "+c.column, func(t *testing.T) {
			e, empty := started(t, c.engine)
			db := e.laidOut(t, empty, c.file)
			l, err := sqlstore.SharedWith(e.dialect, c.peer)
			ok(t, err)
			a := e.adapter(t, db, sqladapter.Options{Layout: l})
			says(t, c.column, unfitting(t, a, c.column), c.column+": it ")
		})
	}
}

// unfitting writes what a column does not take.
func unfitting(t *testing.T, a *sqladapter.Adapter, column string) error {
	ctx := t.Context()
	if strings.HasSuffix(column, ".email") {
		_, err := a.CreateUser(ctx, storage.User{Name: "Ada"})
		return err
	}
	u, err := a.CreateUser(ctx, storage.User{Email: "ada@example.com"})
	ok(t, err)
	account := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth}
	switch column[strings.IndexByte(column, '.')+1:] {
	case "name":
		_, err = a.UpdateUser(ctx, u.ID, storage.UserChange{Name: new(strings.Repeat("ä", 192))})
		return err
	case "expires":
		ok(t, a.CreateSession(ctx, storage.StoredSession{Token: "t", UserID: u.ID, Expires: moment}))
		return a.UpdateSession(ctx, "t", afterNumbers)
	case "expires_at":
		account.Tokens.ExpiresAt = afterNumbers
	case "access_token":
		account.Tokens.AccessToken = strings.Repeat("x", 2049)
	case "type":
		ok(t, a.LinkAccount(ctx, account))
		account.ProviderAccountID, account.Type = "2", storage.TypeWebAuthn
	}
	return a.LinkAccount(ctx, account)
}

// started is an engine, with one server for all tests of a function.
func started(t *testing.T, name string) (engine, source) {
	t.Helper()
	for _, e := range engines {
		if e.name == name {
			return e, e.start(t)
		}
	}
	t.Fatalf("there is no engine %q", name)
	return engine{}, nil
}

// TestPrismaFormats (S-020) reads rows as Prisma writes them, and writes rows as it
// reads them: updatedAt included.
func TestPrismaFormats(t *testing.T) {
	for _, c := range []struct{ name, engine, now, kept string }{
		{"timestamp", "PostgreSQL", "'2031-05-17 22:30:15.123'", `to_char("updatedAt", 'YYYY-MM-DD"T"HH24:MI:SS.MS')`},
		{"datetime", "MariaDB", "'2031-05-17 22:30:15.123'", `date_format("updatedAt", '%Y-%m-%dT%H:%i:%s.%f')`},
		{"milliseconds", "SQLite", strconv.FormatInt(moment.UnixMilli(), 10), `strftime('%Y-%m-%dT%H:%M:%f', "updatedAt" / 1000.0, 'unixepoch')`},
		{"text", "SQLite", "'2031-05-17T22:30:15.123+00:00'", `"updatedAt"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, empty := started(t, c.engine)
			db := e.laidOut(t, empty, "prisma_v5_"+string(e.dialect))
			row := `INSERT INTO "User" (id, email, "emailVerified", "updatedAt") VALUES ('cuid', 'ada@example.com', NOW, NOW)`
			session := `INSERT INTO "Session" ("sessionToken", "userId", expires, "updatedAt") VALUES ('t', 'cuid', NOW, NOW)`
			exec(t, db, e.quoted(strings.ReplaceAll(row, "NOW", c.now)), e.quoted(strings.ReplaceAll(session, "NOW", c.now)))
			a := e.adapter(t, db, sqladapter.Options{Layout: detect(t, db, e.dialect).Layout})
			s, u, err := a.GetSessionAndUser(t.Context(), "t")
			if err != nil || !s.Expires.Equal(moment) || !u.EmailVerified.Equal(moment) {
				t.Fatalf("session until %v, user proven %v, error %v", s.Expires, u.EmailVerified, err)
			}
			before := time.Now().Add(-time.Minute).UTC().Format("2006-01-02T15:04:05")
			ok(t, a.UpdateSession(t.Context(), "t", moment.AddDate(1, 0, 0)))
			_, err = a.UpdateUser(t.Context(), "cuid", storage.UserChange{Name: new("Ada")})
			ok(t, err)
			_, err = a.CreateUser(t.Context(), storage.User{Email: "eve@example.com"})
			ok(t, err)
			for _, table := range []string{"User", "Session"} {
				e.eachText(t, db, fmt.Sprintf(`SELECT %s FROM "%s"`, c.kept, table), func(touched string) {
					if touched < before || touched > "2031" {
						t.Errorf("%s was touched at %s", table, touched)
					}
				})
			}
		})
	}
}

func (e engine) eachText(t *testing.T, db *sql.DB, statement string, f func(string)) {
	t.Helper()
	rows, err := db.Query(e.quotedNames(statement))
	ok(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		ok(t, rows.Scan(&text))
		f(text)
	}
	ok(t, rows.Err())
}

// quotedNames is quoted, but for formats.
func (e engine) quotedNames(statement string) string {
	if e.dialect == sqladapter.MySQL {
		return strings.NewReplacer(`"updatedAt"`, "`updatedAt`", `"User"`, "`User`", `"Session"`, "`Session`").Replace(statement)
	}
	return statement
}

// TestOddZones (S-011): times without a zone are the same in connections of zones
// that are far apart.
func TestOddZones(t *testing.T) {
	t.Run("PostgreSQL", func(t *testing.T) {
		server := servers.Postgres(t)
		schemas := postgresSchemas(server)
		for _, file := range []string{"drizzle_postgres", "prisma_v5_postgres"} {
			for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
				t.Run(file+" "+mode, func(t *testing.T) {
					e := engines[1]
					db := e.laidOut(t, func(t testing.TB) *sql.DB {
						var schema string
						ok(t, schemas(t).QueryRow("SELECT current_schema()").Scan(&schema))
						return open(t, "pgx", server.DSN("postgres")+" default_query_exec_mode="+mode+" timezone=Asia/Kathmandu search_path="+schema)
					}, file)
					e.uses(t, db, detect(t, db, e.dialect).Layout)
					e.keepsUTC(t, db, detect(t, db, e.dialect).Layout)
				})
			}
		}
	})
	t.Run("MariaDB", func(t *testing.T) {
		socket := servers.MariaDB(t)
		databases := mariaDatabases(socket)
		for _, file := range []string{"drizzle_mysql", "prisma_v5_mysql", "kysely_mysql", "sequelize_mysql", "mikroorm_mysql"} {
			for _, params := range []string{"", "&interpolateParams=true", "&parseTime=true&loc=Asia%2FKathmandu"} {
				t.Run(file+" "+params, func(t *testing.T) {
					e := engines[2]
					e.whole = wholeSeconds[file]
					db := e.laidOut(t, func(t testing.TB) *sql.DB {
						var name string
						ok(t, databases(t).QueryRow("SELECT DATABASE()").Scan(&name))
						return open(t, "mysql", "root@unix("+socket+")/"+name+"?time_zone=%27-09:30%27"+params)
					}, file)
					e.uses(t, db, detect(t, db, e.dialect).Layout)
					e.keepsUTC(t, db, detect(t, db, e.dialect).Layout)
				})
			}
		}
	})
}

// keepsUTC looks at what is stored.
func (e engine) keepsUTC(t *testing.T, db *sql.DB, l sqlstore.Layout) {
	t.Helper()
	a := e.adapter(t, db, sqladapter.Options{Layout: l})
	u, err := a.CreateUser(t.Context(), storage.User{Email: "zone@example.com"})
	ok(t, err)
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "zone", UserID: u.ID, Expires: moment}))
	column, table := "sessionToken", "sessions"
	if to, renamed := l.Names["sessions"]; renamed {
		table = to
	}
	if to, renamed := l.Names["sessions.sessionToken"]; renamed {
		column = to
	}
	as := map[sqlstore.Dialect]string{sqladapter.Postgres: "text", sqladapter.MySQL: "CHAR"}[e.dialect]
	var kept string
	statement := fmt.Sprintf(`SELECT CAST(expires AS %s) FROM "%s" WHERE "%s" = 'zone'`, as, table, column)
	ok(t, db.QueryRow(e.quoted(statement)).Scan(&kept))
	if !strings.HasPrefix(kept, "2031-05-17 22:30:15") {
		t.Errorf("kept as %s", kept)
	}
}
