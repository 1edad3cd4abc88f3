package test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// TestMigrateOptions: Migrate and Check compare the tables with the layout that
// New gets.
func TestMigrateOptions(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		t.Run("tables of others that fit their layout stay as they are", func(t *testing.T) {
			db := e.laidOut(t, empty, "drizzle_"+string(e.dialect))
			before := len(e.columnsOf(t, db))
			l, err := sqlstore.SharedWith(e.dialect, "drizzle")
			ok(t, err)
			e.migratesAndChecks(t, db, l, false)
			if after := len(e.columnsOf(t, db)); after != before {
				t.Errorf("%d columns became %d", before, after)
			}
		})
		t.Run("tables of others that are missing are not made", func(t *testing.T) {
			db := empty(t)
			l, err := sqlstore.SharedWith(e.dialect, "drizzle")
			ok(t, err)
			e.migratesAndChecks(t, db, l, true)
			if columns := e.columnsOf(t, db); len(columns) != 0 {
				t.Errorf("there are columns: %v", columns)
			}
		})
		t.Run("a column that the layout leaves out is made all the same", func(t *testing.T) {
			e.migratesAndChecks(t, empty(t), sqlstore.Layout{Names: map[string]string{"sessions.user_agent": ""}}, false)
		})
		t.Run("tables that would not fit the layout are refused", func(t *testing.T) {
			db := empty(t)
			o := sqladapter.Options{Layout: sqlstore.Layout{DatabaseIDs: true}}
			err := sqladapter.Migrate(t.Context(), db, e.dialect, o)
			says(t, "Migrate", err, "users.id", "Layout.DatabaseIDs")
			if found := detect(t, db, e.dialect); e.dialect != sqladapter.MySQL && found.Schema != sqlstore.SchemaAbsent {
				t.Errorf("there is a schema: %+v", found)
			}
			ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
			says(t, "Check", sqladapter.Check(t.Context(), db, e.dialect, o), "users.id", "Layout.DatabaseIDs")
		})
		t.Run("a layout that makes no sense is refused", func(t *testing.T) {
			for _, f := range []func() error{
				func() error {
					return sqladapter.Migrate(t.Context(), empty(t), e.dialect, sqladapter.Options{Layout: sqlstore.Layout{Times: "sundial"}})
				},
				func() error {
					return sqladapter.Check(t.Context(), empty(t), e.dialect, sqladapter.Options{Layout: sqlstore.Layout{Times: "sundial"}})
				},
				func() error { return sqladapter.Migrate(t.Context(), nil, e.dialect, sqladapter.Options{}) },
				func() error { return sqladapter.Check(t.Context(), nil, e.dialect, sqladapter.Options{}) },
				func() error { _, err := sqladapter.Detect(t.Context(), nil, e.dialect); return err },
			} {
				if f() == nil {
					t.Error("it is accepted")
				}
			}
		})
	})
}

// TestMigrateLeavesSharedTables: the tables that are shared with Auth.js are not
// adopted.
func TestMigrateLeavesSharedTables(t *testing.T) {
	for _, e := range engines {
		if e.dialect != sqladapter.Postgres {
			continue
		}
		empty := e.start(t)
		for name, tables := range map[string][]string{"as they are": {}, "without unique keys": {"ALTER TABLE users DROP CONSTRAINT IF EXISTS users_email_key"}} {
			t.Run(name, func(t *testing.T) {
				db := e.laidOut(t, empty, "neon_postgres")
				exec(t, db, tables...)
				l, err := sqlstore.SharedWith(e.dialect, "neon")
				ok(t, err)
				before := len(e.columnsOf(t, db))
				e.migratesAndChecks(t, db, l, false)
				if after := len(e.columnsOf(t, db)); after != before {
					t.Errorf("%d columns became %d", before, after)
				}
			})
		}
	}
}

// migratesAndChecks calls Migrate and Check with a layout. They return a
// MisfitError if misfits is set, and nil otherwise.
func (e engine) migratesAndChecks(t *testing.T, db *sql.DB, l sqlstore.Layout, misfits bool) {
	t.Helper()
	o := sqladapter.Options{Layout: l}
	for name, err := range map[string]error{
		"Migrate": sqladapter.Migrate(t.Context(), db, e.dialect, o),
		"Check":   sqladapter.Check(t.Context(), db, e.dialect, o),
	} {
		if _, misfit := errors.AsType[*sqlstore.MisfitError](err); misfit != misfits || err != nil && !misfit {
			t.Errorf("%s: %v", name, err)
		}
	}
}
