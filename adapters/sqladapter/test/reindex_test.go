package test

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestReindex: P-013, a program of before the column has stored and renamed users.
func TestReindex(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		a, err := sqladapter.New(db, e.dialect, sqladapter.Options{})
		ok(t, err)
		for _, name := range []string{"Erdős Pál", "Ada", ""} {
			_, err := a.CreateUser(t.Context(), storage.User{Name: name})
			ok(t, err)
		}
		exec(t, db, `UPDATE users SET name_key = NULL`, `UPDATE users SET name = 'Grace' WHERE name = 'Ada'`)
		find := func(folded string) int {
			users, _, err := a.People().Search(t.Context(), storage.PeopleQuery{Folded: folded, Limit: 10, Window: 10})
			ok(t, err)
			return len(users)
		}
		if n := find("erdos"); n != 0 {
			t.Fatalf("%d users found before", n)
		}
		for _, want := range []int{2, 0} {
			n, err := sqladapter.Reindex(t.Context(), db, e.dialect, sqladapter.Options{})
			ok(t, err)
			if n != want {
				t.Errorf("P-013 %d names were written, want %d", n, want)
			}
		}
		if find("erdos") != 1 || find("grace") != 1 || find("ada") != 0 {
			t.Error("P-013 the names are not found")
		}
	})
}

// TestTouched: R-763, a column of another program is set whenever a row is written, also
// by an upsert and by Reindex.
func TestTouched(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		o := sqladapter.Options{Layout: sqlstore.Layout{Touched: []string{"users.touched", "browsers.touched"}}}
		kind := "bigint"
		if e.dialect == sqladapter.Postgres {
			kind = "timestamptz"
		}
		exec(t, db, `ALTER TABLE users ADD touched `+kind, `ALTER TABLE browsers ADD touched `+kind)
		a := e.adapter(t, db, o)
		u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada"})
		ok(t, err)
		for what, write := range map[string]func() error{
			"browsers": func() error {
				return a.Browsers().Put(t.Context(), storage.Browser{ID: "b", UserID: u.ID, PublicID: "p", Created: moment, Seen: moment, Expires: moment.Add(time.Hour)})
			},
			"users": func() error { _, err := sqladapter.Reindex(t.Context(), db, e.dialect, o); return err },
		} {
			for try := range 2 {
				exec(t, db, `UPDATE users SET name_key = NULL`, `UPDATE `+what+` SET touched = NULL`)
				ok(t, write())
				n := 0
				ok(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM `+what+` WHERE touched IS NOT NULL`).Scan(&n))
				if n != 1 {
					t.Errorf("%s, write %d: not touched", what, try)
				}
			}
		}
	})
}
