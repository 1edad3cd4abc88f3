package test

import (
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
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
