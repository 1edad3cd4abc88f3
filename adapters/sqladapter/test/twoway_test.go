package test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// twoWays are the adapters of Auth.js that are run on their own tables, with
// Latchkey beside them. S-016: Drizzle. S-017: Kysely. S-018: TypeORM. S-019:
// Sequelize and MikroORM. R-547: Prisma 7 with its own client.
var twoWays = []struct{ name, file string }{
	{"drizzle", "drizzle_sqlite"},
	{"drizzle", "drizzle_postgres"},
	{"drizzle", "drizzle_mysql"},
	{"kysely", "kysely_sqlite"},
	{"kysely", "kysely_postgres"},
	{"kysely", "kysely_mysql"},
	{"typeorm", "typeorm_sqlite"},
	{"typeorm", "typeorm_postgres"},
	{"typeorm", "typeorm_mysql"},
	{"sequelize", "sequelize_sqlite"},
	{"sequelize", "sequelize_postgres"},
	{"sequelize", "sequelize_mysql"},
	{"prisma", "prisma_v5_sqlite"},
	{"prisma", "prisma_v5_postgres"},
	{"prisma", "prisma_v5_mysql"},
	{"mikro-orm", "mikroorm_sqlite"},
	{"mikro-orm", "mikroorm_postgres"},
	{"mikro-orm", "mikroorm_mysql"},
}

// TestTwoWays has both read, renew, use and end what the other made: S-016 to
// S-019.
func TestTwoWays(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		e := engines[0]
		file := ""
		empty := func(t testing.TB) *sql.DB {
			file = filepath.Join(t.TempDir(), "auth.db")
			return open(t, "sqlite", sqliteDSN(file))
		}
		e.bothWays(t, empty, func(*testing.T, *sql.DB) record { return record{"file": file} })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := servers.Postgres(t)
		engines[1].bothWays(t, postgresSchemas(server), func(t *testing.T, db *sql.DB) record { return onPostgres(t, server, db) })
	})
	t.Run("MariaDB", func(t *testing.T) {
		socket := servers.MariaDB(t)
		engines[2].bothWays(t, mariaDatabases(socket), func(t *testing.T, db *sql.DB) record {
			var name string
			ok(t, db.QueryRow("SELECT DATABASE()").Scan(&name))
			return record{"socket": socket, "database": name}
		})
	})
}

func (e engine) bothWays(t *testing.T, empty source, where func(*testing.T, *sql.DB) record) {
	for _, c := range twoWays {
		if c.file[len(c.file)-len(e.dialect):] != string(e.dialect) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			db := e.laidOut(t, empty, c.file)
			l, err := sqlstore.SharedWith(e.dialect, c.name)
			ok(t, err)
			a := e.adapter(t, db, sqladapter.Options{Layout: l})
			js := startPeer(t, c.name, e.dialect, where(t, db))
			js.numbers = c.file == "mikroorm_sqlite" // whoever wrote it
			if wholeSeconds[c.file] {
				js.at = js.at.Truncate(time.Second)
			}
			theyWrite(t, js, a)
			weWrite(t, js, a)
			bothChange(t, js, a)
			for _, table := range []string{"users", "accounts", "sessions", "verification_token"} {
				name := table
				if to, renamed := l.Names[table]; renamed {
					name = to
				}
				if n := count(t, db, e.quoted(`SELECT count(*) FROM "`+name+`"`)); n != 0 {
					t.Errorf("%d rows are left in %s", n, name)
				}
			}
		})
	}
}
